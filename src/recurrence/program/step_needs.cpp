#include "recurrence/program/step_needs.h"

namespace pushdown {

StepNeeds step_needs(const TracedProgram& program, bool gradients) {
  const auto at = [](int n) { return static_cast<std::size_t>(n); };
  const std::vector<char> none(program.nodes.size());
  StepNeeds needs{none, none, none};
  // Slices and `previous` nodes have no numbers of their own, and a room has no others.
  const auto keep = [&](int n) {
    if (n < 0) return;
    while (program.nodes[at(n)].op == StepOp::slice || program.nodes[at(n)].op == StepOp::previous)
      n = program.nodes[at(n)].a;
    needs.kept[at(n)] = program.nodes[at(n)].op != StepOp::room;
  };
  const auto read = [&](int n) {
    if (n >= 0) needs.read[at(n)] = 1;
  };
  keep(program.output);
  read(program.output);
  for (const StepNode& node : program.nodes) {
    for (const int operand : {node.a, node.b, node.c}) read(operand);
    for (int k = 0; k < node.operands; ++k) read(program.operands[at(node.first_operand + k)]);
    for (int k = 0; k < node.terms; ++k)
      if (const StepTerm& term = program.terms[at(node.first_term + k)]; !term.lookup)
        read(term.operand);
  }
  for (int n = 0; n < static_cast<int>(program.nodes.size()); ++n) {
    const StepNode& node = program.nodes[at(n)];
    if (node.carried || node.apart || node.op == StepOp::sequence) keep(n);
    if (!gradients || !node.gradient) continue;
    needs.recorded[at(n)] =
        node.apart || (node.op == StepOp::sequence && program.given[at(n)].requires_grad());
    const auto keep_operands = [&] {
      for (const int operand : {node.a, node.b, node.c}) keep(operand);
      for (int k = 0; k < node.operands; ++k) keep(program.operands[at(node.first_operand + k)]);
    };
    const StepOperation& row = row_of(node.op);
    const int reads = node.op == StepOp::map ? facts_of(node.function).reads : 0;
    if (row.keeps_result() || (reads & FunctionFacts::RESULT)) keep(n);
    if (row.keeps_operands() || (reads & FunctionFacts::OPERANDS)) keep_operands();
    for (int k = 0; k < node.terms; ++k) {
      const StepTerm& term = program.terms[at(node.first_term + k)];
      const bool of_table = term.table >= 0 && program.matrices[at(term.table)].requires_grad();
      if (!of_table && !program.matrices[at(term.matrix)].requires_grad()) continue;
      if (!term.lookup) keep(term.operand);
      needs.recorded[at(n)] = 1;
    }
  }
  return needs;
}

}  // namespace pushdown
