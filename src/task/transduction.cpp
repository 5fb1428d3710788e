#include "task/transduction.h"

#include <algorithm>

#include "task/chomsky.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.transduction";

Alphabet numbered_symbols(std::int64_t count) {
  std::vector<std::string> symbols;
  for (std::int64_t i = 1; i <= count; ++i) symbols.push_back(fmt::format("a{}", i));
  return Alphabet(std::move(symbols));
}

class GeneratedPairs : public PairSource {
 public:
  GeneratedPairs(std::string kind, const Json& options, PairGenerator generator, int step)
      : PairSource(generator.source, generator.target),
        kind_(std::move(kind)),
        options_(options),
        draw_(std::move(generator.draw)),
        one_length_(options.value("one_length", false)),
        step_(step) {
    const auto [low, high] = length_interval(kWhere, "lengths", options["lengths"], 1);
    shortest_ = (low + step - 1) / step * step;
    check(shortest_ <= high, kWhere,
          "{} has only sources of even length, and {{{}, {}}} contains no even length", kind_, low,
          high);
    lengths_ = (high - shortest_) / step + 1;
  }

  std::string name() const override { return kind_; }

  Json describe() const override {
    Json whole{{"kind", kind_}};
    whole.update(options_);
    return whole;
  }

  std::vector<Pair> draw(std::int64_t count, Random& random) const override {
    check(count >= 0, kWhere, "count must be at least 0, got {}", count);
    std::vector<Pair> pairs;
    pairs.reserve(count);
    int length = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == 0 || !one_length_)
        length = shortest_ + step_ * static_cast<int>(random.below(lengths_));
      pairs.push_back(draw_(length, random));
    }
    return pairs;
  }

 private:
  std::string kind_;
  Json options_;
  std::function<Pair(int length, Random& random)> draw_;
  bool one_length_;
  int step_, shortest_ = 0, lengths_ = 0;  // lengths: shortest_ + step_ * (0 .. lengths_ - 1)
};

}  // namespace

PairKind generated_pairs(const std::string& name, const std::string& doc,
                         const std::vector<OptionSpec>& options,
                         const std::function<PairGenerator(const Json& options)>& make, int step) {
  return {name, doc, options, [=](const Json& given, const SynchronousGrammar*) {
            return std::make_shared<GeneratedPairs>(name, given, make(given), step);
          }};
}

OptionSpec one_length_option() {
  return boolean_option("one_length", false,
                        "one length for all pairs that are drawn together, such as those of an "
                        "update; false: one for each pair");
}

PairKind transformed_pairs(const std::string& name, const std::string& doc, int step,
                           PairTransform transform) {
  return generated_pairs(
      name, doc,
      {integer_option("symbols", 128, "number of symbols of each side", 1).between(1, 1'000'000),
       list_option("lengths", Json::array({8, 64}),
                   std::string("{lowest, highest} length of the source, drawn uniformly") +
                       (step == 2 ? " from the even lengths" : ""))},
      [transform](const Json& options) {
        const Alphabet alphabet = numbered_symbols(options["symbols"]);
        return PairGenerator{alphabet, alphabet,
                             [transform, symbols = alphabet.size()](int length, Random& random) {
                               Word source(length);
                               for (auto& symbol : source)
                                 symbol = static_cast<int>(random.below(symbols));
                               Word target = source;
                               transform(target);
                               return Pair{std::move(source), std::move(target)};
                             }};
      },
      step);
}

PairKind copy_pairs() {
  return transformed_pairs("copy", "the target is the source, a1 a2 -> a1 a2", 1, [](Word&) {});
}

PairKind reversal_pairs() {
  return transformed_pairs("reversal", "the target is the reversed source, a1 a2 a3 -> a3 a2 a1", 1,
                           [](Word& word) { std::reverse(word.begin(), word.end()); });
}

PairKind bigram_flipping_pairs() {
  return transformed_pairs("bigram_flipping",
                           "neighbouring symbols are swapped, a1 a2 a3 a4 -> a2 a1 a4 a3", 2,
                           [](Word& word) {
                             for (std::size_t i = 0; i + 1 < word.size(); i += 2)
                               std::swap(word[i], word[i + 1]);
                           });
}

PUSHDOWN_REGISTRY(PairKind, own_pairs, copy_pairs(), reversal_pairs(), bigram_flipping_pairs(),
                  grammar_pairs(), word_problem_pairs())

const std::vector<PairKind>& pair_kinds() {
  static const std::vector<PairKind> kinds = [] {
    std::vector<PairKind> all = own_pairs();
    for (PairKind& kind : chomsky_pairs()) all.push_back(std::move(kind));
    return all;
  }();
  return kinds;
}

PairSourcePtr make_pairs(const Json& options, const SynchronousGrammar* grammar) {
  const auto [row, resolved] = resolve_kind(kWhere, pair_kinds(), options);
  check(grammar == nullptr || row.name == "grammar", kWhere, "kind '{}' takes no grammar",
        row.name);
  return row.make(resolved, grammar);
}

LengthInterval length_interval(std::string_view where, std::string_view option, const Json& list,
                               int minimum) {
  const auto whole = [](const Json& number) {
    return number.is_number_integer() && number.get<std::int64_t>() <= 1'000'000;
  };
  check(list.is_array() && list.size() == 2 && whole(list[0]) && whole(list[1]), where,
        "option '{}' must be {{lowest, highest}}, two integers up to a million, got {}", option,
        list.dump());
  const auto low = list[0].get<std::int64_t>(), high = list[1].get<std::int64_t>();
  check(minimum <= low && low <= high, where,
        "option '{}' must be {{lowest, highest}} with {} <= lowest <= highest, got {{{}, {}}}",
        option, minimum, low, high);
  return {static_cast<int>(low), static_cast<int>(high)};
}

}  // namespace pushdown
