// Locals of entries live on after the entry: they become globals of the same name.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

namespace pushdown {

// Marks the current globals: a local of an entry never replaces them, because `local table` must
// not break the library.
void protect_globals(lua_State* L);
// Sets the names that the next entry declares outside of its blocks.
void announce_locals(lua_State* L, const std::vector<std::string>& names);
// Returns those of them that cannot live on, because they have the name of a marked global.
std::vector<std::string> lost_locals(lua_State* L);
// Makes globals of those that are active at this level of the running calls, if that level is the
// main chunk of an entry.
void keep_locals(lua_State* L, int level);

}  // namespace pushdown
