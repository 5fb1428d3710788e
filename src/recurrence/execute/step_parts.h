// Gradients of a plan's parameters from a run of it. Internal to this folder.
#pragma once
#include "recurrence/execute/step_machine.h"
#include "recurrence/program/step_plan.h"

namespace pushdown {

// Adds the numbers of a part, contiguous in `values`, to those of its parameter.
template <class F>
void add_part(const StepPlan::Part& part, const F* values, F* parameter) {
  F* to = parameter + part.offset;
  const auto rows = part.sizes.size() == 2 ? part.sizes[0] : 1, columns = part.sizes.back();
  const auto row = part.sizes.size() == 2 ? part.strides[0] : 0, column = part.strides.back();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to[i * row + j * column] += *values++;
}

// Adds the gradients from a run over `batch` sequences to those of the parameters; gradient(part)
// returns the location of the latter. `scales`: see StepMachine::matrix_gradients().
template <class F, class Gradient>
void add_plan_gradients(const StepPlan& plan, const StepMachine<F>& machine, std::int64_t batch,
                        const F* scales, const Gradient& gradient) {
  std::vector<MatrixPlace<F>> places;
  for (const auto& part : plan.matrices())
    places.push_back(part.trained ? MatrixPlace<F>{gradient(part) + part.offset, part.strides[0],
                                                   part.strides[1]}
                                  : MatrixPlace<F>());
  machine.matrix_gradients(places, scales);
  std::vector<F> numbers;
  for (std::size_t n = 0; n < plan.given().size(); ++n) {
    if (const auto& part = plan.given()[n]; part.trained) {
      numbers.resize(static_cast<std::size_t>(part.sizes[0]));
      machine.constant_gradient(static_cast<int>(n), numbers.data(), scales);
      add_part(part, numbers.data(), gradient(part));
    }
    if (const auto& part = plan.initial()[n]; part.trained) {
      numbers.resize(static_cast<std::size_t>(batch * part.sizes[1]));
      machine.initial_gradient(static_cast<int>(n), numbers.data(), scales);
      add_part(part, numbers.data(), gradient(part));
    }
  }
}

}  // namespace pushdown
