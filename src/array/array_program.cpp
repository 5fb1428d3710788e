#include "array/array_program.h"

#include <fmt/format.h>

namespace pushdown {

void ArrayProgram::append(const ArrayProgram& other) {
  const auto instruction = static_cast<int>(instructions.size()),
             view = static_cast<int>(views.size()), call = static_cast<int>(calls.size());
  const auto constant = static_cast<std::int64_t>(constants.size());
  const int constant_buffer = static_cast<int>(inputs.size()) + 1;
  for (ArrayInstruction own : other.instructions) {
    own.first_view += view;
    own.first_call += call;
    instructions.push_back(own);
  }
  for (ArrayView own : other.views) {
    if (own.buffer == constant_buffer) own.offset += constant;
    views.push_back(own);
  }
  calls.insert(calls.end(), other.calls.begin(), other.calls.end());
  constants.insert(constants.end(), other.constants.begin(), other.constants.end());
  for (ArrayStep own : other.steps) {
    own.first += instruction;
    own.end += instruction;
    steps.push_back(own);
  }
  output = std::max(output, other.output);
}

void ArrayProgram::append_idle() {
  const auto end = static_cast<int>(instructions.size());
  steps.push_back({end, end, 0});
}

void ArrayProgram::finish() {
  memory = 0;
  for (const ArrayStep& step : steps) memory = std::max(memory, step.memory);
  // Kernels read in whole vectors.
  constants_d_ = constants;
  constants_d_.resize(constants.size() + 2 * kPadding);
  constants_f_.assign(constants_d_.begin(), constants_d_.end());
}

template <>
ArrayCode<float> ArrayProgram::code() const {
  return {instructions.data(),
          views.data(),
          calls.data(),
          steps.data(),
          static_cast<std::int64_t>(steps.size()),
          constants_f_.data(),
          static_cast<int>(inputs.size()),
          memory};
}
template <>
ArrayCode<double> ArrayProgram::code() const {
  return {instructions.data(),
          views.data(),
          calls.data(),
          steps.data(),
          static_cast<std::int64_t>(steps.size()),
          constants_d_.data(),
          static_cast<int>(inputs.size()),
          memory};
}

namespace {

std::int64_t space_of(const ArrayInstruction& of) {
  std::int64_t count = 1;
  for (int d = 0; d < of.dims; ++d) count *= of.shape[d];
  return count;
}

std::string view_text(const ArrayProgram& program, const ArrayView& view, int dims) {
  const auto inputs = static_cast<int>(program.inputs.size());
  std::string text;
  if (view.buffer < inputs) {
    text = program.inputs[static_cast<std::size_t>(view.buffer)];
  } else if (view.buffer == inputs) {
    text = "result";
  } else if (view.buffer == inputs + 1) {
    bool single = true;
    for (int d = 0; d < dims; ++d) single = single && view.stride[d] == 0;
    if (single)
      return fmt::format("{:g}", program.constants[static_cast<std::size_t>(view.offset)]);
    text = "constant";
  } else {
    text = "memory";
  }
  if (view.offset > 0) text += fmt::format("+{}", view.offset);
  bool whole = true;
  for (int d = 0; d < dims; ++d) whole = whole && view.stride[d] == (d + 1 == dims ? 1 : -1);
  if (dims == 1 && whole) return text;
  text += "[";
  for (int d = 0; d < dims; ++d) text += fmt::format("{}{}", d == 0 ? "" : " ", view.stride[d]);
  return text + "]";
}

}  // namespace

ArrayCosts costs_of(const ArrayProgram& program, std::int64_t t) {
  ArrayCosts costs;
  const auto last = static_cast<std::int64_t>(program.steps.size()) - 1;
  const ArrayStep& step = program.steps[static_cast<std::size_t>(std::min(t, last))];
  costs.memory = step.memory;
  for (int i = step.first; i < step.end; ++i) {
    const ArrayInstruction& of = program.instructions[static_cast<std::size_t>(i)];
    const auto space = space_of(of);
    ++costs.instructions;
    if (of.kind != ArrayKind::map) {
      costs.operations += space;
      if (of.kind == ArrayKind::contraction) costs.multiply_adds += space;
      continue;
    }
    for (int k = 0; k < of.calls; ++k) {
      const auto& call = program.calls[static_cast<std::size_t>(of.first_call + k)];
      costs.operations += space;
      costs.multiply_adds += facts_of(call.function).multiply_adds * space;
    }
  }
  return costs;
}

std::string array_text(const ArrayProgram& program, std::int64_t t) {
  std::string text;
  const auto last = static_cast<std::int64_t>(program.steps.size()) - 1;
  const ArrayStep& step = program.steps[static_cast<std::size_t>(std::min(t, last))];
  for (int i = step.first; i < step.end; ++i) {
    const ArrayInstruction& of = program.instructions[static_cast<std::size_t>(i)];
    std::string space;
    for (int d = 0; d < of.dims; ++d) space += fmt::format("{}{}", d == 0 ? "" : "x", of.shape[d]);
    const auto view = [&](int k) {
      return view_text(program, program.views[static_cast<std::size_t>(of.first_view + k)],
                       of.dims);
    };
    std::string right;
    if (of.kind != ArrayKind::map) {
      right = facts_of(of.kind).text;
      for (int k = 0; k < of.views; ++k) right += (k == 0 ? " " : ", ") + view(k);
    } else if (of.calls == 0) {
      right = view(0);
    } else {
      std::vector<std::string> results;
      for (int k = 0; k < of.calls; ++k) {
        const ArrayCall& call = program.calls[static_cast<std::size_t>(of.first_call + k)];
        const auto operand = [&](int n) {
          return n < 0 ? results[static_cast<std::size_t>(~n)] : view(n);
        };
        const FunctionFacts& facts = facts_of(call.function);
        std::string made = fmt::format("{}({}", facts.text, operand(call.a));
        if (facts.operands > 1) made += ", " + operand(call.b);
        if (facts.operands > 2) made += ", " + operand(call.c);
        results.push_back(made + ")");
      }
      right = results.back();
    }
    text += fmt::format("  {:<10} {} = {}\n", space, view_text(program, of.out, of.dims), right);
  }
  return text;
}

}  // namespace pushdown
