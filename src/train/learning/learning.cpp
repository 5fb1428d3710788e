#include "train/learning/learning.h"

#include "array/array_function.h"
#include "tensor/backward.h"
#include "train/learning/learning_pieces.h"

namespace pushdown {

namespace {

AnswerLayers answer_layers(const Recognizer& model) {
  return {model.output_weight(), model.output_bias(), model.next_weight(), model.next_bias()};
}

// Returns the symbol that follows each pass, if the objective needs it.
Tensor next_of(const Recognizer& model, const Objective& objective, const StringBatch& batch) {
  if (!objective.needs_next_symbol()) return {};
  const Tensor words = model.input(batch.words);
  const auto last = model.outcome_after_last();
  return words.size(1) > 0 ? following(words, 0, words.size(1), model.passes(), last)
                           : at::full({words.size(0), 1}, last, words.options());
}

}  // namespace

Tensor losses_of(const Recognizer& model, const Objective& objective, const ObjectiveBatch& read) {
  const auto passes = read.scores.size(1);
  const auto type = read.scores.scalar_type();
  const bool fits = model.kernels() && !read.weights.defined() && passes % read.passes == 0 &&
                    (type == at::kFloat || type == at::kDouble);
  ObjectiveForm form;
  form.passes = read.passes;
  form.all_passes = passes;
  form.hidden = read.hiddens.size(2);
  if (read.next_scores.defined()) form.outcomes = read.next_scores.size(2);
  form.viable = read.viable.defined();
  form.next_sets = read.next_sets.defined();
  form.ends = read.ends;
  form.first = read.first;
  form.length = read.length;
  form.options = read.scores.options().device(at::kCPU);
  const auto program = fits ? objective.program(form) : nullptr;
  if (program == nullptr) return objective.losses(read);
  const auto numbers = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.to(form.options) : at::zeros({1, 1}, form.options);
  };
  const Tensor losses = run_array(
      program, {numbers(read.scores), numbers(read.hiddens), numbers(read.labels),
                numbers(read.next_scores), numbers(read.next.defined() ? read.next + 1 : Tensor()),
                numbers(read.viable), numbers(read.next_sets)});
  return losses.view({-1}).to(read.scores.device());
}

ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, const Pass& pass) {
  const auto strings = pass.hiddens.size(0), made = pass.hiddens.size(1) - 1;  // B, P
  const std::int64_t first = made > 0 ? 1 : 0;  // without the score before anything was read
  const auto count = made + 1 - first;
  const Tensor labels = batch.labels.to(pass.hiddens.options());
  Tensor next = next_of(model, objective, batch);
  Verdict verdict(model);
  const auto costs = objective.answer_costs();
  if (costs && model.affine() && model.kernels() && suits_answers(pass.hiddens)) {
    const double share = objective.averaged() ? 1.0 / static_cast<double>(count) : 1.0;
    const auto found =
        differentiate_answers({pass.hiddens, first, labels, next, pass.weights},
                              answer_layers(model), *costs, share / static_cast<double>(strings));
    pass.backward(found.slopes);
    verdict.add(found.scores, pass.weights);
    ValidityLosses result{numbers_of(found.losses), verdict.values()};
    for (double& loss : result.losses) loss *= share;
    return result;
  }
  const at::AutoGradMode with_gradient(true);
  const Tensor hiddens = pass.hiddens.detach().requires_grad_();
  const Tensor own = hiddens.narrow(1, first, count);
  ObjectiveBatch read{model.scores(hiddens).narrow(1, first, count), own, pass.weights, labels};
  read.viable = batch.viable;
  read.passes = model.passes();
  if (next.defined()) {
    read.next_scores = model.next_scores(own);
    read.next = next.to(labels.device());
    read.next_sets = sets_after(model, batch.next_sets, 0, made / model.passes());
  }
  const Tensor losses = losses_of(model, objective, read);
  run_backward(losses.mean());
  if (hiddens.grad().defined()) pass.backward(hiddens.grad());
  verdict.add(read.scores.detach(), read.weights);
  return {numbers_of(losses.detach()), verdict.values()};
}

Route route_of(const Recognizer& model, const Objective& objective, const StringBatch& batch,
               Random& random, std::string_view algorithm, std::int64_t window, bool usual) {
  PassRequest request = model.request(model.input(batch.words), window, &random);
  request.algorithm = algorithm;
  // A kernel returns the scores after the last symbol only.
  const auto every_pass = objective.cross_entropy_of_every_pass();
  if (usual && every_pass && model.affine() && model.decision() == Decision::last) {
    const auto passes =
        std::max<std::int64_t>(request.words.size(1), 1) * request.refinement.passes;
    request.answers = {.labels = batch.labels,
                       .every_step = *every_pass,
                       .share = objective.averaged() ? 1.0 / static_cast<double>(passes) : 1.0,
                       .scale = 1.0 / static_cast<double>(batch.words.size(0)),
                       .output_weight = model.output_weight(),
                       .output_bias = model.output_bias()};
  }
  const Route route = model.network().route(request);
  const auto* steps = std::get_if<HigherOrderNetwork>(&route);
  if (steps == nullptr) return route;
  // They are steps of one symbol each, with the gradients of all parameters.
  const bool fit = request.words.size(1) > 0 && (!model.memory_moves() || model.passes() == 1) &&
                   std::all_of(steps->parameters.begin(), steps->parameters.end(),
                               [](const Tensor& own) { return own.requires_grad(); });
  return fit ? route : ByTensors();
}

ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, Random& random, std::int64_t window) {
  const Route route = route_of(model, objective, batch, random, "bptt", window);
  if (const auto* kernel = std::get_if<ByKernel>(&route)) return kernel->differentiate();
  if (std::holds_alternative<ByPieces>(route))
    return backpropagate_pieces(model, objective, batch, random, window);
  const PassRequest request = model.request(model.input(batch.words), window, &random);
  return backpropagate(model, objective, batch, model.network().pass(request, route));
}

namespace {

class Backpropagation : public LearningAlgorithm {
 public:
  bool by_backward_passes() const override { return true; }
  ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                          const StringBatch& batch, Random& random) const override {
    return backpropagate(model, objective, batch, random);
  }
};

}  // namespace

LearningKind backpropagation_learning() {
  return {"bptt",
          "Backpropagation through time: the exact gradient.",
          {},
          [](const Json&) -> LearningPtr { return std::make_unique<Backpropagation>(); }};
}

PUSHDOWN_REGISTRY(LearningKind, learning_kinds, backpropagation_learning(), truncated_learning(),
                  real_time_learning(), unbiased_online_learning())

Json resolve_learning(const Json& options) {
  return with_defaults("learning", learning_kinds(), named_kind(options));
}

LearningPtr make_learning(const Json& options) {
  const auto [row, resolved] = resolve_kind("learning", learning_kinds(), named_kind(options));
  return row.make(resolved);
}

}  // namespace pushdown
