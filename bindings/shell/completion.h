// Completions for TAB: globals and keywords of Lua, then fields and methods along a path such as
// pd.stack.si or model:lo. Inside calls and strings, scripts/lib/prompt/completion.lua provides
// options, kinds and names of grammars, and otherwise files are offered. No user code is called.
#pragma once
#include <lua.hpp>
#include <string_view>

#include "bindings/shell/candidates.h"

namespace pushdown {

// `text`: the entry up to the cursor, possibly of several lines.
Completion complete(lua_State* L, std::string_view text);

}  // namespace pushdown
