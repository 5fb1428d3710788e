// Completions for TAB: globals and keywords of Lua, then fields and methods along a path such as
// pd.stack.si or model:lo. Inside calls and strings, scripts/lib/prompt/completion.lua provides
// options, kinds and names of grammars, and otherwise files are offered. No user code is called.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

struct Completion {
  std::size_t start = 0;                // start of the word in the text
  std::vector<std::string> candidates;  // whole words, sorted
  std::string ending;                   // follows a complete word
};

// `text`: the entry up to the cursor, possibly of several lines.
Completion complete(lua_State* L, std::string_view text);
// Returns the common beginning of all words.
std::string common_start(const std::vector<std::string>& words);

}  // namespace pushdown
