#include "grammar/synchronous_sampler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.synchronous";
constexpr int kTriesPerLength = 1000, kTries = 100'000;

}  // namespace

SynchronousSampler::SynchronousSampler(SynchronousGrammar grammar, LengthInterval source,
                                       PairLengths mode, std::optional<LengthInterval> target)
    : grammar_(std::move(grammar)),
      sampler_(grammar_.source_side(), source.shortest, source.longest),
      mode_(mode),
      target_(target) {
  if (target_)
    check(target_->shortest >= 0 && target_->shortest <= target_->longest, kWhere,
          "lengths of the target must be {{lowest, highest}} with 0 <= lowest <= highest, got "
          "{{{}, {}}}",
          target_->shortest, target_->longest);
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const int l : lengths()) most = std::max(most, sampler_.log_mass(l));
  for (const int l : lengths()) cumulative_.push_back(sum += std::exp(sampler_.log_mass(l) - most));
  for (auto& value : cumulative_) value /= sum;
  if (!target_) return;
  Random random(0, "targets");
  sample(random);  // rejects intervals without pairs at construction
}

int SynchronousSampler::draw_length(Random& random) const {
  if (mode_ == PairLengths::uniform) return sampler_.sample_length(random);
  const double spot = random.uniform();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, spot);
  return lengths()[found - cumulative_.begin()];
}

Pair SynchronousSampler::sample(Random& random) const {
  int length = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    if (mode_ == PairLengths::grammar || tries % kTriesPerLength == 0) length = draw_length(random);
    auto pair = grammar_.pair_of(sampler_.derivation_of_length(length, random));
    if (!target_ || target_->contains(pair.target.size())) return pair;
  }
  fail(kWhere, "none of {} pairs with sources of length {} to {} had a target of length {} to {}",
       kTries, sampler_.shortest(), sampler_.longest(), target_->shortest, target_->longest);
}

}  // namespace pushdown
