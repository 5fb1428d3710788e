// The backward pass of the nodes of a step (step_nodes.h). For kernel files only.
#pragma once
#include "kernel/step/step_nodes.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
inline void StepNodes<F>::propagate(int n, Index t) {
  const StepNode& node = p_.nodes[n];
  const Rows<F> slope = gradient(n, t), out = value(n, t);
  switch (node.op) {
    case StepOp::concat: {
      Index offset = 0;
      for (int k = 0; k < node.operands; ++k) {
        const int part = p_.operands[node.first_operand + k];
        add_to(part, t, [&](Index b, Index i) { return load(slope[b] + offset + i); });
        offset += p_.nodes[part].size;
      }
      return;
    }
    case StepOp::affine: return propagate_affine(node, slope, t);
    case StepOp::map: return propagate_map(node, out, slope, t);
    case StepOp::scale: {
      const F factor = static_cast<F>(node.factor);
      return add_to(
          node.a, t, [&](Index b, Index i) { return factor * load(slope[b] + i); }, node.sets_a);
    }
    case StepOp::softmax: {
      if (!p_.nodes[node.a].gradient) return;
      const auto to = gradient(node.a, t);
      for (Index b = 0; b < active; ++b)
        for (Index i = 0; i < node.size; i += node.offset) {
          const F *y = out[b] + i, *g = slope[b] + i;
          const F mean = dot(g, y, node.offset);
          for (Index k = 0; k < node.offset; ++k) to[b][i + k] += y[k] * (g[k] - mean);
        }
      return;
    }
    case StepOp::outer: return propagate_outer(node, slope, t);
    case StepOp::matvec: return propagate_matvec(node, slope, t);
    case StepOp::mix: {
      const auto x = value(node.a, t), y = value(node.b, t), c = value(node.c, t);
      if (p_.nodes[node.c].gradient) {
        const auto to = gradient(node.c, t);
        for (Index b = 0; b < active; ++b)
          to[b][0] += dot(slope[b], x[b], node.size) - dot(slope[b], y[b], node.size);
      }
      const auto of = [&](auto share) {
        return [&, share](Index b, Index i) { return share(c[b][0]) * load(slope[b] + i); };
      };
      add_to(node.a, t, of([](F s) { return s; }), node.sets_a);
      add_to(node.b, t, of([](F s) { return 1 - s; }), node.sets_b);
      return;
    }
    case StepOp::normalize: return propagate_normalize(node, slope, t);
    case StepOp::attention: {
      const auto of = [&](int n) {
        return p_.nodes[n].gradient ? attention_rows(gradient(n, t)) : AttentionRows<F>{};
      };
      AttentionSlopes<F> slopes{{slope.first, slope.row}, of(node.a), of(node.b), of(node.c)};
      if (node.encoding == AttentionEncoding::relative) {
        const int* operands = p_.operands + node.first_operand;
        slopes.distances = of(operands[0]);
        slopes.content_bias = of(operands[1]).first;
        slopes.distance_bias = of(operands[2]).first;
      }
      return attention_.backward(attention(node, out), slopes, scratch_);
    }
    case StepOp::array: {
      const ArrayCode<F>& code = p_.arrays[node.array];
      if (code.is_idle(t)) return;
      const ArrayStep& step = code.at(t);
      for (Index b = 0; b < active; ++b) {
        set_arrays(node, n, b, t, true);
        ArrayLoops<F> run(code, array_values_, array_slopes_);
        if (step.memory > 0) {
          // Intermediate results were not kept.
          run.forward(t);
          clear(array_slopes_[code.own()], step.memory);
        }
        run.backward(t);
      }
      return;
    }
    case StepOp::memory: {
      for (Index k = 0, rows = moving(t); k < rows; ++k) {
        if (stopped()) return;
        const Index b = turn(k, rows, t);
        memory_.backward(object(b), t, slope[b], scratch_);
        if (!p_.nodes[node.a].gradient) continue;
        add(gradient(node.a, t)[b], scratch_, p_.nodes[node.a].size);
      }
      return;
    }
    case StepOp::lstm_cell: {
      const auto gates = value(node.a, t);
      if (p_.nodes[node.a].gradient)
        propagate_lstm_cell(slope, gates, value(node.b, t), gradient(node.a, t), active, node.size);
      return add_to(
          node.b, t,
          [&](Index b, Index i) { return load(slope[b] + i) * load(gates[b] + node.size + i); },
          node.sets_b);
    }
    case StepOp::lstm_hidden: {
      const auto shown = value(node.b, t), squashed = value(node.c, t);
      add_to(
          node.b, t, [&](Index b, Index i) { return load(slope[b] + i) * load(squashed[b] + i); },
          node.sets_b);
      return add_to(
          node.a, t,
          [&](Index b, Index i) {
            return tanh_slope<F>(held(load(slope[b] + i) * load(shown[b] + i)),
                                 load(squashed[b] + i));
          },
          node.sets_a);
    }
    case StepOp::gru: {
      const auto x = value(node.a, t);
      const auto wanted = [&](int of) {
        return p_.nodes[of].gradient ? gradient(of, t) : Rows<F>{nullptr, 0};
      };
      propagate_gru(slope, x, value(node.b, t), value(node.c, t), wanted(node.a), wanted(node.b),
                    active, node.size);
      return add_to(node.c, t, [&](Index b, Index i) {
        return held(load(slope[b] + i) * load(x[b] + node.size + i));
      });
    }
    default: return;
  }
}

