// Datasets drawn from a grammar.
#pragma once
#include <cstdint>

#include "grammar/sampler.h"
#include "task/dataset.h"
#include "task/phrase_tree.h"

namespace pushdown {

// Draws `count` strings in groups of `batch` strings of the same length (Sampler::sample_batches).
// The log-probability of a string comes from the sampler and is computed on first use.
Dataset sample_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                       std::uint64_t seed);
// Does the same with the binarized trees of the derivations that are drawn. With the same seed the
// strings are others than without trees.
Dataset sample_tree_dataset(const Sampler& sampler, std::int64_t count, std::int64_t batch,
                            std::uint64_t seed, Branching branching);

}  // namespace pushdown
