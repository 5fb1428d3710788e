#include "recurrence/program/step_text.h"

#include <fmt/format.h>

namespace pushdown {

const char* operation_name(const StepNode& node) {
  return node.op == StepOp::map ? facts_of(node.function).text : row_of(node.op).name;
}

namespace {

class StepTextWriter {
 public:
  StepTextWriter(const TracedProgram& program, std::int64_t steps)
      : program_(program), steps_(steps) {}

  std::string text() const {
    std::string all;
    std::int64_t total = 0;
    for (int n = 0; n < static_cast<int>(program_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      std::string line = fmt::format("v{:<3} {:<9} {:>6}", n, operation_name(of), of.size);
      std::string from;
      for (const int operand : operands(n)) from += fmt::format(" v{}", operand);
      if (of.op == StepOp::slice) from += fmt::format(" at {}", of.offset);
      for (const StepSegment& segment : program_.segments)
        if (segment.first == n)
          all += segment.loop ? "step by step:\n" : "for all steps of a sequence at once:\n";
      const auto own = multiply_adds(of, steps_ / 2);
      total += own;
      if (own > 0) from += fmt::format("  ({} multiply-adds)", own);
      all += line + " " + from + "\n";
      if (of.op == StepOp::array) all += array_lines(of);
    }
    return all + fmt::format("{} operations, {} multiply-adds in step {} of {}",
                             program_.nodes.size(), total, steps_ / 2 + 1, steps_);
  }

  std::string dot() const {
    std::string all = "digraph step {\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (int n = 0; n < static_cast<int>(program_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      if (of.op == StepOp::previous) continue;
      std::string label = fmt::format("{}\\n{}", operation_name(of), of.size);
      if (of.op == StepOp::array) {
        const auto costs = costs_of(array(of), steps_ / 2);
        label += fmt::format("\\n{} instructions\\n{} multiply-adds", costs.instructions,
                             costs.multiply_adds);
      } else if (const auto own = multiply_adds(of, 0); own > 0) {
        label += fmt::format("\\n{} multiply-adds", own);
      }
      all += fmt::format("  v{} [label=\"{}\"];\n", n, label);
      for (int operand : operands(n)) {
        // The next step reads what is written to a room.
        const bool before = node(operand).op == StepOp::previous || of.op == StepOp::room;
        if (node(operand).op == StepOp::previous) operand = node(operand).a;
        all += fmt::format("  v{} -> v{}{};\n", operand, n,
                           before ? " [style=dashed, constraint=false]" : "");
      }
    }
    return all + "}\n";
  }

 private:
  const StepNode& node(int n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  const ArrayProgram& array(const StepNode& of) const {
    return *program_.arrays[static_cast<std::size_t>(of.array)];
  }
  std::vector<int> operands(int n) const {
    const StepNode& of = node(n);
    std::vector<int> all;
    const auto add = [&](int operand) {
      if (operand >= 0 && std::find(all.begin(), all.end(), operand) == all.end())
        all.push_back(operand);
    };
    for (int k = 0; k < of.terms; ++k)
      add(program_.terms[static_cast<std::size_t>(of.first_term + k)].operand);
    for (int k = 0; k < of.operands; ++k)
      add(program_.operands[static_cast<std::size_t>(of.first_operand + k)]);
    for (const int operand : {of.a, of.b, of.c}) add(operand);
    return all;
  }
  std::int64_t multiply_adds(const StepNode& of, std::int64_t t) const {
    if (of.op == StepOp::array) return costs_of(array(of), t).multiply_adds;
    if (of.op == StepOp::matvec) return node(of.a).size;
    std::int64_t sum = of.size * (of.op == StepOp::map ? facts_of(of.function).multiply_adds
                                                       : row_of(of.op).multiply_adds);
    for (int k = 0; k < of.terms; ++k) {
      const StepTerm& term = program_.terms[static_cast<std::size_t>(of.first_term + k)];
      if (!term.lookup) sum += program_.matrices[static_cast<std::size_t>(term.matrix)].numel();
    }
    return sum;
  }
  std::string array_lines(const StepNode& of) const {
    const ArrayProgram& own = array(of);
    const auto count = static_cast<std::int64_t>(own.steps.size());
    std::string all;
    // Number of kinds of steps shown, where a new kind has other instructions than the previous
    // step: the first ones, and the one that continues.
    constexpr int kMostKinds = 3;
    int kinds = 0;
    for (std::int64_t t = 0; t < count && t < steps_; ++t) {
      const ArrayStep& step = own.steps[static_cast<std::size_t>(t)];
      if (t > 0 && own.steps[static_cast<std::size_t>(t - 1)] == step) continue;
      if (step.first == step.end) continue;
      if (++kinds > kMostKinds) {
        const auto costs = costs_of(own, std::max<std::int64_t>(0, count - 2));
        all += fmt::format("     ... to step {}: {} instructions, {} multiply-adds\n", count - 1,
                           costs.instructions, costs.multiply_adds);
        break;
      }
      const auto costs = costs_of(own, t);
      all += fmt::format("     step {}: {} instructions, {} multiply-adds, {} numbers between\n",
                         t + 1, costs.instructions, costs.multiply_adds, costs.memory);
      all += array_text(own, t);
    }
    return all;
  }

  const TracedProgram& program_;
  std::int64_t steps_;
};

}  // namespace

std::string step_program_text(const TracedProgram& program, std::int64_t steps) {
  return StepTextWriter(program, steps).text();
}
std::string step_program_dot(const TracedProgram& program, std::int64_t steps) {
  return StepTextWriter(program, steps).dot();
}

}  // namespace pushdown
