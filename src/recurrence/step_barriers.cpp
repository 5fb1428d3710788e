#include "recurrence/step_barriers.h"

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
      compute(n, forward);
      if (forward.settle()) waits[static_cast<std::size_t>(n)] |= kWaitsForward;
    }
    // The gradient of the output is written first.
    write(backward, program_.output);
    backward.settle();
    for (int n = count; n-- > 0;) {
      if (!node(n).gradient) continue;
      propagate(n, backward);
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
  void read(Accesses& to, int n) const {
    if (n >= 0) to.add(place(n).row, place(n).first, false);
  }
  void write(Accesses& to, int n) const {
    if (n >= 0) to.add(place(n).row, place(n).first, true);
  }
  // Thread i accesses number i of every part of `size` numbers.
  void write_parts(Accesses& to, int n, std::int64_t size) const { add_parts(to, n, size, true); }
  void read_parts(Accesses& to, int n, std::int64_t size) const { add_parts(to, n, size, false); }
  void add_parts(Accesses& to, int n, std::int64_t size, bool written) const {
    for (std::int64_t first = 0; first < node(n).size; first += size)
      to.add(place(n).row, place(n).first + first, written);
  }
  void read_all(Accesses& to, int n) const {
    if (n >= 0) to.add(place(n).row, kAll, false);
  }
  void write_all(Accesses& to, int n) const {
    if (n >= 0) to.add(place(n).row, kAll, true);
  }

  void compute(int n, Accesses& to) const {
    const StepNode& of = node(n);
    switch (of.op) {
      case StepOp::sequence:
      case StepOp::constant:
      case StepOp::previous:
      case StepOp::held:
      case StepOp::room:
      case StepOp::left:
      case StepOp::kept:
      case StepOp::slice: return;
      case StepOp::lstm_cell:
        write_parts(to, of.a, of.size);
        read(to, of.b);
        return write(to, n);
      case StepOp::lstm_hidden:
        read(to, of.a);
        read(to, of.b);
        write(to, of.c);
        return write(to, n);
      case StepOp::gru:
        write_parts(to, of.a, of.size);
        read_parts(to, of.b, of.size);
        read(to, of.c);
        return write(to, n);
      case StepOp::concat: {
        std::int64_t offset = 0;
        for (int k = 0; k < of.operands; ++k) {
          const int part = operand(of, k);
          read(to, part);
          to.add(n, offset, true);
          offset += node(part).size;
        }
        return;
      }
      case StepOp::affine:
        for (int k = 0; k < of.terms; ++k)
          if (!term(of, k).lookup) read_all(to, term(of, k).operand);
        for (int k = 0; k < of.operands; ++k) read_all(to, operand(of, k));
        return write_all(to, n);
      case StepOp::softmax:
      case StepOp::greatest:
      case StepOp::memory: read_all(to, of.a); return write_all(to, n);
      case StepOp::outer:
        read_all(to, of.a);
        read_all(to, of.b);
        return write(to, n);
      case StepOp::array:
        for (int k = 0; k < of.operands; ++k) {
          const int own = operand(of, k);
          // An array program may write to a room.
          node(own).op == StepOp::room ? write_all(to, own) : read_all(to, own);
        }
        to.add(array_room(), kAll, true);
        return write_all(to, n);
      default:
        read(to, of.a);
        read(to, of.b);
        read_all(to, of.c);
        return write(to, n);
    }
  }

  void propagate(int n, Accesses& to) const {
    const StepNode& of = node(n);
    switch (of.op) {
      case StepOp::sequence:
      case StepOp::constant:
      case StepOp::previous:
      case StepOp::held:
      case StepOp::room:
      case StepOp::left:
      case StepOp::kept:
      case StepOp::slice:
      case StepOp::symbols:
      case StepOp::greatest:
      case StepOp::greater: return;
      case StepOp::lstm_cell:
      case StepOp::gru:
        write_parts(to, of.a, of.size);
        of.op == StepOp::gru ? write_parts(to, of.b, of.size) : write(to, of.b);
        write(to, of.c);
        return read(to, n);
      case StepOp::concat: {
        std::int64_t offset = 0;
        for (int k = 0; k < of.operands; ++k) {
          to.add(n, offset, false);
          write(to, operand(of, k));
          offset += node(operand(of, k)).size;
        }
        return;
      }
      case StepOp::affine:
        for (int k = 0; k < of.operands; ++k) write(to, operand(of, k));
        for (int k = 0; k < of.terms; ++k)
          if (!term(of, k).lookup) write(to, term(of, k).operand);
        to.add(partial(), kAll, true);
        return read_all(to, n);
      case StepOp::softmax:
      case StepOp::outer:
      case StepOp::memory:
        write(to, of.a);
        if (of.op == StepOp::outer) write(to, of.b);
        return read_all(to, n);
      case StepOp::array:
        // It is computed again.
        for (int k = 0; k < of.operands; ++k) write_all(to, operand(of, k));
        to.add(array_room(), kAll, true);
        return write_all(to, n);
      case StepOp::mix:
        write(to, of.a);
        write(to, of.b);
        write_all(to, of.c);
        return read_all(to, n);
      default:
        write(to, of.a);
        write(to, of.b);
        return read(to, n);
    }
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
