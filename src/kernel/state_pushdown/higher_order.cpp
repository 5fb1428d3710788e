#include "kernel/state_pushdown/higher_order.h"

#include <algorithm>
#include <cmath>

namespace pushdown {
namespace {

using Index = std::int64_t;

// Calls visit(index of W_ijc or b_i in the parameters, index in the packed ones).
template <class Visit>
void each_parameter(const HigherOrderShape& shape, Visit visit) {
  const Index rows = shape.rows(), states = shape.states, columns = shape.columns();
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < states; ++j)
      for (Index c = 0; c < columns; ++c)
        visit((i * states + j) * columns + c, c * shape.slab() + j * shape.padded() + i);
  for (Index i = 0; i < rows; ++i) visit(rows * states * columns + i, columns * shape.slab() + i);
}

}  // namespace

std::vector<double> pack_parameters(const HigherOrderShape& shape, const double* parameters) {
  std::vector<double> packed(static_cast<std::size_t>(shape.packed()));
  each_parameter(shape, [&](Index at, Index place) { packed[place] = parameters[at]; });
  return packed;
}

void add_unpacked(const HigherOrderShape& shape, const std::vector<double>& packed,
                  double* parameters) {
  each_parameter(shape, [&](Index at, Index place) { parameters[at] += packed[place]; });
}

HigherOrderSteps::HigherOrderSteps(const HigherOrderShape& shape, const double* packed)
    : shape_(shape),
      weights_(packed),
      state_(shape.states),
      factors_(shape.factors()),
      matrix_(shape.slab()),
      neurons_((shape.passes + 1) * shape.states),
      slopes_(shape.passes * shape.states),
      sums_(shape.padded()),
      turned_(shape.slab()),
      change_(shape.states),
      now_(shape.states),
      old_(shape.states),
      factor_changes_(shape.factors()) {
  if (shape.first_active) state_[0] = 1;
}

std::int64_t HigherOrderSteps::state_size() const {
  return shape_.states + (shape_.stack ? 1 + std::ssize(lengths_) : 0);
}

void HigherOrderSteps::read_stack() {
  std::fill(factors_.begin(), factors_.end(), 0.0);
  double above = 0;
  for (Index i = std::ssize(lengths_) - 1; i >= 0; --i) {
    factors_[sections_[i]] += std::min(lengths_[i], std::max(0.0, 1 - above));
    above += lengths_[i];
  }
  if (shape_.bottom)
    for (Index k = 0; k <= shape_.symbols; ++k)
      factors_[shape_.symbols] += k < shape_.symbols ? -factors_[k] : 1;
}

void HigherOrderSteps::move_stack(Index symbol, double sum) {
  const bool running = underflow_ == 0;
  double action = std::tanh(sum / 2), length = 0;
  action_slope_ = (1 - action * action) / 2;
  if (!running || symbol >= shape_.symbols || std::abs(action) <= shape_.epsilon)
    action = action_slope_ = 0;
  for (const double section : lengths_) length += section;
  refused_ =
      shape_.stops && action < 0 && (length < -(1 - shape_.tolerance) * action || length <= 0);
  if (refused_) {
    underflow_ = -(length + action);
    action = 0;
  }
  first_moves_ = running && !refused_;
  later_moves_ = underflow_ == 0;
  move_ = action > 0 ? 1 : action < 0 ? -1 : 0;

  lengths_before_ = lengths_;
  is_cut_.assign(lengths_.size(), false);
  is_left_.assign(lengths_.size(), false);
  double above = 0;
  for (Index i = std::ssize(lengths_) - 1; i >= 0; --i) {
    const double pop = std::max(0.0, -action) - above, rest = lengths_[i] - std::max(0.0, pop);
    above += lengths_[i];
    is_cut_[i] = pop > 0;
    is_left_[i] = rest > 0;
    lengths_[i] = std::max(0.0, rest);
  }
  if (action > 0) {
    lengths_.push_back(action);
    sections_.push_back(symbol);
  }
}

// Sums the first `count` columns of the symbol, each times its factor.
void HigherOrderSteps::mix(const Numbers& factors, Index count, Numbers& matrix) const {
  std::fill(matrix.begin(), matrix.end(), 0.0);
  for (Index k = 0; k < count; ++k)
    rows_.add_multiple(matrix.data(), column(k), factors[k], shape_.slab());
}

void HigherOrderSteps::read(Index symbol) {
  const Index states = shape_.states, rows = shape_.rows(), padded = shape_.padded();
  symbol_ = symbol;
  if (shape_.stack) read_stack();
  if (!shape_.third) factors_.back() = 1;
  mix(factors_, shape_.factors(), matrix_);
  std::copy(state_.begin(), state_.end(), neurons_.begin());
  for (Index k = 0; k < shape_.passes; ++k) {
    std::copy(bias(), bias() + padded, sums_.begin());
    rows_.add_product(sums_.data(), matrix_.data(), before(k), states, padded);
    if (k == 0 && shape_.stack) move_stack(symbol, sums_[rows - 1]);
    double* made = neurons_.data() + (k + 1) * states;
    double* slopes = slopes_.data() + k * states;
    for (Index i = 0; i < states; ++i) {
      const double tangent = std::tanh(shape_.rate * sums_[i]);
      made[i] = moves(k) ? shape_.shift + shape_.scale * tangent : before(k)[i];
      slopes[i] = moves(k) ? shape_.scale * shape_.rate * (1 - tangent * tangent) : 0;
    }
  }
  std::copy(after(carried()), after(carried()) + states, state_.begin());
}

