// Options that Lua code declares as rows:
//   { 'size', 20, 'size of a vector', minimum = 1 }
//   { name = 'words', doc = '...', type = 'list' }
// A row has a name, a default, a line of documentation and, by name: type, minimum, maximum,
// choices and required. The type is that of the default if it is not given. An option without a
// default may be absent.
//
// Definitions of stacks and other parts of models (bindings/define), scripts with a command line
// and functions of scripts/lib (pd._options) declare their options so. Definitions have the types
// of data: boolean, integer, number, text, list, table. The others also have
//   function, value (anything), Grammar (the name of a class), list of integers, text or number
// and rows with `inside` = the rows of a table, or of each table in a list. A script has further
// entries for its command line.
#pragma once
#include "bindings/binder/options.h"

namespace pushdown {

// Reads a list of rows. Entries without a name get the names in `places`; only these and `names`
// are valid names.
Json read_rows(lua_State* L, int index, const std::string& where, const char* what,
               const std::vector<std::string>& places, const std::vector<std::string>& names);

// Returns the options of rows that were read, which have the types of data.
std::vector<OptionSpec> option_specs(const Json& rows, const std::string& where);
// Reads the options of a definition.
std::vector<OptionSpec> read_option_specs(lua_State* L, int index, const std::string& where);

// One alternative of a type, of the value itself or of the elements of a list.
struct TypeForm {
  std::string name;  // "integer", "Grammar"
  bool listed;
};
struct ScriptOption {
  DeclaredOption declared;
  std::vector<TypeForm> forms;
  std::vector<ScriptOption> inside = {};
  Json row;  // with the entries for a command line
};
using ScriptOptions = std::vector<ScriptOption>;

// Reads the options of a function or a script in Lua.
ScriptOptions read_script_options(lua_State* L, int index, const std::string& where);
// Pushes a table of all options: the values in the table at the index, which are checked and stay
// as they are, and the defaults of the others.
void push_resolved(lua_State* L, int index, const ScriptOptions& options, const std::string& where);
// Pushes the value that a text on a command line means. Commas separate the elements of a list, or
// it is a list of texts in JSON, such as ["a,b", ""]; the empty text is the empty list. Throws
// std::invalid_argument for a wrong value.
void push_from_text(lua_State* L, const ScriptOption& option, const std::string& text);
// Returns the list that pd.options returns, with all entries of the rows.
Json told(const ScriptOptions& options);

}  // namespace pushdown
