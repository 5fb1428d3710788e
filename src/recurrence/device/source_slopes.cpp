// The derivatives of the operations in the backward pass of program.h.
#include "recurrence/device/source_backward.h"

#include <array>

namespace pushdown::device_source {

Piece& Backward::contribution(int of, int n, Term what) {
  const Spot at = spot(n);
  const Mode mode = reach(at, node(n).size, true);
  Piece& own = piece(of, node(n).size,
                     [this, at, mode, what = std::move(what)] { contribute(at, mode, what()); });
  const bool all = row_of(node(of).op).backward.result == Access::all;
  access(own, {of}, node(of).size, all, false);
  access(own, at, node(n).size, false, true);
  return own;
}

void Backward::add(int n) {
  const StepNode& of = node(n);
  if (!of.gradient || !owns_gradient(n) || of.op == StepOp::sequence || of.op == StepOp::kept)
    return;
  require({n});
  const auto first = pieces_.size();
  // Both operands, or one.
  const auto to = [&](int operand, const Term& what) {
    if (wants(operand)) contribution(n, operand, what);
  };
  switch (of.op) {
    case StepOp::concat: concat(n); break;
    case StepOp::affine: affine(n); break;
    case StepOp::map: map(n); break;
    case StepOp::scale:
      to(of.a, [this, n] { return number(node(n).factor) + " * " + slope(n); });
      break;
    case StepOp::softmax: softmax(n); break;
    case StepOp::outer: outer(n); break;
    case StepOp::matvec: matvec(n); break;
    case StepOp::mix: mix(n); break;
    case StepOp::array: array(n); break;
    case StepOp::memory: memory(n); break;
    case StepOp::lstm_cell: lstm_cell(n); break;
    case StepOp::lstm_hidden: lstm_hidden(n); break;
    case StepOp::gru: gru(n); break;
    default: break;
  }
  if (pieces_.size() == first) return;
  Piece& last = pieces_.back();
  last.print = [this, n, print = std::move(last.print)] {
    print();
    done_.insert(n);
  };
}

void Backward::map(int n) {
  const FunctionFacts& facts = facts_of(node(n).function);
  const std::array<int, 3> operands{node(n).a, node(n).b, node(n).c};
  for (std::size_t k = 0; k < 3; ++k) {
    if (!facts.has_slope[k] || !wants(operands[k])) continue;
    contribution(n, operands[k], [this, n, k, operands, &facts] {
      std::string all = fmt::format("slope<Function::{}, {}>({}", facts.name, k, slope(n));
      if (facts.reads != FunctionFacts::NOTHING)
        all += ", " + ((facts.reads & FunctionFacts::RESULT) ? value(n) : "F(0)");
      if (facts.reads & FunctionFacts::OPERANDS)
        for (int operand = 0; operand < facts.operands; ++operand)
          all += ", " + value(operands[static_cast<std::size_t>(operand)]);
      return all + ")";
    });
  }
}

void Backward::concat(int n) {
  const StepNode& of = node(n);
  std::int64_t offset = 0;
  for (int k = 0; k < of.operands; ++k) {
    const int part = operand(of, k);
    const Spot from{n, offset};
    offset += node(part).size;
    if (!wants(part)) continue;
    Piece& own = contribution(n, part, [this, from] { return slope(from); });
    own.accesses.front() = {n, false, from.first, from.first + node(part).size, from.first, false};
  }
}

void Backward::affine(int n) {
  const StepNode& of = node(n);
  for (int k = 0; k < of.operands; ++k)
    if (wants(operand(of, k))) contribution(n, operand(of, k), [this, n] { return slope(n); });
  for (int k = 0; k < of.terms; ++k)
    if (const StepTerm& one = term(of, k); !one.lookup && wants(one.operand)) product(n, k);
}
// out[j] += sum_i slope[i] W[i][j]
void Backward::product(int n, int k) {
  const StepTerm& one = term(node(n), k);
  const Spot at = spot(one.operand);
  const auto rows = matrix(one.matrix).size(0), columns = matrix(one.matrix).size(1);
  const Mode mode = reach(at, columns, false);
  bool held = false;
  const int lanes = lanes_of(columns, rows, held);
  Piece& own = piece(n, 0, [this, n, one, at, mode, columns, lanes, held] {
    const std::string product = declare_product(one.matrix, lanes, held, true);
    line("each_row<F, {}, {}>(team, [&](int turn) {{ return {}.part(team, turn, {}); }},", columns,
         lanes, product, place({n}).pointer());
    open("    [&](int, Index i, F sum) {");
    store(at, mode, "i", "sum");
    close("    });");
  });
  access(own, {n}, rows, true, false);
  access(own, at, columns, false, true, lanes);
}

void Backward::softmax(int n) {
  const int a = node(n).a;
  if (!wants(a)) return;
  contribution(n, a, [this, n] {
    const auto size = node(n).offset;
    return fmt::format("softmax_slope({} + i / {} * {}, {} + i / {} * {}, i % {}, {})",
                       stored_value({n}).pointer(), size, size, place({n}).pointer(), size, size,
                       size, size);
  });
}

void Backward::outer(int n) {
  const int a = node(n).a, b = node(n).b;
  const Groups groups(node(n), node(a).size, node(b).size);
  if (wants(a))
    contribution(n, a, [this, n, b, groups] {
      return fmt::format("strided_dot({0} + i * {2}, 1, {1} + i / {3} * {2}, 1, {2})",
                         place({n}).pointer(), stored_value(spot(b)).pointer(), groups.columns,
                         groups.rows);
    });
  if (wants(b))
    contribution(n, b, [this, n, a, groups] {
      return groups.column_product(place({n}), stored_value(spot(a)));
    });
}

void Backward::matvec(int n) {
  const int a = node(n).a, b = node(n).b;
  const Groups groups(node(n), node(n).size, node(b).size);
  if (wants(a))
    contribution(n, a, [this, n, b, groups] {
      return fmt::format("{} * {}", place({n}).at(fmt::format("i / {}", groups.columns)),
                         stored_value(spot(b)).at(groups.right_of("i")));
    });
  if (wants(b))
    contribution(n, b, [this, n, a, groups] {
      return groups.column_product(stored_value(spot(a)), place({n}));
    });
}

void Backward::mix(int n) {
  const StepNode& of = node(n);
  if (wants(of.c)) {
    const Spot at = spot(of.c);
    const Mode mode = reach(at, 1, false);
    Piece& own = piece(n, 0, [this, n, at, mode] {
      const StepNode& of = node(n);
      line("sums<F>(team, 1, [&](Index) {{ return Index{{{}}}; }}, [&](Index) {{", of.size);
      line("  return [&](Index i) {{ return {} * ({} - {}); }};", place({n}).at("i"),
           stored_value(spot(of.a)).at("i"), stored_value(spot(of.b)).at("i"));
      open("}, [&](Index, F sum) {");
      store(at, mode, "0", "sum");
      close("});");
    });
    access(own, {n}, of.size, true, false);
    access(own, at, 1, true, true);
  }
  const auto share = [this, n] { return stored_value(spot(node(n).c)).at("0"); };
  if (wants(of.a)) contribution(n, of.a, [this, n, share] { return share() + " * " + slope(n); });
  if (wants(of.b))
    contribution(n, of.b, [this, n, share] { return "(1 - " + share() + ") * " + slope(n); });
}

// The gradients of the actions become 0 where the memory does not move.
void Backward::memory(int n) {
  const int a = node(n).a;
  const auto size = node(a).size;
  if (!wants(a)) return;
  const Spot at = spot(a);
  const Mode mode = reach(at, size, false);
  const bool direct = mode == Mode::set && owns_gradient(at.row) && !of_arrays_.contains(at.row);
  if (direct) {
    Piece& own = piece(n, 0, [this, n, at, size] { print_memory_slopes(n, place(at), size); });
    access(own, {n}, node(n).size, true, false);
    access(own, at, size, true, true);
    access(own, {count()}, 1, true, true);
    own.of_memory = true;
    if (slope_offset(at.row) < 0) return;
    Piece& kept = piece(n, size, [this, at] {
      if (is_near(at)) line("{} = {};", record(at).at("i"), slope(at));
    });
    access(kept, at, size, false, false);
    access(kept, record_of(at), size, false, true);
    return;
  }
  uses_actions_ = true;
  Piece& own = piece(n, 0, [this, n, size] { print_memory_slopes(n, {"actions"}, size); });
  access(own, {n}, node(n).size, true, false);
  access(own, {count() + 2}, size, true, true);
  access(own, {count()}, 1, true, true);
  own.of_memory = true;
  Piece& added = piece(n, size, [this, at, mode] { contribute(at, mode, "actions[i]"); });
  access(added, {count() + 2}, size, false, false);
  access(added, at, size, false, true);
}
void Backward::print_memory_slopes(int n, const Where& out, std::int64_t size) {
  line("if ({}) memory.backward(team, t, {}, {});", moves(), place({n}).pointer(), out.pointer());
  line("else each(team, Index{{{}}}, [&](Index i) {{ {} = 0; }});", size, out.at("i"));
}

void Backward::array(int n) {
  const StepNode& of = node(n);
  for (int k = 0; k < of.operands; ++k)
    if (const int own = operand(of, k); wants(own)) {
      // It adds to them, in some steps only.
      const Spot at = spot(own);
      reach(at, node(own).size, false);
      if (owns_gradient(at.row)) reached_[at.before ? at.row + count() : at.row].cleared = true;
    }
  Piece& own = piece(n, 0, [this, n] {
    const StepNode& of = node(n);
    std::string values, slopes;
    for (int k = 0; k < of.operands; ++k) {
      const int from = operand(of, k);
      values += stored_value(spot(from)).pointer() + ", ";
      slopes += (wants(from) ? place(spot(from)).pointer() : "nullptr") + ", ";
    }
    line("run_array_backward(team, p, {}, place, t, {{{}{}}}, {{{}{}}});", of.array, values,
         stored_value({n}).pointer(), slopes, place({n}).pointer());
  });
  for (int k = 0; k < of.operands; ++k)
    access(own, spot(operand(of, k)), node(operand(of, k)).size, true, true);
  access(own, {n}, of.size, true, true);
  access(own, {count() + 1}, 1, true, true);
}

// ---- Cells: they set the gradients of the gates, which nothing else reads. ----

void Backward::lstm_cell(int n) {
  const StepNode& of = node(n);
  const auto size = of.size;
  const auto gate = [this, n, size](int k) {
    Spot at = spot(node(n).a);
    at.first += k * size;
    return at;
  };
  const auto gate_value = [this, gate](int k) {
    const Spot at = gate(k);
    if (values_.emplace(at, variable('v', at)).second)
      line("const F {} = {};", variable('v', at), stored_value(at).at("i"));
    return variable('v', at);
  };
  if (wants(of.a)) {
    std::array<Mode, 3> modes;
    for (std::size_t k = 0; k < 3; ++k) modes[k] = reach(gate(static_cast<int>(k)), size, true);
    Piece& own = piece(n, size, [this, n, gate, gate_value, modes] {
      const std::string own = slope(n), last = slope(gate(3));
      std::string values;
      for (int k = 0; k < 4; ++k) values += gate_value(k) + ", ";
      line("F in{0} = 0, forget{0} = 0, candidate{0} = 0;", n);
      line("lstm_cell_slopes({1}, {2}{3}, in{0}, forget{0}, candidate{0}, {4});", n, own, values,
           value(node(n).b), last);
      const char* const names[] = {"in", "forget", "candidate"};
      for (std::size_t k = 0; k < 3; ++k)
        contribute(gate(static_cast<int>(k)), modes[k], fmt::format("{}{}", names[k], n));
      dirty_.insert(gate(3));
    });
    access(own, {n}, size, false, false);
    for (int k = 0; k < 4; ++k) access(own, gate(k), size, false, true);
  }
  if (wants(of.b))
    contribution(n, of.b, [this, n, gate_value] { return slope(n) + " * " + gate_value(1); });
}

void Backward::lstm_hidden(int n) {
  const StepNode& of = node(n);
  if (wants(of.b)) contribution(n, of.b, [this, n] { return slope(n) + " * " + value(node(n).c); });
  if (wants(of.a))
    contribution(n, of.a, [this, n] {
      return fmt::format("lstm_hidden_slope({}, {}, {})", slope(n), value(node(n).b),
                         value(node(n).c));
    });
}

void Backward::gru(int n) {
  const StepNode& of = node(n);
  const auto size = of.size;
  const auto gate = [size](Spot at, int k) {
    at.first += k * size;
    return at;
  };
  const Spot x = spot(of.a), h = spot(of.b);
  std::vector<std::tuple<Spot, Mode, int>> targets;
  for (const auto& [which, from] : {std::pair{of.a, x}, {of.b, h}})
    for (int k = 0; k < 3 && wants(which); ++k)
      targets.emplace_back(gate(from, k), reach(gate(from, k), size, true),
                           which == of.b && k == 2 ? 3 : k);
  Piece& own = piece(n, size, [this, n, gate, x, h, targets] {
    const auto stored = [&](const Spot& at) { return stored_value(at).at("i"); };
    const std::string own = slope(n);
    line("const F open{} = {};", n, stored(gate(x, 0)));
    line("F reset{0} = 0, update{0} = 0, candidate{0} = 0;", n);
    line("gru_slopes({1}, open{0}, {2}, {3}, {4}, {5}, reset{0}, update{0}, candidate{0});", n, own,
         stored(gate(x, 1)), stored(gate(x, 2)), stored(gate(h, 2)), value(node(n).c));
    const std::string what[] = {fmt::format("reset{}", n), fmt::format("update{}", n),
                                fmt::format("candidate{}", n),
                                fmt::format("candidate{0} * open{0}", n)};
    for (const auto& [at, mode, k] : targets) contribute(at, mode, what[k]);
  });
  access(own, {n}, size, false, false);
  for (const auto& [at, mode, k] : targets) access(own, at, size, false, true);
  if (wants(of.c))
    contribution(n, of.c, [this, n, gate, x] {
      return slope(n) + " * " + stored_value(gate(x, 1)).at("i");
    });
}

}  // namespace pushdown::device_source
