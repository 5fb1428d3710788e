// The errors for a name that a class or a module does not have.
#pragma once
#include <lua.hpp>
#include <string>

namespace pushdown {

// methods.__index and the __index of a module. Upvalue 1: the name of the class or module.
int unknown_method(lua_State* L);
int unknown_field(lua_State* L);

// "a Grammar", "an Alphabet".
std::string with_article(const std::string& name);

}  // namespace pushdown
