#include "model/language_model.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.language_model";

const NetworkKind& network_kind(const Json& options) {
  const bool given = options.is_object() && options.contains("architecture");
  const Json name = given ? options["architecture"] : Json("recurrent");
  check(name.is_string(), kWhere, "option 'architecture' must be one of {}",
        quoted_list(row_names(network_kinds())));
  return find_row(kWhere, network_kinds(), name.get<std::string>());
}

}  // namespace

std::vector<OptionSpec> language_model_options(const std::string& architecture) {
  std::vector<OptionSpec> specs{text_option("architecture", "recurrent", "what reads the symbols",
                                            row_names(network_kinds()))};
  const auto& own = find_row(kWhere, network_kinds(), architecture).options;
  specs.insert(specs.end(), own.begin(), own.end());
  specs.insert(
      specs.end(),
      {boolean_option("end_symbol", false, "predict an end symbol after every string"),
       text_option("dtype", "float32", "number type of the parameters", {"float32", "float64"}),
       text_option("device", "cpu", "where the parameters live: cpu, cuda or cuda:n"),
       integer_option("seed", 0, "seed of the initial parameters", 0)});
  return specs;
}

LanguageModel::LanguageModel(Alphabet alphabet, const Json& options)
    : alphabet_(std::move(alphabet)) {
  check(alphabet_.size() > 0, kWhere, "the alphabet is empty");
  const NetworkKind& kind = network_kind(options);
  options_ = kind.complete(resolve_options(kWhere, language_model_options(kind.name), options));
  end_symbol_ = options_["end_symbol"];
  const auto tensor_options = at::TensorOptions()
                                  .dtype(parse_dtype(options_["dtype"].get<std::string>()))
                                  .device(parse_device(options_["device"].get<std::string>()));
  Random random(options_["seed"].get<std::uint64_t>(), "parameters");
  ModuleContext context{alphabet_.size(), tensor_options, &random};
  network_ = kind.make(options_, context);
  context.input = network_->hidden_size();
  const std::int64_t outputs = alphabet_.size() + (end_symbol_ ? 1 : 0);
  output_weight_ = xavier_parameter(outputs, context.input, 1.0, context);
  output_bias_ = uniform_parameter({outputs}, -0.1, 0.1, context);
  parameters_ = network_->parameters();
  parameters_.emplace_back("output.weight", output_weight_);
  parameters_.emplace_back("output.bias", output_bias_);
}

std::int64_t LanguageModel::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : parameters_) count += tensor.numel();
  return count;
}

void LanguageModel::check_words(const Tensor& words) const {
  constexpr auto kHere = "language_model.logits";
  check(words.dim() == 2 && words.scalar_type() == at::kLong, kHere,
        "words must be B x n symbol ids (int64), got {} {}", shape_text(words),
        dtype_name(words.scalar_type()));
  const Tensor ids = words.cpu().contiguous();
  const auto* first = ids.data_ptr<std::int64_t>();
  const auto symbols = alphabet_.size();
  check(std::all_of(first, first + ids.numel(),
                    [&](std::int64_t id) { return id >= 0 && id < symbols; }),
        kHere, "symbol ids must be 0 to {}", symbols - 1);
}

Tensor LanguageModel::logits(const Tensor& words, Random* noise) const {
  check_words(words);
  const auto read = end_symbol_ ? words.size(1) : std::max<std::int64_t>(words.size(1) - 1, 0);
  Tensor hiddens = network_->run(words.narrow(1, 0, read), noise);
  if (words.size(1) == 0 && !end_symbol_) hiddens = hiddens.narrow(1, 0, 0);
  return at::linear(hiddens, output_weight_, output_bias_);
}

Tensor LanguageModel::log_probabilities(const Tensor& words, Random* noise) const {
  check_words(words);
  Tensor targets = words;
  if (end_symbol_)
    targets = at::constant_pad_nd(targets, {0, 1}, static_cast<double>(alphabet_.size()));
  const Tensor fused = network_->log_probabilities(targets, output_weight_, output_bias_);
  if (fused.defined()) return fused;
  const Tensor scores = logits(words, noise).log_softmax(2);
  return scores.gather(2, targets.to(scores.device()).unsqueeze(2)).squeeze(2).sum(1);
}

ReadingState LanguageModel::begin(std::int64_t batch, std::int64_t length) const {
  constexpr auto kHere = "language_model.begin";
  check(batch >= 1, kHere, "the batch must be at least 1, got {}", batch);
  check(length >= 0, kHere, "the length must not be negative, got {}", length);
  return {network_, network_->initial(batch, length), batch, 0};
}

void LanguageModel::check_state(const ReadingState& state) const {
  check(state.network == network_, "language_model.read", "the state is another model's");
}

std::pair<Tensor, ReadingState> LanguageModel::read(const Tensor& words, const ReadingState& state,
                                                    Random* noise) const {
  check_words(words);
  check_state(state);
  check(words.size(0) == state.batch, "language_model.read", "words must be {} x c, got {}",
        state.batch, shape_text(words));
  auto [hiddens, next] = network_->read(words, state.state, noise);
  return {at::linear(hiddens, output_weight_, output_bias_),
          ReadingState{network_, std::move(next), state.batch, state.symbols + words.size(1)}};
}

std::pair<Tensor, ReadingState> LanguageModel::next(const ReadingState& state,
                                                    Random* noise) const {
  check_state(state);
  auto [hidden, next] = network_->peek(state.state, noise);
  return {at::linear(hidden, output_weight_, output_bias_),
          ReadingState{network_, std::move(next), state.batch, state.symbols}};
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
    auto [scores, next] = read(piece, state, noise);
    Tensor values =
        scores.log_softmax(2).gather(2, piece.to(scores.device()).unsqueeze(2)).squeeze(2).sum(1);
    if (end_symbol_ && start + size == length)
      values = values + this->next(next, noise).first.log_softmax(1).select(1, alphabet_.size());
    state = next.detached();
    visit(values);
  }
}

}  // namespace pushdown
