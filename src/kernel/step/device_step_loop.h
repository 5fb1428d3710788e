// A step program over one sequence by a team of threads (device_team.h): the loops of
// step_program.isa.cpp, with barriers between the operations, followed by the sums of the
// parameters' gradients.
//
// What the backward pass uses of the values is in the tables of operations and functions; affine
// uses those of the operands of its terms.
#pragma once
#include "kernel/memory/memories.h"
#include "kernel/step/device_cells.h"
#include "kernel/step/device_products.h"
#include "kernel/step/device_step_numbers.h"

namespace pushdown::device {

// Maximum number of threads of a team when the rows of a product are divided among them.
inline constexpr Index kMostThreads = 256;

// kLong: see DeviceStepProgram::has_long_code.
template <class F, class Memory, bool kLong>
struct StepLoop : StepNumbers<F> {
  using Numbers = StepNumbers<F>;
  using Numbers::gradient;
  using Numbers::matrix;
  using Numbers::model;
  using Numbers::nodes;
  using Numbers::operands;
  using Numbers::p;
  using Numbers::place;
  using Numbers::sequence;
  using Numbers::symbol;
  using Numbers::terms;
  using Numbers::value;
  using Numbers::waits;

  PUSHDOWN_HOST_DEVICE static DeviceStepSizes sizes(const MemoryShape& shape) {
    DeviceStepSizes sizes;
    sizes.tape = Memory::tape_size(shape);
    sizes.fast = kMostThreads + shape.actions;
    if constexpr (requires { Memory::fast_size(shape); }) sizes.fast += Memory::fast_size(shape);
    sizes.scratch = Memory::scratch_size(shape) + sizes.fast;
    return sizes;
  }

  Index steps;                // of this sequence
  bool waits_within = false;  // for the operation that passes on its gradient
  F* partial;  // kMostThreads numbers, followed by the gradient of the stack's actions
  Memory memory;

  // `near`: memory for the fast numbers; null: use scratch. near_tables: a filled
  // StepTables; null: read the program's tables.
  PUSHDOWN_DEVICE StepLoop(const DeviceStepProgram<F>& program, Index model, Index sequence,
                           F* near, const std::uint8_t* near_tables = nullptr)
      : StepLoop(program, model, sequence, sizes(program.memory), near, near_tables) {}

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team) {
    if (steps == 0) return;
    if (p.memory_node >= 0)
      memory.begin(team, p.bottom_node < 0 ? nullptr : value(p.bottom_node, 0),
                   value(p.memory_node, -1));
    team.sync();
    for (Index t = 0; t < steps; ++t) {
      for (int n = 0; n < p.count; ++n) {
        if (waits()[n] & kWaitsForward) team.sync();
        compute(team, n, t);
      }
      team.sync();
    }
    if constexpr (requires(F * to) { memory.leave(team, to); })
      if (p.left_node >= 0) memory.leave(team, value(p.left_node, 0));
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team) {
    begin_memory_backward(team);
    for (int n = 0; n < p.count; ++n) {
      const StepOp op = nodes()[n].op;
      if (op == StepOp::constant || op == StepOp::room) clear(team, n, 0);
      if (nodes()[n].carried) clear(team, n, steps - 1);
    }
    team.sync();
    for (Index t = steps; t-- > 0;) {
      for (int n = 0; n < p.count; ++n)
        if (owns_rows(n)) clear(team, n, nodes()[n].carried ? t - 1 : t);
      team.sync();
      int n = static_cast<int>(p.count);
      if (p.window > 0 && t + 1 < steps && (t + 1) % p.window == 0) {
        // Nodes after the step belong to the next step, for which the rest are constants.
        while (n > p.after) pass_on(team, --n, t);
        team.sync();
        for (int k = 0; k < p.count; ++k) {
          if (nodes()[k].op == StepOp::room) clear(team, k, t);
          // The previous value of a carried node belongs to the previous step, too.
          if (owns_rows(k) && (k < n || nodes()[k].carried)) clear(team, k, k < n ? t : t - 1);
        }
        if constexpr (requires { memory.cut(team); })
          if (p.memory_node >= 0) memory.cut(team);
        team.sync();
      }
      const F* slope = p.given + model * p.given_model + sequence * p.given_row + t * p.given_step;
      add_to(team, p.output, t, [slope](Index i) { return slope[i]; });
      if (n < p.count) team.sync();  // the barriers were determined for the usual order
      while (n > 0) pass_on(team, --n, t);
      team.sync();
    }
    if constexpr (requires(F * to) { memory.end_backward(team, to, to); }) {
      const bool wanted = p.bottom_node >= 0 && nodes()[p.bottom_node].gradient;
      if (wanted && steps > 0)
        memory.end_backward(team, gradient(p.memory_node, -1), gradient(p.bottom_node, 0));
    }
    sum_over_steps(team);
  }

