// The columns that the symbols of a run select from matrices, and their gradients. Internal to this
// folder.
#pragma once
#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "kernel/dense/dense.h"
#include "kernel/dense/panels.h"
#include "kernel/pieces.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// The numbers of a matrix in memory: number (i, j) is first[i * row + j * column].
template <class F>
struct MatrixPlace {
  F* first = nullptr;  // null: not wanted
  std::int64_t row = 0, column = 1;
};

// The distinct symbols of a batch, in the order in which they occur.
class DistinctSymbols {
 public:
  DistinctSymbols() = default;
  // symbols : B x T, below `outcomes`; only those before each sequence's end count.
  template <class LengthOf>
  DistinctSymbols(const std::int64_t* symbols, std::int64_t batch, std::int64_t steps,
                  std::int64_t outcomes, const LengthOf& length_of)
      : rows_(static_cast<std::size_t>(batch * steps)) {
    std::vector<std::int64_t> row_of(static_cast<std::size_t>(outcomes), -1);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t t = 0; t < length_of(b); ++t) {
        const auto symbol = symbols[b * steps + t];
        auto& row = row_of[static_cast<std::size_t>(symbol)];
        if (row < 0) {
          row = count();
          symbols_.push_back(symbol);
        }
        rows_[static_cast<std::size_t>(b * steps + t)] = row;
      }
  }
  std::int64_t count() const { return std::ssize(symbols_); }
  std::int64_t operator[](std::int64_t row) const {
    return symbols_[static_cast<std::size_t>(row)];
  }
  const std::int64_t* rows() const { return rows_.data(); }  // B x T: which one each symbol is

 private:
  std::vector<std::int64_t> symbols_, rows_;
};

// W, or W E with an embedding E, at the U distinct symbols of a run.
template <class F>
class LookupTable {
 public:
  LookupTable(const StepTerm& term, const TracedProgram& program)
      : weight_(program.matrices[static_cast<std::size_t>(term.matrix)]),
        embedding_(term.table < 0 ? Tensor()
                                  : program.matrices[static_cast<std::size_t>(term.table)]) {}

  bool embeds() const { return embedding_.defined(); }
  F* columns() const { return columns_; }  // U x padded rows of W
  std::int64_t row_size() const { return padded_size(weight_.size(0)); }

  void lay_out(Pieces<F>& pieces, std::int64_t distinct) {
    columns_ = pieces.take(distinct * row_size());
    if (!embeds()) return;
    vectors_ = pieces.take(distinct * padded_size(embedding_.size(0)));
    panels_ = pieces.take(weight_.size(1) * row_size());
  }

  void fill(const DistinctSymbols& symbols, const DenseKernel<F>& dense) {
    const auto rows = weight_.size(0), count = symbols.count();
    if (!embeds()) return gather(weight_, symbols, columns_);
    const auto size = embedding_.size(0), row = padded_size(size);
    gather(embedding_, symbols, vectors_);
    const Tensor own = weight_.stride(1) == 1 ? weight_ : weight_.contiguous();
    pack_transposed_panels(own.data_ptr<F>(), own.stride(0), rows, size, panels_);
    std::fill_n(columns_, count * row_size(), F(0));
    in_parts(count, [&](std::int64_t first, std::int64_t some) {
      dense.add_products(columns_ + first * row_size(), row_size(), vectors_ + first * row, row,
                         some, size, panels_, row_size());
    });
  }

  // Adds the gradients of W and, if there is one, of E, where sums : U x padded rows of W is that
  // of the columns.
  void add_gradients(const DistinctSymbols& symbols, const F* sums, const MatrixPlace<F>& weight,
                     const MatrixPlace<F>& embedding, const DenseKernel<F>& dense) const {
    const auto rows = weight_.size(0), count = symbols.count();
    if (!embeds()) {
      for (std::int64_t u = 0; weight.first != nullptr && u < count; ++u)
        add_column(weight, symbols[u], sums + u * row_size(), rows);
      return;
    }
    const auto size = embedding_.size(0), row = padded_size(size);
    if (weight.first != nullptr) {
      std::vector<F> apart;
      F* to = weight.first;
      if (weight.column != 1) {
        apart.resize(static_cast<std::size_t>(rows * size));
        to = apart.data();
      }
      const auto to_row = weight.column == 1 ? weight.row : size;
      in_parts(rows, [&](std::int64_t first, std::int64_t some) {
        dense.outer_sum({1, count, sums, 0, row_size(), vectors_, 0, row, size, nullptr, to, to_row,
                         first, first + some});
      });
      for (std::int64_t k = 0; k < std::ssize(apart); ++k)
        weight.first[k / size * weight.row + k % size * weight.column] +=
            apart[static_cast<std::size_t>(k)];
    }
    if (embedding.first == nullptr) return;
    const Tensor own = weight_.stride(1) == 1 ? weight_ : weight_.contiguous();
    std::vector<F> straight(static_cast<std::size_t>(rows * row)),
        slopes(static_cast<std::size_t>(count * row));
    pack_panels(own.data_ptr<F>(), own.stride(0), rows, size, straight.data());
    in_parts(count, [&](std::int64_t first, std::int64_t some) {
      dense.add_products(slopes.data() + first * row, row, sums + first * row_size(), row_size(),
                         some, rows, straight.data(), row);
    });
    for (std::int64_t u = 0; u < count; ++u)
      add_column(embedding, symbols[u], slopes.data() + u * row, size);
  }

 private:
  // Calls body(first, count) for parts of `all` rows, on all threads.
  template <class Body>
  static void in_parts(std::int64_t all, const Body& body) {
    constexpr std::int64_t kPart = 192;
    parallel_for((all + kPart - 1) / kPart, [&](std::int64_t part) {
      body(part * kPart, std::min(kPart, all - part * kPart));
    });
  }
  // The columns of a matrix, padded with zeros.
  static void gather(const Tensor& matrix, const DistinctSymbols& symbols, F* to) {
    const F* from = matrix.data_ptr<F>();
    const auto rows = matrix.size(0), padded = padded_size(rows), row = matrix.stride(0);
    for (std::int64_t u = 0; u < symbols.count(); ++u, to += padded) {
      const F* column = from + symbols[u] * matrix.stride(1);
      for (std::int64_t i = 0; i < rows; ++i) to[i] = column[i * row];
      std::fill(to + rows, to + padded, F(0));
    }
  }
  static void add_column(const MatrixPlace<F>& to, std::int64_t column, const F* from,
                         std::int64_t rows) {
    F* first = to.first + column * to.column;
    for (std::int64_t i = 0; i < rows; ++i) first[i * to.row] += from[i];
  }

  Tensor weight_, embedding_;  // rows x columns; size x symbols
  F *columns_ = nullptr, *vectors_ = nullptr, *panels_ = nullptr;
};

}  // namespace pushdown
