#include "gpu/simulator/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pushdown::gpu_simulator {
namespace {

Mask guarded(const Warp& warp, const Instruction& instruction, Mask group) {
  const auto k = static_cast<std::size_t>(instruction.guard);
  const Mask holds =
      instruction.guard_uniform ? (warp.uniform_predicates[k] ? kAllLanes : 0) : warp.predicates[k];
  return group & (instruction.guard_inverted ? ~holds : holds);
}

}  // namespace

Execution::Execution(const LaunchContext& launch, Warp& warp, Block& block)
    : launch(launch),
      warp(warp),
      block(block),
      index(warp.current()->next),
      instruction(launch.kernel.code[static_cast<std::size_t>(index)]),
      group(warp.current()->lanes),
      active(guarded(warp, instruction, group)) {}

void Execution::run() {
  if (active != 0) instruction.operation->execute(*this);
  if (!moved_) warp.current()->next = index + 1;
}

void Execution::fail(const std::string& what) const {
  std::string where;
  if (instruction.source >= 0)
    for (const SourceLine& line :
         launch.kernel.sources[static_cast<std::size_t>(instruction.source)])
      where += fmt::format("\n  at {}:{}", line.file, line.line);
  throw Fault(fmt::format("[gpu simulator] {} in '{}' (line {} of the disassembly, {:#x} of {}){}",
                          what, instruction.text, instruction.line, instruction.address,
                          launch.kernel.name, where));
}

Lanes<std::uint32_t> Execution::constant(const Operand& operand, int after) const {
  // Sizes of the launch, local memory, a pointer to the parameters, the descriptor of global
  // memory, and the parameters.
  const auto known = [](std::uint64_t at) {
    return at < 0x18 || (at >= 0x20 && at < 0x2c) || (at >= 0x198 && at < 0x1a0) || at >= 0x208;
  };
  const auto& bank = launch.constants;
  const auto read = [&](std::uint64_t at) {
    at += static_cast<std::uint64_t>(operand.offset) + 4u * static_cast<unsigned>(after);
    if (at + 4 > bank.size() || !known(at)) fail(fmt::format("constant {:#x} does not exist", at));
    std::uint32_t value = 0;
    std::memcpy(&value, bank.data() + at, 4);
    return value;
  };
  if (operand.uniform_base != kZeroRegister)
    return broadcast(read(warp.uniform[static_cast<std::size_t>(operand.uniform_base)]));
  if (operand.base == kZeroRegister) return broadcast(read(0));
  const auto& base = warp.registers[static_cast<std::size_t>(operand.base)];
  Lanes<std::uint32_t> result{};
  each_lane(active, [&](int i) { result[i] = read(base[i]); });
  return result;
}

Lanes<std::uint32_t> Execution::get_register(const Operand& from, int after) const {
  if (from.index == kZeroRegister) return broadcast(0u);
  return warp.registers[static_cast<std::size_t>(from.index + after)];
}

Lanes<std::uint32_t> Execution::raw(std::size_t k) const {
  const Operand& from = operand(k);
  switch (from.kind) {
    case OperandKind::vector: return get_register(from, 0);
    case OperandKind::uniform:
      return broadcast(
          from.index == kZeroRegister ? 0u : warp.uniform[static_cast<std::size_t>(from.index)]);
    case OperandKind::immediate: return broadcast(from.bits);
    case OperandKind::constant: return constant(from, 0);
    default: fail(fmt::format("operand {} is not a number", k + 1));
  }
}

Lanes<std::uint32_t> Execution::bits(std::size_t k) const {
  Lanes<std::uint32_t> numbers = raw(k);
  if (operand(k).inverted)
    for (auto& number : numbers) number = ~number;
  if (operand(k).negative)
    for (auto& number : numbers) number = 0 - number;
  return numbers;
}

Lanes<std::uint64_t> Execution::wide_bits(std::size_t k) const {
  const Operand& from = operand(k);
  Lanes<std::uint32_t> low = raw(k), high;
  if (from.kind == OperandKind::vector)
    high = get_register(from, 1);
  else if (from.kind == OperandKind::uniform)
    high = broadcast(
        from.index == kZeroRegister ? 0u : warp.uniform[static_cast<std::size_t>(from.index + 1)]);
  else if (from.kind == OperandKind::constant)
    high = constant(from, 1);
  else  // the sign of an immediate
    high = broadcast(static_cast<std::uint32_t>(static_cast<std::int32_t>(from.bits) >> 31));
  const auto negative = from.negative;
  return map_lanes(
      [negative](std::uint32_t l, std::uint32_t h) {
        const std::uint64_t number = l | std::uint64_t{h} << 32;
        return negative ? 0 - number : number;
      },
      low, high);
}