 private:
  template <class Team>
  PUSHDOWN_DEVICE void begin_memory_backward(const Team& team) {
    if (p.memory_node < 0 || steps == 0) return;
    if constexpr (requires(F * to) { memory.leave(team, to); })
      if (p.left_used) return memory.begin_backward(team, gradient(p.left_node, 0));
    memory.begin_backward(team);
  }
  PUSHDOWN_DEVICE StepLoop(const DeviceStepProgram<F>& program, Index model, Index sequence,
                           const DeviceStepSizes& sizes, F* near, const std::uint8_t* near_tables)
      : Numbers({program, model, sequence}, near_tables),
        steps(program.lengths == nullptr
                  ? static_cast<Index>(program.steps)
                  : static_cast<Index>(program.lengths[model * program.batch + sequence])),
        partial(near != nullptr
                    ? near
                    : program.scratch + (model * program.batch + sequence + 1) * sizes.scratch -
                          sizes.fast),
        memory(of_length(program, steps), stack_memory(sizes)) {}

  PUSHDOWN_DEVICE static MemoryShape of_length(const DeviceStepProgram<F>& program, Index steps) {
    MemoryShape shape = program.memory;
    const auto less = steps == 0 ? 0 : program.steps - steps;
    shape.steps -= less;
    shape.automaton.steps -= less;
    return shape;
  }

  PUSHDOWN_DEVICE StackMemory<F> stack_memory(const DeviceStepSizes& sizes) const {
    if (p.memory_node < 0) return {};
    const Index own = model * p.batch + sequence;
    return {p.tape + own * sizes.tape, p.scratch + own * sizes.scratch,
            partial + kMostThreads + p.memory.actions, value(p.memory_node, -1),
            p.bottom_node < 0 ? nullptr : value(p.bottom_node, 0)};
  }

  PUSHDOWN_DEVICE static bool is_one_of(StepOp op, std::uint32_t operations) {
    return (operations >> static_cast<int>(op) & 1) != 0;
  }
  // Returns whether the gradient is a node's own and starts anew at every step.
  PUSHDOWN_DEVICE bool owns_rows(int n) const {
    return nodes()[n].gradient && is_one_of(nodes()[n].op, kOwnsRows);
  }
  template <class Team>
  PUSHDOWN_DEVICE void clear(const Team& team, int n, Index t) const {
    if (!nodes()[n].gradient) return;
    F* to = gradient(n, t);
    each(team, nodes()[n].size, [&](Index i) { to[i] = 0; });
  }
  // Returns whether the stack moves after step t.
  PUSHDOWN_DEVICE bool moves(Index t) const { return t + 1 < steps || p.memory.steps > p.steps; }

