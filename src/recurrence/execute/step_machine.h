// A recorded step with the data of one run over a batch. Internal to this folder.
#pragma once
#include <numeric>

#include "base/buffer_pool.h"
#include "base/stopping.h"
#include "kernel/attention/attention.h"
#include "recurrence/execute/step_matrix_gradients.h"
#include "recurrence/program/step_layout.h"
#include "tensor/torch.h"

namespace pushdown {

// Inputs of a run besides the program's own tensors.
struct StepInputs {
  const std::int64_t* symbols = nullptr;  // B x T, for programs of symbols
  std::vector<Tensor> supplied;           // B x T x n each, any strides
};

// The order in which a run processes its sequences.
enum class StepOrder {
  passes,  // forward() over all of them, then backward()
  blocks,  // both passes of some sequences, then of the next ones
};

// A program together with its numbers.
template <class F>
class StepMachine {
 public:
  StepMachine(std::shared_ptr<const TracedProgram> program, std::int64_t batch, std::int64_t steps,
              std::int64_t window, bool gradients, const BufferPoolPtr& buffers,
              const StepInputs& inputs = {}, StepOrder order = StepOrder::passes,
              std::vector<std::int64_t> lengths = {})
      : kept_(std::move(program)),
        traced_(*kept_),
        batch_(batch),
        steps_(steps),
        window_(window),
        gradients_(gradients),
        by_blocks_(order == StepOrder::blocks),
        lengths_(std::move(lengths)),
        buffers_(buffers),
        needs_(step_needs(traced_, gradients)) {
    find_lookups(inputs);
    segments_ = traced_.segments;
    if (window_ > 0 || segments_.empty())
      segments_ = {{0, static_cast<int>(traced_.nodes.size()), true}};
    lay_out(nullptr);
    memory_ = Buffer(buffers, bytes_);
    lay_out(memory_.as<F>());
    program_.symbols = inputs.symbols;
    program_.rows = distinct_.rows();
    if (!lengths_.empty()) program_.lengths = lengths_.data();
    fill(inputs);
  }

