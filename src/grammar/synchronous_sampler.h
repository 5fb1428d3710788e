// Drawing pairs of a synchronous grammar whose source, and if wanted target, has a length within an
// interval. The length of the source comes first, then a derivation given that length from the
// source projection's length table, exactly: nothing is rejected for its source, so that a
// supercritical grammar or an unlikely length costs no more than another.
//
// With G(l) the total mass of the derivations with a source of length l, the length is drawn
//   uniform   uniformly from the lengths of the interval that have pairs;
//   grammar   with probability G(l) / sum of G over the interval. This is the distribution of
//             Grefenstette et al. 2015, who draw from the grammar and reject what is not in the
//             interval.
// With an interval for the target, pairs outside of it are rejected and drawn again: in mode
// uniform with the same source length up to 1,000 times, then with another one, so that lengths of
// which fewer than about one in 1,000 pairs fit come less often; in mode grammar length and pair,
// which is the grammar's distribution given both intervals. After 100,000 pairs in a row that do
// not fit there is an error, not a loop.
#pragma once
#include <optional>

#include "grammar/sampler.h"
#include "grammar/synchronous.h"

namespace pushdown {

enum class PairLengths { uniform, grammar };

class SynchronousSampler {
 public:
  // Throws std::invalid_argument when an interval is empty or negative, no source has a length
  // within it, or no target fits, see above.
  SynchronousSampler(SynchronousGrammar grammar, LengthInterval source,
                     PairLengths mode = PairLengths::uniform,
                     std::optional<LengthInterval> target = {});

  const SynchronousGrammar& grammar() const { return grammar_; }
  const std::vector<int>& lengths() const { return sampler_.lengths(); }  // of the source

  Pair sample(Random& random) const;

 private:
  int draw_length(Random& random) const;

  SynchronousGrammar grammar_;
  Sampler sampler_;  // of the source projection
  PairLengths mode_;
  std::optional<LengthInterval> target_;
  std::vector<double> cumulative_;  // mode grammar: of lengths(), the last one 1
};

}  // namespace pushdown