  template <class Team>
  PUSHDOWN_DEVICE void compute(const Team& team, int n, Index t) {
    const StepNode& node = nodes()[n];
    if (!is_one_of(node.op, kComputes) || (node.op == StepOp::symbols && place(n).value == nullptr))
      return;
    F* out = value(n, t);
    F* x = node.a >= 0 ? value(node.a, t) : nullptr;
    const F* y = node.b >= 0 ? value(node.b, t) : nullptr;
    const Index size = node.size;
    switch (node.op) {
      case StepOp::concat: {
        Index offset = 0;
        for (int k = 0; k < node.operands; ++k) {
          const int part = operands()[node.first_operand + k];
          const F* from = value(part, t);
          each(team, nodes()[part].size, [&](Index i) { out[offset + i] = from[i]; });
          offset += nodes()[part].size;
        }
        break;
      }
      case StepOp::symbols: {
        const Index own = symbol(t);
        each(team, size, [&](Index i) { out[i] = i == own ? F(1) : F(0); });
        break;
      }
      case StepOp::affine: affine(team, node, out, t); break;
      case StepOp::map: compute_map<kLong>(team, Numbers(*this), n, t); break;
      case StepOp::scale: {
        const F factor = static_cast<F>(node.factor), shift = static_cast<F>(node.shift);
        each(team, size, [&](Index i) { out[i] = factor * x[i] + shift; });
        break;
      }
      case StepOp::softmax:
        each(team, size / node.offset,
             [&](Index k) { softmax(x + k * node.offset, out + k * node.offset, node.offset); });
        break;
      case StepOp::greatest:
        each(team, size / node.offset, [&](Index k) {
          const F* from = x + k * node.offset;
          Index best = 0;
          for (Index i = 1; i < node.offset; ++i) best = from[i] > from[best] ? i : best;
          for (Index i = 0; i < node.offset; ++i)
            out[k * node.offset + i] = i == best ? F(1) : F(0);
        });
        break;
      case StepOp::outer: {
        const ProductGroups of(node, nodes()[node.a].size, nodes()[node.b].size);
        each(team, size, [&](Index i) { out[i] = x[i / of.columns] * y[of.right_of(i)]; });
        break;
      }
      case StepOp::matvec: {
        const ProductGroups of(node, size, nodes()[node.b].size);
        each(team, size, [&](Index i) {
          const F *matrix = x + i * of.columns, *vector = y + i / of.rows * of.columns;
          F sum = 0;
          for (Index j = 0; j < of.columns; ++j) sum += matrix[j] * vector[j];
          out[i] = sum;
        });
        break;
      }
      case StepOp::mix: {
        // Exact at both ends.
        const F share = value(node.c, t)[0];
        each(team, size, [&](Index i) {
          out[i] = share == 0 ? y[i] : share == 1 ? x[i] : share * x[i] + (1 - share) * y[i];
        });
        break;
      }
      case StepOp::array:
        if constexpr (kLong) compute_array(team, Numbers(*this), n, t);
        break;
      case StepOp::memory:
        if (moves(t)) memory.forward(team, t, x, value(n, t));
        break;
      case StepOp::lstm_cell:
        each(team, size, [&](Index i) {
          F* in = x + i;
          out[i] = lstm_cell(in[0], in[size], in[2 * size], in[3 * size], y[i]);
        });
        break;
      case StepOp::lstm_hidden: {
        F* squashed = value(node.c, t);
        each(team, size, [&](Index i) { out[i] = lstm_hidden(x[i], y[i], squashed[i]); });
        break;
      }
      case StepOp::gru: {
        const F* before = value(node.c, t);
        each(team, size, [&](Index i) {
          F* in = x + i;
          out[i] =
              gru(in[0], in[size], in[2 * size], y[i], y[size + i], y[2 * size + i], before[i]);
        });
        break;
      }
      default: break;
    }
  }

  PUSHDOWN_DEVICE static void softmax(const F* x, F* y, Index size) {
    F largest = x[0], sum = 0;
    for (Index i = 1; i < size; ++i) largest = x[i] > largest ? x[i] : largest;
    for (Index i = 0; i < size; ++i) sum += y[i] = exponential(x[i] - largest);
    for (Index i = 0; i < size; ++i) y[i] /= sum;
  }

  template <class Team>
  PUSHDOWN_DEVICE void affine(const Team& team, const StepNode& node, F* out, Index t) const {
    // For short rows, each part of a group computes one.
    Index columns = 0;
    for (int k = 0; k < node.terms; ++k) {
      const StepTerm& term = terms()[node.first_term + k];
      const Index own = term.lookup ? 1 : matrix(term.matrix).columns;
      columns = own > columns ? own : columns;
    }
    const bool is_short = columns <= 8 * team.part();
    const Index width = is_short ? team.part() : team.lanes(), parts = team.lanes() / width;
    const Index lane = team.lane() % width, rows = team.groups() * parts;
    for (Index first = 0; first < node.size; first += rows) {
      const Index i = first + team.group() * parts + team.lane() / width;
      const int count = i < node.size ? node.terms : 0;  // all threads take part in the sum
      F sum = 0;
      for (int k = 0; k < count; ++k) {
        const StepTerm& term = terms()[node.first_term + k];
        const auto weights = matrix(term.matrix);
        const F* row = weights.first + i * weights.row;
        if (term.lookup) {
          if (lane == 0) sum += row[symbol(t)];
          continue;
        }
        const F* x = value(term.operand, t);
        for (Index j = lane; j < weights.columns; j += width) sum += row[j] * x[j];
      }
      sum = is_short ? team.part_sum(sum) : team.group_sum(sum);
      if (lane != 0 || i >= node.size) continue;
      for (int k = 0; k < node.operands; ++k)
        sum += value(operands()[node.first_operand + k], t)[i];
      out[i] = sum;
    }
  }

