// Run-time choice of the instruction set. Every *.isa.cpp is compiled once for each; the functions
// of one copy live in the namespace isa_<name>.
#pragma once
#include <string>
#include <vector>

// For what kernel files share with others: never emitted as a function of its own, of which the
// linker would keep the copy of any instruction set.
#define PUSHDOWN_INLINE [[gnu::always_inline]] inline
#define PUSHDOWN_JOIN_(a, b) a##b
#define PUSHDOWN_JOIN(a, b) PUSHDOWN_JOIN_(a, b)
#define PUSHDOWN_ISA_NAMESPACE PUSHDOWN_JOIN(isa_, PUSHDOWN_ISA)

namespace pushdown {

enum class Isa { baseline, avx2, avx512 };

// The instruction sets that this build holds and this processor has, slowest first.
std::vector<Isa> usable_isas();
// The one in use: the best usable, or the one that the environment variable PUSHDOWN_ISA names.
Isa current_isa();
// "baseline", "avx2", "avx512".
std::string isa_name(Isa isa);

}  // namespace pushdown
