// The size of the stacks of this process.
#pragma once

namespace pushdown {

// Raises the limit of a small stack, for the running thread and for threads that start later.
// Throws std::runtime_error if the system does not permit a stack that suffices.
void require_stack();

}  // namespace pushdown
