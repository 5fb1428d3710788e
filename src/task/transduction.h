// Transductions: pairs of a source and a target string, drawn without end (Grefenstette, Hermann,
// Suleyman and Blunsom 2015, section 4). A source of pairs has one alphabet for each side. The
// strings have no start, separator or end marks; the code that joins the two sides adds them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/registry.h"
#include "grammar/synchronous.h"

namespace pushdown {

class PairSource {
 public:
  PairSource(Alphabet source, Alphabet target)
      : source_alphabet_(std::move(source)), target_alphabet_(std::move(target)) {}
  virtual ~PairSource() = default;
  PairSource(const PairSource&) = delete;
  PairSource& operator=(const PairSource&) = delete;

  const Alphabet& source_alphabet() const { return source_alphabet_; }
  const Alphabet& target_alphabet() const { return target_alphabet_; }
  virtual std::string name() const = 0;  // "copy"
  // {"kind": ..., then all options}, for the configuration of a run
  virtual Json describe() const = 0;
  // The same generator gives the same pairs, and the first pairs do not depend on `count`. May be
  // called from several threads if each has its own generator.
  virtual std::vector<Pair> draw(std::int64_t count, Random& random) const = 0;

 private:
  Alphabet source_alphabet_, target_alphabet_;
};

using PairSourcePtr = std::shared_ptr<const PairSource>;

// `options` are resolved; `grammar` is null for the kinds that need none.
using PairKind =
    RegistryRow<std::function<PairSourcePtr(const Json& options, const SynchronousGrammar*)>>;
const std::vector<PairKind>& pair_kinds();

// Pairs that are drawn one after the other, each for a length of its source.
struct PairGenerator {
  Alphabet source, target;
  std::function<Pair(int length, Random& random)> draw;
};
// Returns a row whose lengths are uniform over the multiples of `step` in the interval of the
// option `lengths`. If there is an option `one_length` and it is set, all pairs that are drawn
// together have one length. `make` receives resolved options.
PairKind generated_pairs(const std::string& name, const std::string& doc,
                         const std::vector<OptionSpec>& options,
                         const std::function<PairGenerator(const Json& options)>& make,
                         int step = 1);
OptionSpec one_length_option();

// The row of a kind whose sources have uniform symbols. `transform` turns the source into the
// target. `doc` ends in a comma and an example, "a1 a2 -> a2 a1", which the tests compare.
using PairTransform = void (*)(Word&);
PairKind transformed_pairs(const std::string& name, const std::string& doc, int step,
                           PairTransform transform);

// {"kind": "copy", "symbols": 128, "lengths": [8, 64]}. Throws std::invalid_argument on an unknown
// kind or option, an interval without lengths, and a missing or superfluous grammar.
PairSourcePtr make_pairs(const Json& options, const SynchronousGrammar* grammar = nullptr);

// Parses the option {lowest, highest}; lowest must be at least `minimum`.
LengthInterval length_interval(std::string_view where, std::string_view option, const Json& list,
                               int minimum);

}  // namespace pushdown
