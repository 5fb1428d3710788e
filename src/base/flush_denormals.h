// Denormal numbers, those below the smallest normal one (1.2e-38 in single precision), cost many
// processors a hundred cycles an operation. Peaked weights of trained networks make them by the
// thousand, and nothing here needs them. The processor can take them for zero instead, as operands
// and as results, by a setting of each thread (docs/adr/0021-denormals.md).
//
// New threads inherit the setting on Linux, so those that LibTorch makes have it, too.
#pragma once
#include <bit>
#include <cstdint>

namespace pushdown {

// Bits of the register that controls floating-point arithmetic: MXCSR on x86-64, FPCR on arm64.
#if defined(__x86_64__)
inline constexpr std::uint64_t kFlushBits = 0x8040;  // FTZ for results, DAZ for operands
inline std::uint64_t float_control() noexcept { return __builtin_ia32_stmxcsr(); }
inline void set_float_control(std::uint64_t bits) noexcept {
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(bits));
}
#elif defined(__aarch64__)
inline constexpr std::uint64_t kFlushBits = std::uint64_t{1} << 24;  // FZ
inline std::uint64_t float_control() noexcept {
  std::uint64_t bits = 0;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
inline void set_float_control(std::uint64_t bits) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(bits));
}
#else
inline constexpr std::uint64_t kFlushBits = 0;
inline std::uint64_t float_control() noexcept { return 0; }
inline void set_float_control(std::uint64_t) noexcept {}
#endif

// Returns whether a number is denormal. Decides by the bits, because under FlushDenormals such a
// number is equal to 0.
inline bool is_denormal(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value) << 1;
  return bits != 0 && bits >> 53 == 0;
}

// Sets this thread's flush bits during its lifetime. Leaves the rest of the register alone, so
// exceptions that the arithmetic has raised stay visible.
class FlushDenormals {
 public:
  // Takes denormal numbers for zero. For the border at which other code calls this one.
  FlushDenormals() noexcept : FlushDenormals(kFlushBits) { host_bits() = before_; }
  ~FlushDenormals() {
    change(before_);
    host_bits() = outer_;
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 protected:
  explicit FlushDenormals(std::uint64_t wanted) noexcept
      : before_(float_control() & kFlushBits), outer_(host_bits()) {
    change(wanted);
  }
  // The bits that the code around this one has set.
  static std::uint64_t& host_bits() noexcept;

 private:
  static void change(std::uint64_t wanted) noexcept {
    const std::uint64_t now = float_control();
    if ((now & kFlushBits) != wanted) set_float_control((now & ~kFlushBits) | wanted);
  }
  const std::uint64_t before_, outer_;
};

// Gives the caller's setting back while code that is not ours runs, such as a Lua function.
class HostFloats : FlushDenormals {
 public:
  HostFloats() noexcept : FlushDenormals(host_bits()) {}
};

}  // namespace pushdown
