#include "model/output_reading.h"

#include "tensor/backward.h"

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

namespace {

class PassWithReadings final : public DirectPass {
 public:
  PassWithReadings(DirectPassPtr made, std::int64_t hidden, std::int64_t passes, const Tensor& mask,
                   bool from_zero)
      : made_(std::move(made)) {
    const at::AutoGradMode with_gradient(true);
    leaf_ = made_->output().detach().requires_grad_();
    const Tensor all = with_readings(leaf_, hidden, passes, mask);
    const auto batch = all.size(0), steps = leaf_.size(1) - 1;
    joined_ = from_zero
                  ? all
                  : all.narrow(1, 1, steps * passes).reshape({batch, steps, passes * all.size(2)});
    output_ = joined_.detach().contiguous();
  }
  const Tensor& output() const override { return output_; }
  void backward(const Tensor& slopes) override {
    run_backward(joined_, slopes.view_as(joined_));
    made_->backward(leaf_.grad().contiguous());
  }

 private:
  DirectPassPtr made_;
  Tensor leaf_, joined_, output_;
};

}  // namespace

DirectPassPtr pass_with_readings(DirectPassPtr made, std::int64_t hidden, std::int64_t passes,
                                 const Tensor& mask, bool from_zero) {
  if (made == nullptr) return nullptr;
  return std::make_unique<PassWithReadings>(std::move(made), hidden, passes, mask, from_zero);
}

}  // namespace pushdown
