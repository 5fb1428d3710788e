// The forward pass of program.h.
#include "recurrence/device/source_pass.h"

namespace pushdown::device_source {
namespace {

class Forward final : public Pass {
 public:
  using Pass::Pass;

  std::string text(std::int64_t& shared, int& barriers) {
    for (int n = 0; n < count(); ++n) add(n);
    Piece first, last;  // what is before and after the loop
    for (int row = 0; row < count(); ++row)
      if (node(row).carried)
        access(first, {row, 0, true}, node(row).size, row == program_.memory, true);
    if (program_.memory >= 0) access(first, Spot{count()}, 1, true, true);
    if (program_.left >= 0) access(last, Spot{count()}, 1, true, true);
    place_barriers(first, last, barriers);
    std::string begin;
    print_twice([&] { begin = print_loop(); },
                [&](int row) { return is_computed(row) && node(row).op != StepOp::array; });
    shared = std::max(shared, near_size_);
    return kernel("step_forward", "  if (steps == 0) return;\n", begin, text_, end());
  }

 private:
  // Returns what precedes the loop.
  std::string print_loop() {
    if (uses_symbol_) put("const Index symbol = static_cast<Index>(symbols[t]);");
    if (uses_symbol_) declare_symbols();
    print_pieces(0, pieces_.size());
    advance();
    std::string begin;
    if (program_.memory >= 0)
      begin += fmt::format("  memory.begin(team, {}, value_of(p, {}, model, sequence));\n",
                           bottom(), program_.memory);
    for (const auto& [key, offset] : near_) {
      const Spot at{key / 2, 0, true, key % 2 != 0};
      if (!node(at.row).carried || at.raw) continue;
      begin += fmt::format("  each(team, Index{{{}}}, [&](Index i) {{ {} = {}; }});\n",
                           node(at.row).size, near_place(at).at("i"), stored_value(at).at("i"));
    }
    return begin + first_barrier();
  }
  std::string end() const {
    if (program_.left < 0) return "";
    return last_barrier() + fmt::format(
                                "  if constexpr (requires(F* to) {{ memory.leave(team, to); }})\n"
                                "    memory.leave(team, value_of(p, {}, model, sequence));\n",
                                program_.left);
  }

  // ---- Numbers. ----
  Where place(const Spot& at) {
    if (!is_computed(at.row)) return stored_value(at);
    note_read(at);
    return is_near(at) ? near_place(at) : stored_value(at);
  }
  std::string read(const Spot& at) {
    if (const auto found = locals_.find(at); found != locals_.end()) return found->second;
    const std::string name = variable('v', at);
    line("const F {} = {};", name, place(at).at("i"));
    return locals_[at] = name;
  }
  std::string read(int n) { return read(spot(n)); }
  // Stores a number where later readers find it.
  void store(const Spot& at, const std::string& index, const std::string& value) {
    const bool near = is_near(at);
    if (near && is_read(at)) line("{} = {};", near_place(at).at(index), value);
    // The activations of gates follow.
    if (at.raw && near) return;
    if (value_offset(at.row) >= 0 || (!near && is_read(at)))
      line("{} = {};", stored_value(at).at(index), value);
  }
  std::string write(const Spot& at, const std::string& value) {
    const std::string name = variable('v', at);
    line("const F {} = {};", name, value);
    locals_[at] = name;
    store(at, "i", name);
    return name;
  }
  Spot target(int n) const {
    Spot at = spot(n);
    at.raw = is_gated(at.row);
    return at;
  }
  Spot gate(int n, std::int64_t size, int k, bool raw) const {
    Spot at = spot(n);
    at.first += k * size;
    at.raw = raw;
    return at;
  }
  std::string bottom() {
    const int n = program_.nodes[static_cast<std::size_t>(program_.memory)].b;
    return n < 0 ? "nullptr" : stored_value(spot(n)).pointer();
  }

  // ---- Operations. ----
  // Adds a piece with the accesses of the operation's row.
  Piece& operation(int n, std::int64_t size, std::function<void()> print) {
    const StepNode& of = node(n);
    const StepAccesses& row = row_of(of.op).forward;
    Piece& own = piece(n, size, std::move(print));
    const auto add = [&](int operand, Access how) {
      if (operand < 0 || how == Access::none) return;
      const bool written = how >= Access::writes_own;
      if (how == Access::parts || how == Access::writes_parts) {
        for (int k = 0; k * of.size < node(operand).size; ++k)
          access(own, gate(operand, of.size, k, false), of.size, false, written);
      } else {
        const bool any = how == Access::all || how == Access::writes_all;
        access(own, spot(operand), node(operand).size, any, written);
      }
    };
    add(of.a, row.a);
    add(of.b, row.b);
    add(of.c, row.c);
    for (int k = 0; k < of.operands; ++k) {
      // An array program may write to a room.
      const int from = operand(of, k);
      add(from, node(spot(from).row).op == StepOp::room ? Access::writes_all : row.operands);
    }
    access(own, target(n), of.size, row.result == Access::writes_all, true);
    return own;
  }
  // out_i = value() of the operands' numbers i.
  void elementwise(int n, std::function<std::string()> value) {
    operation(n, node(n).size, [this, n, value] { write(target(n), value()); });
  }

