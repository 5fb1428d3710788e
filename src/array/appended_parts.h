// State that a step only extends. Most stacks written in Lua append a row to the arrays of their
// state: every step would copy all earlier rows, and its backward pass would add all their
// gradients. A part that every step extends at its end is therefore stored once, in a room that all
// steps share, and a step writes only its new numbers.
#pragma once
#include "array/array_program.h"

namespace pushdown {

// The programs of a state that is input 0 of both: reading(state), and update(state), whose output
// is the next state. sizes[t]: the sizes of the parts of the state before step t; sizes[0] is not
// used, because the first step makes its state itself.
//
// If there are parts that every step extends, moves them to a new last input of both programs, the
// room, which the update also writes. Returns the size of the room; 0 if nothing was changed.
std::int64_t share_appended_parts(const std::vector<std::vector<std::int64_t>>& sizes,
                                  ArrayProgram& reading, ArrayProgram& update);

}  // namespace pushdown
