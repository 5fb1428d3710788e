// The state of a warp and of a block, and the divergence of a warp's lanes.
//
// The lanes of a warp are in groups; those of a group are at the same instruction. A branch that
// only some lanes take divides a group. BSSY stores the lanes of a group in a convergence barrier,
// BREAK removes lanes from it, and BSYNC makes groups wait until all that remain are there, which
// then are one group again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simulator/lanes.h"
#include "gpu/simulator/program.h"

namespace pushdown::gpu_simulator {

enum class Waiting : std::uint8_t { no, convergence, warp, block };

struct Group {
  int next = 0;  // index of the instruction at which the lanes are
  Mask lanes = kAllLanes;
  Waiting waiting = Waiting::no;
  int barrier = -1;  // the convergence barrier that it waits for
};

class Warp {
 public:
  // `lanes`: the threads that exist.
  Warp(int block, int index, Mask lanes, int registers, std::size_t local_bytes);

  int block, index;  // in the multiprocessor; in the block
  std::vector<Lanes<std::uint32_t>> registers;
  std::array<Mask, 8> predicates{};
  std::array<std::uint32_t, 64> uniform;
  std::array<bool, 8> uniform_predicates{};
  std::array<Mask, 16> convergence{};  // the lanes that each convergence barrier waits for
  Mask live;                           // lanes that have not ended
  std::vector<std::uint8_t> local;     // local memory, one lane after the other
  std::size_t local_bytes;             // of a lane

  // The group that runs, null: all wait, or the warp has ended.
  Group* current() { return current_ < 0 ? nullptr : &groups_[static_cast<std::size_t>(current_)]; }
  const std::vector<Group>& groups() const { return groups_; }
  bool ended() const { return live == 0; }

  // Act on the current group, whose instruction has this index. `lanes`: some of its lanes.
  // They go to another instruction, the others to the next one.
  void branch(Mask lanes, int from, int target);
  // They wait, the others go to the next instruction.
  void wait(Mask lanes, int from, Waiting kind, int barrier);
  // They end.
  void end(Mask lanes, int from);
  // A convergence barrier no longer waits for them.
  void leave(Mask lanes, int from, int barrier);

  // Returns the number of lanes that wait for the block.
  int waiting_for_block() const;
  void pass_block_barrier();

 private:
  void split(Mask lanes, int from, Group other);
  void release();
  void join(const Group& like, Mask lanes);
  void select();

  std::vector<Group> groups_;
  int current_ = 0;
};

struct Block {
  unsigned x = 0, y = 0, z = 0;
  std::vector<std::uint8_t> shared;
  std::vector<int> warps;  // indices in the multiprocessor
};

}  // namespace pushdown::gpu_simulator
