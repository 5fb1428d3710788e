#include "array/array_function.h"

#include "kernel/array/team_pass.h"
#include "kernel/step/step_program.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

thread_local bool recorded_calls = false;

struct OneThread {
  static device::Index id() { return 0; }
  static device::Index size() { return 1; }
  static device::Index lane() { return 0; }
  static device::Index lanes() { return 1; }
  static device::Index group() { return 0; }
  static device::Index groups() { return 1; }
  static void sync() {}
  template <class F>
  static F group_sum(F value) {
    return value;
  }
};

// The buffers of a program for one sequence after the other.
template <class F>
class Run {
 public:
  Run(const ArrayProgram& program, const std::vector<Tensor>& inputs)
      : program_(program),
        code_(program.code<F>()),
        kernel_(kernel_for<ArrayKernel<F>>(current_isa())),
        inputs_(inputs) {
    for (const Tensor& input : inputs) {
      values_.push_back(room(row_of(input)));
      batch_ = std::max(batch_, input.size(0));
    }
    for (const std::int64_t count : {program.output, std::int64_t{0}, program.memory})
      values_.push_back(room(count));
    for (auto& own : values_) at_.push_back(own.data());
    at_[index(code_.constant())] = const_cast<F*>(code_.constants);
  }

  Tensor forward() {
    const Tensor result = at::empty({batch_, program_.output}, options());
    for (std::int64_t b = 0; b < batch_; ++b) {
      compute(b);
      std::copy_n(at_[index(code_.output())], program_.output,
                  result.data_ptr<F>() + b * program_.output);
    }
    return result;
  }

  // slopes : B x n -> the gradients of the inputs, where they are wanted
  std::vector<Tensor> backward(const Tensor& slopes, const std::vector<bool>& wanted) {
    std::vector<Tensor> made;
    std::vector<std::vector<F>> own;
    std::vector<F*> slope_at;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      made.push_back(wanted[k] ? at::zeros_like(inputs_[k]) : Tensor());
      own.push_back(room(wanted[k] ? row_of(inputs_[k]) : 0));
    }
    for (const std::int64_t count : {program_.output, std::int64_t{0}, program_.memory})
      own.push_back(room(count));
    for (auto& each : own) slope_at.push_back(each.data());
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (!wanted[k]) slope_at[k] = nullptr;
    for (std::int64_t b = 0; b < batch_; ++b) {
      compute(b);
      for (auto& each : own) std::fill(each.begin(), each.end(), F(0));
      std::copy_n(slopes.data_ptr<F>() + b * program_.output, program_.output,
                  slope_at[index(code_.output())]);
      kernel_.backward(code_, at_.data(), slope_at.data(), 0);
      for (std::size_t k = 0; k < inputs_.size(); ++k) {
        if (!wanted[k]) continue;
        const auto count = row_of(inputs_[k]);
        F* to = row(made[k], b);
        for (std::int64_t i = 0; i < count; ++i) to[i] += own[k][static_cast<std::size_t>(i)];
      }
    }
    return made;
  }

  // directions: of the inputs, undefined where they are 0 -> the derivative of the output, B x n
  Tensor along(const std::vector<Tensor>& directions) {
    struct Buffers {
      F* const* values;
      std::vector<F*> tangents;
      F* value(int buffer) const { return values[buffer]; }
      F* slope(int) const { return nullptr; }
      F* tangent(int buffer) const { return tangents[index(buffer)]; }
    } buffers{at_.data(), std::vector<F*>(at_.size())};
    auto output = room(program_.output), memory = room(program_.memory);
    buffers.tangents[index(code_.output())] = output.data();
    buffers.tangents[index(code_.own())] = memory.data();
    const Tensor result = at::empty({batch_, program_.output}, options());
    for (std::int64_t b = 0; b < batch_; ++b) {
      compute(b);
      for (std::size_t k = 0; k < inputs_.size(); ++k)
        if (directions[k].defined()) buffers.tangents[k] = row(directions[k], b);
      device::ArrayTeamPass<F, Buffers>(code_, buffers, 0).push_forward(OneThread());
      std::copy_n(output.data(), program_.output, result.data_ptr<F>() + b * program_.output);
    }
    return result;
  }

 private:
  static std::size_t index(int buffer) { return static_cast<std::size_t>(buffer); }
  static std::int64_t row_of(const Tensor& tensor) { return tensor.numel() / tensor.size(0); }
  // Kernels read whole vectors.
  static std::vector<F> room(std::int64_t count) {
    return std::vector<F>(static_cast<std::size_t>(padded_size(count) + 2 * kPadding));
  }
  // The row of a sequence, or the one row.
  static F* row(const Tensor& tensor, std::int64_t b) {
    return tensor.data_ptr<F>() + (tensor.size(0) == 1 ? 0 : b * row_of(tensor));
  }
  at::TensorOptions options() const { return inputs_.front().options().requires_grad(false); }

  void compute(std::int64_t b) {
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      std::copy_n(row(inputs_[k], b), row_of(inputs_[k]), at_[k]);
    kernel_.forward(code_, at_.data(), 0);
  }

  const ArrayProgram& program_;
  ArrayCode<F> code_;
  ArrayKernel<F> kernel_;
  const std::vector<Tensor>& inputs_;
  std::vector<std::vector<F>> values_;
  std::vector<F*> at_;
  std::int64_t batch_ = 1;
};

