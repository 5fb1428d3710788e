// The nodes of a step program (step_program.h), computed and differentiated for some rows at a
// time: the sequences at one step, or the steps of one sequence. For kernel files only.
#pragma once
#include "kernel/array/array_loops.h"
#include "kernel/attention/attention.h"
#include "kernel/attention/normalize.h"
#include "kernel/step/step_gates.h"
#include "kernel/step/step_memory.h"
#include "kernel/step/step_operations.h"

namespace pushdown {
template <>
AttentionKernel<float> isa_kernel<AttentionKernel<float>, PUSHDOWN_OWN_ISA>();
template <>
AttentionKernel<double> isa_kernel<AttentionKernel<double>, PUSHDOWN_OWN_ISA>();
}  // namespace pushdown

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Those of the sequences first .. end-1.
template <class F>
class StepNodes {
 public:
  StepNodes(const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room)
      : active(end - first), p_(program), first_(first), count_(active), scratch_(room.scratch) {
    make_array_room();
    for (Index n = 0; n < p_.count; ++n) {
      if (p_.nodes[n].op == StepOp::memory) memory_node_ = static_cast<int>(n);
      if (p_.nodes[n].op == StepOp::left) left_node_ = static_cast<int>(n);
    }
    if (memory_node_ < 0) return;
    memory_ = memory_functions<F>(p_.memory);
    object_size_ = (memory_.object_size + 63) / 64 * 64;
    objects_ = static_cast<unsigned char*>(
        ::operator new (static_cast<std::size_t>(object_size_ * count_), std::align_val_t{64}));
    for (Index b = 0; b < count_; ++b)
      memory_.make(object(b), memory_shape(b), room.tape + b * p_.tape_size,
                   room.memory_scratch + b * p_.memory_scratch_size);
  }
  ~StepNodes() {
    if (objects_ != nullptr) ::operator delete (objects_, std::align_val_t{64});
    if (array_room_ != nullptr) ::operator delete (array_room_, std::align_val_t{64});
  }
  StepNodes(const StepNodes&) = delete;
  StepNodes& operator=(const StepNodes&) = delete;

  // Moves the memories of all sequences to their beginning, or after the last step out of a run.
  void begin_memories() {
    if (memory_node_ < 0) return;
    const StepNode& node = p_.nodes[memory_node_];
    const auto reading = value(memory_node_, -1);
    for (Index b = 0; b < count_; ++b)
      memory_.begin(object(b), node.b < 0 ? nullptr : value(node.b, 0)[b], reading[b]);
  }
  void leave_memories() {
    for (Index b = 0; left_node_ >= 0 && b < count_; ++b)
      memory_.leave(object(b), value(left_node_, 0)[b]);
  }
  void begin_memories_backward() {
    for (Index b = 0; memory_node_ >= 0 && b < count_; ++b) {
      if (p_.left_used)
        memory_.begin_backward_from(object(b), gradient(left_node_, 0)[b]);
      else
        memory_.begin_backward(object(b));
    }
  }
  void cut_memories() {
    for (Index b = 0; memory_node_ >= 0 && b < active; ++b) memory_.cut(object(b));
  }
  void end_memories_backward() {
    if (memory_node_ < 0 || memory_.end_backward == nullptr) return;
    const int start = p_.nodes[memory_node_].b;
    if (start < 0 || !p_.nodes[start].gradient) return;
    const auto reading = gradient(memory_node_, -1);
    for (Index b = 0; b < count_; ++b)
      memory_.end_backward(object(b), reading[b], gradient(start, 0)[b]);
  }

  Index count() const { return count_; }
  Index sequence() const { return sequence_; }  // within in_sequences()
  // The sequences that have not ended, which are the first ones; or steps.
  Index active;

