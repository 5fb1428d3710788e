#include "array/array_evaluation.h"

#include "kernel/step/step_program.h"

namespace pushdown {

ArrayEvaluation evaluate_array(const ArrayProgram& program, std::int64_t t,
                               const std::vector<std::vector<double>>& inputs,
                               const std::vector<double>& output_slope) {
  const auto code = program.code<double>();
  const auto kernel = kernel_for<ArrayKernel<double>>(current_isa());
  const auto room = [](std::int64_t count) {
    return std::vector<double>(static_cast<std::size_t>(padded_size(count) + 2 * kPadding));
  };
  std::vector<std::vector<double>> values, slopes;
  for (const auto& input : inputs) {
    values.push_back(room(static_cast<std::int64_t>(input.size())));
    std::copy(input.begin(), input.end(), values.back().begin());
  }
  values.push_back(room(program.output));
  values.emplace_back();
  values.push_back(room(program.memory));
  std::vector<double*> value_pointers, slope_pointers;
  for (auto& own : values) value_pointers.push_back(own.data());
  value_pointers[static_cast<std::size_t>(code.constant())] = const_cast<double*>(code.constants);
  kernel.forward(code, value_pointers.data(), t);
  ArrayEvaluation made;
  const auto& output = values[static_cast<std::size_t>(code.output())];
  made.output.assign(output.begin(), output.begin() + program.output);
  if (output_slope.empty()) return made;
  for (const auto& own : values) slopes.emplace_back(own.size());
  std::copy(output_slope.begin(), output_slope.end(),
            slopes[static_cast<std::size_t>(code.output())].begin());
  for (auto& own : slopes) slope_pointers.push_back(own.data());
  kernel.backward(code, value_pointers.data(), slope_pointers.data(), t);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    slopes[k].resize(inputs[k].size());
    made.slopes.push_back(slopes[k]);
  }
  return made;
}

}  // namespace pushdown
