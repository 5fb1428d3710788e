#include "base/flush_denormals.h"

namespace pushdown {

std::uint64_t& FlushDenormals::host_bits() noexcept {
  static constinit thread_local std::uint64_t bits = 0;
  return bits;
}

}  // namespace pushdown
