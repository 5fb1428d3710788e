// Branches, barriers, special registers, and votes.
#include <fmt/format.h>

#include "gpu/simulator/operations.h"
#include "gpu/simulator/simulator.h"

namespace pushdown::gpu_simulator::operations {
namespace {

std::size_t barrier_of(const Execution& e, std::size_t k) {
  if (e.operand(k).kind != OperandKind::convergence) e.fail("no convergence barrier");
  return static_cast<std::size_t>(e.operand(k).index);
}

// The number of a thread in its block along one axis.
Lanes<std::uint32_t> thread_index(const Execution& e, std::size_t axis) {
  const auto& threads = e.launch.threads;
  Lanes<std::uint32_t> result;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto thread = static_cast<unsigned>(e.warp.index * kLanes + lane);
    const unsigned place[] = {thread % threads[0], thread / threads[0] % threads[1],
                              thread / threads[0] / threads[1]};
    result[lane] = place[axis];
  }
  return result;
}

}  // namespace

void nothing(Execution&) {}

void set_convergence(Execution& e) { e.warp.convergence[barrier_of(e, 0)] = e.active; }
void leave_convergence(Execution& e) { e.leave(static_cast<int>(barrier_of(e, 0))); }
void converge(Execution& e) { e.wait(Waiting::convergence, static_cast<int>(barrier_of(e, 0))); }

void move_convergence(Execution& e) {
  if (e.operand(0).kind == OperandKind::convergence) {
    e.warp.convergence[barrier_of(e, 0)] = e.raw(1)[first_lane(e.active)];
    return;
  }
  const auto k = barrier_of(e, 1);
  e.put(0, broadcast(e.warp.convergence[k]));
  if (e.has(Modifier::clear)) e.warp.convergence[k] = 0;
}

void synchronize_warp(Execution& e) {
  if (e.has(Modifier::collective)) e.fail("a warp whose lanes have diverged is not simulated");
  if (e.operands() > 0 && e.raw(0)[first_lane(e.active)] != kAllLanes)
    e.fail("a barrier of some lanes of a warp is not simulated");
  e.wait(Waiting::warp);
}

void synchronize_block(Execution& e) {
  if (e.operands() != 1 || e.operand(0).bits != 0 || !e.has(Modifier::sync))
    e.fail("only barrier 0 of whole blocks is simulated");
  e.wait(Waiting::block);
  e.at_barrier = true;
}

// BRA: [p] [uniform] label. With DIV, the branch is taken if lanes of the warp are elsewhere.
void branch(Execution& e) {
  Mask taken = e.active;
  int target = -1;
  for (std::size_t k = 0; k < e.operands(); ++k) {
    if (e.operand(k).kind == OperandKind::label)
      target = e.operand(k).index;
    else if (e.operand(k).is_predicate())
      taken &= e.predicate(k);
  }
  if (target < 0) e.fail("no target");
  if (e.has(Modifier::div) && e.group == e.warp.live) taken = 0;
  e.branch(taken, target);
}

void call(Execution& e) {
  if (e.operand(0).kind != OperandKind::label) e.fail("no target");
  e.branch(e.active, e.operand(0).index);
}

void return_from_call(Execution& e) {
  const auto addresses = e.raw(0);
  const auto address = addresses[first_lane(e.active)];
  Mask same = lanes_where([=](std::uint32_t x) { return x == address; }, addresses);
  const int target = e.launch.kernel.index_of(address);
  if (target < 0) e.fail(fmt::format("there is no instruction at {:#x}", address));
  if ((e.active & ~same) != 0) e.fail("lanes return to several places, which is not simulated");
  e.branch(e.active, target);
}

void exit(Execution& e) { e.end(); }
void trap(Execution& e) { e.fail("the kernel stops itself"); }

void special_register(Execution& e) {
  const std::string& name = e.operand(1).name;
  const auto axis = static_cast<std::size_t>(name.back() - 'X');
  if (name.starts_with("SR_TID.") && axis < 3) return e.put(0, thread_index(e, axis));
  const unsigned blocks[] = {e.block.x, e.block.y, e.block.z};
  if (name.starts_with("SR_CTAID.") && axis < 3) return e.put(0, broadcast(blocks[axis]));
  if (name == "SR_LANEID") {
    Lanes<std::uint32_t> lanes;
    for (int i = 0; i < kLanes; ++i) lanes[i] = static_cast<std::uint32_t>(i);
    return e.put(0, lanes);
  }
  if (name == "SR_CgaCtaId") return e.put(0, broadcast(0u));  // in a cluster of one block
  if (name == "SR_SWINHI") return e.put(0, broadcast(static_cast<std::uint32_t>(kSharedWindow)));
  e.fail("this special register is not simulated");
}

void zero_register(Execution& e) {
  if (e.operand(1).kind != OperandKind::vector) e.fail("this special register is not simulated");
  if (e.has(Modifier::n32)) return e.put(0, broadcast(0u));
  e.put_wide(0, broadcast(std::uint64_t{0}));
}

void to_uniform(Execution& e) { e.put(0, e.raw(1)); }

// VOTE: [register] p a
void vote(Execution& e) {
  const std::size_t p = e.operand(0).is_predicate() ? 0 : 1;
  const Mask yes = e.predicate(p + 1) & e.active;
  if (p == 1) e.put(0, broadcast(yes));
  const bool result = e.has(Modifier::all) ? yes == e.active : yes != 0;
  if (!e.has(Modifier::all) && !e.has(Modifier::any)) e.fail("no kind of vote");
  e.put_predicate(p, result ? kAllLanes : 0);
}

}  // namespace pushdown::gpu_simulator::operations
