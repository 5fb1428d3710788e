// When the results of instructions exist: a model of an H100 in cycles.
//
// Latencies and rates come from published measurements of this chip and of its predecessors, and
// were adjusted once to the measured passes of docs/development/cuda.md, which compares both.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "gpu/simulator/execution.h"

namespace pushdown::gpu_simulator {

struct TimingModel {
  double clock_hz = 1.98e9;
  int multiprocessors = 132;
  // Cycles from the issue of an instruction to its result.
  unsigned fixed = 6, special_register = 25, to_uniform = 12, constant = 30, uniform_constant = 12,
           special_function = 22, shuffle = 24;
  unsigned shared = 29, first_level = 38, second_level = 263, device_memory = 620;
  unsigned generic = 6;         // more for a generic address
  unsigned store = 10;          // until the counter of a store is released
  unsigned read_operands = 12;  // until operands were read
  unsigned taken_branch = 6;    // more until the next instruction of the warp
  unsigned block_barrier = 24;  // from the last arrival
  // Bytes for each cycle of one multiprocessor, and capacities. A share of the second level and of
  // the device's memory belongs to each resident block.
  double second_level_bytes = 40, device_memory_bytes = 1e9;
  std::size_t first_level_capacity = 256 * 1024, second_level_share = std::size_t{50} << 20;

  // Returns the model of a multiprocessor of a full device: all share the second level and the
  // memory, 50 MB and 3.35 TB/s.
  static TimingModel of_full_device(unsigned blocks_together);
};

struct MemoryStatistics {
  std::uint64_t requests = 0;  // of global memory, by warps
  // 32 bytes each: requested, missed by the first level, and by the second.
  std::uint64_t sectors = 0, second_level_sectors = 0, device_sectors = 0;
  std::uint64_t shared_wavefronts = 0;  // cycles of shared memory
};

// Least recently used lines of 128 bytes, filled by sectors of 32.
class Cache {
 public:
  explicit Cache(std::size_t bytes) : capacity_(bytes / kLineBytes) {}
  // Returns whether the sector is there. If not, `fill` brings it in.
  bool access(std::uint64_t sector, bool fill);

  static constexpr std::size_t kLineBytes = 128, kSectorBytes = 32, kSectors = 4;

 private:
  struct Line {
    std::list<std::uint64_t>::iterator place;
    unsigned sectors = 0;
  };
  std::size_t capacity_;
  std::list<std::uint64_t> order_;  // the last used line first
  std::unordered_map<std::uint64_t, Line> lines_;
};

// The memories of a multiprocessor and the pipes of its four schedulers.
class Timing {
 public:
  Timing(const TimingModel& model, std::size_t shared_bytes, unsigned blocks,
         MemoryStatistics& statistics);

  // Returns the cycle until which the instruction's pipe is taken; 0: it is free.
  std::uint64_t pipe_taken(const Instruction& instruction, int scheduler) const;
  // Takes the pipe and the memory, and returns the cycles until the result exists.
  std::uint64_t issue(const Execution& done, int scheduler, std::uint64_t now);

  static constexpr int kSchedulers = 4;

 private:
  std::uint64_t memory_cycles(const MemoryAccess& access, std::uint64_t start);
  std::uint64_t shared_cycles(const MemoryAccess& access);
  std::uint64_t global_cycles(const MemoryAccess& access, std::uint64_t start);

  const TimingModel& model_;
  MemoryStatistics& statistics_;
  Cache first_level_, second_level_;
  std::uint64_t pipe_free_[kSchedulers][4] = {};
  std::uint64_t unit_free_ = 0;  // the unit of loads and stores, which takes one line a cycle
  std::uint64_t unit_cycles_ = 0;
  double second_level_free_ = 0, device_free_ = 0;
};

}  // namespace pushdown::gpu_simulator
