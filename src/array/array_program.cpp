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

const char* name_of(ArrayFunction function) {
  static constexpr const char* kNames[] = {
      "copy",     "detach",  "add",     "sub",         "mul",        "multiply_add", "div",
      "neg",      "maximum", "minimum", "at_least",    "at_most",    "pow",          "remainder",
      "exp",      "log",     "log1p",   "expm1",       "tanh",       "sigmoid",      "relu",
      "softplus", "sqrt",    "abs",     "sign",        "sin",        "cos",          "erf",
      "floor",    "ceil",    "round",   "isnan",       "lt",         "le",           "gt",
      "ge",       "eq",      "ne",      "logical_and", "logical_or", "logical_not",  "where"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ArrayFunction::choose) + 1);
  return kNames[static_cast<std::size_t>(function)];
}

const char* name_of(ArrayKind kind) {
  static constexpr const char* kNames[] = {"map",    "sum",       "prod",    "max",
                                           "min",    "logsumexp", "softmax", "log_softmax",
                                           "cumsum", "cumprod",   "matmul"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ArrayKind::contraction) + 1);
  return kNames[static_cast<std::size_t>(kind)];
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
      const auto function = program.calls[static_cast<std::size_t>(of.first_call + k)].function;
      const bool arithmetic =
          function == ArrayFunction::add || function == ArrayFunction::subtract ||
          function == ArrayFunction::multiply || function == ArrayFunction::multiply_add;
      costs.operations += space;
      if (arithmetic) costs.multiply_adds += space;
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
      right = name_of(of.kind);
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
        const bool three =
            call.function == ArrayFunction::choose || call.function == ArrayFunction::multiply_add;
        const bool two =
            three ||
            (call.function >= ArrayFunction::add && call.function <= ArrayFunction::remainder &&
             call.function != ArrayFunction::negate) ||
            (call.function >= ArrayFunction::less && call.function <= ArrayFunction::either);
        std::string made = fmt::format("{}({}", name_of(call.function), operand(call.a));
        if (two) made += ", " + operand(call.b);
        if (three) made += ", " + operand(call.c);
        results.push_back(made + ")");
      }
      right = results.back();
    }
    text += fmt::format("  {:<10} {} = {}\n", space, view_text(program, of.out, of.dims), right);
  }
  return text;
}

}  // namespace pushdown
