#include "model/recognizer.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "tensor/numbers.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.recognizer";

const std::vector<OptionSpec>& recognizer_own_options() {
  static const std::vector<OptionSpec> specs{
      boolean_option("end_symbol", true, "read an end symbol after every string"),
      integer_option("passes", 1,
                     "number K of passes over each symbol in training (iterative refinement)", 1),
      integer_option("evaluation_passes", 1, "number of passes over each symbol in evaluation", 1),
      text_option("carry", "last", "pass of a symbol from which the next symbol continues",
                  {"last", "first"}),
      text_option("memory_in_passes", "rests",
                  "whether further passes over a symbol leave the memory unchanged (rests) or "
                  "update it again (moves)",
                  {"rests", "moves"}),
      text_option(
          "output", "affine",
          "source of the validity score: an affine output layer of the hidden state, the network's "
          "own measure, or an affine output layer of the hidden state and the stack's reading "
          "after "
          "the action of the step",
          {"affine", "own", "hidden_and_reading"}),
      text_option("decision", "last",
                  "basis of the decision: the answer after the last symbol, the mean of all "
                  "answers, or every answer",
                  decision_names()),
      boolean_option("next_symbol", false,
                     "add a second output layer that predicts the next symbol"),
      boolean_option("end_outcome", false,
                     "next_symbol without end_symbol: predict the end of the string, too")};
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
  return sequence_model_options(kWhere, architecture, recognizer_own_options());
}

Recognizer::Recognizer(Alphabet alphabet, const Json& options, const Kinds& kinds)
    : SequenceModel(std::move(alphabet), kWhere, recognizer_own_options(), options, kinds),
      training_(options_["passes"], options_["carry"] == "first"),
      evaluation_(options_["evaluation_passes"], options_["carry"] == "first"),
      memory_moves_(options_["memory_in_passes"] == "moves"),
      affine_(options_["output"] != "own"),
      kernels_(options_.value("kernels", true)),
      decision_(parse_decision(kWhere, options_["decision"])) {
  check(!memory_moves_ || !training_.carry_first, kWhere,
        "memory_in_passes = 'moves' needs carry = 'last'");
  check(options_["output"] != "hidden_and_reading" || options_["architecture"] == "recurrent",
        kWhere, "output 'hidden_and_reading' needs architecture = 'recurrent', got '{}'",
        options_["architecture"].get<std::string>());
  build(kinds, end_symbol_ ? 1 : 0, 1);
  end_outcome_ = options_["end_outcome"];
  check(
      !end_outcome_ || (options_["next_symbol"] && !end_symbol_), kWhere,
      "end_outcome needs next_symbol = true and end_symbol = false; an end symbol that is read is "
      "among the outcomes");
  if (options_["next_symbol"]) {
    check(affine_, kWhere, "next_symbol needs output = 'affine'");
    // Uses its own random stream, so that the other parameters are those of a model without this
    // layer.
    Random random(options_["seed"].get<std::uint64_t>(), "next symbol");
    const ModuleContext context{network_->hidden_size(), output_weight_.options(), &random};
    const auto outcomes = alphabet_.size() + (end_symbol_ || end_outcome_ ? 1 : 0);
    next_weight_ = xavier_parameter(outcomes, context.input, 1.0, context);
    next_bias_ = uniform_parameter({outcomes}, -0.1, 0.1, context);
    parameters_.emplace_back("next_symbol.weight", next_weight_);
    parameters_.emplace_back("next_symbol.bias", next_bias_);
  }
  if (affine_) return;
  // No output layer is needed then.
  parameters_ = network_->parameters();
  // Throws an error if the network has none.
  network_->validity(at::zeros({1, 1, network_->hidden_size()}, output_weight_.options()));
}

Tensor Recognizer::input(const Tensor& words) const {
  check_words("recognizer.run", words);
  if (!end_symbol_) return words;
  if (!words.is_cpu()) return at::constant_pad_nd(words, {0, 1}, alphabet_.size());
  // For a short string, a tensor operation takes longer than the network.
  const auto strings = words.size(0), length = words.size(1);
  const Tensor own = words.contiguous(), result = at::empty({strings, length + 1}, at::kLong);
  const auto* from = own.data_ptr<std::int64_t>();
  auto* to = result.data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < strings; ++b, from += length) {
    to = std::copy_n(from, length, to);
    *to++ = alphabet_.size();
  }
  return result;
}

Tensor Recognizer::scores(const Tensor& hiddens) const {
  return affine_ ? linear_product(hiddens, output_weight_, output_bias_).squeeze(-1)
                 : network_->validity(hiddens);
}

PassRequest Recognizer::request(const Tensor& words, std::int64_t window, Random* noise) const {
  const Refinement& refinement = this->refinement(noise != nullptr);
  if (!memory_moves_) return {words, refinement, noise, window};
  return {repeated_words(words, refinement.passes), 1, noise, window * refinement.passes};
}

Recognition Recognizer::run(const Tensor& words, Random* noise) const {
  const Passes made = network_->run(request(input(words), 0, noise));
  return {scores(made.hiddens), made.hiddens, made.weights};
}

Passes Recognizer::advance(const Tensor& words, const NetworkStatePtr& state, Random* noise) const {
  const PassRequest asked = request(words, 0, noise);
  return network_->advance(asked.words, asked.refinement, state, noise);
}

Tensor Recognizer::next_scores(const Tensor& hiddens) const {
  return next_weight_.defined() ? linear_product(hiddens, next_weight_, next_bias_) : Tensor();
}

Tensor Recognizer::decided(const Recognition& said, Decision decision) const {
  const auto count = said.scores.size(1) - 1;  // P
  // One column is enough for the last answer; if nothing is read, it is the answer before the
  // string.
  const auto columns = decision == Decision::last ? 1 : std::max<std::int64_t>(count, 1);
  Verdict verdict(*this, decision);
  verdict.add(said.scores.narrow(1, count + 1 - columns, columns),
              columns == count ? said.weights : Tensor());
  return at::tensor(verdict.values(), at::kDouble);
}

void Verdict::add(const Tensor& scores, const Tensor& weights) {
  const auto passes = scores.size(1);
  const auto said = numbers_of(scores);
  const auto counts = weights.defined() ? numbers_of(weights) : std::vector<double>();
  strings_.resize(scores.size(0));
  std::size_t i = 0;
  for (String& string : strings_) {
    for (std::int64_t p = 0; p < passes; ++p, ++i) {
      string.last = said[i];
      const double weight = counts.empty() ? 1 : counts[i];
      if (decision_ == Decision::last || weight == 0) continue;
      const double answer = affine_ ? 1 / (1 + std::exp(-said[i])) : said[i];
      string.sum += weight * answer;
      string.count += weight;
      string.least = std::min(string.least, answer);
      string.greatest = std::max(string.greatest, answer);
    }
  }
}

std::vector<double> Verdict::values() const {
  std::vector<double> result;
  for (const String& string : strings_) {
    if (decision_ == Decision::last)
      result.push_back(string.last);
    else if (decision_ == Decision::mean)
      result.push_back(string.sum / std::max(string.count, 1.0));
    else if (string.least > threshold_)
      result.push_back(string.least);
    else
      result.push_back(string.greatest <= threshold_ ? string.greatest
                                                     : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace pushdown