  void forward() {
    watch();
    in_parts([&](std::int64_t first, std::int64_t end, const StepRoom<F>& room) {
      kernel_.forward(program_, first, end, room);
    });
    StopCheck()();
  }
  // The gradients of the outputs are those of slope_of(); left_slopes : B x m, the gradient of the
  // memory's final content, if it is used.
  void backward(const Tensor& left_slopes = {}) {
    watch();
    program_.left_used = traced_.left >= 0 && node(traced_.left).gradient && left_slopes.defined();
    if (program_.left_used) {
      const auto size = node(traced_.left).size;
      const Tensor used = left_slopes.contiguous();
      for (std::int64_t b = 0; b < batch_; ++b)
        std::copy_n(used.data_ptr<F>() + b * size, size,
                    places_[static_cast<std::size_t>(traced_.left)].gradient_at(0, b));
    }
    const auto row = padded_size(output_size());
    in_parts([&](std::int64_t first, std::int64_t end, const StepRoom<F>& room) {
      kernel_.backward(program_, first, end, room, traced_.output, slope_of(0, 0), row,
                       (steps_ + 1) * row);
    });
    StopCheck()();
  }
  // Runs both passes of one block of sequences after the other, while the results of the first one,
  // above all a stack's tape, are in the core's cache. Calls tail(b) between them: it reads
  // output_of(b, t) and, if gradients are wanted, writes slope_of(b, t).
  template <class Tail>
  void in_blocks(const Tail& tail) {
    // Smaller blocks fit into faster caches; larger blocks share the work of each operation among
    // more sequences. Twice a second-level cache was best for most stacks.
    constexpr std::int64_t kBytes = 2 << 20;
    const auto each =
        (program_.tape_size + program_.memory_scratch_size) * static_cast<std::int64_t>(sizeof(F));
    // Without a loop, sequences share no work.
    const bool loop = std::any_of(segments_.begin(), segments_.end(),
                                  [](const StepSegment& segment) { return segment.loop; });
    const auto sequences = !loop ? 1 : each == 0 ? batch_ : kBytes / each;
    const auto most = std::clamp<std::int64_t>(sequences, 1, batch_);
    // The same number of blocks for each thread, of about that size. The blocks of a round are
    // about equal, so that all threads end together: 10 sequences for 2 threads are 2, 2, 3, and 3.
    const auto threads = std::min<std::int64_t>(thread_count(), batch_);
    const auto rounds = std::max<std::int64_t>(1, (batch_ + most * threads / 2) / (most * threads));
    const auto row = padded_size(node(traced_.output).size);
    const auto border = [&](std::int64_t thread, std::int64_t round) {
      const auto first = batch_ * thread / threads, end = batch_ * (thread + 1) / threads;
      return first + (end - first) * round / rounds;
    };
    watch();
    const auto block = [&](std::int64_t k) {
      const auto thread = k % threads, round = k / threads;
      const auto first = border(thread, round), end = border(thread, round + 1);
      if (first == end) return;
      Pieces<F> counted(nullptr);
      room_of(end - first, counted);
      const Buffer buffer(buffers_, counted.bytes());
      Pieces<F> pieces(buffer.template as<F>());
      const StepRoom<F> room = room_of(end - first, pieces);
      const StopCheck stop;
      kernel_.forward(program_, first, end, room);
      for (auto b = first; b < end; ++b) {
        stop();
        tail(b);
      }
      if (gradients_)
        kernel_.backward(program_, first, end, room, traced_.output, slope_of(0, 0), row,
                         (steps_ + 1) * row);
      stop();
    };
    if (threads * rounds == 1)
      block(0);
    else
      parallel_for(threads * rounds, block);
  }
  const F* output_of(std::int64_t b, std::int64_t t) const {
    return places_[static_cast<std::size_t>(traced_.output)].at(t, b);
  }
  // Rows of whole vectors, which must be written up to the end of the last one, one after the
  // other. The first one of a sequence, of t = -1, is not used.
  F* slope_of(std::int64_t b, std::int64_t t) const {
    return slopes_ + (b * (steps_ + 1) + t + 1) * padded_size(node(traced_.output).size);
  }

  std::int64_t output_size() const { return node(traced_.output).size; }
  // Sets the gradients of the outputs to 0. Rows are read in whole vectors.
  void clear_slopes() {
    std::fill_n(slope_of(0, -1), batch_ * (steps_ + 1) * padded_size(output_size()), F(0));
  }
  // Sets them to slopes : B x T x n, contiguous.
  void set_slopes(const Tensor& slopes) {
    clear_slopes();
    const F* given = slopes.data_ptr<F>();
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t t = 0; t < steps_; ++t, given += output_size())
        std::copy_n(given, output_size(), slope_of(b, t));
  }

  // Returns the output, B x T x n.
  Tensor output(const at::TensorOptions& options) const {
    return gathered(traced_.output, false, options);
  }

  // Returns the memory's final content, B x m.
  Tensor left(const at::TensorOptions& options) const {
    const auto size = node(traced_.left).size;
    const Tensor result = at::empty({batch_, size}, options);
    for (std::int64_t b = 0; b < batch_; ++b)
      std::copy_n(places_[static_cast<std::size_t>(traced_.left)].at(0, b), size,
                  result.data_ptr<F>() + b * size);
    return result;
  }

