// The files of the grammars folder: Lua in a sandbox that describes a grammar or a pushdown
// automaton (scripts/lib/grammar.lua has the words).
#pragma once
#include <filesystem>
#include <lua.hpp>
#include <string>
#include <vector>

#include "base/options.h"

namespace pushdown {

struct Definition {
  enum Kind { grammar, automaton };
};

// The path that a name or path means for "grammar.load" or "pda.load": a name is looked up in the
// grammars folder of the installation, then in that of the working directory. An automaton may also
// be a hint, 'an_bn/whole': in scripts/hints of the installation, then in hints of the working
// directory.
std::filesystem::path find_definition(lua_State* L, Definition::Kind kind, const std::string& name);
// The names of that kind in both folders, sorted, by the words that the files use: none is run.
std::vector<std::string> definition_names(lua_State* L, Definition::Kind kind);
// Those of the grammars that are synchronous, or those that are not.
std::vector<std::string> grammar_names(lua_State* L, bool synchronous);
// The hints of both folders as find_definition() takes them, sorted.
std::vector<std::string> hint_names(lua_State* L);
// The text of a file, which is noted as an input of the session.
std::string read_definition(lua_State* L, Definition::Kind kind, const std::filesystem::path& path);
// Runs a definition file with the options of the caller, which are checked, and gives what it
// declared; the name is the file's where it says none. Refuses a file of the other kind.
Json run_definition(lua_State* L, Definition::Kind kind, const std::filesystem::path& path,
                    const Json& given);
// "dyck: Strings of balanced brackets.\n  bracket_types ...": what the file says of itself.
std::string describe_definition(lua_State* L, Definition::Kind kind, const std::string& name);

// A text of the table, "" where it is absent.
std::string text_entry(std::string_view where, const Json& table, const char* key);
// The list of texts, empty where it is absent.
std::vector<std::string> text_list(std::string_view where, const Json& table, const char* key);
// Refuses every key of the table that is not among `known`.
void check_keys(std::string_view where, const Json& table, const std::vector<std::string>& known);

}  // namespace pushdown
