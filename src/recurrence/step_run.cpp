#include "recurrence/step_run.h"

#include "base/check.h"
#include "base/parallel.h"
#include "kernel/dense.h"
#include "kernel/panels.h"
#include "kernel/pieces.h"
#include "recurrence/step_function.h"
#include "recurrence/step_needs.h"

namespace pushdown {
namespace {

// A program with its numbers.
template <class F>
class StepMachine {
 public:
  StepMachine(TracedProgram program, std::int64_t batch, std::int64_t steps, std::int64_t window,
              bool gradients, const BufferPoolPtr& buffers)
      : traced_(std::move(program)),
        batch_(batch),
        steps_(steps),
        window_(window),
        gradients_(gradients),
        needs_(step_needs(traced_, gradients)) {
    traced_.shape.column_start = traced_.column_start.data();
    traced_.shape.taped = gradients;
    lay_out(nullptr);
    memory_ = Buffer(buffers, bytes_);
    lay_out(memory_.as<F>());
    fill();
  }

  void forward() {
    in_parts([&](std::int64_t first, std::int64_t end, F* scratch) {
      kernel_.forward(program_, first, end, scratch);
    });
  }
  // slopes : B x T x n
  void backward(const Tensor& slopes) {
    const F* given = slopes.data_ptr<F>();
    const auto size = slopes.size(2);
    // Rows are read by whole vectors.
    std::vector<F> padded_slopes(
        static_cast<std::size_t>(batch_ * steps_ * scan_padded(size) + kScanPadding));
    for (std::int64_t row = 0; row < batch_ * steps_; ++row)
      std::copy_n(given + row * size, size, padded_slopes.data() + row * scan_padded(size));
    in_parts([&](std::int64_t first, std::int64_t end, F* scratch) {
      kernel_.backward(program_, first, end, scratch, traced_.output, padded_slopes.data(),
                       scan_padded(size), steps_ * scan_padded(size));
    });
  }

  // The output, B x T x n.
  Tensor output(const at::TensorOptions& options) const {
    return gathered(traced_.output, false, options);
  }
  // Of the matrices, then of what is given, then of what `previous` nodes see at first, each in the
  // order of their nodes.
  variable_list gradients(const at::TensorOptions& options) const {
    variable_list all = matrix_gradients(options);
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& given = traced_.given[n];
      if (!given.defined()) continue;
      if (!given.requires_grad())
        all.emplace_back();
      else if (given.dim() == 3)
        all.push_back(gathered(static_cast<int>(n), true, options));
      else
        all.push_back(summed(static_cast<int>(n), options));
    }
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& initial = traced_.initial[n];
      if (!initial.defined()) continue;
      all.emplace_back();
      if (initial.requires_grad()) all.back() = before_first(static_cast<int>(n), options);
    }
    return all;
  }

 private:
  StepNode& node(int n) { return traced_.nodes[static_cast<std::size_t>(n)]; }
  const StepNode& node(int n) const { return traced_.nodes[static_cast<std::size_t>(n)]; }
  // The node whose rows hold the numbers of n.
  int holder(int n) const {
    while (node(n).op == StepOp::slice || node(n).op == StepOp::previous) n = node(n).a;
    return n;
  }

