// Pairs of a list as a source of pairs, and their text form: one pair a line, the symbols separated
// by blanks and the two sides by |||, as Grefenstette et al. 2015 print them:
//   si1 vi28 oi5 ||| so1 oo5 vo28
// A side may be empty. Empty lines and lines that begin with "# " are left out.
#pragma once
#include <optional>
#include <string_view>

#include "task/transduction.h"

namespace pushdown {

class PairList : public PairSource {
 public:
  // Throws std::invalid_argument when there are no pairs or an id is outside its alphabet. `name`
  // is what it is called in a configuration: a file, or a word.
  PairList(Alphabet source, Alphabet target, std::vector<Pair> pairs, std::string name = "pairs");

  const std::vector<Pair>& pairs() const { return pairs_; }
  std::string name() const override { return name_; }
  Json describe() const override;
  // Uniform, with replacement.
  std::vector<Pair> draw(std::int64_t count, Random& random) const override;

 private:
  std::vector<Pair> pairs_;
  std::string name_;
};

// The alphabets of a list; one that is absent is made of the symbols in order of first use.
struct PairAlphabets {
  std::optional<Alphabet> source = {}, target = {};
};

// A pair as two lists of symbols; `origin` names it in messages.
struct NamedPair {
  std::vector<std::string> source, target;
  std::string origin;
};
// Throws std::invalid_argument that names the origin and the symbol.
std::shared_ptr<const PairList> make_pair_list(const std::vector<NamedPair>& pairs,
                                               const PairAlphabets& alphabets, std::string name);
// Errors read "[task.pairs] file:line: ...".
std::shared_ptr<const PairList> parse_pairs(std::string_view text, const std::string& file,
                                            const PairAlphabets& alphabets = {});

// Reading the result gives the same pairs of strings.
std::string pairs_text(const PairSource& source, const std::vector<Pair>& pairs);

}  // namespace pushdown
