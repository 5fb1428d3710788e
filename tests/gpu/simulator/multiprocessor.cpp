// Runs the blocks of a launch on one multiprocessor, in rounds of as many as it holds at once. In
// each cycle, each of its four schedulers issues an instruction of one warp that waits for nothing.
#include <fmt/format.h>

#include <deque>

#include "gpu/simulator/execution.h"
#include "gpu/simulator/simulator.h"

namespace pushdown::gpu_simulator {
namespace {

using Cycle = std::uint64_t;
constexpr int kCounters = 6;
constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

struct ScheduledWarp {
  Warp warp;
  Cycle ready = 0;  // its next instruction may be issued then
  Cycle issued = 0;
  std::array<Cycle, kCounters> counters{};  // when they are released
};

class Multiprocessor {
 public:
  Multiprocessor(const Kernel& kernel, const Launch& launch, const TimingModel& model,
                 const LaunchContext& context, Statistics& statistics, std::size_t first,
                 std::size_t count)
      : kernel_(kernel),
        model_(model),
        context_(context),
        statistics_(statistics),
        timing_(model, launch.shared_bytes + kReservedShared, static_cast<unsigned>(count),
                statistics.memory) {
    for (std::size_t k = 0; k < count; ++k) add_block(launch, first + k);
    // The warps of all blocks take turns.
    const unsigned threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
    for (unsigned from = 0; from < threads; from += kLanes)
      for (std::size_t k = 0; k < count; ++k) {
        const unsigned lanes = std::min<unsigned>(threads - from, kLanes);
        const Mask mask = lanes == kLanes ? kAllLanes : bit_of(static_cast<int>(lanes)) - 1;
        blocks_[k].warps.push_back(static_cast<int>(warps_.size()));
        warps_.push_back({Warp(static_cast<int>(k), static_cast<int>(from / kLanes), mask,
                               std::max(kernel.registers, 4), launch.local_bytes)});
      }
  }

  // Returns the number of cycles.
  Cycle run() {
    Cycle now = 0;
    std::size_t last[Timing::kSchedulers] = {};
    while (ended_ < warps_.size()) {
      bool issued = false;
      Cycle soonest = kNever;
      for (int scheduler = 0; scheduler < Timing::kSchedulers; ++scheduler) {
        const auto count = warps_.size();
        for (std::size_t k = 0; k < count; ++k) {
          const std::size_t index = (last[scheduler] + k) % count;
          if (static_cast<int>(index % Timing::kSchedulers) != scheduler) continue;
          const Cycle when = ready_at(warps_[index], scheduler);
          if (when > now) {
            soonest = std::min(soonest, when);
            continue;
          }
          issue(warps_[index], scheduler, now);
          last[scheduler] = index;
          issued = true;
          break;
        }
      }
      if (issued)
        ++now;
      else if (soonest == kNever)
        fail_for_ever();
      else
        now = soonest;
    }
    return now;
  }

 private:
  void add_block(const Launch& launch, std::size_t index) {
    Block block;
    block.x = static_cast<unsigned>(index % launch.grid[0]);
    block.y = static_cast<unsigned>(index / launch.grid[0] % launch.grid[1]);
    block.z = static_cast<unsigned>(index / launch.grid[0] / launch.grid[1]);
    block.shared.assign(kReservedShared + launch.shared_bytes, 0xff);
    blocks_.push_back(std::move(block));
  }

  Cycle ready_at(ScheduledWarp& scheduled, int scheduler) {
    const Group* group = scheduled.warp.current();
    if (group == nullptr) return kNever;
    const Instruction& instruction = next_of(*group);
    Cycle when = std::max(scheduled.ready, timing_.pipe_taken(instruction, scheduler));
    for (std::size_t k = 0; k < kCounters; ++k)
      if (instruction.waits >> k & 1) when = std::max(when, scheduled.counters[k]);
    return when;
  }

  const Instruction& next_of(const Group& group) const {
    const auto index = static_cast<std::size_t>(group.next);
    if (index >= kernel_.code.size())
      throw Fault("[gpu simulator] a warp ran past the end of " + kernel_.name);
    return kernel_.code[index];
  }

  void issue(ScheduledWarp& scheduled, int scheduler, Cycle now) {
    Block& block = blocks_[static_cast<std::size_t>(scheduled.warp.block)];
    Execution execution(context_, scheduled.warp, block);
    execution.run();
    count(execution, now - scheduled.issued);
    scheduled.issued = now;
    const Instruction& instruction = execution.instruction;
    const Cycle delay = timing_.issue(execution, scheduler, now);
    scheduled.ready = now + static_cast<Cycle>(std::max(instruction.stall, 1)) +
                      (execution.jumped ? model_.taken_branch : 0);
    release_at(scheduled, instruction.result_counter, now + delay);
    release_at(scheduled, instruction.read_counter, now + model_.read_operands);
    if (scheduled.warp.ended()) ++ended_;
    if (execution.at_barrier) pass_barrier(block, now);
  }

