// Unbiased online recurrent optimization of the neural state pushdown automaton (Tallec and
// Ollivier 2017). s~ theta~ estimates ds/dW, where s are the state neurons and the action neurons
// that the reading depends on. At a pass, with random signs nu,
//   s~ <- rho_0 J s~ + rho_1 nu,  theta~ <- theta~ / rho_0 + nu D / rho_1,
//   rho_0 = sqrt((|theta~| + e) / (|J s~| + e)),  rho_1 = sqrt((|nu D| + e) / (|nu| + e)),
//   e = 1e-5,
// J = ds'/ds (an exact product, not a difference), D = the direct ds'/dW; both s~ and theta~ start
// at 0. The gradient is the sum of (dloss/ds s~) theta~.
//
// nu D is nonzero only in the rows in which an active neuron meets the symbol. Therefore theta~ =
// scale * base, where only those rows of base change, and the gradient is the sum of weight_p
// scale_p base_p. Before a row of base changes, it is added to the gradient, times the sum of the
// factors since the last time. For kernel files only.
#pragma once
#include "kernel/state_pushdown/state_pushdown_learning.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F, bool kThird>
struct RankOne {
  static constexpr double kSmall = 1e-5;
  // If `scale` leaves these bounds, it is multiplied into the base.
  static constexpr double kLeast = 1.0 / (1 << 20), kGreatest = 1 << 20;

  // Rows of the base that change together: those of one state neuron in one part, or the biases.
  struct Block {
    Index begin, size;
    double added;  // the sum of factors up to which its gradient was added
  };
  struct Saved {
    double scale, norm;
  };

  const Machine<F, kThird>& machine;
  Validity<F> validity;
  Ranges<F, kThird> ranges;
  F *base, *saved_base;
  Block* blocks;      // for neuron i in part p: index 1 + p J + i; index 0: the biases
  F *state, *action;  // s~ : J, and for the channels of the current reading
  F *saved_state, *saved_action;
  F *reading, *tangent, *slope, *g;
  Outcome<F> outcomes[2];
  double scale = 1, norm = 0, sum = 0;  // norm: of theta~, squared; sum of all factors
  Saved saved{};
  Index size;
  const std::uint64_t* signs;

  RankOne(const Machine<F, kThird>& machine, StatePushdownLoss<F>* loss, Index, Arena& arena)
      : machine(machine),
        validity{*loss, machine.j},
        ranges(machine, arena),
        size(machine.size()),
        signs(loss == nullptr ? nullptr : loss->signs) {
    const Index j = machine.j, channels = machine.channels();
    base = arena.take<F>(size);
    saved_base = arena.take<F>(j * (machine.r + 1) * machine.rows + machine.rows);
    blocks = arena.take<Block>(1 + (machine.shape.inputs + 1) * j);
    state = arena.take<F>(j);
    action = arena.take<F>(channels);
    saved_state = arena.take<F>(j);
    saved_action = arena.take<F>(channels);
    reading = arena.take<F>(machine.r);
    tangent = arena.take<F>(machine.rows);
    slope = arena.take<F>(machine.rows);
    g = arena.take<F>(machine.rows);
    for (auto& outcome : outcomes) outcome = make_outcome<F>(arena, channels, machine.r);
    if (arena.memory == nullptr) return;
    clear(state, j);
  }

  Outcome<F>* next_outcome() { return &outcomes[1]; }

  Index part_of(Index l) const { return kThird ? l : l + 1; }
  Block& block(Index part, Index i) { return blocks[1 + part * machine.j + i]; }
  template <class Visit>
  void for_blocks(Visit visit) {
    visit(blocks[0]);
    for (Index l = 0; l < machine.shape.inputs; ++l)
      if (ranges.seen[l])
        for (Index i = 0; i < machine.j; ++i) visit(block(part_of(l), i));
    if (!kThird)
      for (Index i = 0; i < machine.j; ++i) visit(block(0, i));
  }

  void begin_parts(Index l) {
    const Index j = machine.j, r = machine.r, rows = machine.rows;
    ranges.use(machine, l, [&](Range range) {
      clear(base + range.begin, range.size);
      if (range.begin == machine.bias_place()) {
        blocks[0] = {range.begin, range.size, sum};
        return;
      }
      const bool main = kThird || range.begin == 0;
      const Index height = (main ? r : 1) * rows, part = main && !kThird ? 0 : part_of(l);
      for (Index i = 0; i < j; ++i) block(part, i) = {range.begin + i * height, height, sum};
    });
  }

  void take_gradient(Block& b) {
    if (b.added != sum)
      add_rows(validity.loss.gradient + b.begin, base + b.begin, static_cast<F>(sum - b.added),
               b.size);
    b.added = sum;
  }

  // Updates one row of the base with nu D in it: adds its gradient, returns <base, nu D>, adds the
  // step.
  F change(F* row, F* gradient, F due, F factor, F step, Index count) {
    Vector<F> inner = {};
    const Vector<F> owed = splat(due), by = splat(factor * step);
    for (Index i = 0; i < count; i += kLanes<F>) {
      const Vector<F> old = load(row + i), own = load(g + i);
      inner += old * own;
      store(gradient + i, load(gradient + i) + owed * old);
      store(row + i, old + by * own);
    }
    return factor * sum_of(inner);
  }

