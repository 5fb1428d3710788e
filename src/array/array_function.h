// Array programs of one step as functions in LibTorch's autograd graph, for networks that are read
// step by step.
#pragma once
#include <vector>

#include "array/array_program.h"
#include "tensor/torch.h"

namespace pushdown {

// Returns the output of step 0 of the program, B x n. inputs: for each input of the program B x
// ..., or 1 x ... for numbers that all sequences share, on the CPU and of one type, float32 or
// float64.
//
// The result can be differentiated, and its gradients once more, but only with respect to the
// gradient of the result. That is enough for derivatives along a direction.
Tensor run_array(const ArrayProgramPtr& program, const std::vector<Tensor>& inputs);

// During its lifetime, stacks and controllers that a script defines run their recorded programs on
// this thread when they are called step by step. Otherwise such calls run the script's functions.
class RecordedCalls {
 public:
  explicit RecordedCalls(bool wanted);
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;
  static bool wanted();

 private:
  bool outer_;
};

}  // namespace pushdown
