// Values as text for a reader: tables nested, sorted and cut to a sensible size.
#pragma once
#include <lua.hpp>
#include <string>

namespace pushdown {

// What the prompt prints for a value: strings as they are, objects by __show or __tostring, tables
// with sorted keys, several lines where they need them.
std::string show_value(lua_State* L, int index);
// All values on the stack: in one line if each has one and is short.
std::string show_values(lua_State* L);
// Whether the value is a picture: the text of an SVG document.
bool is_svg(lua_State* L, int index);
// One line, strings quoted.
std::string show_line(lua_State* L, int index);

}  // namespace pushdown
