// The echo of the terminal while an entry runs.
#pragma once
#include <lua.hpp>

namespace pushdown {

// What is typed while an entry runs belongs to the next entry and is not shown. The functions of
// Lua that read the terminal, or start programs that do, show it: this replaces io.read, io.lines,
// io.popen, os.execute and the methods read and lines of files.
void echo_in_readers(lua_State* L);

}  // namespace pushdown
