// What the code that is printed for a recorded step (recurrence/device/program.h) calls besides the
// memories: a team whose size is known, products with weights that stay in registers, and sums of
// gradients. Sizes are template arguments, so loops are unrolled where they are short. For printed
// code only.
#pragma once
#include "kernel/step/device_prelude.h"

#include "kernel/array/team_pass.h"
#include "kernel/memory/memories.h"
#include "kernel/step/device_step.h"

namespace pushdown::device {

// A block of kThreads threads, see device_team.h.
template <int kThreads>
class FixedTeam {
 public:
  static constexpr int kWarp = 32, kPart = 8;
  __device__ Index id() const {
#ifdef __CUDACC__
    __builtin_assume(threadIdx.x < kThreads);
#endif
    return static_cast<Index>(threadIdx.x);
  }
  __device__ constexpr Index size() const { return kThreads; }
  // Tests know such a barrier by its line.
  __device__ void sync(int line = __builtin_LINE()) const { PUSHDOWN_BARRIER(-line); }
  __device__ Index lane() const { return id() % kWarp; }
  __device__ constexpr Index lanes() const { return kWarp; }
  __device__ Index group() const { return id() / kWarp; }
  __device__ constexpr Index groups() const { return kThreads / kWarp; }
  __device__ constexpr Index part() const { return kPart; }
  template <class F>
  __device__ F group_sum(F value) const {
    return lanes_sum<kWarp>(value);
  }
  template <class F>
  __device__ F part_sum(F value) const {
    return lanes_sum<kPart>(value);
  }
  // The sum over kLanes consecutive threads, a power of two, for all of them.
  template <int kLanes, class F>
  __device__ static F lanes_sum(F value) {
    PUSHDOWN_UNROLL
    for (int step = kLanes / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
  }
};

// The block's shared memory.
template <class F>
__device__ F* shared_numbers() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<F*>(shared_bytes);
#else  // tests/cuda/cuda_runtime.h
  return static_cast<F*>(cuda_stand_in::shared_memory());
#endif
}

// Tells the compiler that a pointer, which it reads from a table, is not into shared memory.
template <class T>
__device__ T* in_global(T* place) {
#ifdef __CUDACC__
  __builtin_assume(__isGlobal(place));
#endif
  return place;
}

// The numbers of a node for the step before the first one, and the first slot of its gradient.
template <class F>
__device__ F* value_of(const DeviceSteps<F>& p, int node, Index model, Index sequence) {
  const auto& place = p.places[node];
  return in_global(place.value + model * place.model + sequence * place.row);
}
template <class F>
__device__ F* gradient_of(const DeviceSteps<F>& p, int node, Index model, Index sequence) {
  const auto& place = p.places[node];
  return in_global(place.gradient + model * place.gradient_model + sequence * place.gradient_row);
}

template <class T>
__device__ void exchange(T& one, T& other) {
  const T kept = one;
  one = other;
  other = kept;
}
template <class Memory>
__device__ Count fast_size_of(const MemoryShape& shape) {
  if constexpr (requires { Memory::fast_size(shape); })
    return Memory::fast_size(shape);
  else
    return 0;
}
template <class F>
__device__ const F* matrix_of(const DeviceSteps<F>& p, int matrix, Index model) {
  return in_global(p.matrices[matrix].first + model * p.matrices[matrix].model);
}

// A product W x whose rows are shared by kLanes consecutive threads each. The weights stay in
// registers. To multiply by the transposed matrix, exchange its strides.
template <class F, int kRows, int kColumns, int kLanes, int kThreads>
struct HeldProduct {
  static constexpr int kTurns = (kRows * kLanes + kThreads - 1) / kThreads;
  static constexpr int kOwn = (kColumns + kLanes - 1) / kLanes;
  static constexpr bool kExact = kOwn * kLanes == kColumns;
  F of[kTurns][kOwn];

  __device__ HeldProduct(const FixedTeam<kThreads>& team, const F* first, Index row, Index column) {
    const Index begin = team.id() % kLanes * kOwn;
    PUSHDOWN_UNROLL
    for (int turn = 0; turn < kTurns; ++turn) {
      const Index i = (team.id() + turn * kThreads) / kLanes;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kOwn; ++k)
        of[turn][k] =
            i < kRows && begin + k < kColumns ? first[i * row + (begin + k) * column] : F(0);
    }
  }
  // This thread's part of a row.
  __device__ F part(const FixedTeam<kThreads>& team, int turn, const F* x, Index step = 1) const {
    const Index begin = team.id() % kLanes * kOwn;
    F sum = 0;
    PUSHDOWN_UNROLL
    for (int k = 0; k < kOwn; ++k)
      sum += of[turn][k] * (kExact || begin + k < kColumns ? x[(begin + k) * step] : F(0));
    return sum;
  }
};

