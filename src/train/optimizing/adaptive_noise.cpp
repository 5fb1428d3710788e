#include "train/optimizing/adaptive_noise.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/check.h"

namespace pushdown {

std::vector<std::pair<std::int64_t, std::int64_t>> noise_partitions(std::int64_t count) {
  const std::int64_t odd = count % 2, first = (odd ? count : count - 1) / 3,
                     second = (odd ? 2 * count : 2 * count - 1) / 3;
  return {{0, first}, {first, second}, {second, count}};
}

const std::vector<OptionSpec>& AdaptiveNoise::options() {
  static const std::vector<OptionSpec> specs{
      number_option("share", 0.15, "fraction of the matrices of each partition that is changed")
          .between(0, 1),
      number_option("beta", 1.0, "factor of the noise", 0),
      text_option("change", "scale",
                  "new value of a matrix M with noise p: p beta M (scale) or M + p beta M (add)",
                  {"scale", "add"}),
      boolean_option("keep", false, "keep the changed weights after the gradient"),
      integer_option("first_epoch", 1, "first epoch with noise", 1),
      integer_option("last_epoch", nullptr, "last epoch with noise; absent: no end", 1),
      integer_option("first_stage", 1, "first stage of incremental learning with noise", 1)};
  return specs;
}

AdaptiveNoise::AdaptiveNoise(const Json& options, const ParameterList& parameters)
    : share_(options["share"]),
      beta_(options["beta"]),
      add_(options["change"] == "add"),
      keep_(options["keep"]),
      first_epoch_(options["first_epoch"]),
      last_epoch_(options["last_epoch"].is_null() ? 0 : options["last_epoch"].get<std::int64_t>()),
      first_stage_(options["first_stage"]) {
  for (const auto& [name, parameter] : parameters) {
    if (parameter.dim() != 3 && parameter.dim() != 4) continue;
    check(parameter.is_contiguous(), "train.noise", "parameter '{}' is not contiguous", name);
    const auto size = parameter.size(-1) * parameter.size(-2);
    matrices_.push_back(parameter.detach().view({-1, size}));
  }
  check(!matrices_.empty(), "train.noise",
        "adaptive noise needs a parameter of three or four dimensions; the model has none");
}

bool AdaptiveNoise::active(std::int64_t epoch, std::int64_t stage) const {
  return stage >= first_stage_ && epoch >= first_epoch_ &&
         (last_epoch_ == 0 || epoch <= last_epoch_);
}

void AdaptiveNoise::apply(Random& random) {
  if (applied_) throw std::logic_error("[train.noise] apply() without restore()");
  applied_ = true;
  at::NoGradGuard no_grad;
  for (const Tensor& matrices : matrices_) {
    double p = random.normal();
    for (const auto& [first, last] : noise_partitions(matrices.size(0))) {
      const auto size = last - first;
      if (size == 0 || share_ == 0) continue;
      const auto drawn =
          std::max<std::int64_t>(1, std::llround(share_ * static_cast<double>(size)));
      std::vector<std::int64_t> order(size);
      std::iota(order.begin(), order.end(), first);
      for (std::int64_t i = 0; i < drawn; ++i) {
        const auto chosen =
            i + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size - i)));
        std::swap(order[i], order[chosen]);
        Tensor matrix = matrices.select(0, order[i]);
        if (!keep_) originals_.push_back({matrix, matrix.clone()});
        matrix.mul_(p * beta_ + (add_ ? 1 : 0));
        p /= 2;
      }
    }
  }
}

void AdaptiveNoise::restore() {
  at::NoGradGuard no_grad;
  for (auto& [matrix, values] : originals_) matrix.copy_(values);
  originals_.clear();
  applied_ = false;
}

}  // namespace pushdown