  bool stopped() const {
    return p_.stop != nullptr && __atomic_load_n(p_.stop, __ATOMIC_RELAXED) != 0;
  }
  Index length(Index b) const { return p_.lengths == nullptr ? p_.steps : p_.lengths[first_ + b]; }
  // Rows are the sequences at step t or, within in_sequences(), the steps of one sequence.
  PUSHDOWN_INLINE Rows<F> value(int n, Index t) const {
    const StepPlace<F>& place = p_.places[n];
    if (sequence_ < 0) return {place.at(t, first_), place.row};
    return {place.at(0, first_ + sequence_), place.step};
  }
  PUSHDOWN_INLINE Rows<F> gradient(int n, Index t) const {
    const StepPlace<F>& place = p_.places[n];
    if (sequence_ < 0) return {place.gradient_at(t, first_), place.gradient_row};
    return {place.gradient_at(0, first_ + sequence_), place.slots == 1 ? 0 : place.gradient_step};
  }
  // Calls each() for one sequence after another.
  template <class Each>
  void in_sequences(Each each) {
    for (sequence_ = 0; sequence_ < count_; ++sequence_) {
      active = length(sequence_);
      each();
    }
    sequence_ = -1;
    active = count_;
  }

  // Returns whether the gradient is a node's own and starts anew at every step.
  bool owns_rows(int n) const {
    return p_.nodes[n].gradient && (kOwnsRows >> static_cast<int>(p_.nodes[n].op) & 1) != 0;
  }
  // Clears the gradients of the rows from `from` on.
  void clear_gradient(int n, Index t, Index from = 0) {
    if (!p_.nodes[n].gradient) return;
    const Vector<F> zero = held(splat(F(0)));  // avoids a call of memset for each row
    const Rows<F> all = gradient(n, t);
    set_rows(Rows<F>{all[from], all.row}, active - from, p_.nodes[n].size, false,
             [&](Index, Index) { return zero; });
  }
  // Adds f to the gradient of node n at step t, or sets it.
  template <class Of>
  void add_to(int n, Index t, Of of, bool set = false) {
    if (n < 0 || !p_.nodes[n].gradient) return;
    const StepNode& node = p_.nodes[n];
    if (set)
      set_rows(gradient(n, t), active, node.size, node.sliced, of);
    else
      add_rows(gradient(n, t), active, node.size, node.sliced, of);
  }

