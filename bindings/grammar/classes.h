// Grammars, synchronous grammars, samplers and derivations as Lua values.
#pragma once
#include "base/check.h"
#include "base/stopping.h"
#include "bindings/binder/options.h"
#include "grammar/parse_tree.h"
#include "grammar/sampler.h"
#include "grammar/synchronous.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Grammar> = "Grammar";

template <>
inline constexpr auto kClassName<Sampler> = "Sampler";

template <>
inline constexpr auto kClassName<SynchronousGrammar> = "SynchronousGrammar";

// A derivation with its grammar.
struct Derivation {
  Grammar grammar;
  Parse parse;
};
template <>
inline constexpr auto kClassName<Derivation> = "Derivation";

// Binds load, parse, build, list and describe of pd.grammar.
void bind_grammar_loading(Module& module);
// Binds the class Derivation.
void bind_derivation(Module& module);
// Binds the class. loading.cpp makes synchronous grammars.
void bind_synchronous(Module& module);
// Binds log_probability, contains, parse, coverage and their relatives.
void bind_grammar_queries(Class<Grammar>& grammar);
// Binds from_trees of pd.grammar, and fit of the class.
void bind_grammar_estimation(Module& module, Class<Grammar>& grammar);

struct DrawOptions {
  std::optional<std::int64_t> count;
  std::optional<std::uint64_t> seed;
  static OptionRows rows();
};

using Texts = std::variant<std::string, std::vector<std::string>>;
// Returns one text, or a list of `count` texts.
Texts drawn(const Alphabet& alphabet, const std::optional<std::int64_t>& count, auto draw) {
  if (!count) return alphabet.text(draw());
  constexpr double kMostBytes = 4e9, kBytesOfEach = 32;
  const auto check_bytes = [](double bytes) {
    check(bytes <= kMostBytes, "sample",
          "the strings take more than 4 GB of memory: draw fewer at a time, with other seeds");
  };
  std::vector<std::string> texts;
  double bytes = kBytesOfEach * static_cast<double>(*count);
  check_bytes(bytes);
  const StopCheck stop;
  for (std::int64_t i = 0; i < *count; ++i) {
    stop();
    texts.push_back(alphabet.text(draw()));
    check_bytes(bytes += static_cast<double>(texts.back().size()));
  }
  return texts;
}

}  // namespace pushdown
