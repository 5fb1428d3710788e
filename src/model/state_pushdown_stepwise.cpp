// The step of the neural state pushdown automaton in tensor operations: its reference definition.
#include "model/state_pushdown.h"

#include "base/stopping.h"

namespace pushdown {
namespace {

// Returns `quantised` in the forward pass, with the derivative of `smooth`.
Tensor straight_through(const Tensor& quantised, const Tensor& smooth) {
  return smooth.requires_grad() ? quantised + (smooth - smooth.detach()) : quantised;
}

}  // namespace

StatePushdown::Weights StatePushdown::weights(bool discrete) const {
  if (!discrete) return {state_weight_, action_weight_};
  const double scale = weight_scale();
  const auto rounded = [&](const Tensor& weight, bool negative) {
    const Tensor full = weight.detach();
    Tensor levels = (full > scale / 2).to(full.scalar_type());
    if (negative) levels = levels - (full < -scale / 2).to(full.scalar_type());
    return at::GradMode::is_enabled() ? straight_through(levels * scale, weight) : levels * scale;
  };
  return {rounded(state_weight_, false), rounded(action_weight_, true)};
}

// What the steps of a batch have in common, with the state between them. z and r are the paper's
// names of the state neurons, B x J, and of the reading, B x R.
struct StatePushdown::Stepwise {
  // The symbol of string b that is read now, and the one on its stack `below` symbols under the
  // top; the number of symbols stands for none.
  std::int64_t symbol(std::int64_t b) const {
    return ids.data_ptr<std::int64_t>()[b * ids.size(1) + time];
  }
  std::int64_t top(std::int64_t b, std::size_t below = 0) const {
    const auto& stack = stacks[b];
    return stack.size() > below ? stack[stack.size() - 1 - below] : network.symbols_;
  }
  bool is_empty(std::int64_t b) const { return top(b) == network.symbols_; }

  // Return one number, B x 1, and one row, B x ..., for each string.
  template <class Value>
  Tensor column(const Value& value) const {
    Tensor values = at::empty({ids.size(0), 1}, at::kDouble);
    for (std::int64_t b = 0; b < ids.size(0); ++b) values.data_ptr<double>()[b] = value(b);
    return values.to(network.options_);
  }
  template <class Row>
  Tensor rows(const Row& row) const {
    std::vector<Tensor> tensors;
    for (std::int64_t b = 0; b < ids.size(0); ++b)
      tensors.push_back(at::tensor(row(b), at::kDouble));
    return at::stack(tensors).to(network.options_);
  }

  // Returns the sum over j, k of W z r for the symbols of this time: B x rows
  Tensor sums(const Tensor& weight, const Tensor& bias) const {
    const Tensor now = ids.select(1, time).to(network.options_.device());
    if (network.order_ == Order::third)
      return bias + at::einsum("ijkb,bj,bk->bi", {weight.index_select(3, now), z, r});
    const Tensor x = at::one_hot(now, network.inputs_).to(r.scalar_type());
    return bias + at::einsum("ijc,bj,bc->bi", {weight, z, at::cat({r, x}, 1)});
  }
  Tensor next_neurons() const {
    const Tensor sum = sums(weights.state, network.state_bias_);
    return straight_through(sum.gt(0).to(sum.scalar_type()), sum.sigmoid());
  }
  // Returns the actions of all symbols, -1, 0 or 1: B x V
  Tensor actions() const {
    const Tensor u = sums(weights.action, network.action_bias_);
    const Tensor levels = u.gt(network.push_threshold_).to(u.scalar_type()) -
                          u.lt(network.pop_threshold_).to(u.scalar_type());
    return straight_through(levels, 2 * u.sigmoid() - 1);
  }
  // Returns whether the passes after the first one are made, B x 1: not where a hint has the only
  // active neuron, the top and the symbol.
  Tensor repeats() const {
    const auto states = network.states_;
    const Tensor neurons = z.detach().to(at::kCPU, at::kDouble).contiguous();
    const bool* hints = network.hints_.data_ptr<bool>();
    return column([&](std::int64_t b) {
      const auto* row = neurons.data_ptr<double>() + b * states;
      const auto* active = std::find_if(row, row + states, [](double x) { return x != 0; });
      if (states - std::count(row, row + states, 0.0) != 1) return 1.0;
      const auto place =
          ((active - row) * network.readings() + top(b)) * network.inputs_ + symbol(b);
      return hints[place] ? 0.0 : 1.0;
    });
  }
  // Returns the action of one symbol of each string, B x 1. The value is removed afterwards where
  // there is no such symbol.
  template <class Symbol>
  Tensor action_of(const Tensor& actions, const Symbol& symbol_of) const {
    const Tensor index = column([&](std::int64_t b) {
      return static_cast<double>(std::min(symbol_of(b), network.symbols_ - 1));
    });
    return actions.gather(1, index.to(at::kLong));
  }