void HigherOrderSteps::hiddens(double* to) const {
  double length = 0;
  for (const double section : lengths_) length += section;
  for (Index k = 0; k < shape_.passes; ++k) {
    to = std::copy(after(k), after(k) + shape_.states, to);
    if (!shape_.stack) continue;
    *to++ = length;
    *to++ = underflow_;
  }
}

void HigherOrderSteps::push_forward(const Numbers& state, Numbers& next, Numbers& hiddens) {
  const Index states = shape_.states, padded = shape_.padded();
  const Index sections = std::ssize(lengths_before_);
  const double* lengths = state.data() + states + 1;

  // Changes of L, of q and of M.
  double length = 0;
  if (shape_.stack) {
    Numbers& factors = factor_changes_;
    std::fill(factors.begin(), factors.end(), 0.0);
    double above = 0;
    for (Index i = sections - 1; i >= 0; --i) {
      const double room = 1 - above;
      factors[sections_[i]] += lengths_before_[i] <= std::max(0.0, room) ? lengths[i]
                               : room > 0                                ? -length
                                                                         : 0;
      above += lengths_before_[i];
      length += lengths[i];
    }
    if (shape_.bottom)
      for (Index k = 0; k < shape_.symbols; ++k) factors[shape_.symbols] -= factors[k];
    mix(factors, shape_.readings(), turned_);
  }

  next.assign(state_size(), 0);
  hiddens.assign(shape_.passes * shape_.hidden_size(), 0);
  Numbers& neurons = change_;
  std::copy_n(state.begin(), states, neurons.begin());
  double length_after = 0;
  for (Index k = 0; k < shape_.passes; ++k) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    rows_.add_product(sums_.data(), matrix_.data(), neurons.data(), states, padded);
    if (shape_.stack) rows_.add_product(sums_.data(), turned_.data(), before(k), states, padded);
    if (k == 0 && shape_.stack) {
      const double action = action_slope_ * sums_[states];
      next[states] = refused_ ? -(length + action) : state[states];
      double above = 0;
      for (Index i = sections - 1; i >= 0; --i) {
        const double cut = is_cut_[i] ? (move_ < 0 ? -action : 0) - above : 0;
        above += lengths[i];
        next[states + 1 + i] = is_left_[i] ? lengths[i] - cut : 0;
      }
      if (move_ > 0) next.back() = action;
      for (Index i = states + 1; i < std::ssize(next); ++i) length_after += next[i];
    }
    for (Index i = 0; i < states; ++i)
      if (moves(k)) neurons[i] = slopes_[k * states + i] * sums_[i];
    if (k == carried()) std::copy(neurons.begin(), neurons.end(), next.begin());
    double* to = hiddens.data() + k * shape_.hidden_size();
    std::copy(neurons.begin(), neurons.end(), to);
    if (!shape_.stack) continue;
    to[states] = length_after;
    to[states + 1] = next[states];
  }
}

void HigherOrderSteps::pull_back(const double* state, const double* hiddens, double* gradient) {
  const Index states = shape_.states, padded = shape_.padded();
  // For the neurons after the pass, those before it, and all pre-activations.
  Numbers &outer = turned_, &sums = sums_;
  std::fill(old_.begin(), old_.end(), 0.0);
  std::fill(outer.begin(), outer.end(), 0.0);
  double of_length = 0, of_underflow = state != nullptr && shape_.stack ? state[states] : 0;
  for (Index k = shape_.passes - 1; k >= 0; --k) {
    const double* given = hiddens == nullptr ? nullptr : hiddens + k * shape_.hidden_size();
    for (Index i = 0; i < states; ++i)
      now_[i] = old_[i] + (given != nullptr ? given[i] : 0) +
                (state != nullptr && k == carried() ? state[i] : 0);
    if (given != nullptr && shape_.stack) {
      of_length += given[states];
      of_underflow += given[states + 1];
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    for (Index i = 0; i < states; ++i) sums[i] = now_[i] * slopes_[k * states + i];
    if (k == 0 && shape_.stack) {
      double of_action = refused_ ? -of_underflow : 0;
      const auto of_section = [&](Index i) {
        return of_length + (state != nullptr ? state[states + 1 + i] : 0);
      };
      if (move_ > 0) of_action += of_section(std::ssize(lengths_) - 1);
      if (move_ < 0)
        for (Index i = 0; i < std::ssize(lengths_); ++i)
          if (is_cut_[i] && is_left_[i]) of_action += of_section(i);
      sums[states] = of_action * action_slope_;
    }
    rows_.add_multiple(gradient + shape_.columns() * shape_.slab(), sums.data(), 1, padded);
    rows_.add_outer(outer.data(), before(k), sums.data(), states, padded);
    if (k == 0) break;
    if (moves(k)) {
      std::fill(old_.begin(), old_.end(), 0.0);
      rows_.add_dots(old_.data(), matrix_.data(), sums.data(), states, padded);
    } else {
      old_ = now_;
    }
  }
  for (Index k = 0; k < shape_.factors(); ++k)
    rows_.add_multiple(gradient + shape_.column(k, symbol_) * shape_.slab(), outer.data(),
                       factors_[k], shape_.slab());
}

}  // namespace pushdown