// The same for weights that do not fit into registers.
template <class F, int kRows, int kColumns, int kLanes, int kThreads>
struct ReadProduct {
  const F* first;
  Index row, column;

  __device__ ReadProduct(const FixedTeam<kThreads>&, const F* first, Index row, Index column)
      : first(first), row(row), column(column) {}
  __device__ F part(const FixedTeam<kThreads>& team, int turn, const F* x, Index step = 1) const {
    const Index i = (team.id() + turn * kThreads) / kLanes;
    const F* own = first + i * row;
    F sum = 0;
    PUSHDOWN_UNROLL_SOME
    for (Index j = team.id() % kLanes; j < kColumns; j += kLanes)
      sum += own[j * column] * x[j * step];
    return sum;
  }
};

// The numbers of the rows of a product, in registers: of(i) for those of this thread.
template <class F, int kRows, int kLanes, int kThreads>
struct HeldNumbers {
  static constexpr int kTurns = (kRows * kLanes + kThreads - 1) / kThreads;
  F of[kTurns];

  template <class Of>
  __device__ HeldNumbers(const FixedTeam<kThreads>& team, const Of& number) {
    PUSHDOWN_UNROLL
    for (int turn = 0; turn < kTurns; ++turn) {
      const Index i = (team.id() + turn * kThreads) / kLanes;
      of[turn] = i < kRows ? number(i) : F(0);
    }
  }
};

// Calls store(turn, i, the sum of part(turn) over the kLanes threads of row i), once for each row.
template <class F, int kRows, int kLanes, int kThreads, class Part, class Store>
__device__ void each_row(const FixedTeam<kThreads>& team, const Part& part, const Store& store) {
  constexpr int kTurns = (kRows * kLanes + kThreads - 1) / kThreads;
  constexpr int kWhole = (kRows * kLanes + 31) / 32 * 32;  // whole warps take part in sums
  const auto turn_of = [&](int turn) {
    const Index place = team.id() + turn * kThreads;
    if (place >= kWhole) return;
    F sum = place < kRows * kLanes ? part(turn) : F(0);
    sum = team.template lanes_sum<kLanes>(sum);
    if (place < kRows * kLanes && place % kLanes == 0) store(turn, place / kLanes, sum);
  };
  if constexpr (kTurns <= 4) {
    PUSHDOWN_UNROLL
    for (int turn = 0; turn < kTurns; ++turn) turn_of(turn);
  } else {
    for (int turn = 0; turn < kTurns; ++turn) turn_of(turn);
  }
}

// An elementwise function, and what it adds to the gradient of an operand: d is the gradient of its
// result v.
using Function = ArrayFunction;
template <Function kFunction, class F>
__device__ F apply(F x, F y = F(0), F z = F(0)) {
  return FunctionRow<kFunction>::template value<F>(x, y, z);
}
template <Function kFunction, int kOperand, class F>
__device__ F slope(F d, F v = F(0), F x = F(0), F y = F(0), F z = F(0)) {
  using Row = FunctionRow<kFunction>;
  if constexpr (kOperand == 0)
    return Row::template slope<F>(Row::slope_x, x, y, z, v, d);
  else if constexpr (kOperand == 1)
    return Row::template slope<F>(Row::slope_y, x, y, z, v, d);
  else
    return Row::template slope<F>(Row::slope_z, x, y, z, v, d);
}

