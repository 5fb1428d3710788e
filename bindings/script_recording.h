// Records the functions of stacks and controllers that a script defines, once, as array programs
// (src/array), so that they run without Lua.
#pragma once
#include <mutex>

#include "array/array_recorder.h"
#include "bindings/script_call.h"
#include "stack/stack.h"

namespace pushdown {

// The sequences that a function is recorded with: a number that scripts do not have for other
// sizes; and another one to compare with.
inline constexpr std::int64_t kRecordedBatch = 11, kOtherBatch = 7;

// Why a definition runs by tensor operations, told once.
class RecordingState {
 public:
  explicit RecordingState(std::string where) : where_(std::move(where)) {}
  bool refused() const { return refused_; }
  // Logs it: "stack.mine runs by tensor operations: own.lua:12: a number is read ...".
  void refuse(const ArrayRefusal& refusal);
  // A function failed. The error is that of the definition if it comes again without recording;
  // otherwise the next failure is told.
  void fail(const std::string& message);
  std::mutex& mutex() { return mutex_; }

 private:
  std::string where_;
  bool refused_ = false;
  int failures_ = 0;
  std::mutex mutex_;
};

// A tensor of `sizes` that looks like no other, between 0 and 1.
Tensor recorded_numbers(const std::vector<std::int64_t>& sizes, const at::TensorOptions& options,
                        int number);
// The numbers of the first sequence.
std::vector<double> first_numbers(const Tensor& tensor);
// Whether a step of a program computes these numbers from the inputs, as far as `options` can tell.
bool computes(const ArrayProgram& program, const std::vector<std::vector<double>>& inputs,
              const std::vector<double>& wanted, const at::TensorOptions& options);

// What a recorded stack is: the reading and the update of each step. Inputs of both: the state,
// then the actions, then the parameters.
struct RecordedStack {
  ArrayProgramPtr reading, update;
};

}  // namespace pushdown
