#include "model/fused.h"

#include "base/check.h"
#include "base/parallel.h"
#include "model/device_fused.h"
#include "model/fused_network.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

// What the backward pass goes on with.
template <class F>
struct Workspace {
  FusedNetworkPtr network;
  BufferPoolPtr buffers;
  Buffer memory;
  std::optional<PackedWeights<F>> weights;
  std::optional<StepRecord<F>> record;
  ScanKernel<F> kernel;

  Workspace(const FusedNetworkPtr& network, const BufferPoolPtr& buffers, std::int64_t batch,
            bool gradients)
      : network(network), buffers(buffers), kernel(scan_kernel<F>(current_isa(), network->shape)) {
    Pieces<F> count(nullptr);
    PackedWeights<F>(*network, count);
    StepRecord<F>(*network, batch, gradients, count);
    memory = Buffer(buffers, count.bytes());
    Pieces<F> pieces(memory.as<F>());
    weights.emplace(*network, pieces);
    record.emplace(*network, batch, gradients, pieces);
  }
  std::int64_t tape_size() const { return scan_tape_size(network->shape); }
  std::int64_t scratch_size() const { return scan_scratch_size(network->shape); }
  Buffer buffer(std::int64_t count) const {
    return {buffers, static_cast<std::size_t>(count) * sizeof(F)};
  }
};

// ---- Log-probabilities of sequences, as a function of the parameters. ----
template <class F>
struct LossNode final : AutogradNode {
  std::optional<Workspace<F>> work;
  Tensor targets;  // B x (T+1)

  std::string name() const override { return "FusedLogProbabilities"; }
  void release_variables() override { work.reset(); }

  Tensor forward(const FusedNetworkPtr& network, const BufferPoolPtr& buffers, bool gradients) {
    const ScanShape& shape = network->shape;
    const auto batch = targets.size(0), rows = shape.steps + 1, hidden = shape.hidden;
    work.emplace(network, buffers, batch, gradients);
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
                               targets.data_ptr<std::int64_t>());
  }
};

template <class F>
Tensor log_probabilities(const FusedNetworkPtr& network, const Tensor& targets,
                         const BufferPoolPtr& buffers) {
  const bool gradients = gradients_wanted(network->tensors);
  const auto node = make_node<LossNode<F>>();
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

Tensor fused_log_probabilities(const FusedNetworkPtr& network, const Tensor& targets,
                               const BufferPoolPtr& buffers) {
  const Tensor& first = network->tensors[0];
  if (!first.is_cpu()) {
    const auto runner = cuda_runner(first.device());
    if (runner == nullptr) return {};
    const Tensor ids = targets.to(first.device());
    return device_log_probabilities({network}, ids.unsqueeze(0), runner).squeeze(0);
  }
  if (!targets.is_cpu()) return {};
  return first.scalar_type() == at::kFloat ? log_probabilities<float>(network, targets, buffers)
                                           : log_probabilities<double>(network, targets, buffers);
}

}  // namespace pushdown
