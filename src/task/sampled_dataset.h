// Data sets drawn from a grammar.
#pragma once
#include <cstdint>

#include "grammar/sampler.h"
#include "task/dataset.h"

namespace pushdown {

// `count` strings in groups of `batch` strings of one length (Sampler::sample_batches). The
// log-probability of a string is the sampler's own, computed when it is first asked for.
Dataset sample_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                       std::uint64_t seed);

}  // namespace pushdown
