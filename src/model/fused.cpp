#include "model/fused.h"

#include "base/check.h"
#include "base/parallel.h"
#include "model/fused_network.h"

namespace pushdown {
namespace {

using torch::autograd::variable_list;

bool gradients_wanted(const variable_list& inputs) {
  return at::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(inputs);
}

// Puts `result` into the graph with `node` as the function of `inputs` that made it.
void connect(const std::shared_ptr<torch::autograd::Node>& node, Tensor& result,
             const variable_list& inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::create_gradient_edge(result, node);
}

// What both functions work with, and the loss keeps for its backward pass.
template <class F>
struct Workspace {
  FusedNetworkPtr network;
  BufferPoolPtr buffers;
  Buffer memory;
  std::optional<PackedWeights<F>> weights;
  std::optional<StepRecord<F>> record;
  ScanKernel<F> kernel;

  Workspace(const FusedNetworkPtr& network, const BufferPoolPtr& buffers, std::int64_t batch,
            bool one_hot, bool gradients)
      : network(network), buffers(buffers), kernel(scan_kernel<F>(current_isa(), network->shape)) {
    Pieces<F> count(nullptr);
    PackedWeights<F>(*network, one_hot, count);
    StepRecord<F>(*network, batch, gradients, count);
    memory = Buffer(buffers, count.bytes());
    Pieces<F> pieces(memory.as<F>());
    weights.emplace(*network, one_hot, pieces);
    record.emplace(*network, batch, gradients, pieces);
  }
  std::int64_t tape_size() const { return scan_tape_size(network->shape); }
  std::int64_t scratch_size() const { return scan_scratch_size(network->shape); }
  Buffer buffer(std::int64_t count) const {
    return {buffers, static_cast<std::size_t>(count) * sizeof(F)};
  }
};

// ---- Hidden vectors of all steps, as a function of inputs (the first one) and parameters. ----
template <class F>
struct ScanNode final : torch::autograd::Node {
  using Work = Workspace<F>;
  std::optional<Work> work;
  Tensor inputs, pre, top;  // B x T x I, B x T x G, B x (T+1) x H
  Buffer tapes;             // B x scan_tape_size

  std::string name() const override { return "FusedScan"; }
  void release_variables() override {
    work.reset();
    inputs = pre = top = Tensor();
    tapes = {};
  }

  ScanSequence<F> sequence(std::int64_t b, F* scratch) const {
    auto sequence = work->record->sequence(*work->network, b);
    sequence.pre = pre.data_ptr<F>() + b * pre.stride(0);
    sequence.tape = tapes.as<F>() + b * work->tape_size();
    sequence.scratch = scratch;
    return sequence;
  }

  void forward(const FusedNetworkPtr& network, const BufferPoolPtr& buffers, bool gradients) {
    const ScanShape& shape = network->shape;
    const auto batch = inputs.size(0);
    const Tensor& weight = network->layer(0, 0);
    pre = at::linear(inputs, weight.narrow(1, 0, network->inputs), network->layer(0, 2));
    top = at::empty({batch, shape.steps + 1, shape.hidden}, inputs.options());
    work.emplace(network, buffers, batch, false, gradients);
    work->record->hidden[shape.layers - 1] = top.data_ptr<F>();
    tapes = work->buffer(batch * work->tape_size());
    parallel_for(batch, [&](std::int64_t b) {
      const Buffer scratch = work->buffer(work->scratch_size());
      work->kernel.forward(shape, work->weights->scan, sequence(b, scratch.as<F>()));
    });
  }

  variable_list apply(variable_list&& given) override {
    check(work.has_value(), "backward", "the graph was used and freed; keep it with retain_graph");
    at::AutoGradMode no_gradient(false);
    const FusedNetwork& network = *work->network;
    const auto batch = inputs.size(0);
    const Tensor slopes = given[0].contiguous();
    parallel_for(batch, [&](std::int64_t b) {
      const Buffer scratch = work->buffer(work->scratch_size());
      auto gradients = work->record->gradients(network, b);
      gradients.hidden = slopes.data_ptr<F>() + b * slopes.stride(0) + network.shape.hidden;
      work->kernel.backward(network.shape, work->weights->scan, sequence(b, scratch.as<F>()),
                            gradients);
    });
    variable_list all{Tensor()};
    if (task_should_compute_output(0)) {
      const Tensor gates = at::from_blob(
          work->record->input, {batch, network.shape.steps, network.shape.gates}, inputs.options());
      all[0] = at::matmul(gates, network.layer(0, 0).narrow(1, 0, network.inputs));
    }
    for (auto& gradient :
         tensor_gradients<F>(network, *work->record, nullptr, nullptr, inputs.data_ptr<F>()))
      all.push_back(std::move(gradient));
    return all;
  }
};

template <class F>
Tensor scan(const FusedNetworkPtr& network, const Tensor& inputs, const BufferPoolPtr& buffers) {
  variable_list differentiable{inputs};
  differentiable.insert(differentiable.end(), network->tensors.begin(), network->tensors.end());
  const bool gradients = gradients_wanted(differentiable);
  const std::shared_ptr<ScanNode<F>> node(new ScanNode<F>, torch::autograd::deleteNode);
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node->inputs = inputs.detach().contiguous();
    node->forward(network, buffers, gradients);
    result = node->top.detach();
  }
  if (gradients) connect(node, result, differentiable);
  return result;
}

// ---- Log-probabilities of sequences, as a function of the parameters. ----
template <class F>
struct LossNode final : torch::autograd::Node {
  std::optional<Workspace<F>> work;
  Tensor targets;  // B x (T+1)

