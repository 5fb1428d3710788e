// Each function has a file of its own, adds its functions to the `pd` table on top of the stack and
// leaves the table there. open.cpp calls them.
#pragma once
#include <lua.hpp>

namespace pushdown {

void bind_session(lua_State* L);
void bind_log(lua_State* L);
void bind_tensor(lua_State* L);
void bind_grammar(lua_State* L);
void bind_pda(lua_State* L);
void bind_task(lua_State* L);
void bind_tree(lua_State* L);
void bind_stack(lua_State* L);
void bind_controller(lua_State* L);
void bind_model(lua_State* L);
void bind_transducer(lua_State* L);  // into pd.model
void bind_rules(lua_State* L);       // into pd.model
void bind_train(lua_State* L);
void bind_record(lua_State* L);
void bind_process(lua_State* L);
void bind_file(lua_State* L);

}  // namespace pushdown
