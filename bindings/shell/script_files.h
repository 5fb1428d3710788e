// The scripts that a session has read and the entries of a prompt, which runs record. They are kept
// in the Lua registry for the module (registry_keys.h). loadfile, dofile, and require of a module
// in a file note what they read. While a run is reproduced they read its copies (input_path.h).
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>

namespace pushdown {

// Reads the whole file ("-": standard input) and notes it as a script. Returns false and sets errno
// if it cannot be read.
bool read_script(lua_State* L, const std::string& path, std::string& text);
// Returns the code of a script: its text without a byte order mark and the #! of its first line,
// whose end keeps the line numbers right.
std::string_view code_of(std::string_view text);
// Pushes a list in the registry of Lua, which is made if necessary.
void push_registry_list(lua_State* L, const char* key);
// Sets a field of the table on top of the stack to a text.
void set_field(lua_State* L, const char* key, std::string_view text);
// Notes an entry of a prompt or a notebook. All entries together are one text.
void note_entry(lua_State* L, std::string_view text);
// Replaces loadfile, dofile and the searcher of package.path.
void note_scripts(lua_State* L);

}  // namespace pushdown