  void add(int n) {
    const StepNode& of = node(n);
    switch (of.op) {
      case StepOp::symbols:
        if (!needs_.read[static_cast<std::size_t>(n)]) return;
        uses_symbol_ = true;
        return elementwise(n, [] { return std::string("i == symbol ? F(1) : F(0)"); });
      case StepOp::concat: return concat(n);
      case StepOp::affine: return affine(n);
      case StepOp::map: return elementwise(n, [this, n] { return applied(n); });
      case StepOp::scale:
        return elementwise(n, [this, &of] {
          return fmt::format("{} * {} + {}", number(of.factor), read(of.a), number(of.shift));
        });
      case StepOp::softmax: return groups(n, "softmax_group");
      case StepOp::greatest: return groups(n, "greatest_of_group");
      case StepOp::outer: return outer(n);
      case StepOp::matvec: return matvec(n);
      case StepOp::mix: return mix(n);
      case StepOp::array: return array(n);
      case StepOp::memory: return memory(n);
      case StepOp::lstm_cell: return lstm_cell(n);
      case StepOp::lstm_hidden: return lstm_hidden(n);
      case StepOp::gru: return gru(n);
      default: return;
    }
  }

  std::string applied(int n) {
    const StepNode& of = node(n);
    const FunctionFacts& facts = facts_of(of.function);
    std::string all = fmt::format("apply<Function::{}>({}", facts.name, read(of.a));
    if (facts.operands > 1) all += ", " + read(of.b);
    if (facts.operands > 2) all += ", " + read(of.c);
    return all + ")";
  }

  void concat(int n) {
    const StepNode& of = node(n);
    std::int64_t offset = 0;
    for (int k = 0; k < of.operands; ++k) {
      const int part = operand(of, k);
      Spot to = target(n);
      to.first += offset;
      Piece& own = piece(n, node(part).size, [this, part, to] { write(to, read(part)); });
      access(own, spot(part), node(part).size, false, false);
      access(own, to, node(part).size, false, true);
      offset += node(part).size;
    }
  }

  void affine(int n) {
    const StepNode& of = node(n);
    Piece& own = piece(n, 0, nullptr);
    std::int64_t columns = 0;
    for (int k = 0; k < of.terms; ++k) {
      const StepTerm& one = term(of, k);
      uses_symbol_ |= one.lookup;
      if (!one.lookup || one.table >= 0) columns += matrix(one.matrix).size(1);
      if (one.lookup) continue;
      access(own, spot(one.operand), node(one.operand).size, true, false);
    }
    bool held = false;
    const int lanes = lanes_of(of.size, columns, held);
    for (int k = 0; k < of.operands; ++k)
      access(own, spot(operand(of, k)), of.size, false, false, lanes);
    access(own, target(n), of.size, false, true, lanes);
    own.print = [this, n, lanes, held] { print_affine(n, lanes, held); };
  }
  void print_affine(int n, int lanes, bool held) {
    const StepNode& of = node(n);
    std::string sum, after = "sum", constants;
    const auto append = [](std::string& to, const std::string& what) {
      to += (to.empty() ? "" : " + ") + what;
    };
    for (int k = 0; k < of.terms; ++k) {
      const StepTerm& one = term(of, k);
      if (one.table >= 0) {
        const std::string table = declare_matrix(one.table);
        append(sum, fmt::format("{}.part(team, turn, {} + symbol, {}_row)",
                                declare_product(one.matrix, lanes, held, false), table, table));
      } else if (one.lookup) {
        const std::string m = declare_matrix(one.matrix);
        append(after, fmt::format("{}[i * {}_row + symbol]", m, m));
      } else {
        append(sum, fmt::format("{}.part(team, turn, {})",
                                declare_product(one.matrix, lanes, held, false),
                                place(spot(one.operand)).pointer()));
      }
    }
    for (int k = 0; k < of.operands; ++k) {
      const Spot at = spot(operand(of, k));
      append(node(at.row).op == StepOp::constant ? constants : after, place(at).at("i"));
    }
    if (!constants.empty() && held) {
      const std::string name = fmt::format("bias{}", n);
      declare(name, fmt::format("const HeldNumbers<F, {}, {}, {}> {}(team, [&](Index i) {{ "
                                "return {}; }});",
                                of.size, lanes, options_.threads, name, constants));
      constants = name + ".of[turn]";
    }
    if (!constants.empty()) append(after, constants);
    line("each_row<F, {}, {}>(team, [&](int turn) {{ return {}; }},", of.size, lanes,
         sum.empty() ? "F(0)" : sum);
    open("    [&](int turn, Index i, F sum) {");
    line("const F value = {};", after);
    store(target(n), "i", "value");
    close("    });");
  }

