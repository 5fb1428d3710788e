// The recordings of a stack that a script defines.
#include "array/appended_parts.h"
#include "array/unread_numbers.h"
#include "bindings/define/stack_structure.h"

namespace pushdown {

class StackRecording {
 public:
  StackRecording(const StackStructure& of, const std::vector<ActionSpec>& actions,
                 std::int64_t steps)
      : of_(of), actions_(actions), steps_(steps) {
    names_.push_back("state");
    for (const auto& spec : actions) names_.push_back(spec.name);
    if (actions.empty()) names_.push_back("hidden");
    for (const auto& entry : of.parameters_) names_.push_back(entry.first);
  }

  std::variant<StackPrograms, ArrayRefusal> run() {
    const at::AutoGradMode with_gradient(true);
    ArrayProgram reading, update;
    reading.inputs = update.inputs = names_;
    RecordedStep last, other;
    std::vector<std::vector<std::int64_t>> sizes;  // of the state before each step
    for (std::int64_t t = 0; t < steps_ && !refusal_; ++t) {
      const bool settled = t > 1 && same_form(before_, last.state);
      before_ = last.state;
      sizes.push_back(sizes_of(before_));
      RecordedStep now = step(t, kRecordedBatch, before_);
      if (refusal_) break;
      if (t < 2) {
        // Sizes and numbers must not depend on the batch or on earlier calls.
        other = step(t, kOtherBatch, other.state);
        if (!refusal_ && !(now.reading == other.reading && now.update == other.update))
          refusal_ = differs();
        if (refusal_) break;
      }
      const bool same = t > 1 && now.reading == last.reading && now.update == last.update;
      if (same) {
        reading.steps.push_back(reading.steps.back());
        update.steps.push_back(update.steps.back());
      } else {
        reading.append(now.reading);
        update.append(now.update);
      }
      last = std::move(now);
      if (same && settled && same_form(before_, last.state)) {
        // All further steps are the same.
        reading.steps.resize(steps_, reading.steps.back());
        update.steps.resize(steps_, update.steps.back());
        sizes.resize(steps_, sizes.back());
        break;
      }
      if (reading.instructions.size() + update.instructions.size() > kMostInstructions)
        refusal_ = ArrayRefusal{
            fmt::format("its steps differ and take more than {} instructions", kMostInstructions),
            of_.definition_->update.position};
    }
    if (refusal_) return *refusal_;
    // Nothing reads the state after the last step.
    update.steps.pop_back();
    update.append_idle();
    update.output = std::max<std::int64_t>(1, update.output);
    const auto appended = share_appended_parts(sizes, reading, update);
    drop_unread_numbers(reading, update);
    reading.finish();
    update.finish();
    return StackPrograms{std::make_shared<const ArrayProgram>(std::move(reading)),
                         std::make_shared<const ArrayProgram>(std::move(update)), appended};
  }

  std::variant<StackPrograms, ArrayRefusal> run_from(const ScriptStackState& state) {
    const at::AutoGradMode with_gradient(true);
    const auto like = [&](std::int64_t batch) {
      auto made = std::make_shared<ScriptStackState>(state);
      made->batch = batch;
      int number = 0;
      for (Tensor& tensor : made->value.tensors) {
        auto sizes = tensor.sizes().vec();
        sizes[0] = batch;
        const Tensor values = recorded_numbers(sizes, of_.options_, --number);
        tensor = tensor.scalar_type() == at::kBool ? values.gt(0.5) : values;
      }
      return made;
    };
    const StackStatePtr first = like(kRecordedBatch);
    const RecordedStep made = step(1, kRecordedBatch, first);
    if (refusal_) return *refusal_;
    const RecordedStep other = step(1, kOtherBatch, like(kOtherBatch));
    if (!refusal_ && !(made.reading == other.reading && made.update == other.update))
      refusal_ = differs();
    if (refusal_) return *refusal_;
    ArrayProgram reading = made.reading, update = made.update;
    reading.finish();
    update.finish();
    return StackPrograms{std::make_shared<const ArrayProgram>(std::move(reading)),
                         std::make_shared<const ArrayProgram>(std::move(update)), 0,
                         same_frame(made.state, other.state) ? made.state : nullptr,
                         same_form(first, made.state)};
  }

 private:
  // The programs of one step, and the state after it.
  struct RecordedStep {
    ArrayProgram reading, update;
    StackStatePtr state;
  };

  static constexpr std::size_t kMostInstructions = 100'000;

  ArrayRefusal differs() const {
    return {"a second call, or one with another number of sequences, does something else",
            of_.definition_->update.position};
  }

