// Adaptive noise on the weights of higher-order networks (Mali et al. 2019, Algorithm 2): while a
// gradient is computed, random numbers scale some of the matrices in a weight tensor.
//
// A tensor W : A x B x C x D is a list of K = A B matrices M_1 .. M_K : C x D, the last two indices
// within a matrix; W : A x B x C is one of K = A matrices : B x C. The list is divided into three
// partitions, by the borders of the paper rounded down,
//   K odd : 1 .. K/3       | K/3 + 1 .. 2K/3             | 2K/3 + 1 .. K
//   K even: 1 .. (K-1)/3   | (K-1)/3 + 1 .. (2K-1)/3     | (2K-1)/3 + 1 .. K
// From each partition, share * (its size) matrices, rounded to the nearest integer, are drawn
// without replacement, at least one if share > 0 and the partition is not empty. With p ~ N(0, 1),
// drawn once per tensor, the drawn matrices are changed in the order of the partitions and, within
// one, in the order in which they were drawn:
//   M <- (p beta) M,   p <- p / 2                        (change 'scale', as printed)
//   M <- M + (p beta) M,   p <- p / 2                    (change 'add')
// Each tensor has its own draws, in the order of the parameters. Other parameters are unchanged.
#pragma once
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "tensor/torch.h"

namespace pushdown {

// Returns the ranges [first, last) of the three partitions of `count` matrices, counted from 0.
std::vector<std::pair<std::int64_t, std::int64_t>> noise_partitions(std::int64_t count);

class AdaptiveNoise {
 public:
  // Returns the options share (0.15; good values in the paper are 0.08 to 0.30), beta (1), change
  // ('scale'), keep (false), first_epoch (1), last_epoch (none), first_stage (1).
  static const std::vector<OptionSpec>& options();

  // `options`: resolved. Throws std::invalid_argument if no parameter has three or four dimensions.
  AdaptiveNoise(const Json& options, const ParameterList& parameters);

  // Returns whether the noise is active in this epoch and stage of training, counted from 1.
  bool active(std::int64_t epoch, std::int64_t stage) const;

  // Changes the parameters in place, using random numbers from `random` only. Throws
  // std::logic_error if called twice without a restore() in between.
  void apply(Random& random);
  // Restores the original numbers bit for bit; with keep = true they stay changed. Does nothing if
  // no noise was applied.
  void restore();

 private:
  struct Original {
    Tensor matrix;  // a view of a parameter
    Tensor values;
  };

  double share_, beta_;
  bool add_, keep_;
  std::int64_t first_epoch_, last_epoch_, first_stage_;  // last_epoch_ 0: none
  std::vector<Tensor> matrices_;                         // K x (size of a matrix), views
  std::vector<Original> originals_;
  bool applied_ = false;
};

}  // namespace pushdown
