// A function of small arrays as a graph. Operations are recorded in this form
// (array/array_recorder.h) before they become instructions (add_step() below).
//
// Arrays are those of one sequence. A node has a shape; parts of arrays, permuted dimensions and
// similar operations are views, which cost nothing.
#pragma once
#include <string>
#include <vector>

#include "array/array_program.h"

namespace pushdown {

using ArraySizes = std::vector<std::int64_t>;

// The location of an array's numbers among those of another: at offset + sum of i_d strides_d.
struct ArrayLayout {
  ArraySizes shape;
  std::int64_t offset = 0;
  ArraySizes strides;
};
std::int64_t array_count(const ArraySizes& shape);
ArrayLayout contiguous_layout(const ArraySizes& shape);

struct ArrayNode {
  enum class Kind { input, constant, view, map, line, contraction, join };
  Kind kind = Kind::input;
  ArraySizes shape;
  std::vector<int> operands;
  ArrayFunction function = ArrayFunction::copy;  // of a map
  ArrayKind line = ArrayKind::sum;               // of a line: along the last dimension
  ArrayLayout layout;                            // of a view: of operands[0], never a view itself
  int input = 0;                                 // of an input: its index, and the offset in it
  std::int64_t offset = 0;
  int axis = 0;                // of a join: the dimension along which its operands are joined
  std::vector<double> values;  // of a constant
  bool gradient = false;       // whether gradients flow through it
};

class ArrayGraph {
 public:
  const ArrayNode& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const ArraySizes& shape(int n) const { return node(n).shape; }

  // The numbers of an input from `offset` on.
  int input(int which, std::int64_t offset, ArraySizes shape, bool gradient);
  int constant(ArraySizes shape, std::vector<double> values);
  int number(double value);  // without dimensions

  // The array with this layout among the numbers of n.
  int view(int n, const ArrayLayout& layout);
  // The layout of n among the numbers of its base, and this base.
  ArrayLayout layout(int n) const;
  int base(int n) const;

  int expand(int n, const ArraySizes& shape);  // dimensions of size 1, or new ones in front
  int permute(int n, const std::vector<int>& order);
  int narrow(int n, int dimension, std::int64_t first, std::int64_t count, std::int64_t step = 1);
  int select(int n, int dimension, std::int64_t index);
  int unsqueeze(int n, int dimension);
  int squeeze(int n, int dimension);
  int move_last(int n, int dimension);
  int reshape(int n, const ArraySizes& shape);

  int map(ArrayFunction function, std::vector<int> operands);  // broadcast
  int line(ArrayKind kind, int n);
  int contraction(int a, int b);  // broadcast
  int join(std::vector<int> parts, int axis);
  int copied(int n) { return map(ArrayFunction::copy, {n}); }

 private:
  int add(ArrayNode node);
  std::vector<ArrayNode> nodes_;
};

// Returns the common broadcast shape; throws std::invalid_argument if there is none.
ArraySizes broadcast_shape(const ArraySizes& a, const ArraySizes& b);

// Adds a step that computes `results` one after the other into the output. Throws
// std::invalid_argument for operations that instructions cannot express.
void add_step(const ArrayGraph& graph, const std::vector<int>& results, ArrayProgram& program);

}  // namespace pushdown
