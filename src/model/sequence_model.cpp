#include "model/sequence_model.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::string_view kFrozen = "frozen.";

const NetworkKind& network_kind(const char* where, const Json& options) {
  const bool given = options.is_object() && options.contains("architecture");
  const Json name = given ? options["architecture"] : Json("recurrent");
  check(name.is_string(), where, "option 'architecture' must be one of {}",
        quoted_list(row_names(network_kinds())));
  return find_row(where, network_kinds(), name.get<std::string>());
}

}  // namespace

std::vector<OptionSpec> sequence_model_options(const char* where, const std::string& architecture,
                                               const std::vector<OptionSpec>& own) {
  std::vector<OptionSpec> specs{text_option("architecture", "recurrent",
                                            "kind of network that reads the symbols",
                                            row_names(network_kinds()))};
  // A model can give an option of the network further values.
  for (const OptionSpec& option : find_row(where, network_kinds(), architecture).options)
    if (std::none_of(own.begin(), own.end(),
                     [&](const OptionSpec& other) { return other.name == option.name; }))
      specs.push_back(option);
  specs.insert(specs.end(), own.begin(), own.end());
  specs.insert(specs.end(),
               {text_option("dtype", "float32", "floating-point type of the parameters",
                            {"float32", "float64"}),
                text_option("device", "cpu", "device of the parameters: cpu, cuda or cuda:n"),
                integer_option("seed", 0, "seed of the initial parameters", 0)});
  return specs;
}

SequenceModel::SequenceModel(Alphabet alphabet, const char* where,
                             const std::vector<OptionSpec>& own, const Json& options,
                             const Kinds& kinds)
    : alphabet_(std::move(alphabet)), where_(where) {
  check(alphabet_.size() > 0, where, "the alphabet is empty");
  const NetworkKind& kind = network_kind(where, options);
  options_ = kind.complete(
      resolve_options(where, sequence_model_options(where, kind.name, own), options), kinds);
  end_symbol_ = options_.value("end_symbol", false);
}

void SequenceModel::build(const Kinds& kinds, std::int64_t end_inputs, std::int64_t outputs,
                          std::int64_t output_inputs) {
  const auto tensor_options = at::TensorOptions()
                                  .dtype(parse_dtype(options_["dtype"].get<std::string>()))
                                  .device(parse_device(options_["device"].get<std::string>()));
  Random random(options_["seed"].get<std::uint64_t>(), "parameters");
  ModuleContext context{alphabet_.size() + end_inputs, tensor_options, &random, end_inputs};
  network_ = network_kind(where_, options_).make(options_, context, kinds);
  context.input = output_inputs > 0 ? output_inputs : network_->hidden_size();
  output_weight_ = xavier_parameter(outputs, context.input, 1.0, context);
  output_bias_ = uniform_parameter({outputs}, -0.1, 0.1, context);
  parameters_ = network_->parameters();
  parameters_.emplace_back("output.weight", output_weight_);
  parameters_.emplace_back("output.bias", output_bias_);
}

std::int64_t SequenceModel::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : parameters_) count += tensor.numel();
  return count;
}

void SequenceModel::freeze(const std::string& parameter, const Tensor& mask) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parameters_) {
    names.push_back(name);
    if (name != parameter) continue;
    check(mask.sizes() == tensor.sizes() && mask.scalar_type() == at::kBool, where_,
          "the mask of '{}' must be {} of bool, got {} of {}", name, shape_text(tensor),
          shape_text(mask), dtype_name(mask.scalar_type()));
    frozen_[name] = mask.to(tensor.device()).clone();
    return;
  }
  const auto near = nearest_names(parameter, names);
  fail(where_, "unknown parameter '{}'{}; the parameters are {}", parameter,
       near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
}

ParameterList SequenceModel::buffers() const {
  ParameterList list = network_->buffers();
  for (const auto& [name, mask] : frozen_) list.emplace_back(std::string(kFrozen) + name, mask);
  return list;
}

bool SequenceModel::is_buffer(std::string_view name) const {
  const auto& own = network_->buffers();
  return name.starts_with(kFrozen) || std::any_of(own.begin(), own.end(), [&](const auto& entry) {
           return entry.first == name;
         });
}

void SequenceModel::set_buffer(const std::string& name, const Tensor& value) {
  if (name.starts_with(kFrozen)) return freeze(name.substr(kFrozen.size()), value);
  for (const auto& [own, tensor] : network_->buffers()) {
    if (own != name) continue;
    check(value.sizes() == tensor.sizes() && value.scalar_type() == tensor.scalar_type(), where_,
          "'{}' must be {} of {}, got {} of {}", name, shape_text(tensor),
          dtype_name(tensor.scalar_type()), shape_text(value), dtype_name(value.scalar_type()));
    tensor.copy_(value);
    return;
  }
  fail(where_, "the model has no tensor '{}'", name);
}

void SequenceModel::check_words(const char* where, const Tensor& words) const {
  check(words.dim() == 2 && words.scalar_type() == at::kLong, where,
        "words must be B x n symbol ids (int64), got {} {}", shape_text(words),
        dtype_name(words.scalar_type()));
  const Tensor ids = words.cpu().contiguous();
  const auto* first = ids.data_ptr<std::int64_t>();
  const auto symbols = alphabet_.size();
  check(std::all_of(first, first + ids.numel(),
                    [&](std::int64_t id) { return id >= 0 && id < symbols; }),
        where, "symbol ids must be 0 to {}", symbols - 1);
}

}  // namespace pushdown
