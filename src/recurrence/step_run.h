// Runs a recorded step over sequences, as one autograd function of all tensors that it reads.
#pragma once
#include "base/buffer_pool.h"
#include "recurrence/step_trace.h"

namespace pushdown {

// The program's output after each of the T >= 1 steps, B x T x n. With a window > 0 gradients end
// behind every `window` steps. Threads share the sequences;
// results do not depend on their number. An undefined tensor where the program cannot be run so:
// not on the CPU, or not float or double. `left` gets what a memory that goes on leaves
// (StepTrace::take_over), B x m, differentiable as well.
Tensor run_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                 const BufferPoolPtr& buffers, std::int64_t window = 0, Tensor* left = nullptr);

}  // namespace pushdown