  // Adds the gradients of the matrices to the numbers at these places. `scales`: factors for the
  // gradients of each sequence; null: 1.
  void matrix_gradients(const std::vector<MatrixPlace<F>>& to, const F* scales = nullptr) const {
    StepMatrixGradients<F>{traced_, program_, by_sequences(), distinct_, lookups_, dense_}.add(
        to, scales);
  }
  // Computes the gradient of a constant : n.
  void constant_gradient(int n, F* result, const F* scales = nullptr) const {
    const auto& place = places_[static_cast<std::size_t>(n)];
    const auto size = node(n).size;
    std::fill_n(result, size, F(0));
    for (std::int64_t b = 0; b < batch_; ++b) {
      const F scale = scales == nullptr ? F(1) : scales[b];
      for (std::int64_t i = 0; i < size; ++i) result[i] += scale * place.gradient_at(0, b)[i];
    }
    for (std::int64_t i = 0; node(n).logistic && i < size; ++i)
      result[i] *= place.value[i] * (1 - place.value[i]);
  }
  // Computes the gradient of the initial value of a `previous` node, or of what the memory takes
  // over : B x n.
  void initial_gradient(int n, F* result, const F* scales = nullptr) const {
    const auto size = node(n).size;
    for (std::int64_t b = 0; b < batch_; ++b) {
      const F scale = scales == nullptr ? F(1) : scales[b];
      const F* from = places_[static_cast<std::size_t>(n)].gradient_at(0, b);
      for (std::int64_t i = 0; i < size; ++i) result[b * size + i] = scale * from[i];
    }
  }

