// The bare data structure of a stack that a script defines: its functions on states, and their
// recordings.
#pragma once
#include <variant>

#include "bindings/define/definition.h"
#include "bindings/define/recording.h"
#include "stack/kinds.h"

namespace pushdown {

struct StackDefinition {
  DefinitionHead head;
  ScriptFunction initial, update, reading;
  ScriptFunction depth;  // for traces; may be absent
  ScriptRows actions, parameters;
  std::string no_op_layer;  // "" if there is no action no_op
  std::int64_t no_op_column = 0;
  ToldPtr told = std::make_shared<std::set<std::string>>();
};
using StackDefinitionPtr = std::shared_ptr<const StackDefinition>;

// An action layer: an affine map of the hidden vector, with its values in their shape.
struct ActionSpec {
  std::string name, activation;
  std::vector<std::int64_t> shape;  // shape of the values of one sequence
  bool bias = true;
  double gain = 1;
  std::vector<std::string> columns;  // names of the values in traces; empty: none are shown

  std::int64_t rows() const {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return count;
  }
  std::string text() const {
    std::string sizes;
    for (const auto size : shape) sizes += fmt::format(" x {}", size);
    return sizes;
  }
};

// The action layers of a stack with these options, for hidden vectors of this size.
std::vector<ActionSpec> action_specs(const StackDefinition& definition, const Json& options,
                                     std::int64_t hidden);

struct ScriptStackState : StackState {
  ScriptState value;
  std::int64_t batch = 0;

  StackStatePtr detached() const override {
    auto copy = std::make_shared<ScriptStackState>(*this);
    for (Tensor& tensor : copy->value.tensors) tensor = tensor.detach();
    return copy;
  }
  std::size_t bytes() const override {
    std::size_t total = 0;
    for (const Tensor& tensor : value.tensors) total += tensor_bytes(tensor);
    return total;
  }
  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all;
    for (const Tensor& tensor : value.tensors)
      if (tensor.is_floating_point()) all.push_back(tensor);
    return all;
  }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.state", tensors(), given);
    auto copy = std::make_shared<ScriptStackState>(*this);
    auto next = given.begin();
    for (Tensor& tensor : copy->value.tensors)
      if (tensor.is_floating_point()) tensor = *next++;
    return copy;
  }
};

// The definition's functions on states.
class StackStructure {
 public:
  StackStructure(StackDefinitionPtr definition, const Json& options,
                 const ParameterList& parameters, const at::TensorOptions& tensor_options,
                 std::int64_t hidden);

  std::int64_t reading_size() const { return reading_size_; }
  StackStatePtr initial(std::int64_t batch, std::int64_t length) const;
  // `drive`: the values of the action layers by name, or only `hidden` if there are no layers.
  StackStatePtr update(const StackStatePtr& state, const NamedTensors& drive) const;
  Tensor reading(const StackStatePtr& state) const;
  // B; undefined without a depth.
  Tensor depth(const StackStatePtr& state) const;

  // For sequences of `steps` steps whose actions have these names and shapes. An empty list: the
  // hidden vector.
  std::variant<StackPrograms, ArrayRefusal> record(const std::vector<ActionSpec>& actions,
                                                   std::int64_t steps) const;
  // For one step from a state of the form of `state`.
  std::variant<StackPrograms, ArrayRefusal> record_from(const std::vector<ActionSpec>& actions,
                                                        const ScriptStackState& state) const;

 private:
  friend class StackRecording;
  StackStatePtr state_of(const ScriptCall& call, const ScriptFunction& function,
                         std::int64_t batch) const;
  Tensor read(const StackState& state, std::int64_t size = -1) const;

  StackDefinitionPtr definition_;
  at::TensorOptions options_;
  ParameterList parameters_;
  std::int64_t hidden_;
  KeptValuePtr self_;
  std::int64_t reading_size_ = 0;
};

}  // namespace pushdown
