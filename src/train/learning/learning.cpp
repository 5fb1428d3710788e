#include "train/learning/learning.h"

#include "array/array_batch.h"
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

Tensor losses_by_program(const Objective& objective, const ObjectiveBatch& read) {
  const auto passes = read.scores.size(1);
  const auto type = read.scores.scalar_type();
  if (read.weights.defined() || passes % read.passes != 0) return {};
  if (type != at::kFloat && type != at::kDouble) return {};
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
  const auto program = objective.program(form);
  if (program == nullptr) return {};
  const auto numbers = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.to(form.options) : at::zeros({1, 1}, form.options);
  };
  const Tensor losses = run_array(
      program, {numbers(read.scores), numbers(read.hiddens), numbers(read.labels),
                numbers(read.next_scores), numbers(read.next.defined() ? read.next + 1 : Tensor()),
                numbers(read.viable), numbers(read.next_sets)});
  return losses.view({-1}).to(read.scores.device());
}

namespace {

// Returns the losses of outputs whose next_scores are not computed yet.
Tensor losses_of(const Recognizer& model, const Objective& objective, ObjectiveBatch& read) {
  const auto costs = objective.answer_costs();
  if (costs && model.affine() && model.kernels() && suits_answer_losses(read.hiddens)) {
    const Tensor losses = answer_losses({read.hiddens, read.labels, read.next, read.weights},
                                        answer_layers(model), *costs)
                              .losses;
    return objective.averaged() ? losses / static_cast<double>(read.hiddens.size(1)) : losses;
  }
  if (objective.needs_next_symbol()) read.next_scores = model.next_scores(read.hiddens);
  if (model.kernels())
    if (Tensor losses = losses_by_program(objective, read); losses.defined()) return losses;
  return objective.losses(read);
}

}  // namespace

ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, Random& random) {
  const at::AutoGradMode with_gradient(true);
  return backpropagate(model, objective, batch, model.run(batch.words, &random));
}

ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, const Recognition& said) {
  const auto made = said.scores.size(1) - 1;  // P
  const auto skip = made > 0 ? 1 : 0;         // the score before anything was read
  ObjectiveBatch read{said.scores.narrow(1, skip, said.scores.size(1) - skip),
                      said.hiddens.narrow(1, skip, said.scores.size(1) - skip), said.weights,
                      batch.labels.to(said.scores.options())};
  read.viable = batch.viable;
  read.passes = model.passes();
  read.next = next_of(model, objective, batch);
  if (read.next.defined()) {
    read.next = read.next.to(said.scores.device());
    read.next_sets = sets_after(model, batch.next_sets, 0, made / model.passes());
  }
  const Tensor losses = losses_of(model, objective, read);
  run_backward(losses.mean());
  Verdict verdict(model);
  verdict.add(read.scores, read.weights);
  return {numbers_of(losses), verdict.values()};
}

namespace {

// Returns the objective's program for whole strings of the batch, or null.
ArrayProgramPtr program_of(const Recognizer& model, const Objective& objective,
                           const StringBatch& batch) {
  const Tensor& weight = model.output_weight();
  ObjectiveForm form;
  form.passes = model.passes();
  form.all_passes = model.input(batch.words).size(1) * form.passes;
  form.hidden = model.network().hidden_size();
  if (objective.needs_next_symbol()) form.outcomes = model.next_weight().size(0);
  form.viable = batch.viable.defined();
  form.next_sets = form.outcomes > 0 && batch.next_sets.defined();
  form.options = weight.options();
  if (form.all_passes == 0 || !suits_answer_losses(weight)) return nullptr;
  return objective.program(form);
}

// Computes the losses by the objective's program, and their gradients without the graph of a pass.
std::optional<ValidityLosses> differentiate_program(const Recognizer& model,
                                                    const Objective& objective,
                                                    const StringBatch& batch, std::int64_t window,
                                                    Random& random) {
  const auto program = program_of(model, objective, batch);
  if (program == nullptr) return std::nullopt;
  const auto pass = model.direct_pass(batch.words, window, random);
  if (pass == nullptr) return std::nullopt;
  const auto strings = batch.words.size(0);
  const at::AutoGradMode with_gradient(true);
  const Tensor hiddens =
      pass->output().view({strings, -1, model.network().hidden_size()}).detach().requires_grad_();
  const Tensor scores = model.scores(hiddens), next = next_of(model, objective, batch);
  Tensor next_scores, next_sets;
  if (objective.needs_next_symbol()) {
    next_scores = model.next_scores(hiddens);
    next_sets = sets_after(model, batch.next_sets, 0, model.input(batch.words).size(1));
  }
  const auto numbers = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.detach().to(hiddens.options()).contiguous() : Tensor();
  };
  const auto found = differentiate_array(
      *program,
      {numbers(scores), numbers(hiddens), numbers(batch.labels), numbers(next_scores),
       next.defined() ? numbers(next + 1) : Tensor(), numbers(batch.viable), numbers(next_sets)},
      {true, true, false, true, false, false, false}, 1.0 / static_cast<double>(strings));
  // Through the output layers.
  Tensor sum = (scores * found.slopes[0]).sum();
  if (next_scores.defined()) sum = sum + (next_scores * found.slopes[3]).sum();
  run_backward(sum);
  pass->backward(hiddens.grad() + found.slopes[1]);
  Verdict verdict(model);
  verdict.add(scores.detach(), {});
  return ValidityLosses{numbers_of(found.output.view({strings})), verdict.values()};
}

