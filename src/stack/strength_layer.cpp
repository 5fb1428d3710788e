#include "stack/strength_layer.h"

namespace pushdown {
namespace {

StrengthKind kind_named(const std::string& how) {
  if (how == "sigmoid") return StrengthKind::sigmoid;
  return how == "fixed" ? StrengthKind::fixed : StrengthKind::expectation;
}

}  // namespace

StrengthLayer::StrengthLayer(const std::string& name, const std::string& how, std::int64_t greatest,
                             std::int64_t memories, const ModuleContext& context,
                             ParameterList& parameters)
    : kind_(kind_named(how)), greatest_(greatest), memories_(memories) {
  const auto rows = memories * strength_rows(kind_, greatest);
  if (rows > 0) layer_ = make_action_layer(name, rows, 1.0, context, parameters);
}

Tensor StrengthLayer::operator()(const Tensor& hidden) const {
  if (kind_ == StrengthKind::fixed) return {};
  if (kind_ == StrengthKind::sigmoid) return layer_(hidden).sigmoid();
  return at::matmul(distribution(hidden), at::arange(greatest_ + 1, hidden.options()));
}

Tensor StrengthLayer::distribution(const Tensor& hidden) const {
  if (kind_ != StrengthKind::expectation) return {};
  return layer_(hidden).unflatten(-1, {memories_, greatest_ + 1}).softmax(-1);
}

std::vector<OptionSpec> strength_options() {
  const std::vector<std::string> all{"sigmoid", "expectation", "fixed"};
  return {
      text_option("push", "sigmoid",
                  "strength of a push: sigmoid, expectation of a softmax over 0, 1, ... "
                  "max_strength, or fixed at 1",
                  all)
          // A reading that covers only the last push would hide all pops.
          .trying("fixed", {{"read", "expectation"}, {"max_strength", 4}}),
      text_option("pop", "sigmoid",
                  "strength that a pop removes: sigmoid, expectation or fixed, as for push", all)
          .trying("expectation", {{"pop_bias", 0.0}})
          .trying("fixed", {{"pop_bias", 0.0}}),
      text_option("read", "fixed",
                  "strength that a reading covers: expectation or fixed, as for push",
                  {"expectation", "fixed"}),
      integer_option("max_strength", 4, "greatest strength k of an expectation", 1)
          .between(1, 1 << 16)
          // A push stronger than the reading would hide everything else.
          .in_small(1)
          .trying(2, {{"read", "expectation"}})};
}

}  // namespace pushdown
