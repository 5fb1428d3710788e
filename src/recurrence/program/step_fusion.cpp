#include "recurrence/program/step_fusion.h"

#include <algorithm>
#include <array>
#include <optional>

namespace pushdown {
namespace {

class GateFusion {
 public:
  GateFusion(std::vector<StepNode>& nodes, const std::vector<StepTerm>& terms,
             const std::vector<int>& operands, const std::vector<char>& alive, int output,
             int after)
      : nodes_(nodes), readers_(nodes.size()), after_(after) {
    const auto read = [&](int n) {
      if (n >= 0) ++readers_[static_cast<std::size_t>(n)];
    };
    read(output);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (!alive[n]) continue;
      for (const int operand : {nodes[n].a, nodes[n].b, nodes[n].c}) read(operand);
      for (int k = 0; k < nodes[n].terms; ++k)
        read(terms[static_cast<std::size_t>(nodes[n].first_term + k)].operand);
      for (int k = 0; k < nodes[n].operands; ++k)
        read(operands[static_cast<std::size_t>(nodes[n].first_operand + k)]);
    }
  }

  // Changes the operations that give the value of node n if it is the last one of a cell.
  void fuse(int n) {
    if (!fuse_lstm(n)) fuse_gru(n);
  }

 private:
  using Pair = std::array<int, 2>;

  // h' = sigmoid(o) tanh(c'),   c' = sigmoid(f) c + sigmoid(i) tanh(g)
  bool fuse_lstm(int n) {
    for (const auto& [o, squashed] : in_both_orders(n, ArrayFunction::multiply)) {
      if (!is_own(o, ArrayFunction::sigmoid) || !is_own(squashed, ArrayFunction::tanh)) continue;
      const int cell = at(squashed).a;
      for (const auto& [kept, added] : in_both_orders(cell, ArrayFunction::add)) {
        if (!is_own(kept, ArrayFunction::multiply) || !is_own(added, ArrayFunction::multiply))
          continue;
        for (const auto& [f, before] : in_both_orders(kept, ArrayFunction::multiply))
          for (const auto& [i, g] : in_both_orders(added, ArrayFunction::multiply)) {
            if (!is_own(f, ArrayFunction::sigmoid) || !is_own(i, ArrayFunction::sigmoid) ||
                !is_own(g, ArrayFunction::tanh))
              continue;
            const auto gates = parts_of_one({at(i).a, at(f).a, at(g).a, at(o).a}, at(n).size);
            if (!gates || !on_one_side(*gates, n)) continue;
            set(cell, StepOp::lstm_cell, *gates, before, -1);
            set(squashed, StepOp::kept, -1, -1, -1);
            set(n, StepOp::lstm_hidden, cell, at(o).a, squashed);
            return true;
          }
      }
    }
    return false;
  }

  // h' = n + z (h - n),   n = tanh(x_n + r h_n),   r = sigmoid(x_r + h_r),   z = sigmoid(x_z + h_z)
  bool fuse_gru(int n) {
    for (const auto& [candidate, change] : in_both_orders(n, ArrayFunction::add)) {
      if (!is(candidate, ArrayFunction::tanh) || readers(candidate) != 2 || at(candidate).carried ||
          !is_own(change, ArrayFunction::multiply))
        continue;
      const int sum = at(candidate).a;
      if (!is_own(sum, ArrayFunction::add)) continue;
      for (const auto& [z, difference] : in_both_orders(change, ArrayFunction::multiply)) {
        if (!is_own(z, ArrayFunction::sigmoid) || !is_own(difference, ArrayFunction::subtract) ||
            at(difference).b != candidate)
          continue;
        for (const auto& [x_n, product] : in_both_orders(sum, ArrayFunction::add)) {
          if (!is_own(product, ArrayFunction::multiply)) continue;
          for (const auto& [r, h_n] : in_both_orders(product, ArrayFunction::multiply)) {
            if (!is_own(r, ArrayFunction::sigmoid) || !is_own(at(r).a, ArrayFunction::add) ||
                !is_own(at(z).a, ArrayFunction::add))
              continue;
            for (const auto& [x_r, h_r] : in_both_orders(at(r).a, ArrayFunction::add))
              for (const auto& [x_z, h_z] : in_both_orders(at(z).a, ArrayFunction::add)) {
                const auto x = parts_of_one({x_r, x_z, x_n}, at(n).size),
                           h = parts_of_one({h_r, h_z, h_n}, at(n).size);
                if (!x || !h || !on_one_side(std::min(*x, *h), n)) continue;
                set(n, StepOp::gru, *x, *h, at(difference).a);
                return true;
              }
          }
        }
      }
    }
    return false;
  }

  StepNode& at(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  int readers(int n) const { return readers_[static_cast<std::size_t>(n)]; }
  // Returns whether the operation's value is used once, and only in its own step.
  bool is_own(int n, ArrayFunction function) const { return is(n, function) && is_read_once(n); }
  bool is(int n, ArrayFunction function) const {
    return at(n).op == StepOp::map && at(n).function == function;
  }
  bool is_read_once(int n) const { return readers(n) == 1 && !at(n).carried; }
  // Returns the operands of a node of this operation, in both orders; nothing for other nodes.
  std::vector<Pair> in_both_orders(int n, ArrayFunction function) const {
    const StepNode& node = at(n);
    if (!is(n, function)) return {};
    return {{node.a, node.b}, {node.b, node.a}};
  }
  // Returns the node that consists of these parts, of `size` numbers each, if nothing else needs
  // its value, not even its own backward pass.
  std::optional<int> parts_of_one(const std::vector<int>& parts, std::int64_t size) const {
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (const StepNode& part = at(parts[k]);
          part.op != StepOp::slice || !is_read_once(parts[k]) || part.a != at(parts[0]).a ||
          part.size != size || part.offset != static_cast<std::int64_t>(k) * size)
        return std::nullopt;
    const int whole = at(parts[0]).a;
    const StepNode& node = at(whole);
    const bool unread = node.op == StepOp::map
                            ? (facts_of(node.function).reads & FunctionFacts::RESULT) == 0
                            : node.op == StepOp::affine || node.op == StepOp::scale;
    if (!unread || node.carried || readers(whole) != std::ssize(parts) ||
        node.size != std::ssize(parts) * size)
      return std::nullopt;
    return whole;
  }
  bool on_one_side(int first, int last) const {
    return after_ < 0 || last < after_ || first >= after_;
  }
  void set(int n, StepOp op, int a, int b, int c) const {
    StepNode& node = at(n);
    node.op = op;
    node.a = a;
    node.b = b;
    node.c = c;
  }

  std::vector<StepNode>& nodes_;
  std::vector<int> readers_;
  int after_;
};

}  // namespace

void fuse_gates(std::vector<StepNode>& nodes, const std::vector<StepTerm>& terms,
                const std::vector<int>& operands, const std::vector<char>& alive, int output,
                int after) {
  GateFusion fusion(nodes, terms, operands, alive, output, after);
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (alive[n]) fusion.fuse(static_cast<int>(n));
}

}  // namespace pushdown
