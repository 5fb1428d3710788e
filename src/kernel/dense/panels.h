// Matrices cut into panels of kPanel columns. The rows of a panel are contiguous, so that a product
// (panel_product.h) reads them once and in order, whatever their size. In a matrix with `count`
// rows, the panel that begins with column c begins at number c * count. Columns are padded with
// zeros to a multiple of kPadding, so the last panel may be half as wide.
#pragma once
#include <algorithm>

#include "kernel/memory/memory_shape.h"

namespace pushdown {

inline constexpr std::int64_t kPanel = 2 * kPadding;

inline std::int64_t panel_width(std::int64_t padded, std::int64_t column) {
  return std::min(kPanel, padded - column);
}

// Writes the panels of a matrix rows x columns with row stride `row` : rows * padded_size(columns).
template <class F>
void pack_panels(const F* matrix, std::int64_t row, std::int64_t rows, std::int64_t columns,
                 F* panels) {
  const auto padded = padded_size(columns);
  for (std::int64_t column = 0; column < padded; column += kPanel) {
    const auto width = panel_width(padded, column), filled = std::min(width, columns - column);
    F* to = panels + column * rows;
    for (std::int64_t i = 0; i < rows; ++i, to += width) {
      std::copy_n(matrix + i * row + column, filled, to);
      std::fill_n(to + filled, width - filled, F(0));
    }
  }
}

// Writes those of the transposed matrix : columns * padded_size(rows).
template <class F>
void pack_transposed_panels(const F* matrix, std::int64_t row, std::int64_t rows,
                            std::int64_t columns, F* panels) {
  const auto padded = padded_size(rows);
  for (std::int64_t first = 0; first < padded; first += kPanel) {
    const auto width = panel_width(padded, first), filled = std::min(width, rows - first);
    F* to = panels + first * columns;
    const F* from = matrix + first * row;
    for (std::int64_t j = 0; j < columns; ++j, to += width) {
      for (std::int64_t k = 0; k < filled; ++k) to[k] = from[k * row + j];
      std::fill_n(to + filled, width - filled, F(0));
    }
  }
}

}  // namespace pushdown