  // The value of a node, and what it adds to the gradients of what it reads.
  void compute(int n, Index t) {
    const StepNode& node = p_.nodes[n];
    const Rows<F> out = value(n, t);
    const auto a = [&] { return value(node.a, t); };
    switch (node.op) {
      case StepOp::symbols: {
        if (out.first == nullptr) return;  // used only for lookups
        for (Index b = 0; b < active; ++b) {
          clear(out[b], node.size);
          out[b][symbol(b, t)] = 1;
        }
        return;
      }
      case StepOp::concat: {
        Index offset = 0;
        for (int k = 0; k < node.operands; ++k) {
          const int part = p_.operands[node.first_operand + k];
          const auto from = value(part, t);
          for (Index b = 0; b < active; ++b) copy(out[b] + offset, from[b], p_.nodes[part].size);
          offset += p_.nodes[part].size;
        }
        return;
      }
      case StepOp::affine: return affine(node, out, t);
      case StepOp::map: return map(node, out, t);
      case StepOp::scale: {
        const F factor = static_cast<F>(node.factor), shift = static_cast<F>(node.shift);
        const Rows<F> x = a();
        return set_rows(out, active, node.size, false,
                        [&](Index b, Index i) { return factor * load(x[b] + i) + shift; });
      }
      case StepOp::softmax: {
        const auto x = a();
        for (Index i = 0; i < node.size; i += node.offset)
          softmax_rows(part_of(out, i), part_of(x, i), active, node.offset, scratch_);
        return;
      }
      case StepOp::greatest: {
        const auto x = a();
        for (Index b = 0; b < active; ++b)
          for (Index i = 0; i < node.size; i += node.offset)
            greatest_row(x[b] + i, out[b] + i, node.offset);
        return;
      }
      case StepOp::outer: {
        const auto x = a(), y = value(node.b, t);
        in_groups(node, p_.nodes[node.a].size, p_.nodes[node.b].size,
                  [&](Index b, Index i, Index row, Index j, Index columns) {
                    const F factor = x[b][i];
                    F* to = out[b] + row;
                    const F* from = y[b] + j;
                    for (Index k = 0; k < columns; ++k) to[k] = factor * from[k];
                  });
        return;
      }
      case StepOp::matvec: {
        const auto x = a(), y = value(node.b, t);
        const Index right = p_.nodes[node.b].size;
        if (right == node.offset) {
          in_columns(node, [&](Index b, Index group, Index first, Index rows) {
            const F factor = y[b][group];
            const F* from = x[b] + first;
            F* to = out[b] + first;
            for (Index k = 0; k < rows; ++k) to[k] = factor * from[k];
          });
          return;
        }
        in_groups(node, node.size, right, [&](Index b, Index i, Index row, Index j, Index columns) {
          out[b][i] = dot(x[b] + row, y[b] + j, columns);
        });
        return;
      }
      case StepOp::mix: {
        const auto x = a(), y = value(node.b, t), c = value(node.c, t);
        return set_rows(out, active, node.size, false, [&](Index b, Index i) {
          // Exact at both ends.
          const F share = c[b][0];
          if (share == 0 || share == 1) return load((share == 0 ? y : x)[b] + i);
          return share * load(x[b] + i) + (1 - share) * load(y[b] + i);
        });
      }
      case StepOp::normalize: {
        const Rows<F> x = a();
        const F *gain = value(node.b, t)[0], *bias = value(node.c, t)[0];
        for (Index b = 0; b < active; ++b) normalize_row(x[b], gain, bias, out[b], node.size);
        return;
      }
      case StepOp::attention: return attention_.forward(attention(node, out), scratch_);
      case StepOp::array: {
        if (p_.arrays[node.array].is_idle(t)) return;
        for (Index b = 0; b < active; ++b) {
          set_arrays(node, n, b, t, false);
          ArrayLoops<F>(p_.arrays[node.array], array_values_, array_slopes_).forward(t);
        }
        return;
      }
      case StepOp::memory: {
        const auto actions = a();
        const StepNode& of = p_.nodes[node.a];
        for (Index k = 0, rows = moving(t); k < rows; ++k) {
          if (stopped()) return;
          const Index b = turn(k, rows, t);
          // Memory after the end of a part must not be read.
          if (of.op == StepOp::slice) copy(scratch_, actions[b], of.size);
          memory_.forward(object(b), t, of.op == StepOp::slice ? scratch_ : actions[b], out[b]);
        }
        return;
      }
      case StepOp::lstm_cell:
        return compute_lstm_cell(out, a(), value(node.b, t), active, node.size);
      case StepOp::lstm_hidden:
        return compute_lstm_hidden(out, a(), value(node.b, t), value(node.c, t), active, node.size);
      case StepOp::gru:
        return compute_gru(out, a(), value(node.b, t), value(node.c, t), active, node.size);
      default: return;
    }
  }

  void propagate(int n, Index t);

 private:
  // The memory of a shorter sequence makes fewer updates.
  MemoryShape memory_shape(Index b) const {
    MemoryShape shape = p_.memory;
    const Index missing = p_.steps - length(b);
    shape.steps -= missing;
    shape.automaton.steps -= missing;
    return shape;
  }
  // The place of a row's symbol in an array B x T.
  Index place_of(Index row, Index t) const {
    return sequence_ < 0 ? (first_ + row) * p_.steps + t : (first_ + sequence_) * p_.steps + row;
  }
  Index symbol(Index row, Index t) const { return p_.symbols[place_of(row, t)]; }
  void* object(Index b) const { return objects_ + b * object_size_; }

  static Rows<F> part_of(Rows<F> rows, Index first) { return {rows.first + first, rows.row}; }
  // Returns how many sequences move their stack after step t; they are the first ones.
  Index moving(Index t) const {
    const Index further = p_.memory.steps - p_.steps;
    Index rows = active;
    while (rows > 0 && t + 1 >= length(rows - 1) + further) --rows;
    return rows;
  }

