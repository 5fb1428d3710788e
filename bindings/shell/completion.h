// What TAB offers: globals and words of Lua, then fields and methods along a path such as
// pd.stack.si or model:lo. Nothing of the user's is called.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

struct Completion {
  std::size_t start = 0;                // where in the line the word begins
  std::vector<std::string> candidates;  // whole words, sorted
};

// `line`: the text up to the cursor.
Completion complete(lua_State* L, std::string_view line);
// What all words begin with.
std::string common_start(const std::vector<std::string>& words);

}  // namespace pushdown
