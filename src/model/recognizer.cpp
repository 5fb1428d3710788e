#include "model/recognizer.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.recognizer";

const std::vector<OptionSpec>& own_options() {
  static const std::vector<OptionSpec> specs{
      boolean_option("end_symbol", true, "read an end symbol after every string"),
      integer_option("passes", 1, "K of iterative refinement: every symbol is read so many times",
                     1),
      text_option("output", "affine", "what is asked for validity: an affine layer, or the network",
                  {"affine", "own"})};
  return specs;
}

}  // namespace

std::vector<OptionSpec> recognizer_options(const std::string& architecture) {
  return sequence_model_options(kWhere, architecture, own_options());
}

Recognizer::Recognizer(Alphabet alphabet, const Json& options)
    : SequenceModel(std::move(alphabet), kWhere, own_options(), options),
      passes_(options_["passes"]),
      affine_(options_["output"] == "affine") {
  build(end_symbol_ ? 1 : 0, 1);
  if (affine_) return;
  // Nothing reads an output layer then.
  parameters_ = network_->parameters();
  check(network_->validity(at::zeros({1, 1, network_->hidden_size()}, output_weight_.options()))
            .defined(),
        kWhere, "{} has no measure of validity of its own; use output = 'affine'",
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

Recognition Recognizer::run(const Tensor& words, Random* noise) const {
  Passes made = network_->run_passes(input(words), passes_, noise);
  return {scores(made.hiddens), made.hiddens, made.weights};
}

Tensor Recognizer::decisions(const Tensor& words) const {
  const Tensor hiddens = network_->run_passes(input(words), passes_, nullptr).hiddens;
  return scores(hiddens.narrow(1, hiddens.size(1) - 1, 1)).squeeze(1);
}

}  // namespace pushdown