  // Returns the gradients of the matrices, then of the given tensors, then of the initial values of
  // `previous` nodes, each in the order of their nodes.
  std::vector<Tensor> gradients(const at::TensorOptions& options) const {
    std::vector<Tensor> all(traced_.matrices.size());
    std::vector<MatrixPlace<F>> numbers(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!traced_.matrices[k].requires_grad()) continue;
      all[k] = at::zeros(traced_.matrices[k].sizes(), options);
      numbers[k] = {all[k].template data_ptr<F>(), all[k].size(1), 1};
    }
    matrix_gradients(numbers);
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& given = traced_.given[n];
      if (!given.defined()) continue;
      if (!given.requires_grad())
        all.emplace_back();
      else if (given.dim() == 3)
        all.push_back(gathered(static_cast<int>(n), true, options));
      else
        constant_gradient(static_cast<int>(n), added(all, {given.size(-1)}, options));
    }
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& initial = traced_.initial[n];
      if (!initial.defined()) continue;
      if (initial.requires_grad())
        initial_gradient(static_cast<int>(n), added(all, {batch_, initial.size(1)}, options));
      else
        all.emplace_back();
    }
    return all;
  }

 private:
  // The kernels read the stop flag of the thread that runs them.
  void watch() {
    static_assert(sizeof(StopFlag) == sizeof(int) && StopFlag::is_always_lock_free);
    program_.stop = reinterpret_cast<const int*>(stop_flag());
  }
  const StepNode& node(int n) const { return traced_.nodes[static_cast<std::size_t>(n)]; }
  std::int64_t length(std::int64_t b) const {
    return lengths_.empty() ? steps_ : lengths_[static_cast<std::size_t>(b)];
  }
  // Whether the steps of a sequence are consecutive, or the sequences of a step.
  bool by_sequences() const { return by_blocks_ || !lengths_.empty(); }
  void lay_out(F* memory) {
    Pieces<F> cut(memory);
    program_ = {};
    places_ = StepLayout<F>(traced_, needs_, {batch_, steps_, gradients_, by_sequences()})
                  .places(cut, program_.widest);
    matrices_.clear();
    for (const Tensor& matrix : traced_.matrices)
      matrices_.push_back({nullptr, nullptr, nullptr, matrix.size(0), matrix.size(1)});
    for (std::size_t k = 0; k < traced_.terms.size(); ++k) {
      auto& matrix = matrices_[static_cast<std::size_t>(traced_.terms[k].matrix)];
      if (lookups_[k].has_value()) {
        lookups_[k]->lay_out(cut, distinct_.count());
        matrix.by_column = lookups_[k]->columns();
        continue;
      }
      matrix.transposed = cut.take(matrix.columns * padded_size(matrix.rows));
      if (gradients_) matrix.straight = cut.take(matrix.rows * padded_size(matrix.columns));
    }
    program_.nodes = traced_.nodes.data();
    program_.count = static_cast<std::int64_t>(traced_.nodes.size());
    program_.terms = traced_.terms.data();
    program_.operands = traced_.operands.data();
    program_.matrices = matrices_.data();
    arrays_.clear();
    for (const ArrayProgramPtr& array : traced_.arrays)
      arrays_.push_back(array->template code<F>());
    program_.arrays = arrays_.data();
    program_.array_count = static_cast<std::int64_t>(arrays_.size());
    program_.places = places_.data();
    program_.segments = segments_.data();
    program_.segment_count = std::ssize(segments_);
    program_.steps = steps_;
    program_.batch = batch_;
    program_.window = window_;
    program_.after = traced_.after;
    if (traced_.memory >= 0) {
      program_.memory = traced_.shape;
      program_.memory.automaton.row_start = traced_.row_start.data();
      program_.memory.shifted.taped = gradients_;
      program_.tape_size = kernel_.tape_size(program_.memory);
      program_.memory_scratch_size = kernel_.memory_scratch_size(program_.memory);
    }
    if (!by_blocks_) room_ = room_of(batch_, cut);
    if (gradients_)
      slopes_ = cut.take(batch_ * (steps_ + 1) * padded_size(node(traced_.output).size) + kPadding);
    bytes_ = cut.bytes();
  }

  StepRoom<F> room_of(std::int64_t sequences, Pieces<F>& pieces) const {
    StepRoom<F> room{};
    if (traced_.memory >= 0) {
      room.tape = pieces.take(sequences * program_.tape_size);
      room.memory_scratch = pieces.take(sequences * program_.memory_scratch_size);
    }
    room.scratch = pieces.take(scratch_size(sequences));
    return room;
  }
  std::int64_t scratch_size(std::int64_t sequences) const {
    const bool loop = segments_.size() == 1 && segments_.front().loop;
    const auto rows = loop ? sequences : std::max(sequences, steps_);
    auto size = step_scratch_size(rows, program_.widest);
    for (const StepNode& of : traced_.nodes)
      if (of.op == StepOp::attention)
        size = std::max(size, attention_scratch(steps_, of.offset, of.encoding));
    return size;
  }

  void fill(const StepInputs& inputs) {
    for (std::size_t k = 0; k < traced_.terms.size(); ++k) {
      const auto matrix = static_cast<std::size_t>(traced_.terms[k].matrix);
      if (lookups_[k].has_value())
        lookups_[k]->fill(distinct_, dense_);
      else
        pack(traced_.matrices[matrix], matrices_[matrix]);
    }
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor &given = traced_.given[n], &initial = traced_.initial[n];
      const auto& place = places_[n];
      if (given.defined() && given.dim() == 1) {
        const F* from = given.data_ptr<F>();
        for (std::int64_t i = 0; i < given.size(0); ++i) place.value[i] = from[i * given.stride(0)];
        for (std::int64_t i = 0; node(static_cast<int>(n)).logistic && i < given.size(0); ++i)
          place.value[i] = 1 / (1 + std::exp(-place.value[i]));
      } else if (given.defined()) {
        copy_sequence(given, place);
      }
      if (!initial.defined()) continue;
      const F* from = initial.data_ptr<F>();
      for (std::int64_t b = 0; b < batch_; ++b)
        for (std::int64_t i = 0; i < initial.size(1); ++i)
          place.at(0, b)[i] = from[b * initial.stride(0) + i * initial.stride(1)];
    }
    for (std::size_t k = 0; k < traced_.supplied.size(); ++k)
      copy_sequence(inputs.supplied[k], places_[static_cast<std::size_t>(traced_.supplied[k])]);
  }

  // values : B x T x n
  void copy_sequence(const Tensor& values, const StepPlace<F>& place) const {
    const F* from = values.data_ptr<F>();
    const auto size = values.size(2), stride = values.stride(2);
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t t = 0; t < length(b); ++t) {
        const F* row = from + b * values.stride(0) + t * values.stride(1);
        F* to = place.at(t, b);
        for (std::int64_t i = 0; i < size; ++i) to[i] = row[i * stride];
      }
  }

  static void pack(const Tensor& matrix, const StepMatrix<F>& packed) {
    // The rows of a part of a matrix are not contiguous.
    const Tensor own = matrix.stride(1) == 1 ? Tensor() : matrix.detach().contiguous();
    const Tensor& numbers = own.defined() ? own : matrix;
    const F* from = numbers.data_ptr<F>();
    const auto row = numbers.stride(0);
    pack_transposed_panels(from, row, packed.rows, packed.columns,
                           const_cast<F*>(packed.transposed));
    if (packed.straight != nullptr)
      pack_panels(from, row, packed.rows, packed.columns, const_cast<F*>(packed.straight));
  }

  template <class Body>
  void in_parts(Body body) {
    const std::int64_t parts = std::min<std::int64_t>(thread_count(), batch_);
    const auto part = [&](std::int64_t k) {
      const auto first = border(k, parts), end = border(k + 1, parts);
      if (first == end) return;
      const auto scratch = scratch_size(end - first);
      const Buffer own(buffers_, k == 0 ? 0 : static_cast<std::size_t>(scratch) * sizeof(F));
      body(first, end,
           StepRoom<F>{k == 0 ? room_.scratch : own.template as<F>(),
                       room_.tape + first * program_.tape_size,
                       room_.memory_scratch + first * program_.memory_scratch_size});
    };
    if (parts == 1)
      part(0);
    else
      parallel_for(parts, part);
  }

  // Returns the first sequence of part k. The parts have about the same number of steps.
  std::int64_t border(std::int64_t k, std::int64_t parts) const {
    if (lengths_.empty()) return batch_ * k / parts;
    const auto all = std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0});
    std::int64_t b = 0;
    for (std::int64_t sum = 0; b < batch_ && sum * parts < all * k; ++b) sum += length(b);
    return b;
  }

  // Gathers all steps, B x T x n; 0 after the end of a sequence.
  Tensor gathered(int n, bool gradient, const at::TensorOptions& options) const {
    const auto& place = places_[static_cast<std::size_t>(n)];
    const auto size = node(n).size;
    const Tensor result = lengths_.empty() ? at::empty({batch_, steps_, size}, options)
                                           : at::zeros({batch_, steps_, size}, options);
    F* to = result.data_ptr<F>();
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t t = 0; t < length(b); ++t)
        std::copy_n(gradient ? place.gradient_at(t, b) : place.at(t, b), size,
                    to + (b * steps_ + t) * size);
    return result;
  }
  // Adds one result of these sizes.
  static F* added(std::vector<Tensor>& all, at::IntArrayRef sizes,
                  const at::TensorOptions& options) {
    all.push_back(at::empty(sizes, options));
    return all.back().template data_ptr<F>();
  }
  void find_lookups(const StepInputs& inputs) {
    std::int64_t outcomes = 0;
    for (const StepTerm& term : traced_.terms) {
      lookups_.emplace_back();
      if (!term.lookup) continue;
      lookups_.back().emplace(term, traced_);
      outcomes = node(term.operand).size;
    }
    if (outcomes > 0)
      distinct_ = DistinctSymbols(inputs.symbols, batch_, steps_, outcomes,
                                  [&](std::int64_t b) { return length(b); });
  }
  std::shared_ptr<const TracedProgram> kept_;
  const TracedProgram& traced_;
  std::int64_t batch_, steps_, window_;
  bool gradients_, by_blocks_;
  std::vector<std::int64_t> lengths_;  // see StepProgram
  BufferPoolPtr buffers_;
  StepNeeds needs_;
  std::vector<StepSegment> segments_;
  DistinctSymbols distinct_;
  std::vector<std::optional<LookupTable<F>>> lookups_;  // by term
  std::vector<StepPlace<F>> places_;
  std::vector<StepMatrix<F>> matrices_;
  std::vector<ArrayCode<F>> arrays_;
  StepProgram<F> program_{};
  Buffer memory_;
  StepRoom<F> room_{};
  F* slopes_ = nullptr;
  std::size_t bytes_ = 0;
  StepKernel<F> kernel_ = kernel_for<StepKernel<F>>(current_isa());
  DenseKernel<F> dense_ = kernel_for<DenseKernel<F>>(current_isa());
};

}  // namespace pushdown