  static bool same_frame(const StackStatePtr& a, const StackStatePtr& b) {
    return static_cast<const ScriptStackState&>(*a).value.frame ==
           static_cast<const ScriptStackState&>(*b).value.frame;
  }
  static bool same_form(const StackStatePtr& a, const StackStatePtr& b) {
    const auto &one = static_cast<const ScriptStackState&>(*a).value,
               &other = static_cast<const ScriptStackState&>(*b).value;
    return same_frame(a, b) && one.tensors.size() == other.tensors.size() &&
           std::equal(one.tensors.begin(), one.tensors.end(), other.tensors.begin(),
                      [](const Tensor& x, const Tensor& y) { return x.sizes() == y.sizes(); });
  }

  // Of the parts of a state, for one sequence.
  static std::vector<std::int64_t> sizes_of(const StackStatePtr& state) {
    std::vector<std::int64_t> sizes;
    if (state == nullptr) return sizes;
    const auto& own = static_cast<const ScriptStackState&>(*state);
    for (const Tensor& tensor : own.value.tensors) sizes.push_back(tensor.numel() / own.batch);
    return sizes;
  }

  RecordedStep step(std::int64_t t, std::int64_t batch, const StackStatePtr& old) {
    RecordedStep made;
    made.reading.inputs = made.update.inputs = names_;
    record(t, batch, old, true, made);
    if (!refusal_) record(t, batch, old, false, made);
    return made;
  }

  void record(std::int64_t t, std::int64_t batch, const StackStatePtr& old, bool reading,
              RecordedStep& made) {
    ArrayGraph graph;
    ArrayRecorder recorder(graph, batch, running_position);
    std::vector<std::vector<double>> inputs(1);
    auto state = std::make_shared<ScriptStackState>();
    if (old != nullptr) {
      *state = static_cast<const ScriptStackState&>(*old);
      std::int64_t offset = 0;
      for (Tensor& tensor : state->value.tensors) {
        if (!tensor.is_floating_point() && tensor.scalar_type() != at::kBool) {
          refusal_ = ArrayRefusal{"a state has whole numbers in a tensor",
                                  of_.definition_->update.position};
          return;
        }
        tensor = tensor.detach().clone();
        recorder.input(tensor, 0, offset);
        offset += tensor.numel() / batch;
        const auto numbers = first_numbers(tensor);
        inputs[0].insert(inputs[0].end(), numbers.begin(), numbers.end());
      }
    }
    int which = 1;
    NamedTensors drive;
    const auto action = [&](const std::string& name, std::vector<std::int64_t> shape) {
      shape.insert(shape.begin(), batch);
      const Tensor values = recorded_numbers(shape, of_.options_, which);
      recorder.input(values, which++, 0);
      inputs.push_back(first_numbers(values));
      drive[name] = values;
    };
    for (const auto& spec : actions_) action(spec.name, spec.shape);
    if (actions_.empty()) action("hidden", {of_.hidden_});
    for (const auto& entry : of_.parameters_) {
      recorder.parameter(entry.second, which++);
      inputs.push_back(first_numbers(entry.second.unsqueeze(0)));
    }
    std::vector<Tensor> results;
    StackStatePtr from = state;
    {
      const OperatorWatch watch(recorder);
      if (old == nullptr) from = of_.initial(batch, steps_);
      if (reading) {
        results = {of_.reading(from)};
      } else {
        made.state = of_.update(from, drive);
        results = static_cast<const ScriptStackState&>(*made.state).value.tensors;
      }
    }
    std::vector<int> nodes;
    std::vector<double> wanted;
    for (const Tensor& result : results) {
      if (const auto node = recorder.output(result)) nodes.push_back(*node);
      const auto numbers = first_numbers(result);
      wanted.insert(wanted.end(), numbers.begin(), numbers.end());
    }
    const ScriptFunction& function = reading ? of_.definition_->reading : of_.definition_->update;
    ArrayProgram& program = reading ? made.reading : made.update;
    const bool compared = (t < 3 || t + 1 == steps_) && batch == kRecordedBatch;
    refusal_ = add_recorded(recorder, graph, nodes, function, program, [&] {
      return !compared || computes(program, inputs, wanted, of_.options_);
    });
  }

  const StackStructure& of_;
  const std::vector<ActionSpec>& actions_;
  std::int64_t steps_;
  std::vector<std::string> names_;
  StackStatePtr before_;
  std::optional<ArrayRefusal> refusal_;
};

std::variant<StackPrograms, ArrayRefusal> StackStructure::record(
    const std::vector<ActionSpec>& actions, std::int64_t steps) const {
  return StackRecording(*this, actions, steps).run();
}
std::variant<StackPrograms, ArrayRefusal> StackStructure::record_from(
    const std::vector<ActionSpec>& actions, const ScriptStackState& state) const {
  return StackRecording(*this, actions, 0).run_from(state);
}

}  // namespace pushdown