  void see(const Pass<F>& pass) {
    const Index j = machine.j, r = machine.r, count = machine.pass_rows(pass.number);
    const bool first = pass.number == 0;
    begin_parts(pass.symbol);
    machine.slopes(pass.v, count, slope);
    // The dependence of the reading on the actions before the pass.
    const Outcome<F>& behind = outcomes[first ? 0 : 1];
    clear(reading, r);
    for (Index c = 0; c < behind.count; ++c)
      add_scaled(reading, behind.effects + c * r, action[c], r);
    machine.tangent(pass, state, reading, count, tangent);

    // Replaces s~ by J s~, and computes the gradient of nu by v.
    const Outcome<F>& ahead = outcomes[1];
    const auto sign = [&](Index n) { return (signs[n / 64] >> (n % 64) & 1) != 0 ? F(1) : F(-1); };
    double moved = 0, direct = 0;
    clear(g, count);
    for (Index i = 0; i < j; ++i) {
      state[i] = slope[i] * tangent[i];
      g[i] = sign(i) * slope[i];
    }
    if (first)
      for (Index c = 0; c < ahead.count; ++c) {
        const Index n = j + ahead.neurons[c];
        action[c] = slope[n] * tangent[n];
        g[n] = sign(n) * slope[n];
      }
    for (Index i = 0; i < j; ++i) moved += static_cast<double>(state[i]) * state[i];
    for (Index c = 0; c < ahead.count; ++c) moved += static_cast<double>(action[c]) * action[c];
    for (Index i = 0; i < count; ++i) direct += static_cast<double>(g[i]) * g[i];
    double active = 0, read = kThird ? 0 : 1;
    for (Index i = 0; i < j; ++i) active += static_cast<double>(pass.z[i]) * pass.z[i];
    for (Index k = 0; k < r; ++k) read += static_cast<double>(pass.r[k]) * pass.r[k];
    direct *= 1 + active * read;
    const auto units = static_cast<double>(j + (first ? ahead.count : 0));
    const double rho_0 =
        __builtin_sqrt((__builtin_sqrt(norm) + kSmall) / (__builtin_sqrt(moved) + kSmall));
    const double rho_1 =
        __builtin_sqrt((__builtin_sqrt(direct) + kSmall) / (__builtin_sqrt(units) + kSmall));
    const F old_part = static_cast<F>(rho_0), new_part = static_cast<F>(rho_1);
    for (Index i = 0; i < j; ++i) state[i] = old_part * state[i] + new_part * sign(i);
    for (Index c = 0; c < ahead.count; ++c)
      action[c] = old_part * action[c] + (first ? new_part * sign(j + ahead.neurons[c]) : F(0));

    // theta~
    const double old_scale = scale;
    scale /= rho_0;
    const F step = static_cast<F>(1 / (rho_1 * scale));
    double inner = 0;
    const auto change_block = [&](Block& b, F z, const F* factors, Index columns) {
      const F due = static_cast<F>(sum - b.added);
      b.added = sum;
      for (Index k = 0; k < columns; ++k) {
        F* row = base + b.begin + k * machine.rows;
        F* gradient = validity.loss.gradient + b.begin + k * machine.rows;
        inner += change(row, gradient, due, factors == nullptr ? z : z * factors[k], step, count);
        if (count < machine.rows && due != 0)
          add_rows(gradient + count, row + count, due, machine.rows - count);
      }
    };
    change_block(blocks[0], F(1), nullptr, 1);
    for (Index i = 0; i < j; ++i) {
      if (pass.z[i] == 0) continue;
      change_block(block(kThird ? pass.symbol : 0, i), pass.z[i], pass.r, r);
      if constexpr (!kThird) change_block(block(part_of(pass.symbol), i), pass.z[i], nullptr, 1);
    }
    norm =
        norm / (rho_0 * rho_0) + 2 * old_scale * inner / (rho_0 * rho_1) + direct / (rho_1 * rho_1);
    if (norm < 0) norm = 0;

    const F error = validity.see(pass.next, pass.counts_last);
    F along = 0;
    for (Index i = 0; i < j; ++i) along += validity.loss.output[i] * state[i];
    sum += static_cast<double>(error * along) * scale;
    if (first && machine.shape.carry_first && machine.shape.passes > 1) save(pass.symbol);
    signs += (machine.j + machine.v + 63) / 64;
  }

  void end_symbol(Index made) {
    if (machine.shape.carry_first && made > 1) restore();
    signs += (machine.shape.passes - made) * ((machine.j + machine.v + 63) / 64);
    const Outcome<F> outcome = outcomes[0];
    outcomes[0] = outcomes[1];
    outcomes[1] = outcome;
    if (scale < kLeast || scale > kGreatest) settle();
  }

  // Adds all outstanding gradients and makes theta~ = base again.
  void settle() {
    for_blocks([&](Block& b) {
      take_gradient(b);
      b.added = 0;
      for (Index i = 0; i < b.size; ++i) base[b.begin + i] *= static_cast<F>(scale);
    });
    scale = 1;
    sum = 0;
  }
  void finish() {
    if (ranges.count > 0) for_blocks([&](Block& b) { take_gradient(b); });
  }

  // With carry = 'first', the later passes are a branch, after which everything is restored.
  Index saved_symbol = 0;
  template <class Visit>
  void for_saved(Visit visit) {
    F* place = saved_base;
    const auto next = [&](Block& b) {
      visit(b, place);
      place += b.size;
    };
    next(blocks[0]);
    for (Index i = 0; i < machine.j; ++i) {
      next(block(part_of(saved_symbol), i));
      if (!kThird) next(block(0, i));
    }
  }
  void save(Index l) {
    saved_symbol = l;
    saved = {scale, norm};
    for_saved([&](Block& b, F* place) { copy(place, base + b.begin, b.size); });
    copy(saved_state, state, machine.j);
    copy(saved_action, action, outcomes[1].count);
  }
  void restore() {
    scale = saved.scale;
    norm = saved.norm;
    for_saved([&](Block& b, F* place) {
      take_gradient(b);
      copy(base + b.begin, place, b.size);
    });
    copy(state, saved_state, machine.j);
    copy(action, saved_action, outcomes[1].count);
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
