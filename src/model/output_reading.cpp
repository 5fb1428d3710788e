#include "model/output_reading.h"

namespace pushdown {

Tensor repeated_last(const Tensor& given, std::int64_t dimension, std::int64_t more) {
  if (!given.defined() || more == 0) return given;
  const Tensor last = given.narrow(dimension, given.size(dimension) - 1, 1);
  return at::cat({given, last.repeat_interleave(more, dimension)}, dimension);
}

Tensor with_readings(const Tensor& made, std::int64_t hidden, std::int64_t passes,
                     const Tensor& mask) {
  const auto batch = made.size(0), steps = made.size(1) - 1, own = passes * hidden;
  const Tensor hiddens =
      made.narrow(1, 0, steps).narrow(2, 0, own).reshape({batch, steps * passes, hidden});
  const Tensor readings = made.narrow(2, own, made.size(2) - own);
  Tensor after = readings.narrow(1, 1, steps);
  if (mask.defined()) after = after * mask.transpose(0, 1);
  const Tensor first = at::zeros({batch, 1, hidden}, made.options());
  return at::cat({at::cat({first, hiddens}, 1),
                  at::cat({readings.narrow(1, 0, 1), after.repeat_interleave(passes, 1)}, 1)},
                 2);
}

}  // namespace pushdown
