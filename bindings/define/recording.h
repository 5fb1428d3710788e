// Records the functions of stacks and controllers that a script defines once, as array programs
// (src/array), so that they then run without Lua.
#pragma once
#include <atomic>
#include <mutex>
#include <set>

#include "array/array_recorder.h"
#include "bindings/binder/script_call.h"
#include "stack/stack.h"

namespace pushdown {

// The numbers of sequences with which a function is recorded. Scripts do not use the first one for
// other sizes; the second one is for comparison.
inline constexpr std::int64_t kRecordedBatch = 11, kOtherBatch = 7;

// The messages about a definition so far.
using ToldPtr = std::shared_ptr<std::set<std::string>>;

// Whether objects made from a definition are recorded, and the reason if not. The reason is logged
// once for each definition.
class RecordingState {
 public:
  RecordingState(std::string where, ToldPtr told)
      : where_(std::move(where)), told_(std::move(told)) {}
  bool refused() const { return refused_; }
  // Logs the reason and what it costs: "stack.mine runs by tensor operations: own.lua:12: a number
  // is read ...; this is 10 to 30 times slower ...".
  void refuse(const ArrayRefusal& refusal);
  // Notes that a function failed. If it also fails without recording, the error is that of the
  // definition; otherwise the next failure is logged.
  void fail(const std::string& message);
  const std::string& reason() const { return reason_; }
  std::recursive_mutex& mutex() { return mutex_; }
  // Whether a function is being recorded. A function that uses itself is not recorded within that.
  bool busy = false;

 private:
  std::string where_, reason_;
  ToldPtr told_;
  std::atomic<bool> refused_ = false;
  int failures_ = 0;
  std::recursive_mutex mutex_;
};
// Sets RecordingState::busy during its lifetime.
struct RecordingTurn {
  explicit RecordingTurn(RecordingState& of) : state(of) { state.busy = true; }
  ~RecordingTurn() { state.busy = false; }
  RecordingState& state;
};

// Returns a tensor of `sizes` with numbers between 0 and 1 that differ from those of other tensors.
Tensor recorded_numbers(const std::vector<std::int64_t>& sizes, const at::TensorOptions& options,
                        int number);
// The numbers of the first sequence.
std::vector<double> first_numbers(const Tensor& tensor);
// Returns whether a program's step computes these numbers from the inputs, within the precision of
// `options`.
bool computes(const ArrayProgram& program, const std::vector<std::vector<double>>& inputs,
              const std::vector<double>& wanted, const at::TensorOptions& options);

// Appends what was recorded of a function to the program: the step whose results are `nodes`.
// Returns why the function cannot be recorded, or nothing. `same`: whether the program, whose step
// is then complete, computes what the function did.
std::optional<ArrayRefusal> add_recorded(const ArrayRecorder& recorder, const ArrayGraph& graph,
                                         const std::vector<int>& nodes,
                                         const ScriptFunction& function, ArrayProgram& program,
                                         const std::function<bool()>& same);

// A recorded stack: the reading and the update of each step. The inputs of both are the state, then
// the actions, then the parameters.
struct StackPrograms {
  ArrayProgramPtr reading, update;
  std::int64_t appended = 0;  // the size of their room (array/appended_parts.h)
  // Of programs for one form of the state: a state of the form that the update makes, and whether
  // it is the same form.
  StackStatePtr next = nullptr;
  bool keeps_form = false;
};

}  // namespace pushdown
