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

Passes StatePushdown::advance_stepwise(const Tensor& words, const Refinement& refinement,
                                       const StatePushdownState& state,
                                       const Weights& weights) const {
  const auto batch = words.size(0), length = words.size(1), passes = refinement.passes;
  const Tensor ids = words.cpu().contiguous();
  const auto* symbols = ids.data_ptr<std::int64_t>();
  auto stacks = std::make_shared<StatePushdownState::Stacks>(*state.stacks);
  Tensor z = state.neurons, r = state.reading;
  std::vector<Tensor> hiddens, made;
  // Returns the sum over j, k of W z r for the symbols at one time : B x rows
  const auto sums = [&](const Tensor& weight, const Tensor& bias, const Tensor& now) {
    if (order_ == Order::third)
      return bias + at::einsum("ijkb,bj,bk->bi", {weight.index_select(3, now), z, r});
    const Tensor x = at::one_hot(now, inputs_).to(r.scalar_type());
    return bias + at::einsum("ijc,bj,bc->bi", {weight, z, at::cat({r, x}, 1)});
  };
  const auto quantised = [&](const Tensor& v) {
    return straight_through(v.gt(0).to(v.scalar_type()), v.sigmoid());
  };
  // Returns a column with one constant number for each string.
  const auto column = [&](auto value) {
    Tensor values = at::empty({batch, 1}, at::kDouble);
    for (std::int64_t b = 0; b < batch; ++b) values.data_ptr<double>()[b] = value(b);
    return values.to(options_);
  };
  const auto rows = [&](auto row) {
    std::vector<Tensor> all;
    for (std::int64_t b = 0; b < batch; ++b) all.push_back(at::tensor(row(b), at::kDouble));
    return at::stack(all).to(options_);
  };

  const StopCheck stop;
  for (std::int64_t t = 0; t < length; ++t) {
    stop();
    const auto symbol = [&](std::int64_t b) { return symbols[b * length + t]; };
    const auto top = [&](std::int64_t b, std::size_t below = 0) {
      const auto& stack = (*stacks)[b];
      return stack.size() > below ? stack[stack.size() - 1 - below] : symbols_;
    };
    const auto is_string_symbol = [&](std::int64_t b) { return symbol(b) < symbols_ ? 1.0 : 0.0; };
    const auto is_filled = [&](std::int64_t b) { return top(b) < symbols_ ? 1.0 : 0.0; };
    const Tensor now = ids.select(1, t).to(options_.device());

    // Whether the further passes are made.
    Tensor repeats;
    if (passes > 1) {
      const Tensor neurons = z.detach().to(at::kCPU, at::kDouble).contiguous();
      const bool* hints = hints_.data_ptr<bool>();
      repeats = column([&](std::int64_t b) {
        const auto* row = neurons.data_ptr<double>() + b * states_;
        const auto* active = std::find_if(row, row + states_, [](double x) { return x != 0; });
        const auto count = states_ - std::count(row, row + states_, 0.0);
        return count == 1 && hints[((active - row) * readings() + top(b)) * inputs_ + symbol(b)]
                   ? 0.0
                   : 1.0;
      });
    }

    // Pass 1: state, actions, stack, reading.
    const Tensor u = sums(weights.action, action_bias_, now);
    const Tensor next = quantised(sums(weights.state, state_bias_, now));
    const Tensor levels =
        u.gt(push_threshold_).to(u.scalar_type()) - u.lt(pop_threshold_).to(u.scalar_type());
    const Tensor a = straight_through(levels, 2 * u.sigmoid() - 1);  // B x V
    const auto action_of = [&](auto neuron) {
      // If there is no such neuron, its value is removed below.
      const Tensor index = column([&](std::int64_t b) {
                             return static_cast<double>(std::min(neuron(b), symbols_ - 1));
                           }).to(at::kLong);
      return a.gather(1, index);
    };
    const Tensor p = positive_part(action_of(symbol)) * column(is_string_symbol);
    const Tensor q = positive_part(-action_of(top)) * column(is_filled);
    if (reading_kind_ == Reading::top) {
      const Tensor pushed =
          rows([&](auto b) { return reading(std::min(symbol(b), symbols_), -1); });
      const Tensor popped =
          rows([&](auto b) { return reading(top(b, 1), top(b) < symbols_ ? top(b) : -1); });
      const Tensor kept = rows([&](auto b) { return reading(top(b)); });
      r = p * pushed + (1 - p) * q * popped + (1 - p) * (1 - q) * kept;
    }
    const Tensor push = p.detach().to(at::kCPU, at::kDouble).contiguous();
    const Tensor pop = q.detach().to(at::kCPU, at::kDouble).contiguous();
    for (std::int64_t b = 0; b < batch; ++b) {
      if (push.data_ptr<double>()[b] == 1)
        (*stacks)[b].push_back(symbol(b));
      else if (pop.data_ptr<double>()[b] == 1)
        (*stacks)[b].pop_back();
    }
    if (reading_kind_ == Reading::action) {
      const Tensor empty =
          column([&](std::int64_t b) { return top(b) < symbols_ ? values_.other : values_.top; });
      r = at::cat({values_.other + positive_part(a) * (values_.top - values_.other) +
                       positive_part(-a) * (values_.popped - values_.other),
                   empty},
                  1);
    }
    z = next;
    hiddens.push_back(z);
    if (passes > 1) made.push_back(at::ones_like(repeats));

    for (std::int64_t k = 1; k < passes; ++k) {
      stop();
      z = at::where(repeats > 0, quantised(sums(weights.state, state_bias_, now)), z);
      hiddens.push_back(z);
      made.push_back(repeats);
    }
    if (refinement.carry_first) z = next;
  }

  auto end = std::make_shared<StatePushdownState>();
  end->neurons = z;
  end->reading = r;
  end->stacks = stacks;
  Passes result;
  result.hiddens =
      hiddens.empty() ? at::empty({batch, 0, states_}, options_) : at::stack(hiddens, 1);
  if (!made.empty()) result.weights = at::cat(made, 1);
  result.state = end;
  return result;
}

}  // namespace pushdown
