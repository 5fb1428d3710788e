#include "task/sampled_dataset.h"

namespace pushdown {

Dataset sample_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                       std::uint64_t seed) {
  return Dataset(sampler.grammar().alphabet(), sampler.sample_batches(count, batch, seed),
                 [sampler](const Word& word, bool end_symbol) {
                   return sampler.log_probability(word, end_symbol);
                 });
}

}  // namespace pushdown
