// The semirings in which charts are computed (Goodman, "Semiring parsing", 1999). Values are
// doubles with different meanings:
//   Real  sums of products of probabilities. Every terminal has a factor 2^scale, a power of two so
//   that nothing is rounded: a span of length l is scaled by 2^(scale l).
//   Log   natural logarithms: no underflow at any length, several times slower.
//   Best  natural logarithms of the best single derivation.
// Real is tried first. The processor's sticky floating-point flags tell whether any value left the
// range of a double; if so, the chart is computed again in Log.
#pragma once
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

namespace pushdown {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Real {
  static constexpr double zero() { return 0.0; }
  static double from_weight(double weight) { return weight; }
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
  // Returns the sum of a[k] b[k]. Four partial sums keep the processor's adders busy.
  static double dot(const double* a, const double* b, int count) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k + 4 <= count; k += 4) {
      s0 += a[k] * b[k];
      s1 += a[k + 1] * b[k + 1];
      s2 += a[k + 2] * b[k + 2];
      s3 += a[k + 3] * b[k + 3];
    }
    for (; k < count; ++k) s0 += a[k] * b[k];
    return (s0 + s1) + (s2 + s3);
  }
  static double ratio(double part, double whole) { return part / whole; }
  static double log_of(double value) { return std::log(value); }
};

struct Log {
  static constexpr double zero() { return kMinusInfinity; }
  static double from_weight(double weight) { return std::log(weight); }
  static double plus(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
  }
  static double times(double a, double b) { return a + b; }
  static double dot(const double* a, const double* b, int count) {
    double largest = kMinusInfinity;
    for (int k = 0; k < count; ++k) largest = std::max(largest, a[k] + b[k]);
    if (largest == kMinusInfinity) return largest;
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += std::exp(a[k] + b[k] - largest);
    return largest + std::log(sum);
  }
  static double ratio(double part, double whole) { return std::exp(part - whole); }
  static double log_of(double value) { return value; }
};

struct Best {
  static constexpr double zero() { return kMinusInfinity; }
  static double from_weight(double weight) { return std::log(weight); }
  static double plus(double a, double b) { return std::max(a, b); }
  static double times(double a, double b) { return a + b; }
  static double dot(const double* a, const double* b, int count) {
    double largest = kMinusInfinity;
    for (int k = 0; k < count; ++k) largest = std::max(largest, a[k] + b[k]);
    return largest;
  }
  static double log_of(double value) { return value; }
};

// Detects whether a computation underflows or overflows between construction and left_range().
class RangeWatch {
 public:
  RangeWatch() {
    std::fegetexceptflag(&before_, kFlags);
    std::feclearexcept(kFlags);
  }
  ~RangeWatch() { std::fesetexceptflag(&before_, kFlags); }
  RangeWatch(const RangeWatch&) = delete;
  RangeWatch& operator=(const RangeWatch&) = delete;
  bool left_range() const { return std::fetestexcept(kFlags) != 0; }

 private:
  static constexpr int kFlags = FE_UNDERFLOW | FE_OVERFLOW;
  std::fexcept_t before_;
};

}  // namespace pushdown
