// Grammars and samplers as Lua values.
#pragma once
#include "base/check.h"
#include "base/stopping.h"
#include "bindings/binder/options.h"
#include "grammar/parse_tree.h"
#include "grammar/sampler.h"

namespace pushdown {

class Module;

template <>
struct ClassName<Grammar> {
  static constexpr const char* value = "Grammar";
};

template <>
struct ClassName<Sampler> {
  static constexpr const char* value = "Sampler";
};

// A derivation with its grammar.
struct Derivation {
  Grammar grammar;
  Parse parse;
};
template <>
struct ClassName<Derivation> {
  static constexpr const char* value = "Derivation";
};

// Binds load, parse, build, list and describe of pd.grammar.
void bind_grammar_loading(Module& module);
// Binds the class Derivation.
void bind_derivation(Module& module);

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
