// Runs contract checks, and defines those of language models.
#include "analysis/contract.h"

#include <set>

#include "analysis/contract_words.h"
#include "model/language_model.h"
#include "tensor/error_text.h"

namespace pushdown {
namespace {

LanguageModel model_of(Json options, const Kinds& kinds, std::uint64_t seed = 7,
                       const char* dtype = "float64") {
  options["dtype"] = dtype;
  options["seed"] = seed;
  options["end_symbol"] = false;
  return LanguageModel(contract_alphabet(), options, kinds);
}

// Provides random numbers that make a pass a training pass; in other passes, a memory may round its
// actions and then has no gradients. The random numbers are the same each time.
class TrainingNoise {
 public:
  operator Random*() {
    noise_ = Random(1);
    return &noise_;
  }

 private:
  Random noise_;
};

Complaints shapes(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  for (const char* dtype : {"float32", "float64"}) {
    const auto model = model_of(options, kinds, 7, dtype);
    for (const auto& [batch, length] : {std::pair{2, 6}, {1, 1}, {3, 2}, {1, 0}}) {
      const Tensor logits = model.logits(contract_words(batch, length));
      ledger.expect(logits.sizes() == std::vector<std::int64_t>{batch, length, 3},
                    "scores of {} strings of {} symbols must be {} x {} x 3, got {}", batch, length,
                    batch, length, shape_text(logits));
      ledger.expect(dtype_name(logits.scalar_type()) == dtype, "scores must be {}, got {}", dtype,
                    dtype_name(logits.scalar_type()));
      ledger.expect(logits.isfinite().all().item<bool>(),
                    "{} strings of {} symbols have scores that are not finite ({})", batch, length,
                    dtype);
    }
  }
  return std::move(ledger).complaints();
}

// Everything else compares numbers, so this is checked first.
Complaints repeats(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  at::NoGradGuard guard;
  const Tensor input = contract_words(2, 6), first = model.logits(input);
  ledger.expect(model.logits(input).equal(first),
                "a second pass over the same strings gives other scores: the definition draws "
                "random numbers, or keeps something from one call to the next outside of the "
                "state; no other check can hold then");
  return std::move(ledger).complaints();
}

Complaints probabilities(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  at::NoGradGuard guard;
  double total = 0;
  for (int code = 0; code < 81; ++code) {
    const std::vector<std::int64_t> word{code / 27, code / 9 % 3, code / 3 % 3, code % 3};
    total += model.log_probabilities(at::tensor(word, at::kLong).unsqueeze(0)).exp().item<double>();
  }
  ledger.expect(std::abs(total - 1) < 1e-12,
                "the probabilities of all strings of four symbols sum to {}", total);
  return std::move(ledger).complaints();
}

Complaints model_gradients(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  TrainingNoise training;
  const auto model = model_of(options, kinds);
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : model.parameters()) leaves.push_back(tensor);
  const Tensor input = contract_words(2, 6);
  std::size_t worst = 0;
  const double error = gradient_error(
      leaves, [&] { return model.log_probabilities(input, training).sum(); }, 12, &worst);
  ledger.expect(error < 1e-6, "the gradient of '{}' is off by {:.2g}",
                model.parameters()[worst].first, error);
  return std::move(ledger).complaints();
}

// Tries several weights, because with some of them an action has no effect: for example, if pops
// remove everything from a stack, its other actions get no gradient.
Complaints uses(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  TrainingNoise training;
  std::set<std::string> unused;
  for (int attempt = 0; attempt == 0 || (attempt < 40 && !unused.empty()); ++attempt) {
    const auto model = model_of(options, kinds, 7 + static_cast<std::uint64_t>(attempt));
    if (attempt == 0)
      for (const auto& [name, tensor] : model.parameters()) unused.insert(name);
    if (attempt >= 4) {
      const at::NoGradGuard guard;
      for (const auto& [name, tensor] : model.parameters()) tensor.mul_(attempt % 2 == 0 ? 4 : 12);
    }
    model.log_probabilities(contract_words(2, 6), training).sum().backward();
    // Where symbols attach, the scores depend on a choice without a gradient.
    if (model.reads_trees())
      model.tree_log_probabilities(contract_words(2, 6), at::arange(6).expand({2, 6}), training)
          .sum()
          .sum()
          .backward();
    for (const auto& [name, tensor] : model.parameters())
      if (tensor.grad().defined() && tensor.grad().abs().max().item<double>() > 0)
        unused.erase(name);
  }
  for (const auto& name : unused) ledger.expect(false, "no score depends on '{}'", name);
  return std::move(ledger).complaints();
}

Complaints batches(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  const Tensor input = contract_words(4, 7), together = model.logits(input);
  for (int b = 0; b < 4; ++b)
    ledger.near(together.narrow(0, b, 1), model.logits(input.narrow(0, b, 1)), 1e-12,
                "the scores of sequence {} of a batch of 4 differ from its scores alone", b + 1);
  return std::move(ledger).complaints();
}

Complaints causality(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  const Tensor input = contract_words(1, 7), other = input.clone();
  other.narrow(1, 4, 3).copy_((input.narrow(1, 4, 3) + 1) % 3);
  ledger.near(model.logits(other).narrow(1, 0, 5), model.logits(input).narrow(1, 0, 5), 1e-12,
              "other symbols after the fourth change earlier predictions");
  return std::move(ledger).complaints();
}

// Returns the logits of words read in pieces of the given lengths.
Tensor in_pieces(const LanguageModel& model, const Tensor& words,
                 const std::vector<std::int64_t>& pieces, std::int64_t expected, Random* noise) {
  auto state = model.begin(words.size(0), expected);
  std::vector<Tensor> logits;
  std::int64_t start = 0;
  for (const auto size : pieces) {
    auto [rows, next] = model.read(words.narrow(1, start, size), state, noise);
    logits.push_back(rows);
    state = next;
    start += size;
  }
  return at::cat(logits, 1);
}

Complaints pieces(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  TrainingNoise training;
  const auto noise = [&]() -> Random* {
    if (draws_for_whole_strings(options)) return nullptr;
    return training;
  };
  const auto model = model_of(options, kinds);
  const Tensor input = contract_words(3, 9), whole = model.logits(input, noise());
  whole.pow(2).sum().backward();
  const auto wanted = take_gradients(model.parameters());
  for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{9}, {3, 3, 3}, {1, 5, 0, 3}})
    for (const std::int64_t expected : {0, 9}) {
      const Tensor logits = in_pieces(model, input, lengths, expected, noise());
      ledger.near(logits, whole, 1e-12,
                  "the scores of 9 symbols in {} pieces differ from those of the whole",
                  lengths.size());
      logits.pow(2).sum().backward();
      const auto got = take_gradients(model.parameters());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ledger.near(got[i], wanted[i], 1e-10,
                    "9 symbols in {} pieces give '{}' a different gradient than the whole",
                    lengths.size(), model.parameters()[i].first);
    }
  return std::move(ledger).complaints();
}

