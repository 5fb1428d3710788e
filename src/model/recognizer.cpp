#include "model/recognizer.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kRecognizerPlace = "model.recognizer";

const std::vector<OptionSpec>& recognizer_own_options() {
  static const std::vector<OptionSpec> specs{
      boolean_option("end_symbol", true, "read an end symbol after every string"),
      integer_option("passes", 1, "K of iterative refinement in training: passes over a symbol", 1),
      integer_option("evaluation_passes", 1, "passes over a symbol in evaluation", 1),
      text_option("carry", "last", "which pass of a symbol the next symbol goes on from",
                  {"last", "first"}),
      text_option("memory_in_passes", "rests",
                  "what a memory does in a symbol's further passes: it rests, or it moves again",
                  {"rests", "moves"}),
      text_option("output", "affine", "what is asked for validity: an affine layer, or the network",
                  {"affine", "own"}),
      text_option("decision", "last",
                  "what decides: the answer after the last symbol, the mean over all of them, or "
                  "every single one",
                  decision_names()),
      boolean_option("next_symbol", false, "a second output layer predicts the next symbol")};
  return specs;
}

}  // namespace

const std::vector<std::string>& decision_names() {
  static const std::vector<std::string> names{"last", "mean", "every"};
  return names;
}

Decision parse_decision(const char* where, const std::string& name) {
  const auto& names = decision_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), where, "decision must be one of {}, got '{}'", quoted_list(names),
        name);
  return static_cast<Decision>(found - names.begin());
}

std::vector<OptionSpec> recognizer_options(const std::string& architecture) {
  return sequence_model_options(kRecognizerPlace, architecture, recognizer_own_options());
}

Recognizer::Recognizer(Alphabet alphabet, const Json& options, const Kinds& kinds)
    : SequenceModel(std::move(alphabet), kRecognizerPlace, recognizer_own_options(), options,
                    kinds),
      training_(options_["passes"], options_["carry"] == "first"),
      evaluation_(options_["evaluation_passes"], options_["carry"] == "first"),
      memory_moves_(options_["memory_in_passes"] == "moves"),
      affine_(options_["output"] == "affine"),
      fused_(options_.value("fused", true)),
      decision_(parse_decision(kRecognizerPlace, options_["decision"])) {
  check(!memory_moves_ || !training_.carry_first, kRecognizerPlace,
        "memory_in_passes = 'moves' needs carry = 'last'");
  build(kinds, end_symbol_ ? 1 : 0, 1);
  if (options_["next_symbol"]) {
    check(affine_, kRecognizerPlace, "next_symbol needs output = 'affine'");
    // A stream of its own: the other parameters are those of a model without this layer.
    Random random(options_["seed"].get<std::uint64_t>(), "next symbol");
    const ModuleContext context{network_->hidden_size(), output_weight_.options(), &random};
    const auto outcomes = alphabet_.size() + (end_symbol_ ? 1 : 0);
    next_weight_ = xavier_parameter(outcomes, context.input, 1.0, context);
    next_bias_ = uniform_parameter({outcomes}, -0.1, 0.1, context);
    parameters_.emplace_back("next_symbol.weight", next_weight_);
    parameters_.emplace_back("next_symbol.bias", next_bias_);
  }
  if (affine_) return;
  // Nothing reads an output layer then.
  parameters_ = network_->parameters();
  check(network_->validity(at::zeros({1, 1, network_->hidden_size()}, output_weight_.options()))
            .defined(),
        kRecognizerPlace, "{} has no measure of validity of its own; use output = 'affine'",
        network_->line());
}

Tensor Recognizer::input(const Tensor& words) const {
  check_words("recognizer.run", words);
  return end_symbol_ ? at::constant_pad_nd(words, {0, 1}, static_cast<double>(alphabet_.size()))
                     : words;
}

Tensor Recognizer::scores(const Tensor& hiddens) const {
  return affine_ ? at::linear(hiddens, output_weight_, output_bias_).squeeze(-1)
                 : network_->validity(hiddens);
}

std::pair<Tensor, Refinement> Recognizer::given(const Tensor& words, bool training) const {
  const Refinement& refinement = this->refinement(training);
  if (!memory_moves_) return {words, refinement};
  return {repeated_words(words, refinement.passes), 1};
}

Recognition Recognizer::run(const Tensor& words, Random* noise) const {
  const auto [read, refinement] = given(input(words), noise != nullptr);
  Passes made = network_->run_passes(read, refinement, noise);
  return {scores(made.hiddens), made.hiddens, made.weights};
}

Passes Recognizer::advance(const Tensor& words, const NetworkStatePtr& state, Random* noise) const {
  const auto [read, refinement] = given(words, noise != nullptr);
  return network_->advance(read, refinement, state, noise);
}

Recognition Recognizer::run_windows(const Tensor& words, std::int64_t window, Random* noise) const {
  const auto [read, refinement] = given(input(words), noise != nullptr);
  const auto symbols = memory_moves_ ? window * this->refinement(noise != nullptr).passes : window;
  const Tensor hiddens = network_->run_windows(read, refinement, symbols, noise);
  return hiddens.defined() ? Recognition{scores(hiddens), hiddens, {}} : Recognition{};
}

Tensor Recognizer::next_scores(const Tensor& hiddens) const {
  return next_weight_.defined() ? at::linear(hiddens, next_weight_, next_bias_) : Tensor();
}

Tensor Recognizer::decisions(const Tensor& words, Decision decision) const {
  const auto [read, refinement] = given(input(words), false);
  const Passes made = network_->run_passes(read, refinement, nullptr);
  const auto count = made.hiddens.size(1) - 1;  // P
  // One column is enough for the last answer; where nothing is read it is that before the string.
  const auto columns = decision == Decision::last ? 1 : std::max<std::int64_t>(count, 1);
  Verdict verdict(*this, decision);
  verdict.add(scores(made.hiddens.narrow(1, count + 1 - columns, columns)),
              columns == count ? made.weights : Tensor());
  return verdict.value();
}

void Verdict::add(const Tensor& scores, const Tensor& weights) {
  const auto passes = scores.size(1);
  if (decision_ == Decision::last) {
    last_ = scores.detach().select(1, passes - 1);
    return;
  }
  const Tensor answers = affine_ ? scores.detach().sigmoid() : scores.detach();
  if (decision_ == Decision::every) {
    // A pass that was left out has an answer beyond all others.
    const auto bound = [&](double value) {
      return weights.defined() ? answers.masked_fill(weights.eq(0), value) : answers;
    };
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor least = bound(infinity).amin(1), greatest = bound(-infinity).amax(1);
    least_ = least_.defined() ? at::minimum(least_, least) : least;
    greatest_ = greatest_.defined() ? at::maximum(greatest_, greatest) : greatest;
    return;
  }
  const Tensor sum = weights.defined() ? (answers * weights).sum(1) : answers.sum(1);
  const Tensor count = weights.defined() ? weights.sum(1).to(sum.scalar_type())
                                         : at::full_like(sum, static_cast<double>(passes));
  sum_ = sum_.defined() ? sum_ + sum : sum;
  count_ = count_.defined() ? count_ + count : count;
}

Tensor Verdict::value() const {
  if (decision_ == Decision::every) {
    const Tensor undecided = at::full_like(least_, std::numeric_limits<double>::quiet_NaN());
    return at::where(least_ > threshold_, least_,
                     at::where(greatest_ <= threshold_, greatest_, undecided));
  }
  return decision_ == Decision::last ? last_ : sum_ / count_.clamp_min(1);
}

}  // namespace pushdown
