// Machine code of compute capability 9.0, read from the text that `nvdisasm -c -hex -gi` prints.
#pragma once
#include <bitset>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown::gpu_simulator {

// A text that cannot be read, or an instruction that is not simulated or does what is undefined.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class OperandKind : std::uint8_t {
  vector,             // a register with a number for each lane: R5
  uniform,            // a register with a number for the warp: UR5
  predicate,          // a bit for each lane: P3
  uniform_predicate,  // UP3
  immediate,          // 0x10, -1.5
  constant,           // c[0x0][0x210], c[0x0][R4+0x8]
  address,            // [R2.64+UR4+0x10], desc[UR4][R2.64]
  label,              // `(.L_x_1)
  convergence,        // a convergence barrier: B2
  special,            // SR_TID.X
  all_predicates,     // PR
};

inline constexpr int kZeroRegister = -1;  // RZ, URZ
inline constexpr int kTruePredicate = 7;  // PT, UPT

struct Operand {
  OperandKind kind = OperandKind::immediate;
  int index = kZeroRegister;  // register; index of the instruction at a label
  bool negative = false, absolute = false;
  bool inverted = false;   // ~R5, !P3
  std::uint32_t bits = 0;  // immediate
  // The parts of an address or constant. A wide base is a pair of registers.
  int base = kZeroRegister, uniform_base = kZeroRegister;
  bool wide = false;
  int scale = 0;  // the base is shifted left by this
  std::int64_t offset = 0;
  std::string name;  // label, special register

  bool is_predicate() const {
    return kind == OperandKind::predicate || kind == OperandKind::uniform_predicate;
  }
};

// The words after the dots of a mnemonic, except for comparisons.
enum class Modifier : std::uint8_t {
  // clang-format off
  all, and_, any, bf, bfly, clear, collective, constant, defer_blocking, div, down, e, ex, ex2, f32,
  f64, ftz, hi, iadd, idx, l, lg2, lu, lut, mma, mov, n128, n32, n64, nan, nodec, noinc, ntz, or_,
  r, rcp, rel, rm, rp, rsq, rz, s16, s32, s64, s8, sat, shl, sqrt, sx32, sync, tanh, trap, trunc, u16,
  u32, u64, u8, up, wide, x, xor_, count
  // clang-format on
};
using Modifiers = std::bitset<static_cast<std::size_t>(Modifier::count)>;

// The last six are true if a number is NaN.
enum class Comparison : std::uint8_t {
  none,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  number,
  nan,
  ltu,
  leu,
  gtu,
  geu,
  equ,
  neu
};

struct Operation;  // instruction_set.h

struct Instruction {
  const Operation* operation = nullptr;
  Modifiers modifiers;
  Comparison comparison = Comparison::none;
  std::vector<Operand> operands;
  int guard = kTruePredicate;  // the instruction runs in lanes where this predicate holds
  bool guard_uniform = false, guard_inverted = false;
  // The control code. Counters (scoreboards) are 0 to 5.
  int stall = 1;                             // cycles until the warp's next instruction
  int result_counter = 7, read_counter = 7;  // released when results exist, operands were read
  unsigned waits = 0;                        // bits of the counters that must be released before
  std::uint32_t address = 0;
  int line = 0;     // of the text, from 1
  int source = -1;  // index into Kernel::sources
  std::string text;

  bool has(Modifier modifier) const { return modifiers[static_cast<std::size_t>(modifier)]; }
};

// A line of the source, and where the function around it was inlined.
struct SourceLine {
  std::string file;
  int line = 0;
};

struct Kernel {
  std::string name;  // the symbol
  std::vector<Instruction> code;
  std::vector<std::vector<SourceLine>> sources;  // innermost first
  int registers = 0;                             // the highest that is used, and one

  // Returns the index of the instruction at an address, -1: none.
  int index_of(std::uint32_t address) const;
};

// The kernels of one text.
class Module {
 public:
  // Throws Fault with the line of the text for what is unknown.
  explicit Module(const std::string& disassembly);

  const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
  // Returns the kernel of this symbol, or the only one whose symbol contains this text. Throws
  // Fault.
  const Kernel& kernel(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

// Returns an operand, without the index of its label.
Operand parse_operand(std::string_view text, const std::string& where);

}  // namespace pushdown::gpu_simulator
