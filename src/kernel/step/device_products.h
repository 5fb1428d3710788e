// Where the numbers of grouped products are: of outer products, and of matrices with vectors. A
// group has a matrix of so many rows and columns, one matrix after the other.
#pragma once
#include "kernel/step/step_program.h"

namespace pushdown::device {

struct ProductGroups {
  Index rows, columns;  // of the matrix of a group

  // left, right: numbers of all groups that belong to the rows and to the columns.
  PUSHDOWN_DEVICE ProductGroups(const StepNode& node, Index left, Index right)
      : rows(left / static_cast<Index>(node.offset)),
        columns(right / static_cast<Index>(node.offset)) {}
  // The number of the right that belongs to number i of the matrices.
  PUSHDOWN_DEVICE Index right_of(Index i) const {
    return i / (rows * columns) * columns + i % columns;
  }
  // The sum over the rows of a group: column j of all matrices with the numbers of the left.
  template <class F>
  PUSHDOWN_DEVICE F column_product(const F* matrices, const F* left, Index j) const {
    const Index group = j / columns;
    F sum = 0;
    for (Index i = group * rows; i < (group + 1) * rows; ++i)
      sum += matrices[i * columns + j % columns] * left[i];
    return sum;
  }
};

}  // namespace pushdown::device
