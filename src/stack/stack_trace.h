// What the steps of a string do to a memory, for people who want to see it.
//
// A kind of stack that can be traced is also a TraceableStack: the file of the kind says which
// actions it has and what its depth is. Letters: n steps, K memories side by side, A actions, D
// depths, R reading size, H hidden.
#pragma once
#include "stack/stack.h"

namespace pushdown {

struct StackTrace {
  std::vector<std::string> actions;  // names of the A actions
  Tensor weights;                    // n x K x A: of each step
  std::string depth_name = "depth";  // what `depth` is: "depth", or "head" for its place
  Tensor depth;                      // n x K: after each step, the expected value; or undefined
  // n x K x D: the probabilities of the depths 0 .. D-1 after each step. Undefined if the depth is
  // no random variable.
  Tensor depths;
  Tensor readings;  // n x R: after each step
};

class TraceableStack {
 public:
  // Returns the trace of n steps from the beginning, without the readings. hiddens : n x H.
  virtual StackTrace trace(const Tensor& hiddens) const = 0;

 protected:
  ~TraceableStack() = default;
};

// Returns the trace of n steps from the beginning. hiddens : n x H. Throws std::invalid_argument
// for a kind without a trace.
StackTrace trace_of(const Stack& stack, const Tensor& hiddens);

// For a stack whose content is the mixture of those that its actions could have led to: returns the
// trace with the distribution of the depth of these contents. A pop of the empty stack leaves it
// empty. weights : n x K x A, of the actions push, pop and perhaps no_op; limit: the greatest
// depth, 0: none.
StackTrace mixture_trace(const Tensor& weights, std::int64_t limit);

// For a memory with a head: returns the trace with the expected place of the head, which starts at
// 0 and moves by `moves` : A with each action.
StackTrace head_trace(std::vector<std::string> actions, const Tensor& weights,
                      const std::vector<double>& moves);

// For a memory with this total length after each step, n x K: the weights of push and pop are what
// the steps add to it and take away.
StackTrace length_trace(const Tensor& lengths);

}  // namespace pushdown