template <class F>
__device__ void softmax_group(const F* x, F* y, Index size) {
  F largest = x[0], sum = 0;
  for (Index i = 1; i < size; ++i) largest = x[i] > largest ? x[i] : largest;
  for (Index i = 0; i < size; ++i) sum += y[i] = exponential(x[i] - largest);
  for (Index i = 0; i < size; ++i) y[i] /= sum;
}
// The gradient of number i, where y and the slopes are those of its group.
template <class F>
__device__ F softmax_slope(const F* y, const F* slopes, Index i, Index size) {
  F mean = 0;
  for (Index k = 0; k < size; ++k) mean += slopes[k] * y[k];
  return y[i] * (slopes[i] - mean);
}
template <class F>
__device__ void greatest_of_group(const F* x, F* y, Index size) {
  Index best = 0;
  for (Index i = 1; i < size; ++i) best = x[i] > x[best] ? i : best;
  for (Index i = 0; i < size; ++i) y[i] = i == best ? F(1) : F(0);
}
// sum_i x_i y_i with any strides
template <class F>
__device__ F strided_dot(const F* x, Index x_step, const F* y, Index y_step, Index count) {
  F sum = 0;
  for (Index i = 0; i < count; ++i) sum += x[i * x_step] * y[i * y_step];
  return sum;
}

// ---- The gates of cells (StepOp::lstm_cell, lstm_hidden and gru), for number i of every part.
// Activations replace the gates, and gradients of gates those of activations. ----

// The new content of the cell.
template <class F>
__device__ F lstm_cell(F& in, F& forget, F& candidate, F& shown, F before) {
  in = sigmoid(in);
  forget = sigmoid(forget);
  candidate = std::tanh(candidate);
  shown = sigmoid(shown);
  return forget * before + in * candidate;
}
// slope: of the content. of_shown: until now the gradient of the activation.
template <class F>
__device__ void lstm_cell_slopes(F slope, F in, F forget, F candidate, F shown, F before, F& of_in,
                                 F& of_forget, F& of_candidate, F& of_shown) {
  of_in = slope * candidate * in * (1 - in);
  of_forget = slope * before * forget * (1 - forget);
  of_candidate = slope * in * (1 - candidate * candidate);
  of_shown *= shown * (1 - shown);
}

template <class F>
__device__ F lstm_hidden(F cell, F shown, F& squashed) {
  squashed = std::tanh(cell);
  return shown * squashed;
}
template <class F>
__device__ F lstm_hidden_slope(F slope, F shown, F squashed) {  // of the cell
  return slope * shown * (1 - squashed * squashed);
}

// other_*: from the hidden vector `before`; the rest is from the input.
template <class F>
__device__ F gru(F& reset, F& update, F& candidate, F other_reset, F other_update,
                 F other_candidate, F before) {
  reset = sigmoid(reset + other_reset);
  update = sigmoid(update + other_update);
  candidate = std::tanh(candidate + reset * other_candidate);
  return candidate + update * (before - candidate);
}
// Those of the hidden vector's parts are the same, but for the candidate, whose is of_candidate *
// reset.
template <class F>
__device__ void gru_slopes(F slope, F reset, F update, F candidate, F other_candidate, F before,
                           F& of_reset, F& of_update, F& of_candidate) {
  of_candidate = slope * (1 - update) * (1 - candidate * candidate);
  of_reset = of_candidate * other_candidate * reset * (1 - reset);
  of_update = slope * (before - candidate) * update * (1 - update);
}

// ---- Sums of gradients. ----

// The gradient of a matrix: sum_t slopes_t values_t^T, in the order of the steps. A thread computes
// four rows of a column.
template <int kRows, int kColumns, class F, class Team>
__device__ void sum_matrix(const Team& team, Index steps, const F* slopes, Index slope_step,
                           const F* values, Index value_step, F* to) {
  constexpr int kTile = 4, kTiles = (kRows + kTile - 1) / kTile;
  each(team, Index{kTiles * kColumns}, [&](Index place) {
    const Index first = place / kColumns * kTile, j = place % kColumns;
    const F *slope = slopes + first, *value = values + j;
    F sum[kTile] = {};
    PUSHDOWN_UNROLL_SOME
    for (Index t = 0; t < steps; ++t) {
      PUSHDOWN_UNROLL
      for (int k = 0; k < kTile; ++k)
        if (kRows % kTile == 0 || first + k < kRows) sum[k] += slope[k] * *value;
      slope += slope_step;
      value += value_step;
    }
    PUSHDOWN_UNROLL
    for (int k = 0; k < kTile; ++k)
      if (kRows % kTile == 0 || first + k < kRows) to[(first + k) * kColumns + j] = sum[k];
  });
}
// The same for the columns that symbols select.
template <int kRows, int kColumns, class F, class Team>
__device__ void sum_lookups(const Team& team, Index steps, const F* slopes, Index slope_step,
                            const std::int64_t* symbols, F* to) {
  if constexpr (kColumns <= 16) {
    each(team, Index{kRows * kColumns}, [&](Index place) {
      const Index i = place / kColumns, j = place % kColumns;
      F sum = 0;
      PUSHDOWN_UNROLL_SOME
      for (Index t = 0; t < steps; ++t)
        if (symbols[t] == j) sum += slopes[t * slope_step + i];
      to[place] = sum;
    });
  } else {
    each(team, Index{kRows * kColumns}, [&](Index place) { to[place] = 0; });
    team.sync();
    each(team, Index{kRows}, [&](Index i) {
      for (Index t = 0; t < steps; ++t)
        to[i * kColumns + static_cast<Index>(symbols[t])] += slopes[t * slope_step + i];
    });
  }
}