// Gradients must end at the borders: everything read before is a constant.
Complaints detached(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  const Tensor input = contract_words(2, 7);
  const auto first = model.read(input.narrow(1, 0, 4), model.begin(2)).second.detached();
  model.read(input.narrow(1, 4, 3), first).first.pow(2).sum().backward();
  const auto got = take_gradients(model.parameters());
  // The same with a past that never had gradients.
  ReadingState past;
  {
    at::NoGradGuard guard;
    past = model.read(input.narrow(1, 0, 4), model.begin(2)).second;
  }
  model.read(input.narrow(1, 4, 3), past).first.pow(2).sum().backward();
  const auto wanted = take_gradients(model.parameters());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ledger.near(got[i], wanted[i], 1e-12, "'{}' has a gradient through a detached state",
                model.parameters()[i].first);
  return std::move(ledger).complaints();
}

Complaints branches(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds);
  at::NoGradGuard guard;
  const Tensor input = contract_words(2, 5), whole = model.logits(input);
  auto state = model.begin(2);
  for (std::int64_t t = 0; t < 5; ++t) {
    const auto [logits, seen] = model.next(state);
    ledger.near(logits, whole.select(1, t), 1e-12,
                "symbols read one by one change the prediction of symbol {}", t + 1);
    // Another continuation of the same state must not change it.
    model.read(at::full({2, 3}, 1, at::kLong), seen);
    state = model.read(input.narrow(1, t, 1), seen).second;
  }
  return std::move(ledger).complaints();
}

Complaints seeds(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto a = model_of(options, kinds), b = model_of(options, kinds);
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    ledger.expect(a.parameters()[i].second.equal(b.parameters()[i].second),
                  "the same seed gives '{}' different initial values", a.parameters()[i].first);
  return std::move(ledger).complaints();
}