Lanes<float> Execution::floats(std::size_t k) const {
  Lanes<float> numbers = reinterpret_lanes<float>(raw(k));
  if (operand(k).absolute)
    for (float& number : numbers) number = std::fabs(number);
  if (operand(k).negative)
    for (float& number : numbers) number = -number;
  return numbers;
}

Mask Execution::predicate(std::size_t k) const {
  const Operand& from = operand(k);
  if (!from.is_predicate()) fail(fmt::format("operand {} is not a predicate", k + 1));
  const auto at = static_cast<std::size_t>(from.index);
  const Mask holds = from.kind == OperandKind::predicate
                         ? warp.predicates[at]
                         : (warp.uniform_predicates[at] ? kAllLanes : 0);
  return from.inverted ? ~holds : holds;
}

Lanes<std::uint64_t> Execution::address(std::size_t k) const {
  const Operand& from = operand(k);
  if (from.kind != OperandKind::address) fail(fmt::format("operand {} is not an address", k + 1));
  Lanes<std::uint64_t> result = broadcast(static_cast<std::uint64_t>(from.offset));
  if (from.base != kZeroRegister) {
    const auto& low = warp.registers[static_cast<std::size_t>(from.base)];
    const auto& high = warp.registers[static_cast<std::size_t>(from.base + from.wide)];
    for (int i = 0; i < kLanes; ++i)
      result[i] +=
          from.wide ? low[i] | std::uint64_t{high[i]} << 32 : std::uint64_t{low[i]} << from.scale;
  }
  if (from.uniform_base != kZeroRegister) {
    const auto at = static_cast<std::size_t>(from.uniform_base);
    for (auto& number : result) number += warp.uniform[at];
  }
  return result;
}

void Execution::put_register(const Operand& to, int after,
                             const Lanes<std::uint32_t>& numbers) const {
  if (to.index == kZeroRegister) return;
  auto& lanes = warp.registers[static_cast<std::size_t>(to.index + after)];
  if (active == kAllLanes) {
    lanes = numbers;
    return;
  }
  for (int i = 0; i < kLanes; ++i) lanes[i] = active >> i & 1 ? numbers[i] : lanes[i];
}

void Execution::put(std::size_t k, const Lanes<std::uint32_t>& numbers) const {
  const Operand& to = operand(k);
  if (to.kind == OperandKind::vector) return put_register(to, 0, numbers);
  if (to.kind != OperandKind::uniform) fail(fmt::format("operand {} is not a register", k + 1));
  if (to.index != kZeroRegister)
    warp.uniform[static_cast<std::size_t>(to.index)] = numbers[first_lane(active)];
}
void Execution::put(std::size_t k, const Lanes<float>& numbers) const {
  put(k, reinterpret_lanes<std::uint32_t>(numbers));
}

void Execution::put_wide(std::size_t k, const Lanes<std::uint64_t>& numbers) const {
  const Operand& to = operand(k);
  put(k, map_lanes([](std::uint64_t n) { return static_cast<std::uint32_t>(n); }, numbers));
  if (to.index == kZeroRegister) return;
  const auto high =
      map_lanes([](std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32); }, numbers);
  if (to.kind == OperandKind::vector)
    put_register(to, 1, high);
  else
    warp.uniform[static_cast<std::size_t>(to.index + 1)] = high[first_lane(active)];
}

void Execution::put_predicate(std::size_t k, Mask mask) const {
  const Operand& to = operand(k);
  if (!to.is_predicate()) fail(fmt::format("operand {} is not a predicate", k + 1));
  if (to.index == kTruePredicate) return;
  const auto at = static_cast<std::size_t>(to.index);
  if (to.kind == OperandKind::uniform_predicate)
    warp.uniform_predicates[at] = mask >> first_lane(active) & 1;
  else
    warp.predicates[at] = (warp.predicates[at] & ~active) | (mask & active);
}

void Execution::branch(Mask lanes, int target) {
  if (lanes == 0) return;
  jumped = lanes == group;
  divided = !jumped;
  warp.branch(lanes, index, target);
  moved_ = true;
}
void Execution::wait(Waiting kind, int barrier) {
  warp.wait(active, index, kind, barrier);
  moved_ = true;
}
void Execution::leave(int barrier) {
  warp.leave(active, index, barrier);
  moved_ = true;
}
void Execution::end() {
  warp.end(active, index);
  at_barrier = true;  // the others may have waited for these
  moved_ = true;
}

}  // namespace pushdown::gpu_simulator
