#include "array/array_batch.h"

#include "base/parallel.h"
#include "kernel/step/step_program.h"

namespace pushdown {
namespace {

template <class F>
class ArrayBatchPass {
 public:
  ArrayBatchPass(const ArrayProgram& program, const std::vector<Tensor>& inputs, double scale)
      : program_(program),
        code_(program.code<F>()),
        kernel_(kernel_for<ArrayKernel<F>>(current_isa())),
        inputs_(inputs),
        scale_(static_cast<F>(scale)) {}

  // Sequences first .. end - 1. The buffers of a sequence have room for whole vectors.
  void run(std::int64_t first, std::int64_t end, ArrayGradients& made) const {
    std::vector<std::vector<F>> values, slopes;
    const auto add = [](std::vector<std::vector<F>>& to, std::int64_t count) {
      to.emplace_back(static_cast<std::size_t>(padded_size(count) + 2 * kPadding));
    };
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      add(values, row_of(inputs_[k]));
      add(slopes, made.slopes[k].defined() ? row_of(inputs_[k]) : 0);
    }
    for (const std::int64_t count : {program_.output, std::int64_t{0}, program_.memory}) {
      add(values, count);
      add(slopes, count);
    }
    std::vector<F*> value_at, slope_at;
    for (auto& own : values) value_at.push_back(own.data());
    for (auto& own : slopes) slope_at.push_back(own.data());
    value_at[at(code_.constant())] = const_cast<F*>(code_.constants);
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (!made.slopes[k].defined()) slope_at[k] = nullptr;
    const auto output = at(code_.output());
    for (std::int64_t b = first; b < end; ++b) {
      for (std::size_t k = 0; k < inputs_.size(); ++k)
        if (const auto count = row_of(inputs_[k]); count > 0)
          std::copy_n(inputs_[k].template data_ptr<F>() + b * count, count, value_at[k]);
      kernel_.forward(code_, value_at.data(), 0);
      std::copy_n(value_at[output], program_.output,
                  made.output.template data_ptr<F>() + b * program_.output);
      for (auto& own : slopes) std::fill(own.begin(), own.end(), F(0));
      std::fill_n(slope_at[output], program_.output, scale_);
      kernel_.backward(code_, value_at.data(), slope_at.data(), 0);
      for (std::size_t k = 0; k < inputs_.size(); ++k)
        if (const auto count = row_of(made.slopes[k]); count > 0)
          std::copy_n(slope_at[k], count, made.slopes[k].template data_ptr<F>() + b * count);
    }
  }

 private:
  static std::size_t at(int buffer) { return static_cast<std::size_t>(buffer); }
  static std::int64_t row_of(const Tensor& tensor) {
    return tensor.defined() && tensor.size(0) > 0 ? tensor.numel() / tensor.size(0) : 0;
  }

  const ArrayProgram& program_;
  ArrayCode<F> code_;
  ArrayKernel<F> kernel_;
  const std::vector<Tensor>& inputs_;
  F scale_;
};

template <class F>
void run_batch(const ArrayProgram& program, const std::vector<Tensor>& inputs, double scale,
               ArrayGradients& made) {
  const ArrayBatchPass<F> all(program, inputs, scale);
  const auto count = made.output.size(0);
  const auto parts = std::min<std::int64_t>(count, thread_count());
  parallel_for(parts, [&](std::int64_t part) {
    all.run(count * part / parts, count * (part + 1) / parts, made);
  });
}

}  // namespace

ArrayGradients differentiate_array(const ArrayProgram& program, const std::vector<Tensor>& inputs,
                                   const std::vector<bool>& wanted, double scale) {
  ArrayGradients made;
  const auto first = std::find_if(inputs.begin(), inputs.end(),
                                  [](const Tensor& input) { return input.defined(); });
  made.output = at::empty({first->size(0), program.output}, first->options());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    made.slopes.push_back(wanted[k] && inputs[k].defined() ? at::empty_like(inputs[k]) : Tensor());
  if (first->scalar_type() == at::kFloat)
    run_batch<float>(program, inputs, scale, made);
  else
    run_batch<double>(program, inputs, scale, made);
  return made;
}

}  // namespace pushdown
