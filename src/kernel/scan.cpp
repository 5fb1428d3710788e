#include "kernel/scan.h"

namespace pushdown {

#define PUSHDOWN_DECLARE(isa)                                 \
  namespace isa_##isa {                                       \
    ScanKernel<float> scan_kernel_f(const ScanShape& shape);  \
    ScanKernel<double> scan_kernel_d(const ScanShape& shape); \
  }
PUSHDOWN_DECLARE(baseline)
PUSHDOWN_DECLARE(avx2)
PUSHDOWN_DECLARE(avx512)
#undef PUSHDOWN_DECLARE
namespace isa_baseline {
std::int64_t scan_tape(const ScanShape& shape);
std::int64_t scan_scratch(const ScanShape& shape);
std::int64_t scan_gate_count(ScanCell cell);
}  // namespace isa_baseline

template <>
ScanKernel<float> scan_kernel(Isa isa, const ScanShape& shape) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::scan_kernel_f(shape);
  if (isa == Isa::avx2) return isa_avx2::scan_kernel_f(shape);
#endif
  return isa_baseline::scan_kernel_f(shape);
}

template <>
ScanKernel<double> scan_kernel(Isa isa, const ScanShape& shape) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::scan_kernel_d(shape);
  if (isa == Isa::avx2) return isa_avx2::scan_kernel_d(shape);
#endif
  return isa_baseline::scan_kernel_d(shape);
}

std::int64_t scan_gates(ScanCell cell) { return isa_baseline::scan_gate_count(cell); }
std::int64_t scan_tape_size(const ScanShape& shape) { return isa_baseline::scan_tape(shape); }
std::int64_t scan_scratch_size(const ScanShape& shape) { return isa_baseline::scan_scratch(shape); }

}  // namespace pushdown
