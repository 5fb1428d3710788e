// What cells have in common that keep a matrix for each of several heads, to which they add outer
// products of a value and a key, and which they multiply with a query.
//
// A vector of H numbers consists of `heads` parts of d = H / heads numbers.
#pragma once
#include "base/check.h"
#include "controller/layered.h"

namespace pushdown {

inline OptionSpec heads_option(const std::string& doc) {
  return integer_option("heads", 1, doc, 1)
      .between(1, 1 << 20)
      .trying(2)
      .trying(3, {{"hidden", 18}});
}

// Returns the option `heads`, which must divide the hidden size.
inline std::int64_t parse_heads(const char* kind, const Json& options) {
  const std::int64_t heads = options["heads"], hidden = options["hidden"];
  check(hidden % heads == 0, fmt::format("controller.{}", kind),
        "option 'heads' must divide the hidden size, {}, got {}", hidden, heads);
  return heads;
}

// Returns the option `lowest_eigenvalue`.
inline OptionSpec lowest_eigenvalue_option() {
  return number_option("lowest_eigenvalue", 0.0,
                       "the eigenvalues that depend on the input are between it and 1; 0, or -1 "
                       "(Grazzi et al. 2025)")
      .between(-1, 0)
      .trying(-1);
}

// The start of a stabilizer, the logarithm by which a memory is scaled. An empty memory has none:
// it would be minus infinity, of which products with 0 are not numbers.
constexpr double kNoStabilizer = -1e30;

// x sigmoid(x). Call it by its qualified name.
template <class V>
V silu(const V& x) {
  return x * x.sigmoid();
}

// Each of the equal parts of x, divided by sqrt(factor |part|^2 + epsilon). ones : groups.
template <class V>
V scaled_parts(const V& x, double factor, double epsilon, const Tensor& ones) {
  const auto groups = ones.size(0);
  const V squares = matrix_vector(x, x, groups);  // B x groups
  return matrix_vector(x, ones / (squares * factor + epsilon).sqrt(), groups);
}

}  // namespace pushdown