template <class F>
void StepNodes<F>::propagate_map(const StepNode& node, Rows<F> out, Rows<F> slope, Index t) {
  with_function(node.function, [&](auto row) {
    using Row = decltype(row);
    constexpr int kReads = facts_of(Row::kFunction).reads & FunctionFacts::OPERANDS;
    const Rows<F> x = kReads != 0 ? value(node.a, t) : out,
                  y = kReads != 0 && Row::kOperands > 1 ? value(node.b, t) : x,
                  z = kReads != 0 && Row::kOperands > 2 ? value(node.c, t) : x;
    const auto to = [&](auto kind, int operand, bool set) {
      if constexpr (kind.kind == SlopeKind::numbers) {
        if (!p_.nodes[operand].gradient) return;
        const Rows<F> sums = gradient(operand, t);
        for (Index b = 0; b < active; ++b)
          for (Index i = 0; i < node.size; ++i) {
            const F own =
                Row::template slope<F>(kind, x[b][i], y[b][i], z[b][i], out[b][i], slope[b][i]);
            sums[b][i] = set ? own : sums[b][i] + own;
          }
      } else if constexpr (kind.kind != SlopeKind::none) {
        add_to(
            operand, t,
            [&](Index b, Index i) {
              return Row::template slope<F>(kind, load(x[b] + i), load(y[b] + i), load(z[b] + i),
                                            load(out[b] + i), load(slope[b] + i));
            },
            set);
      }
    };
    to(Row::slope_x, node.a, node.sets_a);
    to(Row::slope_y, node.b, node.sets_b);
    to(Row::slope_z, node.c, false);
  });
}

template <class F>
inline void StepNodes<F>::propagate_affine(const StepNode& node, Rows<F> slope, Index t) {
  for (int k = 0; k < node.operands; ++k)
    add_to(p_.operands[node.first_operand + k], t,
           [&](Index b, Index i) { return load(slope[b] + i); });
  for (int k = 0; k < node.terms; ++k) {
    const StepTerm& term = p_.terms[node.first_term + k];
    const StepNode& operand = p_.nodes[term.operand];
    if (term.lookup || !operand.gradient) continue;
    const auto& matrix = p_.matrices[term.matrix];
    const Index padded = padded_size(matrix.columns);
    if (!operand.sliced) {
      add_products(gradient(term.operand, t), slope, active, matrix.rows, matrix.straight, padded);
      continue;
    }
    const Rows<F> sum{scratch_, padded + kPadding};
    for (Index b = 0; b < active; ++b) clear_padding(sum[b], 0, padded);
    add_products(sum, slope, active, matrix.rows, matrix.straight, padded);
    add_to(term.operand, t, [&](Index b, Index i) { return load(sum[b] + i); });
  }
}

template <class F>
inline void StepNodes<F>::propagate_normalize(const StepNode& node, Rows<F> slope, Index t) {
  const auto x = value(node.a, t);
  const F* gain = value(node.b, t)[0];
  const auto of = [&](int n) { return p_.nodes[n].gradient ? gradient(n, t)[0] : nullptr; };
  F *gain_slope = of(node.b), *bias_slope = of(node.c);
  for (Index b = 0; b < active; ++b) {
    normalize_row_backward(x[b], gain, slope[b], node.size, gain_slope, bias_slope,
                           [&](Index i, Vector<F> own) { store(scratch_ + i, own); });
    if (!p_.nodes[node.a].gradient) continue;
    add_rows(Rows<F>{gradient(node.a, t)[b], 0}, 1, node.size, p_.nodes[node.a].sliced,
             [&](Index, Index i) { return load(scratch_ + i); });
  }
}

template <class F>
inline void StepNodes<F>::propagate_outer(const StepNode& node, Rows<F> slope, Index t) {
  const auto x = value(node.a, t), y = value(node.b, t);
  const Index left = p_.nodes[node.a].size, right = p_.nodes[node.b].size;
  if (p_.nodes[node.a].gradient) {
    const auto to = gradient(node.a, t);
    in_groups(node, left, right, [&](Index b, Index i, Index row, Index j, Index columns) {
      to[b][i] += columns == 1 ? slope[b][row] * y[b][j] : dot(slope[b] + row, y[b] + j, columns);
    });
  }
  if (p_.nodes[node.b].gradient) {
    const auto to = gradient(node.b, t);
    in_groups(node, left, right, [&](Index b, Index i, Index row, Index j, Index columns) {
      add_scaled(to[b] + j, slope[b] + row, x[b][i], columns);
    });
  }
}

template <class F>
inline void StepNodes<F>::propagate_matvec(const StepNode& node, Rows<F> slope, Index t) {
  const auto x = value(node.a, t), y = value(node.b, t);
  const Index right = p_.nodes[node.b].size;
  if (right == node.offset) {
    // One column each: along the rows.
    const bool to_x = p_.nodes[node.a].gradient, to_y = p_.nodes[node.b].gradient;
    const auto of_x = to_x ? gradient(node.a, t) : slope, of_y = to_y ? gradient(node.b, t) : slope;
    in_columns(node, [&](Index b, Index group, Index first, Index rows) {
      if (to_x) add_scaled(of_x[b] + first, slope[b] + first, y[b][group], rows);
      if (to_y) of_y[b][group] += dot(slope[b] + first, x[b] + first, rows);
    });
    return;
  }
  if (p_.nodes[node.a].gradient) {
    const auto to = gradient(node.a, t);
    in_groups(node, node.size, right, [&](Index b, Index i, Index row, Index j, Index columns) {
      add_scaled(to[b] + row, y[b] + j, slope[b][i], columns);
    });
  }
  if (p_.nodes[node.b].gradient) {
    const auto to = gradient(node.b, t);
    in_groups(node, node.size, right, [&](Index b, Index i, Index row, Index j, Index columns) {
      add_scaled(to[b] + j, x[b] + row, slope[b][i], columns);
    });
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
