// One instruction of a group of lanes: access to its operands, and what it did that takes time.
#pragma once
#include <array>

#include "gpu/simulator/instruction_set.h"
#include "gpu/simulator/memory.h"
#include "gpu/simulator/warp.h"

namespace pushdown::gpu_simulator {

// What the blocks of a launch have in common.
struct LaunchContext {
  const Kernel& kernel;
  const GlobalMemory& memory;
  std::array<unsigned, 3> threads;             // of a block
  const std::vector<std::uint8_t>& constants;  // bank 0
};

// The addresses of a load or store.
struct MemoryAccess {
  enum class Space : std::uint8_t { none, global, shared, local };
  Space space = Space::none;
  bool store = false, generic = false;
  int bytes = 0;  // of a lane
  int count = 0;
  std::array<std::uint64_t, kLanes> addresses;
};

class Execution {
 public:
  Execution(const LaunchContext& launch, Warp& warp, Block& block);

  const LaunchContext& launch;
  Warp& warp;
  Block& block;
  const int index;  // of the instruction
  const Instruction& instruction;
  const Mask group;  // the lanes at this instruction
  Mask active;       // those of them for which the guard holds

  // Results besides the numbers in registers and memory.
  MemoryAccess access;
  bool jumped = false;      // the whole group went to another instruction
  bool at_barrier = false;  // lanes have arrived at the barrier of the block, or ended
  bool divided = false;     // a branch divided the group

  // Runs the instruction and moves the group.
  void run();

  bool has(Modifier modifier) const { return instruction.has(modifier); }
  const Operand& operand(std::size_t k) const { return instruction.operands[k]; }
  std::size_t operands() const { return instruction.operands.size(); }

  // The numbers of operand k, with its sign and inversion. A wide one is two registers.
  Lanes<std::uint32_t> bits(std::size_t k) const;
  Lanes<std::uint32_t> raw(std::size_t k) const;  // without them
  Lanes<std::uint64_t> wide_bits(std::size_t k) const;
  Lanes<float> floats(std::size_t k) const;
  Mask predicate(std::size_t k) const;
  Lanes<std::uint64_t> address(std::size_t k) const;

  // Write in the active lanes. A uniform register takes the number of the first one.
  void put(std::size_t k, const Lanes<std::uint32_t>& numbers) const;
  void put(std::size_t k, const Lanes<float>& numbers) const;
  void put_wide(std::size_t k, const Lanes<std::uint64_t>& numbers) const;
  void put_predicate(std::size_t k, Mask mask) const;
  // Register k + `after` of a vector operand; nothing for RZ.
  void put_register(const Operand& to, int after, const Lanes<std::uint32_t>& numbers) const;
  Lanes<std::uint32_t> get_register(const Operand& from, int after) const;

  // Moves the group itself.
  void branch(Mask lanes, int target);
  void wait(Waiting kind, int barrier = -1);
  void leave(int barrier);
  void end();

  [[noreturn]] void fail(const std::string& what) const;

 private:
  Lanes<std::uint32_t> constant(const Operand& operand, int after) const;

  bool moved_ = false;
};

}  // namespace pushdown::gpu_simulator
