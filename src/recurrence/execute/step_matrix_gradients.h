// The gradients of the matrices of a recorded step, as sums over all steps and sequences of what a
// backward pass left in the nodes. Internal to this folder.
#pragma once
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/stopping.h"
#include "kernel/step/step_program.h"
#include "recurrence/program/step_lookups.h"

namespace pushdown {

template <class F>
struct StepMatrixGradients {
  const TracedProgram& traced;
  const StepProgram<F>& program;
  bool by_sequences;
  const DistinctSymbols& distinct;
  const std::vector<std::optional<LookupTable<F>>>& lookups;  // by term
  const DenseKernel<F>& dense;

  // Adds them to the numbers at these places. `scales`: factors for the gradients of each sequence;
  // null: 1.
  void add(const std::vector<MatrixPlace<F>>& places, const F* scales) const {
    std::vector<OuterSum<F>> sums;
    struct Apart {  // for a matrix of another layout
      MatrixPlace<F> to;
      std::int64_t columns;
      std::vector<F> numbers;
    };
    std::vector<Apart> apart;
    for (std::size_t n = 0; n < traced.nodes.size(); ++n) {
      const StepNode& of = traced.nodes[n];
      if (of.op != StepOp::affine) continue;
      for (int k = 0; k < of.terms; ++k) {
        const auto place = static_cast<std::size_t>(of.first_term + k);
        const StepTerm& term = traced.terms[place];
        const MatrixPlace<F> to = places[static_cast<std::size_t>(term.matrix)];
        const auto& slope = program.places[n];
        if (term.lookup) {
          const MatrixPlace<F> table =
              term.table < 0 ? MatrixPlace<F>() : places[static_cast<std::size_t>(term.table)];
          if (to.first == nullptr && table.first == nullptr) continue;
          const auto& lookup = *lookups[place];
          lookup.add_gradients(distinct, sums_by_symbol(slope, lookup.row_size(), scales).data(),
                               to, table, dense);
          continue;
        }
        if (to.first == nullptr) continue;
        const auto& matrix = program.matrices[static_cast<std::size_t>(term.matrix)];
        const auto& x = program.places[static_cast<std::size_t>(term.operand)];
        OuterSum<F> sum{1,
                        program.steps * program.batch,
                        slope.gradient_at(0, 0),
                        0,
                        slope.gradient_row,
                        x.at(0, 0),
                        0,
                        x.row,
                        matrix.columns,
                        scales,
                        to.first,
                        to.row,
                        0,
                        0};
        if (to.column != 1) {
          apart.push_back({to, matrix.columns,
                           std::vector<F>(static_cast<std::size_t>(matrix.rows * matrix.columns))});
          sum.out = apart.back().numbers.data();
          sum.out_row = matrix.columns;
        }
        if (by_sequences || of.apart || x.step != program.batch * x.row) {
          sum.lengths = program.lengths;
          sum.sequences = program.batch;
          sum.steps = program.steps;
          sum.a_sequence = slope.gradient_row;
          sum.a_step = slope.gradient_step;
          sum.c_sequence = x.row;
          sum.c_step = x.step;
        }
        const auto rows = rows_at_once(matrix.rows, matrix.columns);
        for (sum.first = 0; sum.first < matrix.rows; sum.first = sum.end) {
          sum.end = std::min(matrix.rows, sum.first + rows);
          sums.push_back(sum);
        }
      }
    }
    const StopCheck stop;
    const auto one = [&](std::int64_t i) {
      stop();
      dense.outer_sum(sums[static_cast<std::size_t>(i)]);
    };
    if (thread_count() > 1 && program.steps * program.batch * program.widest > (1 << 15))
      parallel_for(static_cast<std::int64_t>(sums.size()), one);
    else
      for (std::size_t i = 0; i < sums.size(); ++i) one(static_cast<std::int64_t>(i));
    for (const auto& [to, columns, numbers] : apart)
      for (std::int64_t k = 0; k < std::ssize(numbers); ++k)
        to.first[k / columns * to.row + k % columns * to.column] +=
            numbers[static_cast<std::size_t>(k)];
  }

 private:
  std::int64_t length_of(std::int64_t b) const {
    return program.lengths == nullptr ? program.steps : program.lengths[b];
  }
  // Computes the sums of the gradients of all vectors of each distinct symbol.
  std::vector<F> sums_by_symbol(const StepPlace<F>& slope, std::int64_t row,
                                const F* scales) const {
    constexpr std::int64_t kPart = 512;
    std::vector<F> sums(static_cast<std::size_t>(distinct.count() * row + 2 * kPadding));
    parallel_for((row + kPart - 1) / kPart, [&](std::int64_t part) {
      const auto first = part * kPart, some = std::min(kPart, row - first);
      for (std::int64_t t = 0; t < program.steps; ++t)
        for (std::int64_t b = 0; b < program.batch && t < length_of(b); ++b)
          dense.add_scaled(sums.data() + distinct.rows()[b * program.steps + t] * row + first,
                           slope.gradient_at(t, b) + first, scales == nullptr ? F(1) : scales[b],
                           some);
    });
    return sums;
  }
  // The number of rows of a matrix whose gradients one thread sums at a time.
  static std::int64_t rows_at_once(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kLeast = 32, kLarge = 1 << 16;
    if (rows * columns < kLarge) return kLeast;
    const auto each = (rows + thread_count() - 1) / thread_count();
    return (each + kLeast - 1) / kLeast * kLeast;
  }
};

}  // namespace pushdown