template <class Of>
auto with_run(const ArrayProgram& program, const std::vector<Tensor>& inputs, const Of& of) {
  const at::AutoGradMode no_gradient(false);
  if (inputs.front().scalar_type() == at::kFloat) return of(Run<float>(program, inputs));
  return of(Run<double>(program, inputs));
}

// A step whose numbers are kept.
struct Kept {
  ArrayProgramPtr program;
  std::vector<Tensor> inputs;  // detached, contiguous
  std::vector<bool> wanted;
};

// The gradients of the inputs, as a function of the slopes of the output.
struct PullbackNode final : AutogradNode {
  Kept kept;

  std::string name() const override { return "ArrayPullback"; }
  variable_list apply(variable_list&& given) override {
    std::vector<Tensor> directions(kept.inputs.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < kept.inputs.size(); ++k)
      if (kept.wanted[k]) {
        if (given[next].defined()) directions[k] = given[next].contiguous();
        ++next;
      }
    return {with_run(*kept.program, kept.inputs, [&](auto run) { return run.along(directions); })};
  }
};

struct ArrayStepNode final : AutogradNode {
  Kept kept;

  std::string name() const override { return "ArrayStep"; }
  variable_list apply(variable_list&& given) override {
    if (!given[0].defined()) return variable_list(kept.inputs.size());
    const Tensor slopes = given[0].contiguous();
    variable_list made = with_run(*kept.program, kept.inputs, [&](auto run) {
      return run.backward(slopes.detach(), kept.wanted);
    });
    if (!gradients_wanted({given[0]})) return made;
    const auto node = make_node<PullbackNode>();
    node->kept = kept;
    node->set_next_edges(torch::autograd::collect_next_edges(given[0]));
    for (Tensor& own : made)
      if (own.defined()) torch::autograd::create_gradient_edge(own, node);
    return made;
  }
};

}  // namespace

Tensor run_array(const ArrayProgramPtr& program, const std::vector<Tensor>& inputs) {
  Kept kept{program, {}, {}};
  for (const Tensor& input : inputs) {
    kept.inputs.push_back(input.detach().contiguous());
    kept.wanted.push_back(input.requires_grad());
  }
  Tensor result = with_run(*program, kept.inputs, [](auto run) { return run.forward(); });
  if (!gradients_wanted(inputs)) return result;
  const auto node = make_node<ArrayStepNode>();
  node->kept = std::move(kept);
  connect(node, result, inputs);
  return result;
}

RecordedCalls::RecordedCalls(bool wanted) : outer_(std::exchange(recorded_calls, wanted)) {}
RecordedCalls::~RecordedCalls() { recorded_calls = outer_; }
bool RecordedCalls::wanted() { return recorded_calls; }

}  // namespace pushdown