// Computes the losses and their gradients by a graph that begins with the outputs of a pass.
std::optional<ValidityLosses> differentiate_outputs(const Recognizer& model,
                                                    const Objective& objective,
                                                    const StringBatch& batch, std::int64_t window,
                                                    Random& random) {
  const auto pass = model.direct_pass(batch.words, window, random);
  if (pass == nullptr) return std::nullopt;
  const auto strings = batch.words.size(0), hidden = model.network().hidden_size();
  const at::AutoGradMode with_gradient(true);
  const Tensor outputs = pass->output().view({strings, -1, hidden}).detach().requires_grad_();
  const Tensor before = at::zeros({strings, 1, hidden}, outputs.options());
  const Tensor hiddens = at::cat({before, outputs}, 1);
  ValidityLosses result =
      backpropagate(model, objective, batch, Recognition{model.scores(hiddens), hiddens, {}});
  if (outputs.grad().defined()) pass->backward(outputs.grad());
  return result;
}

}  // namespace

std::optional<ValidityLosses> differentiate_directly(const Recognizer& model,
                                                     const Objective& objective,
                                                     const StringBatch& batch, std::int64_t window,
                                                     Random& random) {
  if (!model.affine() || !model.kernels()) return std::nullopt;
  const auto costs = objective.answer_costs();
  if (!costs) {
    if (auto made = differentiate_program(model, objective, batch, window, random)) return made;
    return differentiate_outputs(model, objective, batch, window, random);
  }
  const auto pass = model.direct_pass(batch.words, window, random);
  if (pass == nullptr) return std::nullopt;
  const auto strings = batch.words.size(0);
  const Tensor hiddens = pass->output().view({strings, -1, model.network().hidden_size()});
  const double share = objective.averaged() ? 1.0 / static_cast<double>(hiddens.size(1)) : 1.0;
  const auto found = differentiate_answers(
      {hiddens, batch.labels.to(hiddens.options()), next_of(model, objective, batch), {}},
      answer_layers(model), *costs, share / static_cast<double>(strings));
  pass->backward(found.slopes);
  Verdict verdict(model);
  verdict.add(found.answers.scores, {});
  ValidityLosses result{numbers_of(found.answers.losses), verdict.values()};
  if (share != 1)
    for (double& loss : result.losses) loss *= share;
  return result;
}

namespace {

class Backpropagation : public LearningAlgorithm {
 public:
  bool by_backward_passes() const override { return true; }
  ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                          const StringBatch& batch, Random& random) const override {
    if (auto inside = differentiate_inside(model, objective, batch, "bptt", random)) return *inside;
    if (auto direct = differentiate_directly(model, objective, batch, 0, random)) return *direct;
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

std::optional<ValidityLosses> differentiate_inside(const Recognizer& model,
                                                   const Objective& objective,
                                                   const StringBatch& batch,
                                                   std::string_view algorithm, Random& random) {
  const auto every_pass = objective.cross_entropy_of_every_pass();
  // A kernel returns the scores after the last symbol only.
  if (!every_pass || !model.affine() || model.decision() != Decision::last) return std::nullopt;
  ValidityBatch inside;
  inside.words = model.input(batch.words);
  inside.labels = batch.labels;
  inside.refinement = model.refinement(true);
  if (model.memory_moves()) {
    inside.words = repeated_words(inside.words, model.passes());
    inside.refinement = 1;
  }
  inside.every_step = *every_pass;
  inside.scale = 1.0 / static_cast<double>(batch.words.size(0));
  const auto passes = std::max<std::int64_t>(inside.words.size(1), 1) * inside.refinement.passes;
  const double share = objective.averaged() ? 1.0 / static_cast<double>(passes) : 1.0;
  inside.scale *= share;
  inside.output_weight = model.output_weight();
  inside.output_bias = model.output_bias();
  auto result = model.network().differentiate(inside, algorithm, random);
  if (result && share != 1)
    for (double& loss : result->losses) loss *= share;
  return result;
}

}  // namespace pushdown
