// What TAB offers: globals and words of Lua, then fields and methods along a path such as
// pd.stack.si or model:lo; inside calls and strings what scripts/lib/prompt/completion.lua knows:
// options, kinds, names of grammars; else files. Nothing of the user's is called.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

struct Completion {
  std::size_t start = 0;                // where in the text the word begins
  std::vector<std::string> candidates;  // whole words, sorted
  std::string ending;                   // what follows a word that is complete
};

// `text`: the entry up to the cursor, of several lines perhaps.
Completion complete(lua_State* L, std::string_view text);
// What all words begin with.
std::string common_start(const std::vector<std::string>& words);

}  // namespace pushdown
