// A recorded step that is reused for many batches. Its inputs are located in the parameters, so
// that nothing must be recorded again. execute/planned_batch.h runs it on the CPU, device/updates.h
// for several models on a device.
//
// The program is one of symbols (StepTrace with of_symbols): all its inputs besides a batch are
// parameters, parts of parameters, and constants.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "recurrence/trace/step_trace.h"

namespace pushdown {

class StepPlan {
 public:
  // Returns null if a differentiated input is computed from parameters instead of being a parameter
  // or a part of one, or if the parameters are not of one type and on one device. The program must
  // have been recorded with gradients enabled.
  static std::shared_ptr<const StepPlan> make(TracedProgram program,
                                              const ParameterList& parameters);

  // Returns whether the parameters still have the memory that they had when the step was recorded,
  // and the same ones are trained.
  bool current() const;
  // The location of a tensor's numbers in a parameter.
  struct Part {
    Tensor parameter;       // undefined if in none
    std::size_t index = 0;  // in the list of parameters
    bool trained = false;
    std::int64_t offset = 0;
    std::vector<std::int64_t> sizes, strides;
  };
  const std::shared_ptr<const TracedProgram>& program() const { return program_; }
  const ParameterList& parameters() const { return parameters_; }
  const std::vector<Part>& matrices() const { return matrices_; }
  const std::vector<Part>& given() const { return given_; }      // by node
  const std::vector<Part>& initial() const { return initial_; }  // by node

 private:
  std::shared_ptr<const TracedProgram> program_;
  ParameterList parameters_;
  std::vector<Part> matrices_, given_, initial_;
  struct Seen {
    Tensor parameter;
    const void* memory;
    bool trained;
  };
  std::vector<Seen> seen_;
};
using StepPlanPtr = std::shared_ptr<const StepPlan>;

// Returns whether two plans differ only in the values of their parameters.
bool same_program(const StepPlan& first, const StepPlan& second);

// The plans of a network, by the key they were recorded for. May be used by any number of threads.
class StepPlans {
 public:
  using Key = std::array<std::int64_t, 5>;
  // Returns the plan of this key, newly made if there is no current one; null if none can be made.
  StepPlanPtr find(const Key& key, const std::function<StepPlanPtr()>& make);

 private:
  std::mutex mutex_;
  std::map<Key, StepPlanPtr> plans_;
};

}  // namespace pushdown
