#include "recurrence/program/step_barriers.h"

#include <map>

#include "kernel/step/device_step.h"

namespace pushdown {
namespace {

// Number i of a row belongs to thread (i - first) mod size; kAll: to any thread.
constexpr std::int64_t kAll = -1;

// Reads and writes since the last barrier, by row of numbers.
class Accesses {
 public:
  void add(int row, std::int64_t first, bool written) {
    if (row >= 0) now_.push_back({row, first, written});
  }
  // Returns whether two threads may have written the same number among the new accesses.
  bool is_shared() const {
    for (const Access& one : now_)
      for (const Access& other : now_)
        if (one.row == other.row && one.written && other.written && one.first != other.first)
          return true;
    return false;
  }
  // Returns whether the new accesses need a barrier before them, and starts collecting the next
  // ones.
  bool settle() {
    const auto conflicts = [&](const Access& access) {
      const auto [first, end] = since_.equal_range(access.row);
      return std::any_of(first, end, [&](const auto& earlier) {
        return (earlier.second.written || access.written) &&
               (earlier.second.first != access.first || access.first == kAll);
      });
    };
    const bool barrier = std::any_of(now_.begin(), now_.end(), conflicts);
    if (barrier) since_.clear();
    for (const Access& access : now_) since_.emplace(access.row, access);
    now_.clear();
    return barrier;
  }

 private:
  struct Access {
    int row;
    std::int64_t first;
    bool written;
  };
  std::vector<Access> now_;
  std::multimap<int, Access> since_;
};

class Barriers {
 public:
  explicit Barriers(const TracedProgram& program) : program_(program) {}

  std::vector<std::uint8_t> find() const {
    const int count = static_cast<int>(program_.nodes.size());
    std::vector<std::uint8_t> waits(program_.nodes.size());
    Accesses forward, backward;
    for (int n = 0; n < count; ++n) {
      add_all(forward, n, row_of(node(n).op).forward, false);
      if (forward.settle()) waits[static_cast<std::size_t>(n)] |= kWaitsForward;
    }
    // The gradient of the output is written first.
    add(backward, program_.output, Access::writes_own);
    backward.settle();
    for (int n = count; n-- > 0;) {
      if (!node(n).gradient) continue;
      add_all(backward, n, row_of(node(n).op).backward, true);
      if (backward.is_shared()) waits[static_cast<std::size_t>(n)] |= kWaitsWithin;
      if (backward.settle()) waits[static_cast<std::size_t>(n)] |= kWaitsBackward;
    }
    return waits;
  }

 private:
  const StepNode& node(int n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  // The row of a node's numbers and their offset in it. Values of the previous step are in separate
  // rows.
  struct Place {
    int row;
    std::int64_t first;
  };
  Place place(int n) const {
    Place found{n, 0};
    const int count = static_cast<int>(program_.nodes.size());
    bool before = false;
    while (node(found.row).op == StepOp::slice || node(found.row).op == StepOp::previous) {
      before = before || node(found.row).op == StepOp::previous;
      found.first += node(found.row).offset;
      found.row = node(found.row).a;
    }
    if (before) found.row += count;
    return found;
  }
  // Records an access to the numbers of node n, or of its part from `first` on; size: of parts.
  void add(Accesses& to, int n, Access access, std::int64_t size = 0,
           std::int64_t first = 0) const {
    if (n < 0 || access == Access::none) return;
    const Place at = place(n);
    const bool written = access >= Access::writes_own;
    switch (access) {
      case Access::own:
      case Access::writes_own: return to.add(at.row, at.first + first, written);
      case Access::parts:
      case Access::writes_parts:
        for (std::int64_t part = 0; part < node(n).size; part += size)
          to.add(at.row, at.first + part, written);
        return;
      default: return to.add(at.row, kAll, written);
    }
  }
  void add_all(Accesses& to, int n, const StepAccesses& accesses, bool gradients) const {
    const StepNode& of = node(n);
    add(to, of.a, accesses.a, of.size);
    add(to, of.b, accesses.b, of.size);
    add(to, of.c, accesses.c, of.size);
    std::int64_t offset = 0;
    for (int k = 0; k < of.operands; ++k) {
      const int part = operand(of, k);
      const bool filled = of.op == StepOp::array && node(part).op == StepOp::room;
      add(to, part, filled ? Access::writes_all : accesses.operands);
      if (of.op == StepOp::concat)
        add(to, n, gradients ? Access::own : Access::writes_own, 0, offset);
      offset += node(part).size;
    }
    for (int k = 0; k < of.terms; ++k)
      if (!term(of, k).lookup) add(to, term(of, k).operand, accesses.terms);
    if (of.op != StepOp::concat) add(to, n, accesses.result, of.size);
    if (of.op == StepOp::array) to.add(array_room(), kAll, true);
    if (of.op == StepOp::affine && gradients) to.add(partial(), kAll, true);
  }

  int operand(const StepNode& of, int k) const {
    return program_.operands[static_cast<std::size_t>(of.first_operand + k)];
  }
  const StepTerm& term(const StepNode& of, int k) const {
    return program_.terms[static_cast<std::size_t>(of.first_term + k)];
  }
  // Row of a product's partial results.
  int partial() const { return 2 * static_cast<int>(program_.nodes.size()); }
  // That of the intermediate results of array programs.
  int array_room() const { return partial() + 1; }

  const TracedProgram& program_;
};

}  // namespace

std::vector<std::uint8_t> step_barriers(const TracedProgram& program) {
  return Barriers(program).find();
}

}  // namespace pushdown
