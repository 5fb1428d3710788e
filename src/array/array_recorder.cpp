#include "array/array_recorder.h"

#include "array/array_rules.h"
#include "base/check.h"

namespace pushdown {
namespace {

thread_local ArrayRecorder* recorder_of_thread = nullptr;

ArraySizes sizes_of(const Tensor& tensor) { return tensor.sizes().vec(); }

}  // namespace

ArrayRecorder* ArrayRecorder::current() { return recorder_of_thread; }

ArrayRecorder::ArrayRecorder(ArrayGraph& graph, std::int64_t batch,
                             std::function<std::string()> position)
    : graph_(graph),
      batch_(batch),
      position_(std::move(position)),
      outer_(std::exchange(recorder_of_thread, this)) {
  check(batch >= 2, "array", "recording needs a batch of at least 2 sequences, got {}", batch);
}
ArrayRecorder::~ArrayRecorder() { recorder_of_thread = outer_; }

const ArrayRecorder::Value* ArrayRecorder::find(const Tensor& tensor) const {
  if (!tensor.defined()) return nullptr;
  const auto found = values_.find(tensor.unsafeGetTensorImpl());
  return found == values_.end() ? nullptr : &found->second;
}

void ArrayRecorder::set(const Tensor& tensor, Value value) {
  values_[tensor.unsafeGetTensorImpl()] = std::move(value);
  kept_.push_back(tensor);
}

void ArrayRecorder::input(const Tensor& tensor, int which, std::int64_t offset) {
  ArraySizes shape = sizes_of(tensor);
  check(!shape.empty() && shape[0] == batch_, "array", "an input of {} sequences", batch_);
  shape[0] = 1;
  const bool mask = tensor.scalar_type() == at::kBool;
  set(tensor, {graph_.input(which, offset, shape, !mask), 0, mask});
}

void ArrayRecorder::parameter(const Tensor& tensor, int which) {
  set(tensor, {graph_.input(which, 0, sizes_of(tensor), tensor.requires_grad()), -1, false});
}

std::optional<int> ArrayRecorder::output(const Tensor& tensor) {
  if (refusal_) return std::nullopt;
  const Value* value = find(tensor);
  if (value != nullptr && value->unknown) {
    refusal_ = value->unknown;
    return std::nullopt;
  }
  ArraySizes shape = sizes_of(tensor);
  if (value == nullptr) {
    if (shape.empty() || shape[0] != batch_) {
      refuse("a result does not have one row for each sequence");
      return std::nullopt;
    }
    shape[0] = 1;
    if (!(tensor == tensor.narrow(0, 0, 1)).all().item<bool>()) {
      refuse("a constant result differs between sequences");
      return std::nullopt;
    }
    const Tensor row = tensor.select(0, 0).detach().to(at::kCPU, at::kDouble).contiguous();
    const double* from = row.data_ptr<double>();
    return graph_.constant(shape, std::vector<double>(from, from + row.numel()));
  }
  shape[0] = 1;
  if (value->batch == 0 && graph_.shape(value->node) == shape) return value->node;
  if (value->batch < 0 && graph_.shape(value->node).size() == shape.size() &&
      graph_.shape(value->node)[0] == 1)
    return graph_.expand(value->node, shape);
  refuse("the first dimension of a result is not the batch");
  return std::nullopt;
}

bool ArrayRecorder::is_mask(const Tensor& tensor) const {
  return tensor.scalar_type() == at::kBool;
}

void ArrayRecorder::read(const Tensor& tensor, const std::string& what) {
  if (find(tensor) != nullptr) refuse(what);
}

void ArrayRecorder::refuse(const std::string& reason) {
  if (!refusal_) refusal_ = ArrayRefusal{reason, position_ ? position_() : ""};
}

void ArrayRecorder::see(WatchedCall& call) {
  bool traced = false;
  const Value* unknown = nullptr;
  for (const Tensor& tensor : call.tensors())
    if (const Value* value = find(tensor)) {
      traced = true;
      if (value->unknown) unknown = value;
    }
  if (ArrayRules::is_random(call)) refuse(fmt::format("{} draws random numbers", call.name()));
  if (refusal_ || !traced || ArrayRules::is_constant(call)) return call.run();
  if (ArrayRules::is_reading(call)) {
    refuse("a number is read from a recorded tensor");
    return call.run();
  }
  if (call.writes()) {
    refuse(fmt::format("a tensor is changed in place ('{}')", call.name().substr(6)));
    return call.run();
  }
  if (unknown != nullptr) {
    const auto reason = unknown->unknown;
    call.run();
    for (const Tensor& result : call.results()) set(result, {-1, -1, false, reason});
    return;
  }
  if (!ArrayRules::knows(call) && call.is_made_of_others()) return call.run_as_others();
  call.run();
  const auto results = call.results();
  std::optional<ArrayRefusal> reason;
  try {
    const auto values = ArrayRules(*this, call, results).apply();
    for (std::size_t k = 0; k < results.size(); ++k) set(results[k], values.at(k));
    return;
  } catch (const ArrayRules::Unknown& why) {
    reason = ArrayRefusal{why.reason, position_ ? position_() : ""};
  }
  for (const Tensor& result : results) set(result, {-1, -1, false, reason});
}

}  // namespace pushdown