  // Adds f(i) to the gradient of node n at step t.
  template <class Team, class Of>
  PUSHDOWN_DEVICE void add_to(const Team& team, int n, Index t, const Of& of) const {
    if (n < 0 || !nodes()[n].gradient) return;
    F* to = gradient(n, t);
    each(team, nodes()[n].size, [&](Index i) { to[i] += of(i); });
    if (waits_within) team.sync();
  }

  template <class Team>
  PUSHDOWN_DEVICE void pass_on(const Team& team, int n, Index t) {
    if (waits()[n] & kWaitsBackward) team.sync();
    waits_within = (waits()[n] & kWaitsWithin) != 0;
    propagate(team, n, t);
  }

  template <class Team>
  PUSHDOWN_DEVICE void propagate(const Team& team, int n, Index t) {
    const StepNode& node = nodes()[n];
    if (!node.gradient || !is_one_of(node.op, kComputes)) return;
    const F *slope = gradient(n, t), *out = value(n, t);
    const F* x = node.a >= 0 ? value(node.a, t) : nullptr;
    const F* y = node.b >= 0 ? value(node.b, t) : nullptr;
    switch (node.op) {
      case StepOp::concat: {
        Index offset = 0;
        for (int k = 0; k < node.operands; ++k) {
          const int part = operands()[node.first_operand + k];
          add_to(team, part, t, [slope, offset](Index i) { return slope[offset + i]; });
          offset += nodes()[part].size;
        }
        return;
      }
      case StepOp::affine: return propagate_affine(team, node, slope, t);
      case StepOp::map: propagate_map<kLong>(team, Numbers(*this), n, t, waits_within); return;
      case StepOp::scale: {
        const F factor = static_cast<F>(node.factor);
        add_to(team, node.a, t, [=](Index i) { return factor * slope[i]; });
        return;
      }
      case StepOp::softmax: {
        const Index size = node.offset;
        add_to(team, node.a, t, [=](Index i) {
          const Index first = i - i % size;
          F mean = 0;
          for (Index k = first; k < first + size; ++k) mean += slope[k] * out[k];
          return out[i] * (slope[i] - mean);
        });
        return;
      }
      case StepOp::outer: {
        const ProductGroups of(node, nodes()[node.a].size, nodes()[node.b].size);
        add_to(team, node.a, t, [=](Index i) {
          F sum = 0;
          for (Index j = 0; j < of.columns; ++j)
            sum += slope[i * of.columns + j] * y[i / of.rows * of.columns + j];
          return sum;
        });
        add_to(team, node.b, t, [=](Index j) { return of.column_product(slope, x, j); });
        return;
      }
      case StepOp::matvec: {
        const ProductGroups of(node, node.size, nodes()[node.b].size);
        add_to(team, node.a, t, [=](Index i) { return slope[i / of.columns] * y[of.right_of(i)]; });
        add_to(team, node.b, t, [=](Index j) { return of.column_product(x, slope, j); });
        return;
      }
      case StepOp::mix: {
        const F share = value(node.c, t)[0];
        if (nodes()[node.c].gradient) {
          F* to = gradient(node.c, t);
          sums<F>(
              team, 1, [&](Index) { return node.size; },
              [&](Index) { return [=](Index i) { return slope[i] * (x[i] - y[i]); }; },
              [&](Index, F sum) { to[0] += sum; });
        }
        add_to(team, node.a, t, [=](Index i) { return share * slope[i]; });
        add_to(team, node.b, t, [=](Index i) { return (1 - share) * slope[i]; });
        return;
      }
      case StepOp::array:
        if constexpr (kLong) propagate_array(team, Numbers(*this), n, t);
        return;
      case StepOp::memory:
        if (!moves(t)) return;
        memory.backward(team, t, slope, partial + kMostThreads);
        team.sync();
        add_to(team, node.a, t, [&](Index i) { return partial[kMostThreads + i]; });
        return;
      case StepOp::lstm_cell: return propagate_lstm_cell(team, node, slope, t);
      case StepOp::lstm_hidden: {
        const F* squashed = value(node.c, t);
        add_to(team, node.b, t, [=](Index i) { return slope[i] * squashed[i]; });
        add_to(team, node.a, t,
               [=](Index i) { return lstm_hidden_slope(slope[i], y[i], squashed[i]); });
        return;
      }
      case StepOp::gru: return propagate_gru(team, node, slope, t);
      default: return;
    }
  }