  // Returns the k-th sequence to move its stack at step t. The order alternates, so that every step
  // begins with the stack that is still in the cache.
  static Index turn(Index k, Index rows, Index t) { return t % 2 == 0 ? k : rows - 1 - k; }

  // Allocates the memory of one sequence's step, which all sequences share, and the buffer
  // pointers.
  void make_array_room() {
    Index memory = 0;
    int inputs = 0;
    for (Index k = 0; k < p_.array_count; ++k) {
      const ArrayCode<F>& code = p_.arrays[k];
      memory = code.memory > memory ? code.memory : memory;
      inputs = code.inputs > inputs ? code.inputs : inputs;
    }
    if (p_.array_count == 0) return;
    array_memory_ = padded_size(memory) + 2 * kPadding;
    const Index numbers = 2 * array_memory_ * static_cast<Index>(sizeof(F));
    const Index pointers = 2 * (inputs + 3) * static_cast<Index>(sizeof(F*));
    array_room_ =
        ::operator new (static_cast<std::size_t>(numbers + pointers), std::align_val_t{64});
    array_values_ = reinterpret_cast<F**>(static_cast<unsigned char*>(array_room_) + numbers);
    array_slopes_ = array_values_ + inputs + 3;
  }
  void set_arrays(const StepNode& node, int n, Index b, Index t, bool slopes) {
    const ArrayCode<F>& code = p_.arrays[node.array];
    const auto set = [&](int buffer, int from) {
      array_values_[buffer] = value(from, t)[b];
      array_slopes_[buffer] = slopes && p_.nodes[from].gradient ? gradient(from, t)[b] : nullptr;
    };
    for (int k = 0; k < code.inputs; ++k) set(k, p_.operands[node.first_operand + k]);
    set(code.output(), n);
    array_values_[code.constant()] = const_cast<F*>(code.constants);
    array_slopes_[code.constant()] = nullptr;
    array_values_[code.own()] = static_cast<F*>(array_room_);
    array_slopes_[code.own()] = static_cast<F*>(array_room_) + array_memory_;
  }

  [[gnu::noinline]] void map(const StepNode& node, Rows<F> out, Index t) const {
    with_function(node.function, [&](auto row) {
      using Row = decltype(row);
      const Rows<F> x = value(node.a, t), y = Row::kOperands > 1 ? value(node.b, t) : x,
                    z = Row::kOperands > 2 ? value(node.c, t) : x;
      if constexpr (Row::kByLanes) {
        set_rows(out, active, node.size, false, [&](Index b, Index i) {
          return Row::template value<F>(load(x[b] + i), load(y[b] + i), load(z[b] + i));
        });
      } else {
        for (Index b = 0; b < active; ++b)
          for (Index i = 0; i < node.size; ++i)
            out[b][i] = Row::template value<F>(x[b][i], y[b][i], z[b][i]);
      }
    });
  }

  [[gnu::noinline]] void propagate_map(const StepNode& node, Rows<F> out, Rows<F> slope, Index t);

  // Row b of operand k of an affine node or, after the operands, of the column that a term selects.
  const F* part(const StepNode& node, int k, Index b, Index t) const {
    if (k < node.operands) return value(p_.operands[node.first_operand + k], t)[b];
    const StepTerm& term = p_.terms[node.first_term + k - node.operands];
    return p_.matrices[term.matrix].by_column + p_.rows[place_of(b, t)] * padded_size(node.size);
  }

