#include "model/language_model.h"

#include "base/check.h"
#include "model/attaching_network.h"
#include "recurrence/affine.h"
#include "tensor/backward.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.language_model";

const std::vector<OptionSpec>& language_model_own_options() {
  static const std::vector<OptionSpec> specs{boolean_option(
      "end_symbol", true, "predict an end symbol after every string; false for running texts")};
  return specs;
}

}  // namespace

std::vector<OptionSpec> language_model_options(const std::string& architecture) {
  return sequence_model_options(kWhere, architecture, language_model_own_options());
}

LanguageModel::LanguageModel(Alphabet alphabet, const Json& options, const Kinds& kinds)
    : SequenceModel(std::move(alphabet), kWhere, language_model_own_options(), options, kinds),
      kernels_(options_.value("kernels", true)),
      buffers_(std::make_shared<BufferPool>()) {
  build(kinds, 0, alphabet_.size() + (end_symbol_ ? 1 : 0));
}

Tensor LanguageModel::words_read(const Tensor& targets) {
  return targets.narrow(1, 0, std::max<std::int64_t>(targets.size(1) - 1, 0));
}

PassRequest LanguageModel::request(const Tensor& targets, Random* noise, bool graph) const {
  return {.words = words_read(targets),
          .noise = noise,
          .outcomes = output_weight_.size(0),
          .graph = graph};
}

Tensor LanguageModel::hiddens(const Tensor& targets, Random* noise) const {
  return network_->run(words_read(targets), noise).narrow(1, 0, targets.size(1));
}

Tensor LanguageModel::scores(const Tensor& hiddens) const {
  return kernels_ ? affine(hiddens, output_weight_, output_bias_)
                  : linear_product(hiddens, output_weight_, output_bias_);
}

Tensor LanguageModel::log_likelihoods(const Tensor& hiddens, const Tensor& targets) const {
  const Tensor ids = targets.to(hiddens.device());
  return kernels_ ? pushdown::log_likelihoods(hiddens, output_weight_, output_bias_, ids, buffers_)
                  : log_likelihoods_composed(hiddens, output_weight_, output_bias_, ids);
}

Tensor LanguageModel::logits(const Tensor& words, Random* noise) const {
  return scores(hiddens(targets_of(words), noise));
}

Tensor LanguageModel::targets_of(const Tensor& words) const {
  check_words("language_model.logits", words);
  return end_symbol_ ? at::constant_pad_nd(words, {0, 1}, static_cast<double>(alphabet_.size()))
                     : words;
}

Tensor LanguageModel::differentiate(const Tensor& words, double scale, Random* noise) const {
  const Tensor targets = targets_of(words);
  const Route route = network_->route(request(targets, noise, false));
  if (const auto* plan = std::get_if<PlannedBatch>(&route))
    return differentiate_log_likelihoods(*plan, layer(), targets, scale);
  const at::AutoGradMode with_gradient(true);
  const Tensor values = log_likelihoods(hiddens(targets, noise), targets).sum(1);
  run_backward(values, at::full_like(values, scale));
  return values.detach();
}

Tensor LanguageModel::log_probabilities(const Tensor& words, Random* noise) const {
  const Tensor targets = targets_of(words);
  const Route route = network_->route(request(targets, noise, true));
  if (const auto* plan = std::get_if<PlannedBatch>(&route))
    return pushdown::log_likelihoods(*plan, layer(), targets);
  return log_likelihoods(hiddens(targets, noise), targets).sum(1);
}

bool LanguageModel::reads_trees() const { return attaching(*network_) != nullptr; }

TreeLogProbabilities LanguageModel::tree_log_probabilities(const Tensor& words,
                                                           const Tensor& attachments,
                                                           Random* noise) const {
  constexpr auto kWhere = "language_model.tree_log_probabilities";
  const auto* network = attaching(*network_);
  check(network != nullptr, kWhere,
        "trees need a transformer with a layer 'pushdown_attention', got a {}", network_->line());
  const Tensor targets = targets_of(words);
  check(attachments.sizes() == words.sizes() && attachments.scalar_type() == at::kLong, kWhere,
        "attachments must be {} (int64), got {}", shape_text(words), shape_text(attachments));
  const Tensor all = network->run_attached(words, attachments, noise);
  return {log_likelihoods(all.narrow(1, 0, targets.size(1)), targets).sum(1),
          network->attachment_log_probabilities(words, attachments, all).sum(1)};
}

