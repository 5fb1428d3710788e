// Draws pairs of a synchronous grammar whose source length, and optionally target length, is within
// an interval. It draws the source length first, then a derivation given that length from the
// source projection's length table. This is exact and rejects nothing because of its source, so a
// supercritical grammar or an unlikely length has no extra cost.
//
// With G(l) the total mass of the derivations with a source of length l, the length is drawn
//   uniform   uniformly from the lengths of the interval that have pairs;
//   grammar   with probability G(l) / sum of G over the interval. This is the distribution of
//   Grefenstette et al. 2015, who draw from the grammar and reject pairs outside the interval.
// With an interval for the target, pairs outside it are rejected and drawn again. Mode uniform
// keeps the source length for up to 1,000 draws, then draws another one, so lengths at which fewer
// than about one in 1,000 pairs fit are drawn less often. Mode grammar draws both length and pair
// again, which gives the grammar's distribution given both intervals. After 100,000 rejected pairs
// in a row, sampling stops with an error.
#pragma once
#include <optional>

#include "grammar/sampler.h"
#include "grammar/synchronous.h"

namespace pushdown {

enum class PairLengths { uniform, grammar };

class SynchronousSampler {
 public:
  // Throws std::invalid_argument if an interval is empty or negative, no source has a length within
  // it, or no target fits (see above).
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
  std::vector<double> cumulative_;  // mode grammar: over lengths(); the last entry is 1
};

}  // namespace pushdown
