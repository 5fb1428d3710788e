// The table to which an option belongs that was given to another one.
#pragma once
#include <string>

#include "bindings/binder/options.h"

namespace pushdown {

// Returns the message of the error. If the option is declared in another table, of the running
// function or of those that make models and trainers, the message names this table in place of the
// options of the wrong one.
std::string misplaced_option_text(lua_State* L, const UnknownOption& error);

}  // namespace pushdown