  void lay_out(F* memory) {
    Pieces<F> cut(memory);
    places_.assign(traced_.nodes.size(), {});
    program_ = {};
    for (int n = 0; n < static_cast<int>(traced_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      auto& place = places_[static_cast<std::size_t>(n)];
      const auto row = scan_padded(of.size);
      program_.widest = std::max(program_.widest, row);
      if (of.op == StepOp::slice || of.op == StepOp::previous) continue;
      if (of.op == StepOp::constant) {
        place.value = cut.take(row);
      } else {
        const bool kept = needs_.kept[static_cast<std::size_t>(n)];
        place.row = row;
        place.step = kept ? batch_ * row : 0;
        place.value = cut.take((kept ? steps_ + 1 : 1) * batch_ * row);
      }
      if (!gradients_ || !of.gradient) continue;
      place.slots = needs_.recorded[static_cast<std::size_t>(n)] ? steps_ + 1 : of.carried ? 2 : 1;
      place.gradient_row = row;
      place.gradient_step = batch_ * row;
      place.gradient = cut.take(place.slots * batch_ * row);
    }
    for (int n = 0; n < static_cast<int>(traced_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      if (of.op == StepOp::slice || of.op == StepOp::previous) look_into(n);
    }
    matrices_.clear();
    for (const Tensor& matrix : traced_.matrices) {
      const auto rows = matrix.size(0), columns = matrix.size(1);
      matrices_.push_back({cut.take(columns * scan_padded(rows)),
                           cut.take(rows * scan_padded(columns)), rows, columns});
    }
    program_.nodes = traced_.nodes.data();
    program_.count = static_cast<std::int64_t>(traced_.nodes.size());
    program_.terms = traced_.terms.data();
    program_.operands = traced_.operands.data();
    program_.matrices = matrices_.data();
    program_.places = places_.data();
    program_.steps = steps_;
    program_.batch = batch_;
    program_.window = window_;
    program_.after = traced_.after;
    if (traced_.memory >= 0) {
      program_.memory = traced_.shape;
      program_.tape_size = step_tape_size(traced_.shape);
      program_.memory_scratch_size = step_memory_scratch_size(traced_.shape);
      program_.tape = cut.take(batch_ * program_.tape_size);
      program_.memory_scratch = cut.take(batch_ * program_.memory_scratch_size);
    }
    scratch_size_ = step_scratch_size(batch_, program_.widest);
    scratch_ = cut.take(scratch_size_);
    bytes_ = cut.bytes();
  }

  void look_into(int n) {
    const StepNode& of = node(n);
    // A state may be bound to a node that comes later, whose place is known by now; parts of
    // states come after these.
    const StepPlace<F>& seen = places_[static_cast<std::size_t>(of.a)];
    auto& place = places_[static_cast<std::size_t>(n)] = seen;
    if (of.op == StepOp::previous) place.shift = -1;
    if (place.value != nullptr) place.value += of.offset;
    if (place.gradient != nullptr) place.gradient += of.offset;
  }

  void fill() {
    for (std::size_t k = 0; k < matrices_.size(); ++k) pack(traced_.matrices[k], matrices_[k]);
    for (int n = 0; n < static_cast<int>(traced_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      const Tensor& given = traced_.given[static_cast<std::size_t>(n)];
      const Tensor& initial = traced_.initial[static_cast<std::size_t>(n)];
      const auto& place = places_[static_cast<std::size_t>(n)];
      if (given.defined()) {
        const Tensor numbers = given.detach().contiguous();
        const F* from = numbers.data_ptr<F>();
        if (of.op == StepOp::constant)
          std::copy_n(from, of.size, place.value);
        else
          for (std::int64_t b = 0; b < batch_; ++b)
            for (std::int64_t t = 0; t < steps_; ++t)
              std::copy_n(from + (b * steps_ + t) * of.size, of.size, place.at(t, b));
      }
      if (initial.defined()) {
        const Tensor numbers = initial.detach().contiguous();
        for (std::int64_t b = 0; b < batch_; ++b)
          std::copy_n(numbers.data_ptr<F>() + b * of.size, of.size, place.at(0, b));
      }
    }
  }

  static void pack(const Tensor& matrix, const StepMatrix<F>& packed) {
    const Tensor numbers = matrix.detach().contiguous();
    const F* from = numbers.data_ptr<F>();
    pack_panels(from, packed.rows, packed.columns, const_cast<F*>(packed.straight));
    pack_transposed_panels(from, packed.rows, packed.columns, const_cast<F*>(packed.transposed));
  }

  template <class Body>
  void in_parts(Body body) {
    const std::int64_t parts = std::min<std::int64_t>(thread_count(), batch_);
    // Rows of scratch are those of the sequences; one more belongs to the last part.
    const auto row = program_.widest + 2 * kScanPadding;
    const auto part = [&](std::int64_t k) {
      const auto first = batch_ * k / parts, end = batch_ * (k + 1) / parts;
      body(first, end, scratch_ + first * row);
    };
    if (parts == 1)
      part(0);
    else
      parallel_for(parts, part);
  }

  // Of all steps, B x T x n.
  Tensor gathered(int n, bool gradient, const at::TensorOptions& options) const {
    const auto& place = places_[static_cast<std::size_t>(n)];
    const auto size = node(n).size;
    const Tensor result = at::empty({batch_, steps_, size}, options);
    F* to = result.data_ptr<F>();
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t t = 0; t < steps_; ++t)
        std::copy_n(gradient ? place.gradient_at(t, b) : place.at(t, b), size,
                    to + (b * steps_ + t) * size);
    return result;
  }
  // The gradient of what a `previous` node sees before the first step, B x n.
  Tensor before_first(int n, const at::TensorOptions& options) const {
    const auto size = node(n).size;
    const Tensor result = at::empty({batch_, size}, options);
    for (std::int64_t b = 0; b < batch_; ++b)
      std::copy_n(places_[static_cast<std::size_t>(n)].gradient_at(0, b), size,
                  result.data_ptr<F>() + b * size);
    return result;
  }
  // The gradient of a constant.
  Tensor summed(int n, const at::TensorOptions& options) const {
    const auto& place = places_[static_cast<std::size_t>(n)];
    const auto size = node(n).size;
    const Tensor result = at::zeros({size}, options);
    F* to = result.data_ptr<F>();
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t i = 0; i < size; ++i) to[i] += place.gradient_at(0, b)[i];
    return result;
  }

  variable_list matrix_gradients(const at::TensorOptions& options) const {
    variable_list all(traced_.matrices.size());
    std::vector<OuterSum<F>> sums;
    constexpr std::int64_t kBlock = 32;
    for (const StepNode& of : traced_.nodes) {
      if (of.op != StepOp::affine) continue;
      const auto place = static_cast<std::size_t>(&of - traced_.nodes.data());
      for (int k = 0; k < of.terms; ++k) {
        const StepTerm& term = traced_.terms[static_cast<std::size_t>(of.first_term + k)];
        const Tensor& matrix = traced_.matrices[static_cast<std::size_t>(term.matrix)];
        if (!matrix.requires_grad()) continue;
        Tensor& gradient = all[static_cast<std::size_t>(term.matrix)] =
            at::empty(matrix.sizes(), options);
        const auto& slope = places_[place];
        const auto& x = places_[static_cast<std::size_t>(term.operand)];
        const bool constant = node(holder(term.operand)).op == StepOp::constant;
        check(!constant, "step_run", "a matrix times a constant");
        for (std::int64_t first = 0; first < matrix.size(0); first += kBlock)
          sums.push_back({1, steps_ * batch_, slope.gradient_at(0, 0), 0, slope.gradient_row,
                          x.at(0, 0), 0, x.row, matrix.size(1), nullptr, gradient.data_ptr<F>(),
                          matrix.size(1), first, std::min(matrix.size(0), first + kBlock)});
      }
    }
    const auto one = [&](std::int64_t i) { dense_.outer_sum(sums[static_cast<std::size_t>(i)]); };
    if (thread_count() > 1 && steps_ * batch_ * program_.widest > (1 << 15))
      parallel_for(static_cast<std::int64_t>(sums.size()), one);
    else
      for (std::size_t i = 0; i < sums.size(); ++i) one(static_cast<std::int64_t>(i));
    return all;
  }

  TracedProgram traced_;
  std::int64_t batch_, steps_, window_;
  bool gradients_;
  StepNeeds needs_;
  std::vector<StepPlace<F>> places_;
  std::vector<StepMatrix<F>> matrices_;
  StepProgram<F> program_{};
  Buffer memory_;
  F* scratch_ = nullptr;
  std::int64_t scratch_size_ = 0;
  std::size_t bytes_ = 0;
  StepKernel<F> kernel_ = step_kernel<F>(current_isa());
  DenseKernel<F> dense_ = dense_kernel<F>(current_isa());
};

template <class F>
Tensor run(TracedProgram&& program, std::int64_t batch, std::int64_t steps, std::int64_t window,
           const at::TensorOptions& options, const BufferPoolPtr& buffers) {
  return run_machine<StepMachine<F>>(
      std::move(program), options, [&](auto& machine, TracedProgram&& traced, bool gradients) {
        machine.emplace(std::move(traced), batch, steps, window, gradients, buffers);
      });
}

}  // namespace

Tensor run_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                 const BufferPoolPtr& buffers, std::int64_t window) {
  at::ScalarType type = at::ScalarType::Undefined;
  const auto fits = [&](const Tensor& tensor) {
    if (!tensor.defined()) return true;
    if (type == at::ScalarType::Undefined) type = tensor.scalar_type();
    return tensor.is_cpu() && tensor.scalar_type() == type;
  };
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    if (!std::all_of(tensors->begin(), tensors->end(), fits)) return {};
  const auto options = at::TensorOptions().dtype(type);
  if (type == at::kFloat)
    return run<float>(std::move(program), batch, steps, window, options, buffers);
  if (type == at::kDouble)
    return run<double>(std::move(program), batch, steps, window, options, buffers);
  return {};
}

}  // namespace pushdown
