#include "model/language_model.h"

#include "base/check.h"

namespace pushdown {

const std::vector<OptionSpec>& language_model_options() {
  static const std::vector<OptionSpec> specs{
      table_option("controller", Json{{"kind", "lstm"}}, "controller: kind and its options"),
      table_option("stack", Json{{"kind", "none"}}, "stack: kind and its options"),
      boolean_option("end_symbol", false, "predict an end symbol after every string"),
      text_option("dtype", "float32", "number type of the parameters", {"float32", "float64"}),
      text_option("device", "cpu", "where the parameters live: cpu, cuda or cuda:n"),
      integer_option("seed", 0, "seed of the initial parameters", 0),
      boolean_option("fused", true, "run sequences through fused kernels where there are any"),
  };
  return specs;
}

LanguageModel::LanguageModel(Alphabet alphabet, const Json& options)
    : alphabet_(std::move(alphabet)) {
  constexpr auto kWhere = "model.language_model";
  check(alphabet_.size() > 0, kWhere, "the alphabet is empty");
  options_ = resolve_options(kWhere, language_model_options(), options);
  end_symbol_ = options_["end_symbol"];
  fused_ = options_["fused"];
  // The resolved options name every default of the controller and the stack too.
  for (const auto& [key, fill] :
       {std::pair{"controller",
                  +[](const Json& given) {
                    return resolve_kind("controller", controller_kinds(), given).second;
                  }},
        std::pair{"stack", +[](const Json& given) {
                    return resolve_kind("stack", stack_kinds(), given).second;
                  }}}) {
    Json full{{"kind", options_[key].value("kind", Json())}};
    full.update(fill(options_[key]));
    options_[key] = full;
  }
  const auto tensor_options = at::TensorOptions()
                                  .dtype(parse_dtype(options_["dtype"].get<std::string>()))
                                  .device(parse_device(options_["device"].get<std::string>()));
  Random random(options_["seed"].get<std::uint64_t>(), "parameters");
  rnn_ = std::make_unique<StackRnn>(options_["controller"], options_["stack"], alphabet_.size(),
                                    tensor_options, random);
  const ModuleContext context{rnn_->hidden_size(), tensor_options, &random};
  const std::int64_t outputs = alphabet_.size() + (end_symbol_ ? 1 : 0);
  output_weight_ = xavier_parameter(outputs, rnn_->hidden_size(), 1.0, context);
  output_bias_ = uniform_parameter({outputs}, -0.1, 0.1, context);
  parameters_ = rnn_->parameters();
  parameters_.emplace_back("output.weight", output_weight_);
  parameters_.emplace_back("output.bias", output_bias_);
}

std::int64_t LanguageModel::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : parameters_) count += tensor.numel();
  return count;
}

Tensor LanguageModel::logits(const Tensor& words) const {
  constexpr auto kWhere = "language_model.logits";
  check(words.dim() == 2 && words.scalar_type() == at::kLong, kWhere,
        "words must be B x n symbol ids (int64), got {} {}", shape_text(words),
        dtype_name(words.scalar_type()));
  const auto symbols = alphabet_.size();
  if (words.numel() > 0)
    check(words.min().item<std::int64_t>() >= 0 && words.max().item<std::int64_t>() < symbols,
          kWhere, "symbol ids must be 0 to {}", symbols - 1);
  const auto read = end_symbol_ ? words.size(1) : std::max<std::int64_t>(words.size(1) - 1, 0);
  const Tensor inputs = at::one_hot(words.narrow(1, 0, read).to(output_weight_.device()), symbols)
                            .to(output_weight_.scalar_type());
  Tensor hiddens = fused_ ? rnn_->run(inputs) : rnn_->run_stepwise(inputs);
  if (words.size(1) == 0 && !end_symbol_) hiddens = hiddens.narrow(1, 0, 0);
  return at::linear(hiddens, output_weight_, output_bias_);
}

Tensor LanguageModel::log_probabilities(const Tensor& words) const {
  const Tensor scores = logits(words).log_softmax(2);
  Tensor targets = words.to(scores.device());
  if (end_symbol_)
    targets = at::constant_pad_nd(targets, {0, 1}, static_cast<double>(alphabet_.size()));
  return scores.gather(2, targets.unsqueeze(2)).squeeze(2).sum(1);
}

}  // namespace pushdown
