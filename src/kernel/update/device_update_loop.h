// The work of device_update.h by a team of threads (device_team.h).
#pragma once
#include "kernel/device_team.h"
#include "kernel/update/device_update.h"

namespace pushdown::device {

inline constexpr Index kPositionsOfBlock = 32;  // of the output layer
inline constexpr Index kNumbersOfBlock = 1024;  // of a gradient
inline constexpr Index kMostUpdateGroups = 32;  // of a team that sums

// Calls store(sum of all threads' values), once. near: kMostUpdateGroups numbers that are not in
// use.
template <class Team, class Store>
PUSHDOWN_DEVICE void sum_of_team(const Team& team, double value, double* near, const Store& store) {
  const double of_group = team.group_sum(value);
  if (team.lane() == 0) near[team.group()] = of_group;
  team.sync();
  if (team.id() != 0) return;
  double sum = 0;
  for (Index group = 0; group < team.groups(); ++group) sum += near[group];
  store(sum);
}

template <class F, class Team>
PUSHDOWN_DEVICE void begin_update(const Team& team, const DeviceUpdate<F>& of, Index model,
                                  Index sequence) {
  for (Index k = 0; k < of.copy_count; ++k) {
    const DeviceCopy<F>& copy = of.copies[k];
    if (copy.to_sequence == 0 && sequence > 0) continue;
    F* to = copy.to + model * copy.to_model + sequence * copy.to_sequence;
    const F* from = copy.from + model * copy.from_model + sequence * copy.from_sequence;
    const Index columns = static_cast<Index>(copy.columns);
    each(team, static_cast<Index>(copy.rows) * columns, [&](Index i) {
      const Index row = i / columns;
      const F value = from[row * copy.from_row + (i - row * columns) * copy.from_column];
      to[i] = copy.logistic ? sigmoid(value) : value;
    });
  }
}

// The output layer at the positions of one sequence.
template <class F>
struct OutputLayer {
  Index steps, hidden, outcomes;
  Index length;  // steps of this sequence
  std::int64_t last;
  const std::int64_t* symbols;
  const F* hiddens;
  std::int64_t hidden_step;
  F* scores;

  PUSHDOWN_DEVICE OutputLayer(const DeviceUpdate<F>& of, Index model, Index sequence)
      : steps(static_cast<Index>(of.steps)),
        hidden(static_cast<Index>(of.hidden)),
        outcomes(static_cast<Index>(of.outcomes)) {
    const Count place = model * of.batch + sequence;
    length = static_cast<Index>(of.lengths[place]);
    last = of.last[place];
    symbols = of.symbols + place * of.steps;
    hiddens = of.hiddens + model * of.hidden_model + sequence * of.hidden_row;
    hidden_step = of.hidden_step;
    scores = of.scores + place * (of.steps + 1) * of.outcomes;
  }

