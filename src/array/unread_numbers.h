// Numbers of a state that nothing reads any more. A stack of n steps can pop at most n - t times
// after step t, so no later reading depends on the cells below. A stack written in Lua computes
// them all the same.
#pragma once
#include "array/array_program.h"

namespace pushdown {

// The programs of a state that is input 0 of both, with the same number of steps: reading(state),
// and update(state), whose output is the next state; nothing reads the last one. Leaves out of
// every update the numbers on which no later reading depends.
void drop_unread_numbers(const ArrayProgram& reading, ArrayProgram& update);

}  // namespace pushdown