  // Both set the gradients of the gates, which nothing else reads, where they are wanted.
  template <class Team>
  PUSHDOWN_DEVICE void propagate_lstm_cell(const Team& team, const StepNode& node, const F* slope,
                                           Index t) const {
    const F *gates = value(node.a, t), *before = value(node.b, t);
    const Index size = node.size;
    F* to = nodes()[node.a].gradient ? gradient(node.a, t) : nullptr;
    each(team, to == nullptr ? 0 : size, [&](Index i) {
      const F* gate = gates + i;
      lstm_cell_slopes(slope[i], gate[0], gate[size], gate[2 * size], gate[3 * size], before[i],
                       to[i], to[size + i], to[2 * size + i], to[3 * size + i]);
    });
    add_to(team, node.b, t, [=](Index i) { return slope[i] * gates[size + i]; });
  }
  template <class Team>
  PUSHDOWN_DEVICE void propagate_gru(const Team& team, const StepNode& node, const F* slope,
                                     Index t) const {
    const F *x = value(node.a, t), *h = value(node.b, t), *before = value(node.c, t);
    const Index size = node.size;
    F* of_x = nodes()[node.a].gradient ? gradient(node.a, t) : nullptr;
    F* of_h = nodes()[node.b].gradient ? gradient(node.b, t) : nullptr;
    each(team, size, [&](Index i) {
      const F reset = x[i];
      F of_reset = 0, of_update = 0, candidate = 0;
      gru_slopes(slope[i], reset, x[size + i], x[2 * size + i], h[2 * size + i], before[i],
                 of_reset, of_update, candidate);
      for (F* to : {of_x, of_h}) {
        if (to == nullptr) continue;
        to[i] = of_reset;
        to[size + i] = of_update;
        to[2 * size + i] = to == of_x ? candidate : candidate * reset;
      }
    });
    add_to(team, node.c, t, [=](Index i) { return slope[i] * x[size + i]; });
  }

  // out[j] += sum_i slope[i] W[i][j]. Each thread takes some of the rows of a column.
  template <class Team>
  PUSHDOWN_DEVICE void propagate_affine(const Team& team, const StepNode& node, const F* slope,
                                        Index t) const {
    for (int k = 0; k < node.operands; ++k)
      add_to(team, operands()[node.first_operand + k], t, [=](Index i) { return slope[i]; });
    for (int k = 0; k < node.terms; ++k) {
      const StepTerm& term = terms()[node.first_term + k];
      if (term.lookup || !nodes()[term.operand].gradient) continue;
      const auto weights = matrix(term.matrix);
      const Index rows = weights.rows, columns = weights.columns;
      const auto part_of = [&](Index j, Index first, Index apart) {
        F sum = 0;
        for (Index i = first; i < rows; i += apart)
          sum += slope[i] * weights.first[i * weights.row + j];
        return sum;
      };
      const Index most = team.size() < kMostThreads ? team.size() : kMostThreads;
      const Index shares = columns < most ? most / columns : 1;
      if (shares == 1) {
        add_to(team, term.operand, t, [&](Index j) { return part_of(j, 0, 1); });
        continue;
      }
      if (k > 0) team.sync();  // `partial` is no longer read
      each(team, shares * columns,
           [&](Index i) { partial[i] = part_of(i % columns, i / columns, shares); });
      team.sync();
      add_to(team, term.operand, t, [&](Index j) {
        F sum = 0;
        for (Index share = 0; share < shares; ++share) sum += partial[share * columns + j];
        return sum;
      });
    }
  }

  // Computes the gradients of the matrices (device_step_sums.h).
  template <class Team>
  PUSHDOWN_DEVICE void sum_over_steps(const Team& team) const;
};

// Calls visit.operator()<Loop>() with the loop for the shape's memory.
template <class F, bool kLong, class Visit>
auto with_step_loop(const MemoryShape& shape, const Visit& visit) {
  return with_memory<F>(shape, [&]<class Memory>() {
    return visit.template operator()<StepLoop<F, Memory, kLong>>();
  });
}

}  // namespace pushdown::device