  void groups(int n, const char* function) {
    operation(n, 0, [this, n, function] {
      const StepNode& of = node(n);
      const Spot to = target(n);
      const std::string from = place(spot(of.a)).pointer();
      const bool near = is_near(to) && is_read(to), kept = value_offset(n) >= 0;
      const Where out = near ? near_place(to) : stored_value(to);
      open(fmt::format("each(team, Index{{{}}}, [&](Index k) {{", of.size / of.offset));
      line("{0}({1} + k * {3}, {2} + k * {3}, {3});", function, from, out.pointer(), of.offset);
      if (near && kept)
        line("for (Index i = k * {0}; i < (k + 1) * {0}; ++i) {1} = {2};", of.offset,
             stored_value(to).at("i"), out.at("i"));
      close("});");
    });
  }

  void outer(int n) {
    const StepNode& of = node(n);
    const int a = of.a, b = of.b;
    operation(n, of.size, [this, n, a, b] {
      const Groups groups(node(n), node(a).size, node(b).size);
      write(target(n),
            fmt::format("{} * {}", place(spot(a)).at(fmt::format("i / {}", groups.columns)),
                        place(spot(b)).at(groups.right_of("i"))));
    });
  }
  void matvec(int n) {
    const StepNode& of = node(n);
    const int a = of.a, b = of.b;
    operation(n, of.size, [this, n, a, b] {
      const Groups groups(node(n), node(n).size, node(b).size);
      write(target(n), fmt::format("strided_dot({0} + i * {2}, 1, {1} + i / {3} * {2}, 1, {2})",
                                   place(spot(a)).pointer(), place(spot(b)).pointer(),
                                   groups.columns, groups.rows));
    });
  }

  void mix(int n) {
    const StepNode& of = node(n);
    const int a = of.a, b = of.b, c = of.c;
    // Exact at both ends.
    elementwise(n, [this, n, a, b, c] {
      line("const F share{} = {};", n, place(spot(c)).at("0"));
      return fmt::format(
          "share{0} == 0 ? {2} : share{0} == 1 ? {1} : "
          "share{0} * {1} + (1 - share{0}) * {2}",
          n, read(a), read(b));
    });
  }

  void memory(int n) {
    Piece& own = operation(n, 0, [this, n] {
      line("if ({}) memory.forward(team, t, {}, {});", moves(), place(spot(node(n).a)).pointer(),
           stored_value(Spot{n}).pointer());
    });
    access(own, Spot{count()}, 1, true, true);  // the memory itself
    own.of_memory = true;
  }

  void array(int n) {
    Piece& own = operation(n, 0, [this, n] {
      const StepNode& of = node(n);
      std::string places;
      for (int k = 0; k < of.operands; ++k) places += place(spot(operand(of, k))).pointer() + ", ";
      note_read(Spot{n});
      line("run_array(team, p, {}, place, t, {{{}{}}});", of.array, places,
           stored_value(Spot{n}).pointer());
    });
    access(own, Spot{count() + 1}, 1, true, true);  // the room of array programs
  }

  // ---- Cells. ----
  // Declares the gates of a cell, and calls its function, which replaces them by activations.
  std::string gates_of(int a, std::int64_t size) {
    std::string all;
    for (int k = 0; k * size < node(a).size; ++k) {
      const Spot at = gate(a, size, k, false);
      const std::string name = variable('v', at);
      line("F {} = {};", name, read(gate(a, size, k, true)));
      locals_[at] = name;
      all += (k > 0 ? ", " : "") + name;
    }
    return all;
  }
  void store_gates(int a, std::int64_t size) {
    for (int k = 0; k * size < node(a).size; ++k) {
      const Spot at = gate(a, size, k, false);
      store(at, "i", locals_.at(at));
    }
  }
  void lstm_cell(int n) {
    operation(n, node(n).size, [this, n] {
      const StepNode& of = node(n);
      const std::string gates = gates_of(of.a, of.size);
      write(target(n), fmt::format("lstm_cell({}, {})", gates, read(of.b)));
      store_gates(of.a, of.size);
    });
  }
  void lstm_hidden(int n) {
    operation(n, node(n).size, [this, n] {
      const StepNode& of = node(n);
      const Spot squashed = spot(of.c);
      const std::string name = variable('v', squashed);
      line("F {} = 0;", name);
      write(target(n), fmt::format("lstm_hidden({}, {}, {})", read(of.a), read(of.b), name));
      locals_[squashed] = name;
      store(squashed, "i", name);
    });
  }
  void gru(int n) {
    operation(n, node(n).size, [this, n] {
      const StepNode& of = node(n);
      std::string all = gates_of(of.a, of.size);
      for (int k = 0; k < 3; ++k) all += ", " + read(gate(of.b, of.size, k, false));
      write(target(n), fmt::format("gru({}, {})", all, read(of.c)));
      store_gates(of.a, of.size);
    });
  }

  bool uses_symbol_ = false;
};

}  // namespace

std::string print_forward(const DeviceProgram& program, std::int64_t& shared, int& barriers) {
  return Forward(program).text(shared, barriers);
}

}  // namespace pushdown::device_source
