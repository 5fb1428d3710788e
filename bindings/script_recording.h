// Records the functions of stacks and controllers that a script defines, once, as array programs
// (src/array), so that they run without Lua.
#pragma once
#include <atomic>
#include <mutex>
#include <set>

#include "array/array_recorder.h"
#include "bindings/script_call.h"
#include "stack/stack.h"

namespace pushdown {

// The sequences that a function is recorded with: a number that scripts do not have for other
// sizes; and another one to compare with.
inline constexpr std::int64_t kRecordedBatch = 11, kOtherBatch = 7;

// What has been told about a definition.
using ToldPtr = std::shared_ptr<std::set<std::string>>;

// Whether what was made of a definition is recorded, and why not; the reason is told once for each
// definition.
class RecordingState {
 public:
  RecordingState(std::string where, ToldPtr told)
      : where_(std::move(where)), told_(std::move(told)) {}
  bool refused() const { return refused_; }
  // Logs it: "stack.mine runs by tensor operations: own.lua:12: a number is read ...".
  void refuse(const ArrayRefusal& refusal);
  // A function failed. The error is that of the definition if it comes again without recording;
  // otherwise the next failure is told.
  void fail(const std::string& message);
  const std::string& reason() const { return reason_; }
  std::recursive_mutex& mutex() { return mutex_; }
  // Whether a function is being recorded: one that uses itself is not recorded within that.
  bool busy = false;

 private:
  std::string where_, reason_;
  ToldPtr told_;
  std::atomic<bool> refused_ = false;
  int failures_ = 0;
  std::recursive_mutex mutex_;
};
// Sets RecordingState::busy for as long as it lives.
struct RecordingTurn {
  explicit RecordingTurn(RecordingState& of) : state(of) { state.busy = true; }
  ~RecordingTurn() { state.busy = false; }
  RecordingState& state;
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
