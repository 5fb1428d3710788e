#include "kernel/isa.h"

#include <cstdlib>

#include "base/check.h"

namespace pushdown {

std::vector<Isa> usable_isas() {
  std::vector<Isa> isas{Isa::baseline};
#ifdef PUSHDOWN_WITH_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isas.push_back(Isa::avx2);
#endif
#ifdef PUSHDOWN_WITH_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    isas.push_back(Isa::avx512);
#endif
  return isas;
}

Isa current_isa() {
  static const Isa chosen = [] {
    const auto usable = usable_isas();
    const char* wanted = std::getenv("PUSHDOWN_ISA");
    if (wanted == nullptr || *wanted == '\0') return usable.back();
    for (const Isa isa : usable)
      if (isa_name(isa) == wanted) return isa;
    fail("kernel", "PUSHDOWN_ISA={} is not an instruction set of this build and processor", wanted);
  }();
  return chosen;
}

std::string isa_name(Isa isa) {
  switch (isa) {
    case Isa::baseline: return "baseline";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "unknown";
}

}  // namespace pushdown