  std::string name() const override { return "FusedLogProbabilities"; }
  void release_variables() override { work.reset(); }

  Tensor forward(const FusedNetworkPtr& network, const BufferPoolPtr& buffers, bool gradients) {
    const ScanShape& shape = network->shape;
    const auto batch = targets.size(0), rows = shape.steps + 1, hidden = shape.hidden;
    work.emplace(network, buffers, batch, true, gradients);
    const Tensor result = at::empty({batch}, network->tensors[0].options());
    const auto dense = dense_kernel<F>(current_isa());
    parallel_for(batch, [&](std::int64_t b) {
      auto& record = *work->record;
      auto sequence = record.sequence(*network, b);
      const auto* ids = targets.data_ptr<std::int64_t>() + b * rows;
      // Kept apart by a padding each.
      const auto tape = work->tape_size(), scratch = work->scratch_size();
      const auto head = scan_padded(hidden) + scan_padded(network->outcomes) + 2 * kScanPadding;
      const Buffer buffer = work->buffer(tape + scratch + head + rows * hidden + 4 * kScanPadding);
      sequence.pre = work->weights->words;
      sequence.words = ids;
      sequence.tape = buffer.as<F>();
      sequence.scratch = sequence.tape + tape;
      F* head_scratch = sequence.scratch + scratch;
      F* slopes = head_scratch + head;
      work->kernel.forward(shape, work->weights->scan, sequence);
      const F* first = sequence.hidden[shape.layers - 1] - hidden;
      F* scores = gradients ? record.scores + b * rows * network->outcomes : nullptr;
      result.data_ptr<F>()[b] = static_cast<F>(dense.log_likelihood(
          work->weights->output, rows, first, ids, head_scratch, scores, slopes));
      if (!gradients) return;
      auto out = record.gradients(*network, b);
      out.hidden = slopes + hidden;
      work->kernel.backward(shape, work->weights->scan, sequence, out);
    });
    return result;
  }

  variable_list apply(variable_list&& given) override {
    check(work.has_value(), "backward", "the graph was used and freed; keep it with retain_graph");
    at::AutoGradMode no_gradient(false);
    const Tensor scales = given[0].contiguous();
    return tensor_gradients<F>(*work->network, *work->record, scales.data_ptr<F>(),
                               targets.data_ptr<std::int64_t>(), nullptr);
  }
};

template <class F>
Tensor log_probabilities(const FusedNetworkPtr& network, const Tensor& targets,
                         const BufferPoolPtr& buffers) {
  const bool gradients = gradients_wanted(network->tensors);
  const std::shared_ptr<LossNode<F>> node(new LossNode<F>, torch::autograd::deleteNode);
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node->targets = targets.contiguous();
    result = node->forward(network, buffers, gradients);
  }
  if (gradients) connect(node, result, network->tensors);
  return result;
}

}  // namespace

Tensor run_fused(const Controller& controller, const Stack& stack, const Tensor& inputs,
                 const BufferPoolPtr& buffers) {
  if (!inputs.is_cpu() || inputs.dim() != 3) return {};
  const auto network = fused_network(controller, stack, inputs.size(2), inputs.size(1));
  if (network == nullptr || network->tensors[0].scalar_type() != inputs.scalar_type()) return {};
  return inputs.scalar_type() == at::kFloat ? scan<float>(network, inputs, buffers)
                                            : scan<double>(network, inputs, buffers);
}

Tensor fused_log_probabilities(const Controller& controller, const Stack& stack,
                               std::int64_t symbols, const Tensor& targets,
                               const Tensor& output_weight, const Tensor& output_bias,
                               const BufferPoolPtr& buffers) {
  const auto network =
      fused_network(controller, stack, symbols, targets.size(1) - 1, output_weight, output_bias);
  if (network == nullptr || !targets.is_cpu()) return {};
  return output_weight.scalar_type() == at::kFloat
             ? log_probabilities<float>(network, targets, buffers)
             : log_probabilities<double>(network, targets, buffers);
}

}  // namespace pushdown