  void affine(const StepNode& node, Rows<F> out, Index t) {
    const Index padded = padded_size(node.size);
    // The operands and the columns selected by the first terms, added up in one pass.
    int lookups = 0;
    while (lookups < node.terms && p_.terms[node.first_term + lookups].lookup) ++lookups;
    constexpr int kMost = 6;
    const int parts = node.operands + lookups, first_parts = parts < kMost ? parts : kMost;
    for (Index b = 0; b < active; ++b) {
      const F* from[kMost];
      for (int k = 0; k < first_parts; ++k) from[k] = part(node, k, b, t);
      for (Index i = 0; i < padded; i += kLanes<F>) {
        Vector<F> sum = parts > 0 ? load(from[0] + i) : splat(F(0));
        for (int k = 1; k < first_parts; ++k) sum += load(from[k] + i);
        store(out[b] + i, first_lanes(sum, node.size - i));
      }
    }
    for (int k = kMost; k < parts; ++k)
      add_rows(out, active, node.size, false,
               [&](Index b, Index i) { return load(part(node, k, b, t) + i); });
    for (int k = lookups; k < node.terms; ++k) {
      const StepTerm& term = p_.terms[node.first_term + k];
      if (term.lookup) {
        add_rows(out, active, node.size, false,
                 [&](Index b, Index i) { return load(part(node, node.operands + k, b, t) + i); });
        continue;
      }
      const auto& matrix = p_.matrices[term.matrix];
      add_products(out, value(term.operand, t), active, matrix.columns, matrix.transposed, padded);
    }
  }

  void propagate_affine(const StepNode& node, Rows<F> slope, Index t);

  void propagate_normalize(const StepNode& node, Rows<F> slope, Index t);

  static AttentionRows<F> attention_rows(Rows<F> rows) { return {rows.first, rows.row}; }
  // The logarithms of sums are stored after the numbers of the result.
  Attention<F> attention(const StepNode& node, Rows<F> out) const {
    const auto given = [&](int n) {
      const Rows<F> rows = value(n, 0);
      return AttentionRows<const F>{rows.first, rows.row};
    };
    Attention<F> attention{active,
                           node.size / node.offset,
                           node.offset,
                           given(node.a),
                           given(node.b),
                           given(node.c),
                           {out.first, out.row},
                           {out.first + node.size, out.row},
                           p_.stop,
                           node.encoding};
    if (node.encoding != AttentionEncoding::relative) return attention;
    const int* operands = p_.operands + node.first_operand;
    attention.distances = given(operands[0]);
    attention.content_bias = value(operands[1], 0)[0];
    attention.distance_bias = value(operands[2], 0)[0];
    return attention;
  }

  // Calls each(b, i, row, j, columns) for every row of the matrices of a node, a group of which has
  // a part of `left` and of `right` numbers: row i of all, which begins at number `row` and belongs
  // to the numbers of the right from j on.
  template <class Each>
  void in_groups(const StepNode& node, Index left, Index right, Each each) const {
    const Index rows = left / node.offset, columns = right / node.offset;
    for (Index b = 0; b < active; ++b)
      for (Index i = 0, row = 0, j = 0; i < left; j += columns)
        for (const Index end = i + rows; i < end; ++i, row += columns) each(b, i, row, j, columns);
  }
  // Calls each(b, group, first, rows) for the matrices of a product node that have one column: the
  // numbers `first` to `first + rows` - 1 belong to this number of the right.
  template <class Each>
  void in_columns(const StepNode& node, Each each) const {
    const Index rows = node.size / node.offset;
    for (Index b = 0; b < active; ++b)
      for (Index group = 0; group < node.offset; ++group) each(b, group, group * rows, rows);
  }
  void propagate_outer(const StepNode& node, Rows<F> slope, Index t);
  void propagate_matvec(const StepNode& node, Rows<F> slope, Index t);

  const StepProgram<F>& p_;
  Index first_, count_;
  Index sequence_ = -1;  // see in_sequences()
  F* scratch_;
  int memory_node_ = -1, left_node_ = -1;
  MemoryFunctions<F> memory_{};
  AttentionKernel<F> attention_ = isa_kernel<AttentionKernel<F>, PUSHDOWN_OWN_ISA>();
  Index object_size_ = 0;
  unsigned char* objects_ = nullptr;
  Index array_memory_ = 0;
  void* array_room_ = nullptr;
  F **array_values_ = nullptr, **array_slopes_ = nullptr;
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
