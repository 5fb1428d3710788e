// The files of the grammars folder: Lua code in a sandbox that describes a grammar or a pushdown
// automaton. Its words are in scripts/lib/grammar/words.lua.
#pragma once
#include <filesystem>
#include <lua.hpp>
#include <string>
#include <vector>

#include "base/options.h"
#include "pda/definition_files.h"

namespace pushdown {

// DefinitionFiles with the installation of this program.
std::filesystem::path find_definition(lua_State* L, DefinitionKind kind, const std::string& name);
std::vector<std::string> definition_names(lua_State* L, DefinitionKind kind);
std::vector<std::string> grammar_names(lua_State* L, bool synchronous);
std::vector<std::string> hint_names(lua_State* L);
// Returns the text of a file and records it as an input of the session.
std::string read_definition(lua_State* L, DefinitionKind kind, const std::filesystem::path& path);
// Runs a definition file with the options of the caller, which are checked, and returns what it
// declared. The name is the file's unless it declares one. Throws for a file of the other kind.
Json run_definition(lua_State* L, DefinitionKind kind, const std::filesystem::path& path,
                    const Json& given);
// Returns the file's own description: "dyck: Strings of balanced brackets.\n  bracket_types ...".
std::string describe_definition(lua_State* L, DefinitionKind kind, const std::string& name);

// Returns a text of the table, "" if it is absent.
std::string text_entry(std::string_view where, const Json& table, const char* key);
// Returns the list of texts, empty if it is absent.
std::vector<std::string> text_list(std::string_view where, const Json& table, const char* key);
// Throws for a key of the table that is not among `known`.
void check_keys(std::string_view where, const Json& table, const std::vector<std::string>& known);

}  // namespace pushdown
