// Where the numbers of a recorded step lie during a run. Internal to this folder.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel/pieces.h"
#include "recurrence/program/step_needs.h"

namespace pushdown {

// What a layout depends on besides the program.
struct LayoutRun {
  std::int64_t batch, steps;
  bool gradients;
  bool by_sequences;  // whether the steps of a sequence are consecutive, or the sequences of a step
};

template <class F>
class StepLayout {
 public:
  // Refers to the program and to what a run of it must keep.
  StepLayout(const TracedProgram& traced, const StepNeeds& needs, const LayoutRun& run)
      : traced_(traced), needs_(needs), run_(run), places_(traced.nodes.size()) {}

  // Takes memory from the pieces. widest: becomes the largest row of a node.
  std::vector<StepPlace<F>> places(Pieces<F>& cut, std::int64_t& widest) {
    const std::vector<std::int64_t> rows = row_sizes();
    StoredRows values, slopes;
    for (int n = 0; n < static_cast<int>(traced_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      auto& place = places_[static_cast<std::size_t>(n)];
      const auto row = rows[static_cast<std::size_t>(n)];
      const bool of_memory =
          row_of(of.op).source == StepOperation::Source::once && of.op != StepOp::constant;
      if (!of_memory) widest = std::max(widest, row);
      if (of.op == StepOp::slice || of.op == StepOp::previous) continue;
      if (!needs_.read[static_cast<std::size_t>(n)] && of.op == StepOp::symbols) continue;
      if (of.op == StepOp::constant) {
        place.value = cut.take(row);
      } else if (of.apart) {
        place_apart(place.value, place.step, place.row, row, cut);
      } else if (needs_.kept[static_cast<std::size_t>(n)]) {
        values.add(place.value, place.step, place.row, row);
      } else {
        place.row = row;
        place.value = cut.take(run_.batch * row);
      }
      if (!run_.gradients || !of.gradient) continue;
      if (needs_.recorded[static_cast<std::size_t>(n)]) {
        place.slots = run_.steps + 1;
        if (of.apart)
          place_apart(place.gradient, place.gradient_step, place.gradient_row, row, cut);
        else
          slopes.add(place.gradient, place.gradient_step, place.gradient_row, row);
      } else {
        place.slots = of.carried ? 2 : 1;
        place.gradient_row = row;
        place.gradient_step = run_.batch * row;
        place.gradient = cut.take(run_.batch * place.slots * row);
      }
    }
    place_rows(values, cut);
    place_rows(slopes, cut);
    for (int n = 0; n < static_cast<int>(traced_.nodes.size()); ++n) {
      const StepNode& of = node(n);
      if (of.op == StepOp::slice || of.op == StepOp::previous) look_into(n);
    }
    return std::move(places_);
  }

 private:
  const StepNode& node(int n) const { return traced_.nodes[static_cast<std::size_t>(n)]; }
  // Returns the room for one row of each node. Kernels read parts of rows in whole vectors, which
  // must not reach into the row of another sequence, because another thread may write it.
  std::vector<std::int64_t> row_sizes() const {
    std::vector<std::int64_t> rows;
    for (const StepNode& of : traced_.nodes) rows.push_back(padded_size(of.size));
    const auto owner = [&](int n) {
      while (node(n).op == StepOp::slice || node(n).op == StepOp::previous) n = node(n).a;
      return static_cast<std::size_t>(n);
    };
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const StepNode& of = traced_.nodes[n];
      const auto reach = [&](int operand, std::int64_t end) {
        auto& row = rows[owner(operand)];
        row = std::max(row, padded_size(end));
      };
      // For readers of whole vectors that begin at any number of the operand.
      const auto reach_beyond = [&](int operand) {
        const std::int64_t first = node(operand).op == StepOp::slice ? node(operand).offset : 0;
        reach(operand, first + node(operand).size + kPadding);
      };
      if (of.op == StepOp::slice) reach(of.a, of.offset + padded_size(of.size));
      if (of.op == StepOp::concat) {
        // The backward pass reads whole vectors of each part's gradient.
        std::int64_t offset = 0;
        for (int k = 0; k < of.operands; ++k) {
          const int part = traced_.operands[static_cast<std::size_t>(of.first_operand + k)];
          reach(static_cast<int>(n), offset + padded_size(node(part).size));
          offset += node(part).size;
        }
      }
      // The last parts of gates are read and written in whole vectors.
      if (of.op == StepOp::lstm_cell) reach(of.a, 3 * of.size + padded_size(of.size));
      if (of.op == StepOp::gru)
        for (const int gates : {of.a, of.b}) reach(gates, 2 * of.size + padded_size(of.size));
      if (of.op == StepOp::memory) reach_beyond(of.a);
      // One number for each head.
      if (of.op == StepOp::attention) reach(static_cast<int>(n), of.size + of.size / of.offset);
      if (of.op != StepOp::array) continue;
      // An array program may read from any number on.
      reach(static_cast<int>(n), of.size + kPadding);
      for (int k = 0; k < of.operands; ++k)
        reach_beyond(traced_.operands[static_cast<std::size_t>(of.first_operand + k)]);
    }
    return rows;
  }

  // Rows of nodes that are stored for all steps.
  struct StoredRows {
    struct OfNode {
      F** first;
      std::int64_t *step, *sequence;  // strides
      std::int64_t size, offset;
    };
    std::vector<OfNode> nodes;
    std::int64_t size = 0;

    void add(F*& first, std::int64_t& step, std::int64_t& sequence, std::int64_t row) {
      nodes.push_back({&first, &step, &sequence, row, size});
      size += row;
    }
  };
  // By sequences, the rows of all nodes at one step are consecutive: a step of a few sequences then
  // touches few pages, and the core loads the rows of the next step in advance.
  void place_rows(const StoredRows& rows, Pieces<F>& cut) const {
    const auto slots = run_.steps + 1;
    F* all = cut.take(run_.batch * slots * rows.size);
    for (const auto& of : rows.nodes) {
      const auto offset = run_.by_sequences ? of.offset : run_.batch * slots * of.offset;
      *of.first = all == nullptr ? nullptr : all + offset;
      *of.step = run_.by_sequences ? rows.size : run_.batch * of.size;
      *of.sequence = run_.by_sequences ? slots * rows.size : of.size;
    }
  }
  // The steps of a sequence are the rows of one matrix, because they are processed together.
  void place_apart(F*& first, std::int64_t& step, std::int64_t& sequence, std::int64_t row,
                   Pieces<F>& cut) const {
    step = row;
    sequence = (run_.steps + 1) * row;
    first = cut.take(run_.batch * sequence);
  }
  void look_into(int n) {
    const StepNode& of = node(n);
    // A state may be bound to a node that comes later, whose place is already known; parts of
    // states come after these.
    const StepPlace<F>& seen = places_[static_cast<std::size_t>(of.a)];
    auto& place = places_[static_cast<std::size_t>(n)] = seen;
    if (of.op == StepOp::previous) place.shift = -1;
    if (place.value != nullptr) place.value += of.offset;
    if (place.gradient != nullptr) place.gradient += of.offset;
  }

  const TracedProgram& traced_;
  const StepNeeds& needs_;
  LayoutRun run_;
  std::vector<StepPlace<F>> places_;
};

}  // namespace pushdown