  static void release_at(ScheduledWarp& scheduled, int counter, Cycle when) {
    if (counter >= kCounters) return;
    Cycle& own = scheduled.counters[static_cast<std::size_t>(counter)];
    own = std::max(own, when);
  }

  // If all threads of the block that have not ended wait, they go on.
  void pass_barrier(const Block& block, Cycle now) {
    int live = 0, waiting = 0;
    for (const int index : block.warps) {
      const Warp& warp = warps_[static_cast<std::size_t>(index)].warp;
      live += std::popcount(warp.live);
      waiting += warp.waiting_for_block();
    }
    if (waiting < live || live == 0) return;
    for (const int index : block.warps) {
      ScheduledWarp& scheduled = warps_[static_cast<std::size_t>(index)];
      if (scheduled.warp.ended()) continue;
      scheduled.warp.pass_block_barrier();
      scheduled.ready = std::max(scheduled.ready, now + model_.block_barrier);
    }
  }

  void count(const Execution& execution, Cycle cycles) {
    const auto lanes = static_cast<std::uint64_t>(std::popcount(execution.active));
    const auto kind = static_cast<std::size_t>(execution.instruction.operation->kind);
    ++statistics_.instructions;
    ++statistics_.executed[kind];
    statistics_.lanes[kind] += lanes;
    auto& own = statistics_.by_instruction[static_cast<std::size_t>(execution.index)];
    ++own.executed;
    own.lanes += lanes;
    own.cycles += cycles;
    statistics_.divided += execution.divided;
    statistics_.generic_shared +=
        execution.access.generic && execution.access.space == MemoryAccess::Space::shared;
  }

  [[noreturn]] void fail_for_ever() const {
    std::string where;
    for (const ScheduledWarp& scheduled : warps_)
      for (const Group& group : scheduled.warp.groups())
        where += fmt::format("\n  block {} warp {} lanes {:08x}: {}", scheduled.warp.block,
                             scheduled.warp.index, group.lanes, next_of(group).text);
    throw Fault("[gpu simulator] all threads wait for others in " + kernel_.name + where);
  }

  const Kernel& kernel_;
  const TimingModel& model_;
  const LaunchContext& context_;
  Statistics& statistics_;
  Timing timing_;
  std::vector<Block> blocks_;
  std::deque<ScheduledWarp> warps_;
  std::size_t ended_ = 0;  // number of warps
};

// The part of constant bank 0 that a launch fills: the sizes of blocks and grid, where local memory
// begins (at 0) and ends (the stack grows down from there), a pointer to the parameters, and these.
std::vector<std::uint8_t> constants_of(const Launch& launch) {
  constexpr std::size_t kThreads = 0, kGrid = 0xc, kStack = 0x28, kPointer = 0x198;
  std::vector<std::uint8_t> bank(kFirstParameter + launch.parameters.size() + 16, 0);
  const auto put = [&](std::size_t at, std::uint32_t value) {
    std::memcpy(bank.data() + at, &value, sizeof(value));
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    put(kThreads + 4 * axis, launch.threads[axis]);
    put(kGrid + 4 * axis, launch.grid[axis]);
  }
  put(kStack, static_cast<std::uint32_t>(launch.local_bytes));
  std::copy(launch.parameters.begin(), launch.parameters.end(),
            bank.begin() + static_cast<std::ptrdiff_t>(kFirstParameter));
  const std::uint8_t* parameters = bank.data() + kFirstParameter;
  std::memcpy(bank.data() + kPointer, &parameters, sizeof(parameters));
  return bank;
}

}  // namespace

Statistics run(const Kernel& kernel, const Launch& launch, const TimingModel& model,
               const GlobalMemory& memory) {
  const std::size_t blocks = launch.blocks(), together = std::max(launch.together, 1u);
  const std::vector<std::uint8_t> constants = constants_of(launch);
  GlobalMemory visible = memory;
  if (visible.is_limited()) visible.permit(constants.data(), constants.size());
  const LaunchContext context{kernel, visible, launch.threads, constants};
  Statistics statistics;
  statistics.by_instruction.resize(kernel.code.size());
  statistics.blocks = blocks;
  for (std::size_t first = 0; first < blocks; first += together) {
    Multiprocessor multiprocessor(kernel, launch, model, context, statistics, first,
                                  std::min(together, blocks - first));
    statistics.cycles += multiprocessor.run();
    ++statistics.rounds;
  }
  return statistics;
}

}  // namespace pushdown::gpu_simulator
