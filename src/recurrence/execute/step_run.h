// Runs a recorded step over sequences, as one autograd function of all its input tensors.
#pragma once
#include "base/buffer_pool.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Throws std::invalid_argument unless the lengths are `batch` numbers from 1 to `steps` in
// descending order, or none.
void check_lengths(const std::vector<std::int64_t>& lengths, std::int64_t batch,
                   std::int64_t steps);

// Returns the program's output after each of the T >= 1 steps, B x T x n. With a window > 0,
// gradients end after every `window` steps. Threads share the sequences; results do not depend on
// their number. Returns an undefined tensor unless the program is on the CPU and its type is float
// or double. `left` receives the final content of a memory that continues (StepTrace::take_over), B
// x m, also differentiable. `lengths` : B, 1 to T each, in descending order: the number of steps of
// each sequence, after which its output is 0; empty: T. Not together with `left`.
Tensor run_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                 const BufferPoolPtr& buffers, std::int64_t window = 0, Tensor* left = nullptr,
                 const std::vector<std::int64_t>& lengths = {});

}  // namespace pushdown
