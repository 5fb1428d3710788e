#include "task/sampled_dataset.h"

#include "base/check.h"
#include "base/stopping.h"
#include "task/tree_attachments.h"

namespace pushdown {
namespace {

Dataset dataset_of(const Sampler& sampler, std::vector<Word> words) {
  return Dataset(sampler.grammar().alphabet(), std::move(words),
                 [sampler](const Word& word, bool end_symbol) {
                   return sampler.log_probability(word, end_symbol);
                 });
}

}  // namespace

Dataset sample_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                       std::uint64_t seed) {
  return dataset_of(sampler, sampler.sample_batches(count, batch, seed));
}

Dataset sample_tree_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                            std::uint64_t seed, Branching branching) {
  constexpr auto kWhere = "grammar.sample";
  check(count >= 1, kWhere, "count must be at least 1, got {}", count);
  check(batch >= 1, kWhere, "batch must be at least 1, got {}", batch);
  Random random(seed, "strings with trees");
  std::vector<Word> words;
  std::vector<Attachments> attachments;
  const StopCheck stop;
  int length = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    stop();
    if (i % batch == 0) length = sampler.sample_length(random);
    auto [word, of_word] =
        attached_yield(sampler.grammar(), sampler.derivation_of_length(length, random), branching);
    words.push_back(std::move(word));
    attachments.push_back(std::move(of_word));
  }
  return dataset_of(sampler, std::move(words)).with_attachments(std::move(attachments));
}

}  // namespace pushdown
