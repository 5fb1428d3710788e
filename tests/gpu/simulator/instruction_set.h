// The instructions that are simulated: one row of a table for each, with its effect and its timing.
#pragma once
#include <string_view>

#include "gpu/simulator/program.h"

namespace pushdown::gpu_simulator {

class Execution;  // execution.h

// The groups of a report.
enum class InstructionClass : std::uint8_t {
  multiply_add,
  other_float,
  special_function,
  global_load,
  global_store,
  shared_memory,
  local_memory,
  constant_memory,
  shuffle,
  barrier,
  control,
  integer,
  count
};
inline constexpr int kInstructionClasses = static_cast<int>(InstructionClass::count);
const char* name_of(InstructionClass kind);

// The pipes that take an instruction of a warp for some cycles (Timing::pipe_cycles). `other`: its
// limits are elsewhere, such as in the memory.
enum class Pipe : std::uint8_t { multiply_add, multiply_integer, integer, special, other };

// What determines when the result of an instruction exists.
enum class Latency : std::uint8_t {
  fixed,  // the compiler's stall counts wait for it
  special_register,
  to_uniform,
  constant,
  uniform_constant,
  special_function,
  shuffle,
  memory
};

struct Operation {
  std::string_view name;
  InstructionClass kind;
  Pipe pipe;
  Latency latency;
  std::string_view modifiers;  // those that are simulated, separated by blanks; <=>: comparisons
  void (*execute)(Execution& execution);
};

// Returns null if the instruction is not simulated.
const Operation* find_operation(std::string_view name);

}  // namespace pushdown::gpu_simulator
