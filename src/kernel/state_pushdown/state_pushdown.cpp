#include "kernel/state_pushdown/state_pushdown.h"

namespace pushdown {

namespace {

std::int64_t padded_rows(const StatePushdownShape& shape) {
  return padded_size(shape.states + shape.symbols);
}

// Calls visit(index in the tensor of row i, index in the packed array without the row) for all
// weights of one row.
template <class Visit>
void for_columns(const StatePushdownShape& shape, Visit visit) {
  const auto states = shape.states, readings = shape.symbols + 1, inputs = shape.inputs;
  const auto rows = padded_rows(shape);
  if (shape.third_order) {
    for (std::int64_t j = 0; j < states; ++j)
      for (std::int64_t k = 0; k < readings; ++k)
        for (std::int64_t l = 0; l < inputs; ++l)
          visit((j * readings + k) * inputs + l, ((l * states + j) * readings + k) * rows);
    return;
  }
  const auto columns = readings + inputs;
  for (std::int64_t j = 0; j < states; ++j) {
    for (std::int64_t k = 0; k < readings; ++k) visit(j * columns + k, (j * readings + k) * rows);
    for (std::int64_t l = 0; l < inputs; ++l)
      visit(j * columns + readings + l, ((readings + l) * states + j) * rows);
  }
}

std::int64_t row_size(const StatePushdownShape& shape) {
  const auto readings = shape.symbols + 1;
  return shape.states * (shape.third_order ? readings * shape.inputs : readings + shape.inputs);
}

}  // namespace

std::int64_t state_pushdown_weight_size(const StatePushdownShape& shape) {
  return (row_size(shape) + 1) * padded_rows(shape);
}

std::int64_t state_pushdown_sign_words(const StatePushdownShape& shape) {
  return (shape.states + shape.symbols + 63) / 64;
}

template <class F>
void pack_state_pushdown(const StatePushdownShape& shape, const StatePushdownTensors<const F>& from,
                         F* packed) {
  const auto size = state_pushdown_weight_size(shape), row = row_size(shape);
  for (std::int64_t i = 0; i < size; ++i) packed[i] = 0;
  F* bias = packed + size - padded_rows(shape);
  for_columns(shape, [&](std::int64_t place, std::int64_t to) {
    for (std::int64_t i = 0; i < shape.states; ++i)
      packed[to + i] = from.state_weight[i * row + place];
    for (std::int64_t i = 0; i < shape.symbols; ++i)
      packed[to + shape.states + i] = from.action_weight[i * row + place];
  });
  for (std::int64_t i = 0; i < shape.states; ++i) bias[i] = from.state_bias[i];
  for (std::int64_t i = 0; i < shape.symbols; ++i) bias[shape.states + i] = from.action_bias[i];
}

template <class F>
void add_packed_state_pushdown(const StatePushdownShape& shape, const F* packed,
                               const StatePushdownTensors<F>& to) {
  const auto row = row_size(shape);
  const F* bias = packed + state_pushdown_weight_size(shape) - padded_rows(shape);
  for_columns(shape, [&](std::int64_t place, std::int64_t from) {
    for (std::int64_t i = 0; i < shape.states; ++i)
      to.state_weight[i * row + place] += packed[from + i];
    for (std::int64_t i = 0; i < shape.symbols; ++i)
      to.action_weight[i * row + place] += packed[from + shape.states + i];
  });
  for (std::int64_t i = 0; i < shape.states; ++i) to.state_bias[i] += bias[i];
  for (std::int64_t i = 0; i < shape.symbols; ++i) to.action_bias[i] += bias[shape.states + i];
}

template void pack_state_pushdown(const StatePushdownShape&,
                                  const StatePushdownTensors<const float>&, float*);
template void pack_state_pushdown(const StatePushdownShape&,
                                  const StatePushdownTensors<const double>&, double*);
template void add_packed_state_pushdown(const StatePushdownShape&, const float*,
                                        const StatePushdownTensors<float>&);
template void add_packed_state_pushdown(const StatePushdownShape&, const double*,
                                        const StatePushdownTensors<double>&);

}  // namespace pushdown
