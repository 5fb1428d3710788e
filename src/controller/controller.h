// The interface of a recurrent controller: input and state -> hidden and state.
//
// Dimension letters: B batch, I input, H hidden.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/origin.h"
#include "base/registry.h"
#include "recurrence/higher_order.h"
#include "recurrence/trace/step_trace.h"
#include "tensor/module_context.h"

namespace pushdown {

// The tensors a controller carries from step to step. The first one, B x H, is the hidden vector of
// its first layer, to which a network with coupling 'state' adds (model/stack_rnn.h). The cell
// defines the others, B x n each.
using ControllerState = std::vector<Tensor>;
using TracedState = std::vector<Traced>;

class Controller {
 public:
  virtual ~Controller() = default;

  virtual std::int64_t hidden_size() const = 0;
  // Returns the number of layers, each of which reads the hidden vector of the one below.
  virtual std::int64_t layers() const { return 1; }
  // Returns whether a step depends on the old hidden vectors, and not only on the rest of the
  // state.
  virtual bool reads_hidden() const { return true; }
  // Returns the state before any symbol: all zero, unless the cell defines another.
  virtual ControllerState initial(std::int64_t batch) const = 0;
  // input : B x I -> hidden : B x H and the next state, which contains the hidden vector. `masks`,
  // B x H each: factors of what the upper layers read (dropout); empty, or one for each of them.
  virtual std::pair<Tensor, ControllerState> step(const Tensor& input, const ControllerState& state,
                                                  const std::vector<Tensor>& masks) const = 0;
  std::pair<Tensor, ControllerState> step(const Tensor& input, const ControllerState& state) const {
    return step(input, state, {});
  }
  // Returns whether its step can be part of a recorded program.
  virtual bool recordable() const { return true; }
  // Records the same step.
  virtual std::pair<Traced, TracedState> trace(const Traced& input, const TracedState& state,
                                               const std::vector<Traced>& masks) const = 0;

  // Returns the controller as a network without a stack whose input is one-hot, with K = 1, if it
  // is of higher order and has one layer.
  virtual std::optional<HigherOrderNetwork> higher_order() const { return std::nullopt; }

  // For a controller that a script defined: the place of the definition. Its functions run
  // only on the thread of that script.
  virtual OriginPtr origin() const { return nullptr; }

  // Returns the trainable tensors by name, shared, not copied.
  const ParameterList& parameters() const { return parameters_; }

 protected:
  ParameterList parameters_;
};
using ControllerPtr = std::shared_ptr<Controller>;

// Every controller has the option `hidden`, the size of its hidden vector.
using ControllerKind = RegistryRow<std::function<ControllerPtr(const Json&, const ModuleContext&)>>;

const std::vector<ControllerKind>& controller_kinds();

// {kind = 'lstm', hidden = 20} -> a controller with newly initialised parameters. `kinds`: the
// available kinds, which may be more than the registry's.
ControllerPtr make_controller(const Json& options, const ModuleContext& context,
                              const std::vector<ControllerKind>& kinds = controller_kinds());

}  // namespace pushdown