  // Moves the stacks by the actions and sets the reading.
  void act(const Tensor& actions) {
    const Tensor push =
        positive_part(action_of(actions, [&](std::int64_t b) { return symbol(b); })) *
        column([&](std::int64_t b) { return symbol(b) < network.symbols_ ? 1.0 : 0.0; });
    const Tensor pop = positive_part(-action_of(actions, [&](std::int64_t b) { return top(b); })) *
                       column([&](std::int64_t b) { return is_empty(b) ? 0.0 : 1.0; });
    if (network.reading_kind_ == Reading::top) r = reading_of_top(push, pop);
    const Tensor pushes = push.detach().to(at::kCPU, at::kDouble).contiguous();
    const Tensor pops = pop.detach().to(at::kCPU, at::kDouble).contiguous();
    for (std::int64_t b = 0; b < ids.size(0); ++b) {
      if (pushes.data_ptr<double>()[b] == 1)
        stacks[b].push_back(symbol(b));
      else if (pops.data_ptr<double>()[b] == 1)
        stacks[b].pop_back();
    }
    if (network.reading_kind_ == Reading::action) r = reading_of_actions(actions);
  }
  // Before the stacks move.
  Tensor reading_of_top(const Tensor& push, const Tensor& pop) const {
    const auto symbols = network.symbols_;
    const Tensor pushed =
        rows([&](auto b) { return network.reading(std::min(symbol(b), symbols), -1); });
    const Tensor popped =
        rows([&](auto b) { return network.reading(top(b, 1), is_empty(b) ? -1 : top(b)); });
    const Tensor kept = rows([&](auto b) { return network.reading(top(b)); });
    return push * pushed + (1 - push) * pop * popped + (1 - push) * (1 - pop) * kept;
  }
  // After the stacks have moved.
  Tensor reading_of_actions(const Tensor& actions) const {
    const auto& values = network.values_;
    const Tensor empty = column([&](auto b) { return is_empty(b) ? values.top : values.other; });
    return at::cat({values.other + positive_part(actions) * (values.top - values.other) +
                        positive_part(-actions) * (values.popped - values.other),
                    empty},
                   1);
  }

  const StatePushdown& network;
  const Weights& weights;
  const Tensor ids;  // B x n, on the CPU
  StatePushdownState::Stacks& stacks;
  Tensor z, r;
  std::int64_t time = 0;
};

Passes StatePushdown::advance_stepwise(const Tensor& words, const Refinement& refinement,
                                       const StatePushdownState& state,
                                       const Weights& weights) const {
  const auto stacks = std::make_shared<StatePushdownState::Stacks>(*state.stacks);
  Stepwise step{*this, weights, words.cpu().contiguous(), *stacks, state.neurons, state.reading};
  std::vector<Tensor> hiddens, made;
  const StopCheck stop;
  for (; step.time < words.size(1); ++step.time) {
    stop();
    const Tensor repeats = refinement.passes > 1 ? step.repeats() : Tensor();
    const Tensor actions = step.actions(), next = step.next_neurons();
    step.act(actions);
    step.z = next;
    hiddens.push_back(step.z);
    if (repeats.defined()) made.push_back(at::ones_like(repeats));
    for (std::int64_t k = 1; k < refinement.passes; ++k) {
      stop();
      step.z = at::where(repeats > 0, step.next_neurons(), step.z);
      hiddens.push_back(step.z);
      made.push_back(repeats);
    }
    if (refinement.carry_first) step.z = next;
  }

  auto end = std::make_shared<StatePushdownState>();
  end->neurons = step.z;
  end->reading = step.r;
  end->stacks = stacks;
  Passes result;
  result.hiddens =
      hiddens.empty() ? at::empty({words.size(0), 0, states_}, options_) : at::stack(hiddens, 1);
  if (!made.empty()) result.weights = at::cat(made, 1);
  result.state = end;
  return result;
}

}  // namespace pushdown
