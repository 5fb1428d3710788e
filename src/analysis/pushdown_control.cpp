#include "analysis/pushdown_control.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/numbers.h"

namespace pushdown {
namespace {

const StatePushdown& network_of(const Recognizer& recognizer) {
  const auto* network = dynamic_cast<const StatePushdown*>(&recognizer.network());
  check(network != nullptr, "model.extract_pda",
        "expected a recognizer with architecture = 'nspda', got one with architecture = '{}'",
        recognizer.options()["architecture"].get<std::string>());
  check(!recognizer.memory_moves() || recognizer.refinement(false).passes == 1, "model.extract_pda",
        "evaluation_passes must be 1 with memory_in_passes = 'moves'");
  return *network;
}

}  // namespace

PushdownControl::PushdownControl(const Recognizer& recognizer)
    : recognizer_(recognizer),
      network_(network_of(recognizer)),
      third_(network_.order() == StatePushdown::Order::third),
      by_action_(recognizer.options()["reading"] == "action"),
      carry_first_(recognizer.refinement(false).carry_first),
      states_(network_.states()),
      symbols_(network_.symbols()),
      inputs_(network_.inputs()),
      passes_(recognizer.refinement(false).passes),
      state_weight_(numbers_of(network_.state_weight())),
      state_bias_(numbers_of(network_.state_bias())),
      action_weight_(numbers_of(network_.action_weight())),
      action_bias_(numbers_of(network_.action_bias())),
      output_weight_(numbers_of(recognizer.output_weight())),
      output_bias_(numbers_of(recognizer.output_bias())[0]) {
  if (network_.discrete() != StatePushdown::Discrete::never) {
    const double scale = network_.weight_scale();
    for (double& w : state_weight_) w = w > scale / 2 ? scale : 0;
    for (double& w : action_weight_) w = w > scale / 2 ? scale : w < -scale / 2 ? -scale : 0;
  }
  for (const double hint : numbers_of(network_.hints())) hints_.push_back(hint != 0);
}

PushdownControl::State PushdownControl::start() const {
  State state;
  state.neurons.assign(states_, 0);
  state.neurons[0] = 1;
  state.shown = by_action_ ? std::vector<std::int8_t>(symbols_, 0) : std::vector<std::int8_t>{-1};
  return state;
}

std::vector<double> PushdownControl::reading(const State& state, int top) const {
  if (!by_action_) return network_.reading(top, state.shown[0]);
  const auto& values = network_.values();
  std::vector<double> r;
  for (const auto a : state.shown)
    r.push_back(a > 0 ? values.top : a < 0 ? values.popped : values.other);
  r.push_back(top == symbols_ ? values.top : values.other);
  return r;
}

double PushdownControl::sum(const std::vector<double>& weight, const std::vector<double>& bias,
                            std::int64_t i, const State& state, const std::vector<double>& reading,
                            int input) const {
  const std::int64_t readings = symbols_ + 1;
  double v = bias[i];
  for (std::int64_t j = 0; j < states_; ++j) {
    if (state.neurons[j] == 0) continue;
    if (third_) {
      const double* w = weight.data() + ((i * states_ + j) * readings) * inputs_ + input;
      for (std::int64_t k = 0; k < readings; ++k) v += w[k * inputs_] * reading[k];
    } else {
      const double* w = weight.data() + (i * states_ + j) * (readings + inputs_);
      for (std::int64_t k = 0; k < readings; ++k) v += w[k] * reading[k];
      v += w[readings + input];
    }
  }
  return v;
}

std::vector<std::uint8_t> PushdownControl::next_neurons(const State& state,
                                                        const std::vector<double>& reading,
                                                        int input) const {
  std::vector<std::uint8_t> next(states_);
  for (std::int64_t i = 0; i < states_; ++i)
    next[i] = sum(state_weight_, state_bias_, i, state, reading, input) > 0;
  return next;
}

bool PushdownControl::hinted(const State& state, int top, int input) const {
  if (std::count(state.neurons.begin(), state.neurons.end(), 1) != 1) return false;
  const auto j = std::find(state.neurons.begin(), state.neurons.end(), 1) - state.neurons.begin();
  return hints_[(j * (symbols_ + 1) + top) * inputs_ + input] != 0;
}

void PushdownControl::refine(State& state, int top) const {
  if (state.refined < 0) return;
  const auto read = reading(state, top);
  for (std::int64_t pass = 1; pass < passes_; ++pass)
    state.neurons = next_neurons(state, read, state.refined);
  state.refined = -1;
}

PushdownControl::Step PushdownControl::step(State state, int top, int input) const {
  if (!carry_first_) refine(state, top);
  state.refined = -1;
  const auto read = reading(state, top);
  const auto action = [&](int neuron) {
    const double u = sum(action_weight_, action_bias_, neuron, state, read, input);
    return u > network_.push_threshold() ? 1 : u < network_.pop_threshold() ? -1 : 0;
  };
  Step result;
  if (input < symbols_ && action(input) == 1)
    result.action = PushdownAction::push;
  else if (top < symbols_ && action(top) == -1)
    result.action = PushdownAction::pop;
  State& next = result.state;
  if (by_action_)
    for (int i = 0; i < symbols_; ++i) next.shown.push_back(static_cast<std::int8_t>(action(i)));
  else
    next.shown = {static_cast<std::int8_t>(result.action == PushdownAction::pop ? top : -1)};
  next.neurons = next_neurons(state, read, input);
  next.ended = input == symbols_;
  if (passes_ > 1 && !hinted(state, top, input)) next.refined = input;
  // After a push or no action, the new top is known.
  if (next.refined >= 0 && !carry_first_ && result.action != PushdownAction::pop)
    refine(next, result.action == PushdownAction::push ? input : top);
  return result;
}

bool PushdownControl::accepts(State state, int top) const {
  refine(state, top);
  double score = output_bias_;
  for (std::int64_t i = 0; i < states_; ++i) score += output_weight_[i] * state.neurons[i];
  return score > recognizer_.threshold();
}

}  // namespace pushdown