// Checks the options themselves and every nested table.
Complaints unknown_options(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto refused = [&](const Json& wrong, const std::string& where) {
    ledger.refuses([&] { model_of(wrong, kinds); }, "an unknown option{}", where);
  };
  Json wrong = options;
  wrong["sizze"] = 3;
  refused(wrong, "");
  for (const auto& [key, value] : options.items()) {
    wrong = options;
    const bool list = value.is_array() && !value.empty() && value[0].is_object();
    Json& table = list ? wrong[key][0] : wrong[key];
    if (!table.is_object()) continue;
    table["sizze"] = 3;
    refused(wrong, fmt::format(" in '{}'", key));
  }
  return std::move(ledger).complaints();
}

Complaints other_states(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  const auto model = model_of(options, kinds), other = model_of(options, kinds);
  const Tensor input = contract_words(2, 3);
  ledger.refuses([&] { model.read(input, other.begin(2)); }, "the state of another model");
  ledger.refuses([&] { model.read(input, model.begin(3)); }, "the state of another batch");
  ledger.refuses([&] { model.begin(0); }, "a batch of 0");
  return std::move(ledger).complaints();
}

Complaints devices(const Json& options, const TrainingKinds& kinds) {
  Ledger ledger;
  if (!at::hasCUDA()) return {};
  TrainingNoise training;
  Json on_cuda = options;
  on_cuda["device"] = "cuda";
  const auto cpu = model_of(options, kinds), cuda = model_of(on_cuda, kinds);
  const Tensor input = contract_words(3, 9);
  cpu.log_probabilities(input, training).sum().backward();
  cuda.log_probabilities(input, training).sum().backward();
  ledger.near(cuda.logits(input).cpu(), cpu.logits(input), 1e-11, "scores on the CUDA device");
  const auto wanted = take_gradients(cpu.parameters()), got = take_gradients(cuda.parameters());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ledger.near(got[i].cpu(), wanted[i], 1e-10, "the gradient of '{}' on the CUDA device",
                cpu.parameters()[i].first);
  return std::move(ledger).complaints();
}

}  // namespace

const std::vector<ContractCheck>& language_model_contract() {
  static const std::vector<ContractCheck> checks{
      {"repeats", "a second pass gives the same scores", repeats},
      {"shapes", "scores are finite and have the right shapes and types", shapes},
      {"probabilities", "the probabilities of all strings of a length sum to one", probabilities},
      {"gradients", "gradients match finite differences", model_gradients},
      {"parameters", "the scores depend on every parameter", uses},
      {"batches", "a batch of k sequences equals k batches of one", batches},
      {"causality", "predictions do not depend on later symbols", causality},
      {"pieces", "a sequence in pieces equals the whole in values and gradients", pieces},
      {"detached", "no gradient flows through a detached state", detached},
      {"branches", "a state can be continued in several ways", branches},
      {"seeds", "the same seed gives the same parameters", seeds},
      {"options", "unknown options are rejected", unknown_options},
      {"states", "states of other models and batches are rejected", other_states},
      {"devices", "a CUDA device, if there is one, gives the same numbers", devices}};
  return checks;
}

std::vector<ContractResult> run_contract(const std::vector<ContractCheck>& checks,
                                         const Json& options, const TrainingKinds& kinds,
                                         const std::function<bool()>& should_stop) {
  std::vector<ContractResult> results;
  for (const auto& check : checks) {
    ContractResult result{check.name, check.promise, {}};
    try {
      result.complaints = check.run(options, kinds);
    } catch (const std::exception& error) {
      result.complaints = {error_text(error)};
    }
    results.push_back(std::move(result));
    if (should_stop && should_stop()) break;
  }
  return results;
}

Json small_options(const std::string& kind, const std::vector<OptionSpec>& specs) {
  Json options{{"kind", kind}};
  for (const auto& spec : specs)
    if (!spec.small.is_null()) options[spec.name] = spec.small;
  return options;
}

std::vector<Json> option_changes(const OptionSpec& spec) {
  std::vector<Json> changes = spec.tried;
  const Json usual = spec.small.is_null() ? spec.default_value : spec.small;
  std::vector<Json> values(spec.choices.begin(), spec.choices.end());
  if (spec.type == OptionSpec::Type::boolean) values = {true, false};
  for (const Json& value : values)
    if (value != usual &&
        std::none_of(spec.tried.begin(), spec.tried.end(),
                     [&](const Json& other) { return other[spec.name] == value; }))
      changes.push_back({{spec.name, value}});
  return changes;
}

std::vector<Json> option_variants(const std::string& kind, const std::vector<OptionSpec>& specs) {
  const Json small = small_options(kind, specs);
  std::vector<Json> all{small};
  for (const auto& spec : specs)
    for (const Json& change : option_changes(spec)) {
      all.push_back(small);
      all.back().update(change);
    }
  return all;
}

}  // namespace pushdown
