#include "kernel/rows.h"

namespace pushdown {

namespace isa_baseline {
RowKernel row_kernel_d();
}
namespace isa_avx2 {
RowKernel row_kernel_d();
}
namespace isa_avx512 {
RowKernel row_kernel_d();
}

RowKernel row_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::row_kernel_d();
  if (isa == Isa::avx2) return isa_avx2::row_kernel_d();
#endif
  return isa_baseline::row_kernel_d();
}

}  // namespace pushdown
