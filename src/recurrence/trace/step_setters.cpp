#include "recurrence/trace/step_setters.h"

#include <algorithm>

namespace pushdown {

namespace {

// A part of the numbers of a node.
struct Part {
  std::int64_t first, end;
};

class Setters {
 public:
  explicit Setters(TracedProgram& program)
      : program_(program), reached_(program.nodes.size()), set_(program.nodes.size()) {}

  // Follows the order of the backward pass of a step (kernel/step/step_program.isa.cpp).
  void find() {
    reach(program_.output, false);
    for (auto node = program_.nodes.rbegin(); node != program_.nodes.rend(); ++node)
      if (node->gradient) find(*node);
    for (std::size_t n = 0; n < set_.size(); ++n)
      program_.nodes[n].set = set_[n] > 0 && set_[n] == program_.nodes[n].size;
  }

 private:
  void find(StepNode& node) {
    if (!row_of(node.op).owns_rows()) {
      if (row_of(node.op).source == StepOperation::Source::once) reach(node.a, false);
      return;
    }
    const StepOperation& row = row_of(node.op);
    const bool* flows = node.op == StepOp::map ? facts_of(node.function).has_slope : nullptr;
    const auto own = [&](int operand, int place, bool always, Access access) {
      if (flows != nullptr && !flows[place]) return false;
      // The gradients of gates, which nothing else reads, except for the last part of an LSTM's.
      return reach(operand, always, access == Access::writes_parts ? 3 * node.size : -1);
    };
    own(node.c, 2, false, row.backward.c);
    node.sets_a = own(node.a, 0, row.always_a, row.backward.a);
    node.sets_b = own(node.b, 1, row.always_b, row.backward.b);
    for (int k = 0; k < node.terms; ++k) reach(term(node.first_term + k).operand, false);
    for (int k = 0; k < node.operands; ++k)
      reach(program_.operands[static_cast<std::size_t>(node.first_operand + k)], false);
  }

  // Records that the gradient of node n receives something at every step and in every sequence, or
  // only sometimes. Returns whether it can be set: it must be the first time, and the gradient must
  // start anew at every step. `count`: only its first numbers.
  bool reach(int n, bool always, std::int64_t count = -1) {
    if (n < 0 || !at(n).gradient) return false;
    Part part{0, count < 0 ? at(n).size : count};
    for (; at(n).op == StepOp::slice; n = at(n).a) {
      part.first += at(n).offset;
      part.end += at(n).offset;
    }
    auto& before = reached_[static_cast<std::size_t>(n)];
    const bool first = std::none_of(before.begin(), before.end(), [&](const Part& other) {
      return part.first < other.end && other.first < part.end;
    });
    before.push_back(part);
    const bool anew = !at(n).carried && row_of(at(n).op).owns_rows();
    if (!always || !first || !anew) return false;
    set_[static_cast<std::size_t>(n)] += part.end - part.first;
    return true;
  }

  StepNode& at(int n) { return program_.nodes[static_cast<std::size_t>(n)]; }
  const StepTerm& term(int k) const { return program_.terms[static_cast<std::size_t>(k)]; }

  TracedProgram& program_;
  std::vector<std::vector<Part>> reached_;  // by node, whose gradients are its own
  std::vector<std::int64_t> set_;           // how many numbers are set
};

}  // namespace

void find_setters(TracedProgram& program) { Setters(program).find(); }

}  // namespace pushdown
