// A list of pairs as a source of pairs, and its text form: one pair per line, with blanks between
// symbols and ||| between the two sides, as in Grefenstette et al. 2015:
//   si1 vi28 oi5 ||| so1 oo5 vo28
// A side may be empty. Empty lines are skipped, and so are lines that begin with "# " and contain
// no
// |||; with one, # is a symbol.
#pragma once
#include <optional>
#include <string_view>

#include "task/transduction.h"

namespace pushdown {

class PairList : public PairSource {
 public:
  // Throws std::invalid_argument if there are no pairs or an id is outside its alphabet. `name`
  // identifies the list in a configuration: a file name or a word.
  PairList(Alphabet source, Alphabet target, std::vector<Pair> pairs, std::string name = "pairs");

  const std::vector<Pair>& pairs() const { return pairs_; }
  std::string name() const override { return name_; }
  Json describe() const override;
  // Draws uniformly with replacement.
  std::vector<Pair> draw(std::int64_t count, Random& random) const override;

 private:
  std::vector<Pair> pairs_;
  std::string name_;
};

// The alphabets of a list; a missing one consists of the symbols in order of first use.
struct PairAlphabets {
  std::optional<Alphabet> source = {}, target = {};
};

// A pair of two lists of symbols; `origin` identifies it in messages.
struct NamedPair {
  std::vector<std::string> source, target;
  std::string origin;
};
// Throws std::invalid_argument with the origin and the symbol.
std::shared_ptr<const PairList> make_pair_list(const std::vector<NamedPair>& pairs,
                                               const PairAlphabets& alphabets, std::string name);
// Errors read "[task.pairs] file:line: ...".
std::shared_ptr<const PairList> parse_pairs(std::string_view text, const std::string& file,
                                            const PairAlphabets& alphabets = {});

// Returns text that parses to the same pairs of strings.
std::string pairs_text(const PairSource& source, const std::vector<Pair>& pairs);

}  // namespace pushdown
