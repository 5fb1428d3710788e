// One pass of the code that program.h prints: its pieces, the barriers between them, and the
// places of its numbers. Internal to this folder.
//
// A piece is a part of the work of a step. Elementwise pieces of one size that need no barrier
// between them share a loop, in which numbers go from piece to piece in variables: number i of a
// vector belongs to thread i mod size everywhere. Numbers that other threads read are in shared
// memory, as far as there is room.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "recurrence/device/program.h"

namespace pushdown::device_source {

// A node's numbers within those of the node that owns them. before: those of the step before; raw:
// gates before their functions are applied.
struct Spot {
  int row = -1;
  std::int64_t first = 0;
  bool before = false, raw = false;
  auto operator<=>(const Spot&) const = default;
};

// Numbers begin .. end-1 of a row are read or written, number i by thread (i - owner) lanes mod
// size or, with kAnyThread, by any.
inline constexpr std::int64_t kAnyThread = -1;
struct RowAccess {
  int row;
  bool before;
  std::int64_t begin, end, owner;
  bool written;
  int lanes = 1;
};

struct Piece {
  int node = -1;
  std::int64_t size = 0;  // of its loop; 0: it is none, or has its own
  std::vector<RowAccess> accesses;
  std::function<void()> print;
  bool of_memory = false;  // a function of a memory, which wants a barrier before and after it
  int barrier = -1;        // number of the barrier before it
  bool barrier_of_memory = false;  // only for this reason
};

// base[offset + i]
struct Where {
  std::string base;
  std::int64_t offset = 0;
  std::string at(const std::string& index) const;
  std::string pointer() const;
};

// The groups of an outer product or of products of matrices and vectors, whose matrices have these
// sizes.
struct Groups {
  std::int64_t rows, columns;

  Groups(const StepNode& node, std::int64_t left, std::int64_t right)
      : rows(left / node.offset), columns(right / node.offset) {}
  // The number of the right that belongs to number i of the matrices.
  std::string right_of(const std::string& i) const {
    return fmt::format("{0} / {1} * {2} + {0} % {2}", i, rows * columns, columns);
  }
  // The sum over the rows of a group: column i of the matrices with the numbers of the left.
  std::string column_product(const Where& matrices, const Where& left) const {
    return fmt::format(
        "strided_dot({0} + i / {3} * {4} + i % {3}, {3}, {1} + i / {3} * {2}, 1, {2})",
        matrices.pointer(), left.pointer(), rows, columns, rows * columns);
  }
};

class Pass {
 public:
  explicit Pass(const DeviceProgram& program);
  virtual ~Pass() = default;

 protected:
  const StepNode& node(int n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  int operand(const StepNode& of, int k) const {
    return program_.operands[static_cast<std::size_t>(of.first_operand + k)];
  }
  const StepTerm& term(const StepNode& of, int k) const {
    return program_.terms[static_cast<std::size_t>(of.first_term + k)];
  }
  const Tensor& matrix(int k) const { return program_.matrices[static_cast<std::size_t>(k)]; }
  int count() const { return static_cast<int>(program_.nodes.size()); }
  // Offsets in the records of a step; -1: not there.
  std::int64_t value_offset(int row) const { return layout_.value[static_cast<std::size_t>(row)]; }
  std::int64_t slope_offset(int row) const { return layout_.slope[static_cast<std::size_t>(row)]; }
  Spot spot(int n) const;
  // Whether the activations of gates take the place of this node's numbers.
  bool is_gated(int row) const { return gated_.contains(row); }
  // Whether it is computed in the steps, in memory of its own.
  bool is_computed(int row) const;

  Piece& piece(int n, std::int64_t size, std::function<void()> print);
  static void access(Piece& to, const Spot& at, std::int64_t size, bool any_thread, bool written,
                     int lanes = 1);
  // Sets which pieces have a barrier before them and numbers these, and those before and after the
  // loop, from `next` on. The pieces are those of a step, which is repeated: the numbers of now
  // become those of before, and the memory of those is used again; numbers that are not carried
  // from step to step have the same memory in every step. first, last: what is before and after the
  // loop.
  void place_barriers(const Piece& first, const Piece& last, int& next);
  // The barriers before and after the loop, if they are needed.
  std::string first_barrier() const { return outer_barrier(first_barrier_); }
  std::string last_barrier() const { return outer_barrier(last_barrier_); }
  // Calls print(), which prints the pieces of a step, twice: it is known after the first time which
  // numbers are read from memory. `may_be_near` chooses those that can be in shared memory.
  void print_twice(const std::function<void()>& print, const std::function<bool(int)>& may_be_near);
  void print_pieces(std::size_t first, std::size_t end);

  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    put(fmt::format(text, std::forward<Parts>(parts)...));
  }
  void put(const std::string& text);
  void open(const std::string& text);
  void close(const std::string& text = "}");
  // Declares a variable before the loop over the steps, once. step: its growth after each step.
  void declare(const std::string& name, const std::string& declaration, std::int64_t step = 0);
  void advance();  // prints this growth, and exchanges the numbers of now and before
  static std::string number(double x);
  static std::string variable(char kind, const Spot& at);
  virtual void close_loop();

