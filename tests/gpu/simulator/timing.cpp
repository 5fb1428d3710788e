#include "gpu/simulator/timing.h"

#include <algorithm>
#include <array>

namespace pushdown::gpu_simulator {
namespace {

constexpr std::size_t kSharedBanks = 32, kBankBytes = 4;

int index_of(Pipe pipe) {
  return static_cast<int>(pipe == Pipe::multiply_integer ? Pipe::multiply_add : pipe);
}

// Cycles that an instruction of a warp takes a pipe of 32, 16 or 4 lanes.
unsigned pipe_cycles(Pipe pipe) {
  switch (pipe) {
    case Pipe::multiply_add: return 1;
    case Pipe::multiply_integer:
    case Pipe::integer: return 2;
    case Pipe::special: return 8;
    case Pipe::other: break;
  }
  return 0;
}

}  // namespace

TimingModel TimingModel::of_full_device(unsigned blocks_together) {
  constexpr double kMemoryBytes = 3.35e12;
  TimingModel model;
  const auto multiprocessors = static_cast<std::size_t>(model.multiprocessors);
  model.second_level_share /= multiprocessors * blocks_together;
  model.device_memory_bytes = kMemoryBytes / static_cast<double>(multiprocessors) / model.clock_hz;
  return model;
}

bool Cache::access(std::uint64_t sector, bool fill) {
  const std::uint64_t line = sector / kSectors;
  const unsigned bit = 1u << sector % kSectors;
  if (const auto found = lines_.find(line); found != lines_.end()) {
    order_.splice(order_.begin(), order_, found->second.place);
    const bool hit = (found->second.sectors & bit) != 0;
    if (fill) found->second.sectors |= bit;
    return hit;
  }
  if (!fill || capacity_ == 0) return false;
  if (lines_.size() >= capacity_) {
    lines_.erase(order_.back());
    order_.pop_back();
  }
  order_.push_front(line);
  lines_[line] = {order_.begin(), bit};
  return false;
}

Timing::Timing(const TimingModel& model, std::size_t shared_bytes, unsigned blocks,
               MemoryStatistics& statistics)
    : model_(model),
      statistics_(statistics),
      // Shared memory and the first level are one memory.
      first_level_(model.first_level_capacity -
                   std::min(model.first_level_capacity, shared_bytes * blocks)),
      second_level_(model.second_level_share * blocks) {}

std::uint64_t Timing::pipe_taken(const Instruction& instruction, int scheduler) const {
  const Pipe pipe = instruction.operation->pipe;
  return pipe == Pipe::other ? 0 : pipe_free_[scheduler][index_of(pipe)];
}

std::uint64_t Timing::issue(const Execution& done, int scheduler, std::uint64_t now) {
  const Operation& operation = *done.instruction.operation;
  if (operation.pipe != Pipe::other)
    pipe_free_[scheduler][index_of(operation.pipe)] = now + pipe_cycles(operation.pipe);
  switch (operation.latency) {
    case Latency::fixed: return model_.fixed;
    case Latency::special_register: return model_.special_register;
    case Latency::to_uniform: return model_.to_uniform;
    case Latency::constant: return model_.constant;
    case Latency::uniform_constant: return model_.uniform_constant;
    case Latency::special_function: return model_.special_function;
    case Latency::shuffle: unit_free_ = std::max(unit_free_, now) + 1; return model_.shuffle;
    case Latency::memory: break;
  }
  const std::uint64_t start = std::max(unit_free_, now);
  unit_cycles_ = 1;
  const std::uint64_t delay = memory_cycles(done.access, start);
  unit_free_ = start + unit_cycles_;
  return start - now + delay;
}

std::uint64_t Timing::memory_cycles(const MemoryAccess& access, std::uint64_t start) {
  switch (access.space) {
    case MemoryAccess::Space::none: return model_.store;  // no lane was active
    case MemoryAccess::Space::local:
      unit_cycles_ = static_cast<std::uint64_t>(std::max(access.bytes / 4, 1));
      return access.store ? model_.store : model_.first_level;
    case MemoryAccess::Space::shared: return shared_cycles(access);
    case MemoryAccess::Space::global: break;
  }
  return global_cycles(access, start);
}

// Lanes that read different words of one bank take turns.
std::uint64_t Timing::shared_cycles(const MemoryAccess& access) {
  std::array<std::vector<std::uint64_t>, kSharedBanks> banks;
  std::size_t most = 1;
  for (int i = 0; i < access.count; ++i)
    for (int at = 0; at < access.bytes; at += static_cast<int>(kBankBytes)) {
      const std::uint64_t word =
          (access.addresses[static_cast<std::size_t>(i)] + static_cast<unsigned>(at)) / kBankBytes;
      auto& bank = banks[word % kSharedBanks];
      if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
      most = std::max(most, bank.size());
    }
  unit_cycles_ = most;
  statistics_.shared_wavefronts += most;
  return model_.shared + (access.generic ? model_.generic : 0) + most - 1;
}

std::uint64_t Timing::global_cycles(const MemoryAccess& access, std::uint64_t start) {
  constexpr auto kSectorBytes = Cache::kSectorBytes;
  std::array<std::uint64_t, kLanes> sectors;  // an access of at most 16 bytes is in one of them
  for (std::size_t i = 0; i < static_cast<std::size_t>(access.count); ++i)
    sectors[i] = access.addresses[i] / kSectorBytes;
  std::sort(sectors.begin(), sectors.begin() + access.count);
  const auto end = std::unique(sectors.begin(), sectors.begin() + access.count);
  const auto count = static_cast<std::uint64_t>(end - sectors.begin());
  std::uint64_t lines = 0, missed = 0, far = 0;
  for (auto sector = sectors.begin(); sector != end; ++sector) {
    if (sector == sectors.begin() || *sector / Cache::kSectors != sector[-1] / Cache::kSectors)
      ++lines;
    // Stores are written through.
    if (first_level_.access(*sector, !access.store) && !access.store) continue;
    ++missed;
    if (!second_level_.access(*sector, true)) ++far;
  }
  unit_cycles_ = lines;
  ++statistics_.requests;
  statistics_.sectors += count;
  statistics_.second_level_sectors += missed;
  statistics_.device_sectors += far;

  const auto begun = static_cast<double>(start);
  const auto transfer = [&](double& free, std::uint64_t of, double bytes_per_cycle) {
    free = std::max(free, begun) + static_cast<double>(of * kSectorBytes) / bytes_per_cycle;
    return static_cast<std::uint64_t>(free - begun);
  };
  std::uint64_t delay = model_.first_level + (access.generic ? model_.generic : 0) + lines - 1;
  if (missed > 0) {
    const auto queue = transfer(second_level_free_, missed, model_.second_level_bytes);
    delay = std::max<std::uint64_t>(delay, model_.second_level + queue);
  }
  if (far > 0) {
    const auto queue = transfer(device_free_, far, model_.device_memory_bytes);
    delay = std::max<std::uint64_t>(delay, model_.device_memory + queue);
  }
  return access.store ? model_.store : delay;
}

}  // namespace pushdown::gpu_simulator
