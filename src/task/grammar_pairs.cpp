// Pairs drawn from a synchronous grammar.
#include "grammar/synchronous_sampler.h"
#include "grammar/synchronous_text.h"
#include "task/transduction.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.transduction grammar";

class GrammarPairs : public PairSource {
 public:
  GrammarPairs(SynchronousSampler sampler, const Json& options)
      : PairSource(sampler.grammar().source_alphabet(), sampler.grammar().target_alphabet()),
        sampler_(std::move(sampler)),
        options_(options) {}

  std::string name() const override {
    const auto& name = sampler_.grammar().name();
    return name.empty() ? "grammar" : name;
  }

  Json describe() const override {
    Json whole{{"kind", "grammar"}};
    whole.update(options_);
    whole["rules"] = to_text(sampler_.grammar());
    return whole;
  }

  std::vector<Pair> draw(std::int64_t count, Random& random) const override {
    check(count >= 0, kWhere, "count must be at least 0, got {}", count);
    std::vector<Pair> pairs;
    pairs.reserve(count);
    for (std::int64_t i = 0; i < count; ++i) pairs.push_back(sampler_.sample(random));
    return pairs;
  }

 private:
  SynchronousSampler sampler_;
  Json options_;
};

PairSourcePtr make(const Json& options, const SynchronousGrammar* grammar) {
  const bool has_rules = !options["rules"].is_null();
  check(grammar != nullptr || has_rules, kWhere,
        "option 'grammar' is missing: a synchronous grammar, for example from pd.grammar.load");
  check(grammar == nullptr || !has_rules, kWhere,
        "give either option 'grammar' or option 'rules', not both");
  const auto source = length_interval(kWhere, "lengths", options["lengths"], 0);
  std::optional<LengthInterval> target;
  if (!options["target_lengths"].is_null())
    target = length_interval(kWhere, "target_lengths", options["target_lengths"], 0);
  const auto mode = options["mode"] == "grammar" ? PairLengths::grammar : PairLengths::uniform;
  const auto rules =
      grammar != nullptr
          ? *grammar
          : SynchronousGrammar(parse_synchronous(options["rules"].get<std::string>(), "rules"));
  return std::make_shared<GrammarPairs>(SynchronousSampler(rules, source, mode, target), options);
}

}  // namespace

PairKind grammar_pairs() {
  return {"grammar",
          "pairs of a synchronous grammar, the option 'grammar'",
          {text_option("rules", nullptr, "the grammar as text, if 'grammar' is absent"),
           list_option("lengths", Json::array({8, 64}), "{lowest, highest} length of the source"),
           list_option("target_lengths", nullptr, "{lowest, highest} length of the target"),
           text_option("mode", "uniform",
                       "distribution of the source length: uniform over lengths with pairs, or "
                       "that of the grammar within the interval",
                       {"uniform", "grammar"})},
          make};
}

}  // namespace pushdown
