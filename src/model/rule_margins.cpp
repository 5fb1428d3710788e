#include "model/rule_margins.h"

#include <algorithm>
#include <limits>

namespace pushdown {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  double low = 0, high = 0;
};

Interval scaled(double weight, double low, double high) {
  return weight >= 0 ? Interval{weight * low, weight * high}
                     : Interval{weight * high, weight * low};
}

class Measure {
 public:
  Measure(const NetworkShape& shape, const StatePushdown& network, const Numbers& numbers)
      : shape_(shape), network_(network), numbers_(numbers) {}

  Margins run(const RuleSet& rules, const Encoding& encoding) {
    result_.kinds.fill(kInfinity);
    for (std::int64_t i = 0; i < shape_.states; ++i)
      note(kSilent, -numbers_[Programmed::state_bias][i]);
    for (std::size_t r = 0; r < rules.rules.size(); ++r) {
      least_ = kInfinity;
      for (const int j : encoding.neurons[rules.rules[r].state])
        measure(rules.rules[r], encoding.targets[r], j);
      result_.rules.push_back(least_);
    }
    return result_;
  }

 private:
  void note(MarginKind kind, double margin) {
    least_ = std::min(least_, margin);
    result_.kinds[kind] = std::min(result_.kinds[kind], margin);
  }

  // Returns the range of the pre-activation of neuron i over all readings with this top.
  Interval range(Programmed::Tensor weight, std::int64_t i, std::int64_t j,
                 const EncodedRule& rule) const {
    const auto& w = numbers_[weight];
    const auto& least = network_.least_values();
    const auto& most = network_.greatest_values();
    const auto bias =
        weight == Programmed::state_weight ? Programmed::state_bias : Programmed::action_bias;
    double fixed = numbers_[bias][i];
    if (!shape_.third) fixed += w[shape_.input(i, j, rule.symbol)];
    Interval sum{fixed, fixed};
    double lower = 0, higher = 0;  // contribution of a popped symbol
    for (std::int64_t k = 0; k < shape_.readings(); ++k) {
      const double one =
          w[shape_.third ? shape_.third_order(i, j, k, rule.symbol) : shape_.read(i, j, k)];
      const auto at =
          k == rule.top ? scaled(one, least.top, most.top) : scaled(one, least.other, most.other);
      sum.low += at.low;
      sum.high += at.high;
      if (k == rule.top || k == shape_.symbols) continue;
      const auto popped = scaled(one, least.popped, most.popped);
      lower = std::min(lower, popped.low - at.low);
      higher = std::max(higher, popped.high - at.high);
    }
    return {sum.low + lower, sum.high + higher};
  }

  void measure(const EncodedRule& rule, int target, int j) {
    for (std::int64_t i = 0; i < shape_.states; ++i) {
      const auto v = range(Programmed::state_weight, i, j, rule);
      if (i == target)
        note(kFires, v.low);
      else
        note(kSilent, -v.high);
    }
    if (rule.action == EncodedRule::Action::any) return;
    if (rule.symbol < shape_.symbols) {
      const auto u = range(Programmed::action_weight, rule.symbol, j, rule);
      if (rule.action == EncodedRule::Action::push)
        return note(kPush, u.low - network_.push_threshold());
      note(kNothing, network_.push_threshold() - u.high);
    }
    if (rule.top < shape_.symbols) {
      const auto u = range(Programmed::action_weight, rule.top, j, rule);
      if (rule.action == EncodedRule::Action::pop)
        note(kPop, network_.pop_threshold() - u.high);
      else
        note(kNothing, u.low - network_.pop_threshold());
    }
  }

  NetworkShape shape_;
  const StatePushdown& network_;
  const Numbers& numbers_;
  Margins result_;
  double least_ = kInfinity;
};

}  // namespace

double Margins::least() const { return *std::min_element(kinds.begin(), kinds.end()); }

Numbers discrete(Numbers numbers, double scale) {
  for (double& w : numbers[Programmed::state_weight]) w = w > scale / 2 ? scale : 0;
  for (double& w : numbers[Programmed::action_weight])
    w = w > scale / 2 ? scale : w < -scale / 2 ? -scale : 0;
  return numbers;
}

Margins margins(const RuleSet& rules, const Encoding& encoding, const NetworkShape& shape,
                const StatePushdown& network, const Numbers& numbers) {
  return Measure(shape, network, numbers).run(rules, encoding);
}

}  // namespace pushdown