// Where symbols select the columns of W E: the gradient of W, kRows x kSize, and that of the table
// E, kSize x kColumns.
template <int kRows, int kSize, int kColumns, class F, class Team>
__device__ void sum_of_table(const Team& team, Index steps, const F* slopes, Index slope_step,
                             const std::int64_t* symbols, const F* table, Index row, F* to) {
  each(team, Index{kRows * kSize}, [&](Index place) {
    const F *slope = slopes + place / kSize, *own = table + place % kSize * row;
    F sum = 0;
    for (Index t = 0; t < steps; ++t) sum += slope[t * slope_step] * own[symbols[t]];
    to[place] = sum;
  });
}
template <int kRows, int kSize, int kColumns, class F, class Team>
__device__ void sum_to_table(const Team& team, Index steps, const F* slopes, Index slope_step,
                             const std::int64_t* symbols, const F* weights, Index row, F* to) {
  each(team, Index{kSize}, [&](Index j) {
    F* own = to + j * kColumns;
    for (Index symbol = 0; symbol < kColumns; ++symbol) own[symbol] = 0;
    for (Index t = 0; t < steps; ++t)
      own[symbols[t]] += strided_dot(weights + j, row, slopes + t * slope_step, 1, kRows);
  });
}

// ---- Array programs. ----

// Buffers of an array program: the inputs, the output, the constants, and the step's own memory.
template <class F, int kPlaces>
struct ArrayPlaces {
  F *values[kPlaces], *slopes[kPlaces];
  const F* constants;
  F* own;
  Count memory;

  __device__ F* value(int buffer) const {
    if (buffer < kPlaces) return values[buffer];
    return buffer == kPlaces ? const_cast<F*>(constants) : own;
  }
  __device__ F* slope(int buffer) const {
    if (buffer < kPlaces) return slopes[buffer];
    return buffer == kPlaces ? nullptr : own + memory;
  }
};

template <class F, int kThreads, int kPlaces>
PUSHDOWN_NOINLINE __device__ void run_array(const FixedTeam<kThreads>& team,
                                            const DeviceSteps<F>& p, int array, Count place,
                                            Index t, F* const (&values)[kPlaces]) {
  ArrayPlaces<F, kPlaces> places{
      {}, {}, p.arrays[array].constants, p.array_room + place * 2 * p.array_memory, p.array_memory};
  for (int k = 0; k < kPlaces; ++k) places.values[k] = values[k];
  ArrayTeamPass<F, ArrayPlaces<F, kPlaces>>(p.arrays[array], places, t).forward(team);
}
template <class F, int kThreads, int kPlaces>
PUSHDOWN_NOINLINE __device__ void run_array_backward(const FixedTeam<kThreads>& team,
                                                     const DeviceSteps<F>& p, int array,
                                                     Count place, Index t,
                                                     F* const (&values)[kPlaces],
                                                     F* const (&slopes)[kPlaces]) {
  ArrayPlaces<F, kPlaces> places{
      {}, {}, p.arrays[array].constants, p.array_room + place * 2 * p.array_memory, p.array_memory};
  for (int k = 0; k < kPlaces; ++k) {
    places.values[k] = values[k];
    places.slopes[k] = slopes[k];
  }
  const ArrayTeamPass<F, ArrayPlaces<F, kPlaces>> run(p.arrays[array], places, t);
  if (run.is_idle()) return;
  if (const Index memory = run.memory(); memory > 0) {
    // Intermediate results were not kept.
    run.forward(team);
    F* own = places.own + p.array_memory;
    each(team, memory, [&](Index i) { own[i] = 0; });
  }
  run.backward(team);
}

}  // namespace pushdown::device
