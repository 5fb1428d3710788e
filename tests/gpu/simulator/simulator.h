// Executes machine code of compute capability 9.0 on the CPU and estimates its time on an H100.
//
// A module is read from the text of `nvdisasm -c -hex -gi` (module_of() in toolchain.h calls the
// compiler and the disassembler). launch() runs a kernel of it in the memory of this process, which
// is the global memory of the device:
//
//   const Module module(disassembly);
//   Launch launch{.grid = {blocks, 1, 1}, .threads = {256, 1, 1}, .shared_bytes = bytes};
//   launch.add_parameter(pointer);
//   launch.add_parameter(count);
//   const Statistics done = run(module.kernel("my_kernel"), launch);
//
// Instructions that are not simulated, accesses outside of memory, barriers that some threads of a
// block do not reach, and shuffles from lanes that do not take part are errors (Fault) that name
// the instruction and its line. Registers and shared memory that are not written contain NaN.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gpu/simulator/instruction_set.h"
#include "gpu/simulator/memory.h"
#include "gpu/simulator/program.h"
#include "gpu/simulator/timing.h"

namespace pushdown::gpu_simulator {

// The upper half of generic addresses of shared memory, and the number of bytes of it that the
// system reserves in front of a block's own.
inline constexpr std::uint64_t kSharedWindow = 0x00fe0000;
inline constexpr std::size_t kReservedShared = 1024;
inline constexpr std::size_t kFirstParameter = 0x210;  // in constant bank 0

struct Launch {
  std::array<unsigned, 3> grid{1, 1, 1}, threads{32, 1, 1};
  std::size_t shared_bytes = 0;  // of a block, static and dynamic
  std::vector<std::uint8_t> parameters;
  // Blocks that a multiprocessor holds at once. They run in rounds of this many; the blocks of a
  // round share caches and pipes.
  unsigned together = 1;
  // Only the first blocks of the grid run.
  std::size_t most_blocks = std::numeric_limits<std::size_t>::max();
  std::size_t local_bytes = 4096;  // of a thread

  // Adds a parameter at its alignment, as the compiler does.
  template <class T>
  void add_parameter(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    add_parameter(&value, sizeof(T), alignof(T));
  }
  void add_parameter(const void* value, std::size_t bytes, std::size_t alignment) {
    const std::size_t at = (parameters.size() + alignment - 1) / alignment * alignment;
    parameters.resize(at + bytes);
    std::memcpy(parameters.data() + at, value, bytes);
  }
  std::size_t blocks() const {
    return std::min(std::size_t{grid[0]} * grid[1] * grid[2], most_blocks);
  }
};

struct InstructionStatistics {
  std::uint64_t executed = 0;  // by warps
  std::uint64_t lanes = 0;     // sum over executions of the active lanes
  std::uint64_t cycles = 0;    // since the warp's previous instruction
};

struct Statistics {
  std::uint64_t instructions = 0;  // of warps
  std::array<std::uint64_t, kInstructionClasses> executed{}, lanes{};
  std::vector<InstructionStatistics> by_instruction;  // in the order of Kernel::code
  std::uint64_t blocks = 0, rounds = 0;
  std::uint64_t cycles = 0;   // sum over rounds
  std::uint64_t divided = 0;  // branches that lanes of a group take differently
  // Generic loads and stores of shared memory: they are slower than those of shared memory alone.
  std::uint64_t generic_shared = 0;
  MemoryStatistics memory;

  double round_milliseconds(const TimingModel& model) const {
    return rounds == 0
               ? 0
               : 1e3 * static_cast<double>(cycles) / static_cast<double>(rounds) / model.clock_hz;
  }
};

Statistics run(const Kernel& kernel, const Launch& launch, const TimingModel& model = {},
               const GlobalMemory& memory = {});

}  // namespace pushdown::gpu_simulator
