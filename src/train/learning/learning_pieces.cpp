#include "train/learning/learning_pieces.h"
#include "array/array_function.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/script_thread.h"

namespace pushdown {

StringPieces::StringPieces(const Recognizer& model, const Objective& objective,
                           const StringBatch& batch)
    : model_(model),
      objective_(objective),
      words_(model.input(batch.words)),
      labels_(batch.labels.to(model.parameters().front().second.options())),
      viable_(batch.viable),
      next_sets_(batch.next_sets) {}

bool StringPieces::scripted() const {
  return !model_.network().origins().empty() || objective_.origin() != nullptr;
}

StringPieces StringPieces::only(std::int64_t b) const {
  StringPieces one = *this;
  one.words_ = words_.narrow(0, b, 1);
  one.labels_ = labels_.narrow(0, b, 1);
  if (viable_.defined()) one.viable_ = viable_.narrow(0, b, 1);
  if (next_sets_.defined()) one.next_sets_ = next_sets_.narrow(0, b, 1);
  return one;
}

NetworkStatePtr StringPieces::initial() const {
  const RecordedCalls recorded(model_.kernels());
  return model_.network().initial(strings(), length());
}

StringPieces::Piece StringPieces::read(std::int64_t first, std::int64_t count,
                                       const NetworkStatePtr& state, Random& random) const {
  const Passes made = [&] {
    const RecordedCalls recorded(model_.kernels());
    return model_.advance(words_.narrow(1, first, count), state, &random);
  }();
  const Tensor scores = model_.scores(made.hiddens);
  ObjectiveBatch batch{scores, made.hiddens, made.weights, labels_};
  if (objective_.needs_next_symbol()) {
    batch.next_scores = model_.next_scores(made.hiddens);
    batch.next = following(words_, first, count, model_.passes(), model_.outcome_after_last())
                     .to(scores.device());
    batch.next_sets = sets_after(model_, next_sets_, first, count);
  }
  batch.ends = first + count == length();
  batch.viable = viable_;
  batch.first = first;
  batch.passes = model_.passes();
  batch.length = length();
  return {losses_of(model_, objective_, batch), scores, made.weights, made.state};
}

Tensor following(const Tensor& words, std::int64_t first, std::int64_t count, std::int64_t passes,
                 std::int64_t last) {
  const Tensor own = words.to(at::kCPU).contiguous();
  const auto strings = own.size(0), length = own.size(1);
  const Tensor next = at::empty({strings, count * passes}, at::kLong);
  const auto* from = own.data_ptr<std::int64_t>();
  auto* to = next.data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < strings; ++b, from += length)
    for (std::int64_t t = first + 1; t <= first + count; ++t)
      to = std::fill_n(to, passes, t < length ? from[t] : last);
  return next;
}

Tensor sets_after(const Recognizer& model, const Tensor& sets, std::int64_t first,
                  std::int64_t count) {
  if (!sets.defined()) return {};
  const auto outcomes = model.next_weight().size(0), known = sets.size(1);
  const Tensor of = sets.narrow(2, 0, outcomes);
  if (count == 0) return of.narrow(1, 0, 1).to(model.next_weight().device());
  // After the end symbol nothing is known.
  const auto there = std::min(count, known - 1 - first);
  const Tensor after =
      at::constant_pad_nd(of.narrow(1, first + 1, there), {0, 0, 0, count - there});
  return after.repeat_interleave(model.passes(), 1).to(model.next_weight().device());
}

FlatParameters::FlatParameters(const ParameterList& parameters) {
  for (const auto& [name, parameter] : parameters)
    if (parameter.requires_grad()) tensors_.push_back(parameter);
  check(!tensors_.empty(), "learning", "the model has no trainable parameter");
  size_ = number_count(tensors_);
}

void FlatParameters::add_gradient(const Tensor& flat, double scale) const {
  at::NoGradGuard no_grad;
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors_) {
    const Tensor part = flat.narrow(0, start, tensor.numel()).view_as(tensor) * scale;
    Tensor& gradient = tensor.mutable_grad();
    gradient = gradient.defined() ? gradient + part : part;
    start += tensor.numel();
  }
}

std::vector<Tensor> leaves_of(const NetworkStatePtr& state) {
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : state->tensors()) leaves.push_back(tensor.detach().requires_grad_());
  return leaves;
}

std::int64_t number_count(const std::vector<Tensor>& tensors) {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

std::vector<Tensor> pulled_back(const std::vector<Tensor>& outputs,
                                const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& weights, bool twice) {
  std::vector<Tensor> from, with, result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    from.push_back(outputs[i]);
    with.push_back(weights[i]);
  }
  if (!from.empty() && !inputs.empty())
    result = gradients(from, inputs, with, {.keep_graph = true, .record = twice});
  result.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!result[i].defined()) result[i] = at::zeros_like(inputs[i]);
  return result;
}

Tensor flattened(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return at::cat(flat);
}

ValidityLosses string_by_string(
    const FlatParameters& parameters, const StringPieces& pieces, Random& random,
    const std::function<StringGradient(const StringPieces& string, Random& random)>& one) {
  const auto count = pieces.strings();
  std::vector<Random> streams;
  for (std::int64_t b = 0; b < count; ++b) streams.emplace_back(random.next(), "string");
  std::vector<StringGradient> found(count);
  const auto of_string = [&](std::int64_t b) {
    const at::AutoGradMode with_gradient(true);
    const auto i = static_cast<std::size_t>(b);
    found[i] = one(pieces.only(b), streams[i]);
  };
  // Functions of a script run only on its own thread. After a string that called none, the others
  // usually call none either.
  std::int64_t first = 0;
  for (bool calls = pieces.scripted(); calls && first < count; ++first) {
    const auto before = script_calls();
    of_string(first);
    calls = script_calls() != before;
  }
  const std::vector<Random> kept = streams;
  try {
    parallel_for(count - first, [&](std::int64_t b) { of_string(first + b); });
  } catch (const ScriptThreadNeeded&) {
    streams = kept;
    for (std::int64_t b = first; b < count; ++b) of_string(b);
  }
  ValidityLosses result;
  Tensor sum;
  for (const auto& string : found) {
    sum = sum.defined() ? sum + string.gradient : string.gradient;
    result.losses.push_back(string.loss);
    result.scores.push_back(string.score);
  }
  parameters.add_gradient(sum, 1.0 / static_cast<double>(count));
  return result;
}

}  // namespace pushdown
