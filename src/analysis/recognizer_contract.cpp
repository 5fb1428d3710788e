// The contracts of recognizers and of their objectives.
#include "analysis/contract.h"
#include "analysis/contract_words.h"
#include "train/learning/learning.h"

namespace pushdown {
namespace {

Recognizer recognizer_of(Json options, const Kinds& kinds, const Json& more = Json::object()) {
  options["seed"] = 7;
  options["dtype"] = "float64";
  options.update(more);
  return Recognizer(contract_alphabet(), options, kinds);
}

bool own_output(const Json& options) { return options.value("output", "") == "own"; }

Complaints recognizer_shapes(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  at::NoGradGuard guard;
  for (const bool end : {true, false})
    for (const std::int64_t passes : {1, 2}) {
      const auto model = recognizer_of(
          options, kinds, {{"end_symbol", end}, {"passes", passes}, {"evaluation_passes", passes}});
      for (const auto& [batch, length] : {std::pair{2, 6}, {1, 1}, {3, 2}, {1, 0}}) {
        const Tensor input = contract_words(batch, length);
        const auto made = (length + (end ? 1 : 0)) * passes;
        const auto said = model.run(input);
        ledger.expect(said.scores.sizes() == std::vector<std::int64_t>{batch, made + 1},
                      "scores of {} strings of {} symbols must be {} x {}, got {}", batch, length,
                      batch, made + 1, shape_text(said.scores));
        ledger.expect(said.scores.isfinite().all().item<bool>(),
                      "{} strings of {} symbols have scores that are not finite", batch, length);
        ledger.near(model.decisions(input), said.scores.select(1, made), 1e-12,
                    "the decision is not the last score");
      }
    }
  return std::move(ledger).complaints();
}

Complaints means(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const bool own = own_output(options);
  const auto model = recognizer_of(
      options, kinds,
      {{"decision", "mean"}, {"next_symbol", !own}, {"passes", 2}, {"evaluation_passes", 2}});
  const StringBatch batch{contract_words(2, 5), at::tensor(std::vector<double>{1, 0}), {}};
  {
    at::NoGradGuard guard;
    const Tensor decided = model.decisions(batch.words);
    const Recognition said = model.run(batch.words);
    const Tensor scores = said.scores.narrow(1, 1, said.scores.size(1) - 1);
    const Tensor answers = own ? scores : scores.sigmoid();
    const Tensor made = said.weights.defined() ? said.weights : at::ones_like(scores);
    ledger.near(decided, (answers * made).sum(1) / made.sum(1), 1e-12,
                "the decision is not the mean of the answers");
    if (own) return std::move(ledger).complaints();
    const Tensor next = model.next_scores(said.hiddens);
    ledger.expect(next.sizes() == std::vector<std::int64_t>{2, 13, 4},
                  "scores of the next symbols must be 2 x 13 x 4, got {}", shape_text(next));
  }
  if (draws_for_whole_strings(options)) return std::move(ledger).complaints();
  // Reading in pieces must give the same loss of the next symbols and the same decision.
  const auto objective = make_objective("joint");
  const auto learn = [&](const Json& learning) {
    Random random(1);
    return make_learning(learning)->gradient(model, *objective, batch, random);
  };
  const auto whole = learn("bptt"), pieces = learn({{"kind", "tbptt"}, {"window", 2}});
  for (const std::size_t b : {0, 1}) {
    ledger.expect(std::abs(whole.losses[b] - pieces.losses[b]) < 1e-9,
                  "in pieces, the loss of string {} is {}, expected {}", b + 1, pieces.losses[b],
                  whole.losses[b]);
    ledger.expect(std::abs(whole.scores[b] - pieces.scores[b]) < 1e-11,
                  "in pieces, the decision about string {} is {}, expected {}", b + 1,
                  pieces.scores[b], whole.scores[b]);
  }
  return std::move(ledger).complaints();
}

Complaints recognizer_batches(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = recognizer_of(options, kinds);
  at::NoGradGuard guard;
  const Tensor input = contract_words(4, 7), together = model.run(input).scores;
  for (int b = 0; b < 4; ++b)
    ledger.near(together.narrow(0, b, 1), model.run(input.narrow(0, b, 1)).scores, 1e-12,
                "the scores of string {} of a batch of 4 differ from its scores alone", b + 1);
  return std::move(ledger).complaints();
}

Complaints one_by_one(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = recognizer_of(options, kinds, {{"end_symbol", false}});
  at::NoGradGuard guard;
  const Tensor input = contract_words(2, 6), whole = model.run(input).hiddens;
  auto state = model.network().initial(2, 6);
  for (std::int64_t t = 0; t < 6; ++t) {
    const Passes read = model.network().advance(input.narrow(1, t, 1), 1, state, nullptr);
    ledger.near(read.hiddens.select(1, 0), whole.select(1, t + 1), 1e-12,
                "the hidden vector after {} symbols read one by one", t + 1);
    state = read.state;
  }
  return std::move(ledger).complaints();
}

// Checks the gradients that `differentiate` leaves in the parameters from `first` on against the
// loss that it returns.
void compare_gradients(Ledger& ledger, const ParameterList& parameters, std::size_t first,
                       const std::function<double()>& differentiate) {
  const auto differentiated = [&] {
    for (const auto& [name, tensor] : parameters) tensor.mutable_grad() = Tensor();
    const at::AutoGradMode with_gradient(true);
    return differentiate();
  };
  differentiated();
  const auto wanted = take_gradients(parameters);
  at::NoGradGuard guard;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [name, tensor] = parameters[i];
    ledger.expect(wanted[i].isfinite().all().item<bool>(), "the gradient of '{}' is not finite",
                  name);
    if (i < first) continue;
    const Tensor flat = tensor.view(-1);
    const auto place = wanted[i].abs().view(-1).argmax().item<std::int64_t>();
    const double value = flat[place].item<double>(), step = 1e-5;
    double sides[2];
    for (const int side : {0, 1}) {
      flat[place].fill_(value + (side == 0 ? step : -step));
      sides[side] = differentiated();
    }
    flat[place].fill_(value);
    const double slope = (sides[0] - sides[1]) / (2 * step),
                 got = wanted[i].view(-1)[place].item<double>();
    ledger.expect(std::abs(slope - got) < 2e-6 * (1 + std::abs(sides[0])),
                  "the gradient of '{}' is {}, expected {}", name, got, slope);
  }
}

// The gradient of bptt, computed by a kernel of the network if it has one, must be that of the
// loss.
Complaints recognizer_gradients(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = recognizer_of(options, kinds);
  const auto objective =
      make_objective(model.affine() ? Json("stepwise") : Json("state_and_length"));
  const StringBatch batch{contract_words(2, 5), at::tensor(std::vector<double>{1, 0}), {}};
  const auto learning = make_learning("bptt");
  // Quantised units have surrogate derivatives, which are not limits of differences. The output
  // layer, which has the last parameters, is smooth for every network.
  const bool quantised = options.value("architecture", "") == "nspda";
  const std::size_t first = quantised ? model.parameters().size() - 2 : 0;
  compare_gradients(ledger, model.parameters(), first, [&] {
    Random random(1);
    const auto result = learning->gradient(model, *objective, batch, random);
    return (result.losses[0] + result.losses[1]) / 2;
  });
  return std::move(ledger).complaints();
}

Complaints recognizer_seeds(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto a = recognizer_of(options, kinds), b = recognizer_of(options, kinds);
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    ledger.expect(a.parameters()[i].second.equal(b.parameters()[i].second),
                  "the same seed gives '{}' different initial values", a.parameters()[i].first);
  for (const Json& wrong : {Json{{"pases", 2}}, {{"passes", 0}}, {{"output", "linear"}}})
    ledger.refuses([&] { recognizer_of(options, kinds, wrong); }, "{}", wrong.dump());
  ledger.refuses([&] { a.run(at::full({1, 2}, 3, at::kLong)); }, "a symbol outside the alphabet");
  return std::move(ledger).complaints();
}

// ---- Objectives, on a small recognizer that provides their inputs. ----

Recognizer recognizer_for(const Objective& objective, const Json& options) {
  if (options["kind"] == "state_and_length")
    return recognizer_of({{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}},
                         registered_kinds());
  return recognizer_of({{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                        {"stack", {{"kind", "superposition"}, {"size", 3}}},
                        {"next_symbol", objective.needs_next_symbol()}},
                       registered_kinds());
}

StringBatch labelled(std::int64_t batch, std::int64_t length) {
  StringBatch strings{contract_words(batch, length), at::zeros({batch}, at::kDouble), {}};
  for (std::int64_t b = 0; b < batch; b += 2) strings.labels.data_ptr<double>()[b] = 1;
  return strings;
}

ValidityLosses learned(const Recognizer& model, const Objective& objective,
                       const StringBatch& batch, const Json& learning = "bptt") {
  Random random(1);
  return make_learning(learning)->gradient(model, objective, batch, random);
}

Complaints objective_losses(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto objective = make_objective(options, kinds.objectives);
  const auto model = recognizer_for(*objective, options);
  for (const auto& [batch, length] : {std::pair{2, 6}, {1, 1}, {3, 2}, {1, 0}}) {
    const auto result = learned(model, *objective, labelled(batch, length));
    ledger.expect(result.losses.size() == static_cast<std::size_t>(batch),
                  "{} strings must have {} losses, got {}", batch, batch, result.losses.size());
    for (const double loss : result.losses)
      ledger.expect(std::isfinite(loss), "a string of {} symbols has the loss {}", length, loss);
  }
  return std::move(ledger).complaints();
}

Complaints objective_gradients(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto objective = make_objective(options, kinds.objectives);
  const auto model = recognizer_for(*objective, options);
  const auto batch = labelled(2, 5);
  // Finite differences do not treat constants in a loss (train/learning/state_and_length.cpp) as
  // constants.
  const bool constants = options["kind"] == "state_and_length";
  compare_gradients(ledger, model.parameters(), constants ? model.parameters().size() : 0, [&] {
    const auto result = learned(model, *objective, batch);
    return (result.losses[0] + result.losses[1]) / 2;
  });
  return std::move(ledger).complaints();
}

Complaints objective_batches(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto objective = make_objective(options, kinds.objectives);
  const auto model = recognizer_for(*objective, options);
  const auto all = labelled(4, 6);
  const auto together = learned(model, *objective, all);
  for (std::int64_t b = 0; b < 4; ++b) {
    const auto alone =
        learned(model, *objective, {all.words.narrow(0, b, 1), all.labels.narrow(0, b, 1), {}});
    const double got = together.losses.at(b), wanted = alone.losses.at(0);
    ledger.expect(std::abs(got - wanted) < 1e-10,
                  "string {} of a batch of 4 has the loss {}, alone it has {}", b + 1, got, wanted);
  }
  return std::move(ledger).complaints();
}

Complaints objective_pieces(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto objective = make_objective(options, kinds.objectives);
  const auto model = recognizer_for(*objective, options);
  const auto batch = labelled(2, 6);
  const auto whole = learned(model, *objective, batch);
  // rtrl reads symbol by symbol for every network.
  const auto pieces = learned(model, *objective, batch, "rtrl");
  for (const std::size_t b : {0, 1})
    ledger.expect(std::abs(whole.losses.at(b) - pieces.losses.at(b)) < 1e-9,
                  "read symbol by symbol, string {} has the loss {}, as a whole {}", b + 1,
                  pieces.losses.at(b), whole.losses.at(b));
  return std::move(ledger).complaints();
}

Complaints objective_options(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  Json wrong = options;
  wrong["sizze"] = 3;
  ledger.refuses([&] { make_objective(wrong, kinds.objectives); }, "an unknown option");
  return std::move(ledger).complaints();
}

}  // namespace

const std::vector<ContractCheck>& recognizer_contract() {
  static const std::vector<ContractCheck> checks{
      {"recognizer_shapes", "a recognizer's scores are finite and the last one decides",
       recognizer_shapes},
      {"recognizer_means", "decisions are means, and pieces have the losses of the whole", means},
      {"recognizer_batches", "the scores of a string do not depend on its batch",
       recognizer_batches},
      {"recognizer_symbols", "symbols read one by one equal the whole string", one_by_one},
      {"recognizer_gradients", "gradients match the loss", recognizer_gradients},
      {"recognizer_options", "same seed, same parameters; wrong options are rejected",
       recognizer_seeds}};
  return checks;
}

const std::vector<ContractCheck>& objective_contract() {
  static const std::vector<ContractCheck> checks{
      {"losses", "every string has one finite loss", objective_losses},
      {"gradients", "gradients match finite differences", objective_gradients},
      {"batches", "the loss of a string does not depend on its batch", objective_batches},
      {"pieces", "the losses of pieces sum to the loss of the string", objective_pieces},
      {"options", "unknown options are rejected", objective_options}};
  return checks;
}

}  // namespace pushdown