  // A value that was not computed in this pass: given, or stored by the forward pass.
  Where stored_value(const Spot& at);
  bool is_near(const Spot& at) const;
  Where near_place(const Spot& at) const;
  bool is_read(const Spot& at) const { return reads_.contains(key_of(at)); }
  void note_read(const Spot& at) { reads_.insert(key_of(at)); }

  // Declares a matrix, or a product with it for each_row() with so many lanes.
  std::string declare_matrix(int k);
  std::string declare_product(int k, int lanes, bool held, bool transposed);
  // Returns the number of lanes for a product, and whether its weights fit into registers.
  int lanes_of(std::int64_t rows, std::int64_t columns, bool& held);
  void declare_symbols();

  // The parts of a kernel around its loop.
  std::string kernel(const std::string& name, const std::string& before_declarations,
                     const std::string& before_loop, const std::string& loop,
                     const std::string& after_loop) const;
  // A multiple of four numbers.
  std::int64_t padded_actions() const { return (program_.shape.actions + 3) / 4 * 4; }
  std::string moves() const;  // whether the memory moves after this step
  static std::string barrier(int number) { return fmt::format("PUSHDOWN_BARRIER({});", number); }
  static std::string outer_barrier(int number) {
    return number < 0 ? "" : "  " + barrier(number) + "\n";
  }

  const TracedProgram& program_;
  const DeviceForm& options_;
  const StepNeeds& needs_;
  const DeviceLayout& layout_;
  bool backward_ = false;
  // Whether the gradients of a memory's actions have a place of their own.
  bool uses_actions_ = false;
  std::vector<Piece> pieces_;
  std::map<Spot, std::string> locals_;
  std::string text_, declarations_;
  std::int64_t near_size_ = 0, carried_first_ = 0, carried_size_ = 0;
  std::map<int, std::int64_t> near_;  // by key
  int indent_ = 0, first_barrier_ = -1, last_barrier_ = -1;

 private:
  static int key_of(const Spot& at) { return at.row * 2 + (at.raw ? 1 : 0); }
  void place_near();

  std::set<int> gated_, reads_;
  std::set<std::string> declared_;
  std::vector<std::pair<std::string, std::int64_t>> growing_;
  std::function<bool(int)> may_be_near_;
  bool placed_ = false;
  std::int64_t loop_ = 0, held_ = 0;
};

// Texts of the kernels. shared: becomes at least the numbers of shared memory; barriers: the number
// of the first barrier, and then the next one.
std::string print_forward(const DeviceProgram& program, std::int64_t& shared, int& barriers);
std::string print_backward(const DeviceProgram& program, std::int64_t& shared, int& barriers);

}  // namespace pushdown::device_source
