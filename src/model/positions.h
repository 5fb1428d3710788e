// The positions of a transformer: the vectors that are added to its embeddings, and how attention
// reads positions (kernel/attention/attention.h).
//
// none        neither
// sinusoidal  p_t[2i] = sin(t / 10000^(2i/d)),  p_t[2i+1] = cos(t / 10000^(2i/d)) are added to the
//             embeddings (Vaswani et al. 2017)
// randomized  the same at positions above those of training strings: in training n positions that
//             are drawn from 0 .. longest - 1 without repetition and sorted (Ruoss et al. 2023), in
//             evaluation every gap-th one
// rotary      attention rotates queries and keys (Su et al. 2021)
// alibi       attention subtracts the distance times a slope for each head (Press et al. 2022)
// relative    attention reads the vectors r_{t-s} = W p_{t-s} of distances (Dai et al. 2019)
//
// Letters: B batch, n length, d size of a vector, D size of a head.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernel/attention_encoding.h"
#include "tensor/torch.h"

namespace pushdown {

// The names of all, and of those that attention reads, 'none' included.
const std::vector<std::string>& position_kinds();
const std::vector<std::string>& attention_positions();
AttentionEncoding attention_encoding(const std::string& kind);

// Returns the vectors p of positions, n x d in double precision.
Tensor sinusoids(const std::vector<std::int64_t>& positions, std::int64_t size);

// The vectors p of every gap-th position from 0 on, which are computed once. Of any number of
// threads.
class PositionTable {
 public:
  PositionTable(std::int64_t size, std::int64_t gap, const at::TensorOptions& options)
      : size_(size), gap_(gap), options_(options) {}
  // Returns those of steps first .. first + count - 1 : count x d
  Tensor rows(std::int64_t first, std::int64_t count) const;

 private:
  std::int64_t size_, gap_;
  at::TensorOptions options_;
  mutable std::mutex mutex_;
  mutable Tensor known_;
};

// Returns `count` different numbers below `longest`, in ascending order; all sets have the same
// probability.
std::vector<std::int64_t> drawn_positions(std::int64_t count, std::int64_t longest, Random& random);

// Rotates the pairs of numbers of x : B x heads x n x D by the angles of the positions from `first`
// on.
Tensor rotated(const Tensor& x, std::int64_t first);
// Returns m_h (s - t) for the queries t = first .. n - 1 and all keys s : heads x (n - first) x n
Tensor alibi_scores(std::int64_t heads, std::int64_t first, std::int64_t length,
                    const at::TensorOptions& options);
// Returns the scores of queries first .. n - 1 and keys s = 0 .. n - 1 from those of the queries
// and distances: B x heads x (n - first) x n each. Scores of keys after the query have any value.
Tensor scores_of_distances(const Tensor& scores, std::int64_t first);

}  // namespace pushdown