  // Returns the number of positions with an outcome.
  PUSHDOWN_DEVICE Index positions() const { return last < 0 ? 0 : length + 1; }
  PUSHDOWN_DEVICE std::int64_t target(Index t) const { return t < length ? symbols[t] : last; }
  // t > 0
  PUSHDOWN_DEVICE const F* hidden_at(Index t) const { return hiddens + (t - 1) * hidden_step; }
};

// Positions part * kPositionsOfBlock and following.
template <class F, class Team>
PUSHDOWN_DEVICE void update_outputs(const Team& team, const DeviceUpdate<F>& of, Index model,
                                    Index sequence, Index part) {
  const OutputLayer<F> layer(of, model, sequence);
  const F *weight = of.parameters + model * of.count + of.weight,
          *bias = of.parameters + model * of.count + of.bias;
  const Count place = model * of.batch + sequence;
  F* likelihoods = of.likelihoods + place * (of.steps + 1);
  const Index first = part * kPositionsOfBlock, hidden = layer.hidden, outcomes = layer.outcomes;
  const auto up_to = [&](Index end) {
    const Index count = end - first;
    return count < 0 ? 0 : count < kPositionsOfBlock ? count : kPositionsOfBlock;
  };
  const Index all = up_to(layer.steps + 1), count = up_to(layer.positions());
  each(team, all - count, [&](Index i) { likelihoods[first + count + i] = 0; });
  each(team, count * outcomes, [&](Index i) {
    const Index row = i / outcomes, v = i - row * outcomes, t = first + row;
    F sum = bias[v];
    if (t > 0) {
      const F *w = weight + v * hidden, *h = layer.hidden_at(t);
      for (Index k = 0; k < hidden; ++k) sum += w[k] * h[k];
    }
    layer.scores[t * outcomes + v] = sum;
  });
  team.sync();
  const F share = static_cast<F>(of.shares[model]);
  for (Index row = team.group(); row < count; row += team.groups()) {
    const Index t = first + row, target = static_cast<Index>(layer.target(t));
    F* scores = layer.scores + t * outcomes;
    F greatest = -HUGE_VALF, chosen = 0, sum = 0;
    for (Index v = team.lane(); v < outcomes; v += team.lanes())
      greatest = scores[v] > greatest ? scores[v] : greatest;
    greatest = team.group_greatest(greatest);
    for (Index v = team.lane(); v < outcomes; v += team.lanes()) {
      const F above = scores[v] - greatest;
      if (v == target) chosen = above;
      sum += scores[v] = exponential(above);
    }
    sum = team.group_sum(sum);
    for (Index v = team.lane(); v < outcomes; v += team.lanes()) {
      if (v == target) likelihoods[t] = chosen - std::log(sum);
      scores[v] = share * (scores[v] / sum - (v == target ? F(1) : F(0)));
    }
  }
  team.sync();
  F* slopes = of.slopes + place * of.steps * of.hidden;
  each(team, count * hidden, [&](Index i) {
    const Index row = i / hidden, k = i - row * hidden, t = first + row;
    if (t == 0) return;
    const F* scores = layer.scores + t * outcomes;
    F sum = 0;
    for (Index v = 0; v < outcomes; ++v) sum += scores[v] * weight[v * hidden + k];
    slopes[(t - 1) * hidden + k] = sum;
  });
}

// The gradient of W_vk, or of b_v for k = -1.
template <class F>
PUSHDOWN_DEVICE F output_gradient(const DeviceUpdate<F>& of, Index model, Index v, Index k) {
  F sum = 0;
  for (Index sequence = 0; sequence < of.batch; ++sequence) {
    const OutputLayer<F> layer(of, model, sequence);
    const Index positions = layer.positions();
    const F* scores = layer.scores + v;
    if (k < 0)
      for (Index t = 0; t < positions; ++t) sum += scores[t * layer.outcomes];
    else
      for (Index t = 1; t < positions; ++t)
        sum += scores[t * layer.outcomes] * layer.hidden_at(t)[k];
  }
  return sum;
}

template <class F>
PUSHDOWN_DEVICE F summand(const DeviceUpdate<F>& of, Index model, DeviceSummand from) {
  if (from.source == DeviceSummand::kNone) return 0;
  if (from.source == DeviceSummand::kBias) return output_gradient(of, model, from.i, -1);
  if (from.source == DeviceSummand::kWeight) {
    const Index v = from.i / static_cast<Index>(of.hidden);
    return output_gradient(of, model, v, from.i - v * static_cast<Index>(of.hidden));
  }
  const DeviceGradientSource<F>& source = of.sources[from.source];
  const F* numbers = source.numbers + model * source.model + from.i;
  F sum = 0;
  for (Count r = 0; r < source.count; ++r) sum += numbers[r * source.row];
  if (source.logistic == nullptr) return sum;
  const F value = source.logistic[model * source.logistic_model + from.i];
  return sum * value * (1 - value);
}

// Numbers block * kNumbersOfBlock and following. near: see sum_of_team().
template <class F, class Team>
PUSHDOWN_DEVICE void collect_gradients(const Team& team, const DeviceUpdate<F>& of, Index model,
                                       Index block, Index blocks, double* near) {
  const Index first = block * kNumbersOfBlock, rest = static_cast<Index>(of.count) - first;
  F* gradients = of.gradients + model * of.count + first;
  double squares = 0;
  each(team, rest < kNumbersOfBlock ? rest : kNumbersOfBlock, [&](Index i) {
    F sum = 0;
    for (Index k = of.starts[first + i]; k < of.starts[first + i + 1]; ++k)
      sum += summand(of, model, of.summands[k]);
    gradients[i] = sum;
    squares += static_cast<double>(sum) * static_cast<double>(sum);
  });
  sum_of_team(team, squares, near,
              [&](double sum) { of.squares[Count{model} * blocks + block] = sum; });
}

template <class F, class Team>
PUSHDOWN_DEVICE void sum_update(const Team& team, const DeviceUpdate<F>& of, Index model,
                                Index blocks, double* near) {
  const auto total = [&](const auto* numbers, Count count, double& to) {
    double sum = 0;
    each(team, count, [&](Count i) { sum += static_cast<double>(numbers[i]); });
    sum_of_team(team, sum, near, [&](double all) { to = all; });
  };
  DeviceUpdateSums& sums = of.sums[model];
  total(of.squares + Count{model} * blocks, blocks, sums.squares);
  team.sync();
  const Count positions = of.batch * (of.steps + 1);
  total(of.likelihoods + model * positions, positions, sums.log_probability);
}

// Number i of a member.
template <class F>
PUSHDOWN_DEVICE void optimizer_step(const DeviceOptimizerStep<F>& of, Index member, Index i) {
  if (of.starts[i] == of.starts[i + 1]) return;
  const DeviceStepMember& own = of.members[member];
  const Count place = own.row * of.count + i;
  F p = of.parameters[place], g = of.gradients[place] * static_cast<F>(own.clip);
  F a = of.first == nullptr ? F(0) : of.first[place],
    b = of.second == nullptr ? F(0) : of.second[place];
  if (of.method.decoupled)
    p *= static_cast<F>(own.keep);
  else
    g += static_cast<F>(of.method.weight_decay) * p;
  with_rule<F>(of.method, static_cast<F>(own.rate), [&](const auto& rule) { rule(p, g, a, b); });
  of.parameters[place] = p;
  if (of.first != nullptr) of.first[place] = a;
  if (of.second != nullptr) of.second[place] = b;
}

}  // namespace pushdown::device
