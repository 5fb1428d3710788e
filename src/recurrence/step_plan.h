// A recorded step that is kept for many batches: what it reads is found again in the parameters, so
// that nothing is recorded anew. run_plan() runs it without LibTorch's graph, step_likelihood.h
// with the loss of language models, device_steps.h for several models on a device.
//
// The program is one of symbols (StepTrace with of_symbols): all that it reads besides a batch are
// parameters, parts of parameters, and constants.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/buffer_pool.h"
#include "recurrence/direct_pass.h"
#include "recurrence/step_trace.h"

namespace pushdown {

class StepPlan {
 public:
  // Null where something that is differentiated is computed from parameters instead of being one or
  // a part of one, or where the parameters are not of one type and on one device. The program was
  // recorded with gradients enabled.
  static std::shared_ptr<const StepPlan> make(TracedProgram program,
                                              const ParameterList& parameters);

  // Whether the parameters still have the memory that they had when the step was recorded, and the
  // same ones are trained.
  bool current() const;
  // Where the numbers of a tensor lie in a parameter.
  struct Part {
    Tensor parameter;       // undefined: of none
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

// Whether two plans differ in the values of their parameters alone.
bool same_program(const StepPlan& first, const StepPlan& second);

// The plans of a network by what they were recorded for. Any number of threads may ask.
class StepPlans {
 public:
  using Key = std::array<std::int64_t, 5>;
  // The plan of this key, made anew where there is none that is current; null where none can be
  // made.
  StepPlanPtr find(const Key& key, const std::function<StepPlanPtr()>& make);

 private:
  std::mutex mutex_;
  std::map<Key, StepPlanPtr> plans_;
};

// On the processor. words : B x T, as many sequences as the program was recorded for; supplied : B
// x T x n each. With a window > 0 gradients end behind every `window` steps.
DirectPassPtr run_plan(const StepPlanPtr& plan, const Tensor& words, std::vector<Tensor> supplied,
                       std::int64_t window, const BufferPoolPtr& buffers);

}  // namespace pushdown
