// Loads, stores and shuffles.
#include <fmt/format.h>

#include "gpu/simulator/operations.h"
#include "gpu/simulator/simulator.h"

namespace pushdown::gpu_simulator::operations {
namespace {

using Space = MemoryAccess::Space;

int bytes_of(const Execution& e) {
  if (e.has(Modifier::n128)) return 16;
  if (e.has(Modifier::n64)) return 8;
  if (e.has(Modifier::u8) || e.has(Modifier::s8)) return 1;
  return e.has(Modifier::u16) || e.has(Modifier::s16) ? 2 : 4;
}

std::uint8_t* place_in(const Execution& e, std::vector<std::uint8_t>& memory, std::uint64_t first,
                       std::uint64_t size, std::uint64_t at, int bytes, const char* name) {
  const auto count = static_cast<unsigned>(bytes);
  if (at % count != 0 || at + count > size)
    e.fail(fmt::format("{} bytes at {:#x} are not in the {} bytes of {} memory", bytes, at, size,
                       name));
  return memory.data() + first + at;
}

// Returns the place of a lane's bytes and sets the space of the access.
std::uint8_t* place_of(Execution& e, Space space, std::uint64_t address, int lane) {
  const int bytes = e.access.bytes;
  if (space == Space::global && address >> 32 == kSharedWindow) {
    space = Space::shared;
    address &= 0xffffffffu;
  }
  e.access.space = space;
  if (space == Space::global) {
    std::uint8_t* found = e.launch.memory.find(address, bytes);
    if (found == nullptr)
      e.fail(fmt::format("{} bytes at {:#x} are not in global memory", bytes, address));
    return found;
  }
  if (space == Space::local)
    return place_in(e, e.warp.local, static_cast<std::uint64_t>(lane) * e.warp.local_bytes,
                    e.warp.local_bytes, address, bytes, "local");
  return place_in(e, e.block.shared, 0, e.block.shared.size(), address & 0xffffff, bytes, "shared");
}

// Calls action(place, lane) for each lane and records the access.
template <class Action>
void access(Execution& e, std::size_t address, Space space, bool store, const Action& action) {
  const auto addresses = e.address(address);
  e.access.store = store;
  e.access.generic = e.instruction.operation->name == "LD" || e.instruction.operation->name == "ST";
  e.access.bytes = bytes_of(e);
  each_lane(e.active, [&](int lane) {
    std::uint64_t at = addresses[lane];
    if (space != Space::global) at &= 0xffffffffu;
    e.access.addresses[static_cast<std::size_t>(e.access.count++)] = at;
    action(place_of(e, space, at, lane), lane);
  });
}

void load_from(Execution& e, Space space) {
  const Operand& to = e.operand(0);
  std::array<Lanes<std::uint32_t>, 4> words{};
  access(e, 1, space, false, [&](const std::uint8_t* place, int lane) {
    std::array<std::uint32_t, 4> numbers{};
    std::memcpy(numbers.data(), place, static_cast<std::size_t>(e.access.bytes));
    if (e.has(Modifier::s8))
      numbers[0] = static_cast<std::uint32_t>(static_cast<std::int8_t>(numbers[0]));
    if (e.has(Modifier::s16))
      numbers[0] = static_cast<std::uint32_t>(static_cast<std::int16_t>(numbers[0]));
    for (std::size_t k = 0; k < 4; ++k) words[k][lane] = numbers[k];
  });
  for (int k = 0; k == 0 || 4 * k < e.access.bytes; ++k)
    e.put_register(to, k, words[static_cast<std::size_t>(k)]);
}

void store_to(Execution& e, Space space) {
  std::array<Lanes<std::uint32_t>, 4> words{};
  for (int k = 0; k == 0 || 4 * k < bytes_of(e); ++k)
    words[static_cast<std::size_t>(k)] =
        e.operand(1).kind == OperandKind::vector ? e.get_register(e.operand(1), k) : e.raw(1);
  access(e, 0, space, true, [&](std::uint8_t* place, int lane) {
    std::array<std::uint32_t, 4> numbers;
    for (std::size_t k = 0; k < 4; ++k) numbers[k] = words[k][lane];
    std::memcpy(place, numbers.data(), static_cast<std::size_t>(e.access.bytes));
  });
}

}  // namespace

void load(Execution& e) { load_from(e, Space::global); }
void store(Execution& e) { store_to(e, Space::global); }
void load_shared(Execution& e) { load_from(e, Space::shared); }
void store_shared(Execution& e) { store_to(e, Space::shared); }
void load_local(Execution& e) { load_from(e, Space::local); }
void store_local(Execution& e) { store_to(e, Space::local); }

void load_constant(Execution& e) {
  if (e.has(Modifier::n64)) return e.put_wide(0, e.wide_bits(1));
  if (!e.has(Modifier::u8)) return e.put(0, e.raw(1));
  // A byte need not be aligned to four.
  const Operand& from = e.operand(1);
  const auto at = static_cast<std::size_t>(from.offset);
  if (from.base != kZeroRegister || from.uniform_base != kZeroRegister ||
      at >= e.launch.constants.size())
    e.fail("this constant is not simulated");
  e.put(0, broadcast(std::uint32_t{e.launch.constants[at]}));
}

void shuffle(Execution& e) {
  const auto from = e.bits(2), step = e.raw(3), limits = e.raw(4);
  Lanes<std::uint32_t> result{};
  Mask inside = 0;
  each_lane(e.active, [&](int lane) {
    const int by = static_cast<int>(step[lane] & 31);
    const int clamp = static_cast<int>(limits[lane] & 31);
    const int segment = static_cast<int>(limits[lane] >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    int source = lane;
    bool found = true;
    if (e.has(Modifier::up)) {
      source = lane - by;
      found = source >= last;
    } else {
      if (e.has(Modifier::down))
        source = lane + by;
      else if (e.has(Modifier::bfly))
        source = lane ^ by;
      else if (e.has(Modifier::idx))
        source = (lane & segment) | (by & ~segment);
      else
        e.fail("no kind of shuffle");
      found = source <= last;
    }
    if (!found) source = lane;
    if ((e.active & bit_of(source)) == 0)
      e.fail(fmt::format("lane {} reads from lane {}, which does not take part", lane, source));
    result[lane] = from[source];
    if (found) inside |= bit_of(lane);
  });
  e.put(1, result);
  e.put_predicate(0, inside);
}

}  // namespace pushdown::gpu_simulator::operations
