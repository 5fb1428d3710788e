// Values as text for a reader: tables are nested, sorted and cut to a sensible size.
#pragma once
#include <lua.hpp>
#include <string>

namespace pushdown {

// Returns what the prompt prints for a value: strings unchanged, objects by __show or __tostring,
// tables with sorted keys, in several lines if necessary.
std::string show_value(lua_State* L, int index);
// Returns all values on the stack as text, in one line if each is short and has one line.
std::string show_values(lua_State* L);
// Returns whether the value is a picture, which is the text of an SVG document.
bool is_svg(lua_State* L, int index);
// Returns one line, with strings quoted.
std::string show_line(lua_State* L, int index);

}  // namespace pushdown
