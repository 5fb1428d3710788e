#include "recurrence/trace/step_setters.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

TracedProgram with_nodes(const TracedProgram& from, const std::vector<int>& order, int appended) {
  const auto at = [](int n) { return static_cast<std::size_t>(n); };
  TracedProgram program;
  std::vector<int> renamed(from.nodes.size(), -1);
  for (const int n : order) {
    renamed[at(n)] = static_cast<int>(program.nodes.size());
    program.nodes.push_back(from.nodes[at(n)]);
    program.given.push_back(from.given[at(n)]);
    program.initial.push_back(from.initial[at(n)]);
  }
  const auto rename = [&](int n) { return n < 0 ? -1 : renamed[at(n)]; };
  const auto matrix = [&](int k) {
    if (k < 0) return -1;
    program.matrices.push_back(from.matrices[at(k)]);
    return static_cast<int>(program.matrices.size()) - 1;
  };
  for (StepNode& node : program.nodes) {
    for (int* operand : {&node.a, &node.b, &node.c}) *operand = rename(*operand);
    const int first_term = std::exchange(node.first_term, static_cast<int>(program.terms.size()));
    for (int k = 0; k < node.terms; ++k) {
      StepTerm term = from.terms[at(first_term + k)];
      term.operand = rename(term.operand);
      term.matrix = matrix(term.matrix);
      term.table = matrix(term.table);
      program.terms.push_back(term);
    }
    const int first_operand =
        std::exchange(node.first_operand, static_cast<int>(program.operands.size()));
    for (int k = 0; k < node.operands; ++k)
      program.operands.push_back(rename(from.operands[at(first_operand + k)]));
    program.attends |= node.op == StepOp::attention;
    if (node.op != StepOp::array) continue;
    program.arrays.push_back(from.arrays[at(node.array)]);
    node.array = static_cast<int>(program.arrays.size()) - 1;
  }
  program.output = rename(from.output);
  // Nodes that are not computed, as constants, may come before the loop whose nodes read them.
  const auto follows = [&](int n) {
    return n >= from.after && n < appended && row_of(from.nodes[at(n)].op).is_computed();
  };
  program.after =
      static_cast<int>(std::find_if(order.begin(), order.end(), follows) - order.begin());
  for (const int n : from.supplied)
    if (rename(n) >= 0) program.supplied.push_back(rename(n));
  program.begin_symbol = from.begin_symbol;
  program.memory = rename(from.memory);
  program.left = rename(from.left);
  program.shape = from.shape;
  program.row_start = from.row_start;
  return program;
}

void set_gradients(TracedProgram& program) {
  const auto at = [](int n) { return static_cast<std::size_t>(n); };
  for (StepNode& node : program.nodes) node.gradient = node.set = node.sets_a = node.sets_b = false;
  // The node that gives a state its values also stores the gradient of the first one.
  std::vector<char> kept(program.nodes.size());
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    if (!program.initial[n].defined() || !program.initial[n].requires_grad()) continue;
    kept[n] = 1;
    if (program.nodes[n].op == StepOp::previous) kept[at(program.nodes[n].a)] = 1;
  }
  // Gradients flow around the loops of the recurrence, so this repeats until nothing changes.
  const auto flows = [&](int n) { return n >= 0 && program.nodes[at(n)].gradient; };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < program.nodes.size(); ++n) {
      StepNode& node = program.nodes[n];
      const int operands[] = {node.a, node.b, node.c};
      bool gradient = kept[n] != 0;
      for (std::size_t k = 0; k < 3; ++k)
        gradient |=
            flows(operands[k]) && (node.op != StepOp::map || facts_of(node.function).has_slope[k]);
      gradient |= program.given[n].defined() && program.given[n].requires_grad();
      for (int k = 0; k < node.terms; ++k) {
        const StepTerm& term = program.terms[at(node.first_term + k)];
        gradient |= flows(term.operand) || program.matrices[at(term.matrix)].requires_grad() ||
                    (term.table >= 0 && program.matrices[at(term.table)].requires_grad());
      }
      for (int k = 0; k < node.operands; ++k)
        gradient |= flows(program.operands[at(node.first_operand + k)]);
      gradient &= kept[n] || row_of(node.op).has_gradient;
      changed |= gradient != node.gradient;
      node.gradient = gradient;
    }
  }
  find_setters(program);
}

}  // namespace pushdown
