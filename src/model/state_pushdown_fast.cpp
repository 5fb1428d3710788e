// The neural state pushdown automaton, computed by its kernel.
#include "base/check.h"
#include "base/parallel.h"
#include "model/state_pushdown.h"

namespace pushdown {
namespace {

// Returns B x n symbol ids on the CPU after checking that all are below `inputs`, because the
// kernel uses them as memory offsets.
Tensor checked_ids(const Tensor& words, std::int64_t inputs) {
  const Tensor ids = words.cpu().contiguous();
  const auto* first = ids.data_ptr<std::int64_t>();
  check(std::all_of(first, first + ids.numel(),
                    [&](std::int64_t id) { return id >= 0 && id < inputs; }),
        "model.nspda", "symbol ids must be 0 to {}", inputs - 1);
  return ids;
}

}  // namespace

bool StatePushdown::has_kernel() const {
  return options_.device().is_cpu() &&
         (options_.dtype() == at::kFloat || options_.dtype() == at::kDouble);
}

StatePushdownShape StatePushdown::shape(const Refinement& refinement) const {
  return {order_ == Order::third,
          reading_kind_ == Reading::action,
          refinement.carry_first,
          states_,
          symbols_,
          inputs_,
          refinement.passes};
}

template <class F>
StatePushdownParameters<F> StatePushdown::pack(const Weights& weights,
                                               const StatePushdownShape& shape, F* packed) const {
  const Tensor state = weights.state.contiguous(), action = weights.action.contiguous();
  const Tensor state_bias = state_bias_.contiguous(), action_bias = action_bias_.contiguous();
  pack_state_pushdown<F>(shape,
                         {state.data_ptr<F>(), state_bias.data_ptr<F>(), action.data_ptr<F>(),
                          action_bias.data_ptr<F>()},
                         packed);
  const bool* hints = hints_.data_ptr<bool>();
  const bool any = std::find(hints, hints + hints_.numel(), true) != hints + hints_.numel();
  return {packed,
          static_cast<F>(values_.other),
          static_cast<F>(values_.top),
          static_cast<F>(values_.popped),
          static_cast<F>(push_threshold_),
          static_cast<F>(pop_threshold_),
          any ? hints : nullptr};
}

template <class F>
Passes StatePushdown::advance_inside(const Tensor& words, const Refinement& refinement,
                                     const StatePushdownState& state,
                                     const Weights& weights) const {
  at::NoGradGuard guard;
  const auto batch = words.size(0), length = words.size(1), passes = refinement.passes,
             made = length * passes;
  const Tensor ids = checked_ids(words, inputs_);
  const auto sizes = shape(refinement);
  const Buffer memory(pool_, state_pushdown_weight_size(sizes) * sizeof(F));
  const auto parameters = pack(weights, sizes, memory.as<F>());
  const auto kernel =
      kernel_for<StatePushdownKernel<F>>(current_isa(), sizes, StatePushdownTask::forward);
  const auto scratch_size = kernel.scratch_bytes(sizes, length);

  auto end = std::make_shared<StatePushdownState>();
  end->neurons = state.neurons.contiguous().clone();
  end->reading = state.reading.contiguous().clone();
  auto stacks = std::make_shared<StatePushdownState::Stacks>(*state.stacks);
  Passes result;
  result.hiddens = at::empty({batch, made, states_}, options_);
  if (passes > 1) result.weights = at::empty({batch, made}, options_);
  F* const neurons = end->neurons.data_ptr<F>();
  F* const reading = end->reading.data_ptr<F>();
  F* const hiddens = result.hiddens.data_ptr<F>();
  F* const pass_weights = passes > 1 ? result.weights.data_ptr<F>() : nullptr;
  const auto* symbols = ids.data_ptr<std::int64_t>();
  parallel_for(batch, [&](std::int64_t b) {
    const Buffer scratch(pool_, scratch_size);
    auto& stack = (*stacks)[b];
    const auto depth = std::ssize(stack);
    stack.resize(depth + length);
    StatePushdownString<F> string{symbols + b * length,
                                  length,
                                  neurons + b * states_,
                                  reading + b * readings(),
                                  stack.data(),
                                  depth,
                                  hiddens + b * made * states_,
                                  pass_weights == nullptr ? nullptr : pass_weights + b * made};
    kernel.run(sizes, parameters, string, nullptr, scratch.template as<void>());
    stack.resize(string.depth);
  });
  end->stacks = stacks;
  result.state = end;
  return result;
}

template <class F>
ValidityLosses StatePushdown::differentiate_inside(const PassRequest& batch,
                                                   StatePushdownTask task) const {
  at::NoGradGuard guard;
  const ValidityHead& head = *batch.answers;
  const auto count = batch.words.size(0), length = batch.words.size(1);
  const Tensor ids = checked_ids(batch.words, inputs_);
  const Tensor labels = head.labels.to(at::kCPU, at::kDouble).contiguous();
  const auto sizes = shape(batch.refinement);
  const auto size = state_pushdown_weight_size(sizes);
  const Buffer memory(pool_, 2 * size * sizeof(F));
  const auto parameters = pack(weights(discrete_ == Discrete::always), sizes, memory.as<F>());
  F* const gradient = memory.as<F>() + size;
  std::fill(gradient, gradient + size, F(0));
  const auto kernel = kernel_for<StatePushdownKernel<F>>(current_isa(), sizes, task);
  const Buffer scratch(pool_, kernel.scratch_bytes(sizes, length));

  std::vector<std::int64_t> stack(length);
  std::vector<F> neurons(states_);
  const auto empty = reading(symbols_);
  std::vector<F> seen(empty.size());
  const auto words_of_signs = task == StatePushdownTask::uoro
                                  ? length * sizes.passes * state_pushdown_sign_words(sizes)
                                  : 0;
  std::vector<std::uint64_t> signs(words_of_signs);
  const Tensor output = head.output_weight.contiguous();
  StatePushdownLoss<F> loss{};
  loss.every_step = head.every_step;
  loss.scale = static_cast<F>(head.scale * head.share);
  loss.output = output.data_ptr<F>();
  loss.output_bias = head.output_bias.contiguous().data_ptr<F>()[0];
  loss.gradient = gradient;
  loss.output_gradient = gradient_of(head.output_weight).data_ptr<F>();
  loss.output_bias_gradient = gradient_of(head.output_bias).data_ptr<F>();
  loss.signs = signs.data();
  ValidityLosses found;
  for (std::int64_t b = 0; b < count; ++b) {
    for (auto& word : signs) word = batch.noise->next();
    std::fill(neurons.begin(), neurons.end(), F(0));
    neurons[0] = 1;
    std::copy(empty.begin(), empty.end(), seen.begin());
    StatePushdownString<F> string{ids.data_ptr<std::int64_t>() + b * length, length, neurons.data(),
                                  seen.data(), stack.data()};
    loss.label = static_cast<F>(labels.data_ptr<double>()[b]);
    kernel.run(sizes, parameters, string, &loss, scratch.as<void>());
    found.losses.push_back(loss.loss * head.share);
    found.scores.push_back(loss.score);
  }
  add_packed_state_pushdown<F>(
      sizes, gradient,
      {gradient_of(state_weight_).data_ptr<F>(), gradient_of(state_bias_).data_ptr<F>(),
       gradient_of(action_weight_).data_ptr<F>(), gradient_of(action_bias_).data_ptr<F>()});
  return found;
}

Route StatePushdown::route(const PassRequest& request) const {
  const std::pair<std::string_view, StatePushdownTask> tasks[] = {
      {"bptt", StatePushdownTask::bptt},
      {"rtrl", StatePushdownTask::rtrl},
      {"uoro", StatePushdownTask::uoro}};
  const auto* task = std::find_if(std::begin(tasks), std::end(tasks),
                                  [&](const auto& row) { return row.first == request.algorithm; });
  const auto dtype = options_.dtype();
  const auto& answers = request.answers;
  if (!answers || task == std::end(tasks) || request.window > 0 || !has_kernel() ||
      answers->output_weight.dtype() != dtype || answers->output_bias.dtype() != dtype)
    return Network::route(request);
  return ByKernel{[this, request, task = task->second] {
    return options_.dtype() == at::kFloat ? differentiate_inside<float>(request, task)
                                          : differentiate_inside<double>(request, task);
  }};
}

template Passes StatePushdown::advance_inside<float>(const Tensor&, const Refinement&,
                                                     const StatePushdownState&,
                                                     const Weights&) const;
template Passes StatePushdown::advance_inside<double>(const Tensor&, const Refinement&,
                                                      const StatePushdownState&,
                                                      const Weights&) const;

}  // namespace pushdown