Tensor LanguageModel::outcome_logits(const Tensor& words, const Tensor& outcomes) const {
  constexpr auto kWhere = "language_model.outcome_logits";
  check_words("language_model.logits", words);
  check(outcomes.dim() == 2 && outcomes.size(0) == words.size(0) &&
            outcomes.scalar_type() == at::kLong,
        kWhere, "outcomes must be {} x m (int64), got {}", words.size(0), shape_text(outcomes));
  check(outcomes.numel() == 0 || (outcomes.min().item<std::int64_t>() >= 0 &&
                                  outcomes.max().item<std::int64_t>() < output_bias_.size(0)),
        kWhere, "outcomes are 0 to {}", output_bias_.size(0) - 1);
  const Tensor hidden = network_->run(words, nullptr).select(1, words.size(1));  // B x H
  const Tensor ids = outcomes.to(hidden.device());
  const Tensor rows = output_weight_.index_select(0, ids.flatten())
                          .view({ids.size(0), ids.size(1), hidden.size(1)});
  return at::matmul(rows, hidden.unsqueeze(2)).squeeze(2) +
         output_bias_.index_select(0, ids.flatten()).view_as(ids);
}

ReadingState LanguageModel::begin(std::int64_t batch, std::int64_t length) const {
  constexpr auto kWhere = "language_model.begin";
  check(batch >= 1, kWhere, "the batch must be at least 1, got {}", batch);
  check(length >= 0, kWhere, "the length must not be negative, got {}", length);
  return {network_, network_->initial(batch, length), batch, 0};
}

void LanguageModel::check_state(const ReadingState& state) const {
  check(state.network == network_, "language_model.read", "the state belongs to another model");
}

std::pair<Tensor, ReadingState> LanguageModel::read(const Tensor& words, const ReadingState& state,
                                                    Random* noise) const {
  check_words("language_model.logits", words);
  check_state(state);
  check(words.size(0) == state.batch, "language_model.read", "words must be {} x c, got {}",
        state.batch, shape_text(words));
  auto [hiddens, next] = network_->read(words, state.state, noise);
  return {scores(hiddens),
          ReadingState{network_, std::move(next), state.batch, state.symbols + words.size(1)}};
}

std::pair<Tensor, ReadingState> LanguageModel::score(const Tensor& words, const Tensor& targets,
                                                     const ReadingState& state,
                                                     Random* noise) const {
  check_words("language_model.logits", words);
  check_state(state);
  constexpr auto kWhere = "language_model.score";
  check(words.size(0) == state.batch && targets.sizes() == words.sizes(), kWhere,
        "words and targets must be {} x c, got {} and {}", state.batch, shape_text(words),
        shape_text(targets));
  check(targets.scalar_type() == at::kLong, kWhere, "targets must be int64, got {}",
        dtype_name(targets.scalar_type()));
  check(targets.numel() == 0 || targets.max().item<std::int64_t>() < output_bias_.size(0), kWhere,
        "targets must be below {}", output_bias_.size(0));
  auto [hiddens, next] = network_->read(words, state.state, noise);
  return {log_likelihoods(hiddens, targets),
          ReadingState{network_, std::move(next), state.batch, state.symbols + words.size(1)}};
}

std::pair<Tensor, ReadingState> LanguageModel::next(const ReadingState& state,
                                                    Random* noise) const {
  check_state(state);
  auto [hidden, next] = network_->peek(state.state, noise);
  return {scores(hidden), ReadingState{network_, std::move(next), state.batch, state.symbols}};
}

ReadingState LanguageModel::restarted(const ReadingState& state) const {
  check_state(state);
  return {network_, network_->restarted(state.state, state.batch), state.batch, state.symbols};
}

void LanguageModel::visit_log_probabilities(const Tensor& words, std::int64_t chunk, Random* noise,
                                            const std::function<void(const Tensor&)>& visit) const {
  if (chunk == 0 || words.dim() != 2 || chunk >= words.size(1))
    return visit(log_probabilities(words, noise));
  const auto length = words.size(1);
  ReadingState state = begin(words.size(0), length);
  for (std::int64_t start = 0; start < length; start += chunk) {
    const auto size = std::min(chunk, length - start);
    const Tensor piece = words.narrow(1, start, size);
    auto [of_piece, next] = score(piece, piece, state, noise);
    Tensor values = of_piece.sum(1);
    if (end_symbol_ && start + size == length)
      values = values + this->next(next, noise).first.log_softmax(1).select(1, alphabet_.size());
    state = next.detached();
    visit(values);
  }
}

}  // namespace pushdown
