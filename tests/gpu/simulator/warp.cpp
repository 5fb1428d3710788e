#include "gpu/simulator/warp.h"

#include <algorithm>

namespace pushdown::gpu_simulator {
namespace {

// Registers and memory contain this before they are written: NaN as a float, large as an index.
constexpr std::uint32_t kUnwritten = 0xffffffffu;

}  // namespace

Warp::Warp(int block, int index, Mask lanes, int registers, std::size_t local_bytes)
    : block(block),
      index(index),
      registers(static_cast<std::size_t>(registers), broadcast(kUnwritten)),
      live(lanes),
      local(local_bytes * kLanes, 0xff),
      local_bytes(local_bytes) {
  uniform.fill(kUnwritten);
  predicates[kTruePredicate] = kAllLanes;
  uniform_predicates[kTruePredicate] = true;
  groups_.push_back({0, lanes});
}

// Takes lanes out of the current group, which goes on, and adds `other` with them.
void Warp::split(Mask lanes, int from, Group other) {
  Group& group = *current();
  group.lanes &= ~lanes;
  group.next = from + 1;
  other.lanes = lanes;
  if (group.lanes == 0)
    group = other;
  else
    groups_.push_back(other);
}

void Warp::branch(Mask lanes, int from, int target) { split(lanes, from, {target}); }

void Warp::wait(Mask lanes, int from, Waiting kind, int barrier) {
  split(lanes, from, {from, 0, kind, barrier});
  release();
}

void Warp::end(Mask lanes, int from) {
  live &= ~lanes;
  Group& group = *current();
  group.lanes &= ~lanes;
  group.next = from + 1;
  if (group.lanes == 0) groups_.erase(groups_.begin() + current_);
  current_ = -1;
  release();
}

void Warp::leave(Mask lanes, int from, int barrier) {
  convergence[static_cast<std::size_t>(barrier)] &= ~lanes;
  current()->next = from + 1;
  release();
}

int Warp::waiting_for_block() const {
  int count = 0;
  for (const Group& group : groups_)
    if (group.waiting == Waiting::block) count += std::popcount(group.lanes);
  return count;
}

void Warp::pass_block_barrier() {
  for (bool found = true; found;) {
    found = false;
    for (const Group& group : groups_) {
      if (group.waiting != Waiting::block) continue;
      join(Group(group), live);
      found = true;
      break;
    }
  }
  select();
}

// Replaces all groups that wait as `like` does and where it does by one that goes on.
void Warp::join(const Group& like, Mask lanes) {
  Group joined{like.next + 1, 0};
  std::erase_if(groups_, [&](const Group& group) {
    const bool same = group.waiting == like.waiting && group.barrier == like.barrier &&
                      group.next == like.next && (group.lanes & lanes) != 0;
    if (same) joined.lanes |= group.lanes;
    return same;
  });
  groups_.push_back(joined);
  current_ = static_cast<int>(groups_.size()) - 1;
}

// Lets the groups go on that wait for nothing more.
void Warp::release() {
  for (bool found = true; found;) {
    found = false;
    for (const Group& group : groups_) {
      if (group.waiting != Waiting::convergence && group.waiting != Waiting::warp) continue;
      const Mask awaited = group.waiting == Waiting::warp
                               ? live
                               : convergence[static_cast<std::size_t>(group.barrier)] & live;
      Mask arrived = 0;
      for (const Group& other : groups_)
        if (other.waiting == group.waiting && other.barrier == group.barrier &&
            other.next == group.next)
          arrived |= other.lanes;
      if ((awaited & ~arrived) != 0) continue;
      join(Group(group), kAllLanes);
      found = true;
      break;
    }
  }
  select();
}

// Keeps the current group if it can go on.
void Warp::select() {
  const auto ready = [&](std::size_t index) { return groups_[index].waiting == Waiting::no; };
  if (current_ >= 0 && current_ < static_cast<int>(groups_.size()) &&
      ready(static_cast<std::size_t>(current_)))
    return;
  current_ = -1;
  for (std::size_t index = 0; index < groups_.size(); ++index)
    if (ready(index)) {
      current_ = static_cast<int>(index);
      return;
    }
}

}  // namespace pushdown::gpu_simulator
