// Every way in which a model computes its numbers, compared with its definition: step by step, by
// tensor operations, with LibTorch's graph.
// label: long
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "cases.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "model/transducer.h"
#include "support/gradients.h"
#include "train/learning/learning.h"
#include "train/records/model_file.h"

namespace pushdown::routes_test {
namespace {

using namespace testing_support;

bool is_transformer(const Json& options) {
  return options.value("architecture", "") == "transformer";
}

// The parts of a model that have a kind of their own: its stack, or its layers.
std::vector<Json*> parts_of(Json& options) {
  std::vector<Json*> parts;
  if (options.contains("stack")) parts.push_back(&options["stack"]);
  if (options.contains("layers"))
    for (Json& layer : options["layers"]) parts.push_back(&(layer = named_kind(layer)));
  return parts;
}

// The same model without kernels, if they are an option.
Json defined(Json options) {
  if (!options.contains("architecture") || options["architecture"] == "recurrent")
    options["kernels"] = false;
  for (Json* part : parts_of(options))
    if ((*part)["kind"].get<std::string>().ends_with("nondeterministic")) (*part)["fast"] = false;
  return options;
}

// Whether the route of the log-likelihood is a recorded plan.
bool is_planned(Json options) {
  if (options.value("architecture", "recurrent") == "nnpda" || !options.value("kernels", true))
    return false;
  for (const Json* part : parts_of(options))
    if ((*part)["kind"] == "analog" || !part->value("fast", true) ||
        (is_transformer(options) && (*part)["kind"] != "attention"))
      return false;
  return true;
}

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

Alphabet alphabet_of(std::int64_t size) {
  std::vector<std::string> symbols;
  for (std::int64_t k = 0; k < size; ++k) symbols.push_back("w" + std::to_string(k));
  return Alphabet(symbols);
}

// Some networks are large enough for products outside of the recurrence, and some alphabets for
// the kernel of the output layer.
struct Case {
  Json options;
  std::int64_t symbols = 3;
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.options << ", " << given.symbols << " symbols";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (Json& options : all_cases()) all.push_back({std::move(options)});
  const auto large = [&](const char* controller, const Json& stack, int layers, Json more,
                         std::int64_t symbols) {
    more["controller"] = Json{{"kind", controller}, {"hidden", 96}, {"layers", layers}};
    more["stack"] = stack;
    all.push_back({std::move(more), symbols});
  };
  large("lstm", {{"kind", "none"}}, 1, {{"embedding", 20}}, 5);
  large("lstm", {{"kind", "none"}}, 3, {{"embedding", 96}}, 300);
  large("gru", {{"kind", "none"}}, 2, {{"embedding", 96}, {"dropout", 0.3}}, 5);
  large("lstm", {{"kind", "superposition"}}, 2, {{"embedding", 96}, {"dropout", 0.3}}, 300);
  large("elman", {{"kind", "stratification"}}, 3, Json::object(), 5);
  large("mi_lstm", {{"kind", "none"}}, 2, {{"embedding", 96}}, 5);
  large("lstm",
        {{"kind", "stratification"},
         {"size", 5},
         {"push", "expectation"},
         {"pop", "fixed"},
         {"read", "expectation"}},
        1, {{"embedding", 7}}, 1500);
  all.push_back({small_network("lstm", "stratification_queue", {{"initial_state", "learned"}})});
  all.back().options["controller"]["layers"] = 8;
  for (const std::int64_t symbols : {255, 256})
    for (const int embedding : {0, 3})
      all.push_back({small_network("elman", "none", {{"embedding", embedding}}), symbols});
  for (const int hidden : {8, 40})
    for (const double dropout : {0.0, 0.4})
      all.push_back({{{"architecture", "transformer"},
                      {"layers", {"attention", Json{{"kind", "attention"}, {"heads", 1}}}},
                      {"hidden", hidden},
                      {"heads", 2},
                      {"feedforward", 50},
                      {"dropout", dropout}}});
  return all;
}

struct Numbers {
  Tensor values;
  std::vector<Tensor> gradients;
  std::uint64_t next;  // random number after those that were drawn
};

// What `way` computes, and the gradients of `factors` times its values. A way whose values need no
// gradient has added them itself.
Numbers numbers(const SequenceModel& model, bool training, const Tensor& factors,
                const std::function<Tensor(Random*)>& way) {
  Random random(5);
  Numbers found;
  const Tensor values = way(training ? &random : nullptr);
  if (values.requires_grad()) (values * factors.view_as(values)).sum().backward();
  found.values = values.detach();
  found.gradients = taken_gradients(model.parameters());
  found.next = random.next();
  return found;
}

void expect_same(const SequenceModel& model, const Numbers& got, const Numbers& wanted,
                 double bound, const std::string& where) {
  EXPECT_LT(deviation(got.values, wanted.values), bound) << where;
  for (std::size_t i = 0; i < wanted.gradients.size(); ++i)
    EXPECT_LT(deviation(got.gradients[i], wanted.gradients[i]),
              bound * (1 + wanted.gradients[i].abs().max().item<double>()))
        << where << ", " << model.parameters()[i].first;
  EXPECT_EQ(got.next, wanted.next) << where;
}

struct Shape {
  std::int64_t batch, length;
  bool training;
  const char* dtype = "float64";
  double scale = 1;  // of all parameters
  bool end_symbol = false;
};

// Scales all parameters, and moves those that begin at 0 or 1.
void disturb(const SequenceModel& model, double scale) {
  const at::NoGradGuard guard;
  Random random(9);
  for (const auto& [name, tensor] : model.parameters()) {
    std::vector<double> moves(static_cast<std::size_t>(tensor.numel()));
    for (double& move : moves) move = 0.1 * random.normal();
    tensor.mul_(scale).add_(at::tensor(moves, tensor.options()).view_as(tensor));
  }
}

class Routes : public testing::TestWithParam<Case> {
 protected:
  template <class Model>
  Model make(const Json& options, const Shape& shape, const Json& more = Json::object()) const {
    Json all =
        with(options, {{"dtype", shape.dtype}, {"seed", 7}, {"end_symbol", shape.end_symbol}});
    all.update(more);
    Model model(alphabet_of(GetParam().symbols), all);
    disturb(model, shape.scale);
    return model;
  }
  Tensor words(const Shape& shape) const {
    return random_words(shape.batch, shape.length, GetParam().symbols);
  }
  // The draws of these networks depend on where a string is cut.
  bool draws_whole_strings() const {
    const Json& options = GetParam().options;
    return is_transformer(options) &&
           (options.value("dropout", 0.0) > 0 || options.value("positions", "") == "randomized");
  }
};

TEST_P(Routes, OfLanguageModelsGiveTheNumbersOfTheDefinition) {
  const Json& options = GetParam().options;
  for (Shape shape : {Shape{3, 13, false},
                      {3, 13, true, "float64", 3, true},
                      {1, 1, false},
                      {2, 2, true},
                      {3, 13, false, "float32", 1, true}}) {
    // The last symbol is not read, except to predict an end.
    if (shape.training && draws_whole_strings()) shape.end_symbol = false;
    const std::int64_t expected = shape.length - (shape.end_symbol ? 0 : 1);
    const auto model = make<LanguageModel>(options, shape),
               definition = make<LanguageModel>(defined(options), shape);
    const Tensor words = this->words(shape);
    const Tensor targets =
        shape.end_symbol ? at::constant_pad_nd(words, {0, 1}, GetParam().symbols) : words;
    const auto chosen = [&](const Tensor& logits) {
      return logits.log_softmax(2).gather(2, targets.unsqueeze(2)).sum({1, 2});
    };
    // A piece of a string predicts its symbols; a further prediction is that of the end.
    const auto in_pieces = [&](const LanguageModel& read, const std::vector<std::int64_t>& sizes,
                               Random* noise) {
      auto state = read.begin(shape.batch, expected);
      std::vector<Tensor> logits;
      std::int64_t first = 0;
      for (const std::int64_t size : sizes) {
        auto [rows, next] = read.read(words.narrow(1, first, size), state, noise);
        logits.push_back(rows);
        state = next;
        first += size;
      }
      if (shape.end_symbol) logits.push_back(read.next(state, noise).first.unsqueeze(1));
      return chosen(at::cat(logits, 1));
    };
    // Both have recorded programs if they can; pieces of other networks are tensor operations.
    const auto by_definition = [&](Random* noise) {
      return options.contains("architecture") ? in_pieces(definition, {shape.length}, noise)
                                              : definition.log_probabilities(words, noise);
    };
    const double bound = shape.dtype == std::string("float64") ? 1e-9 : 1e-4;
    const auto where =
        fmt::format("{} x {}, {}, scale {}", shape.batch, shape.length, shape.dtype, shape.scale);
    constexpr double kFactor = -0.75;
    const Tensor equal = at::full({shape.batch}, kFactor, model.output_bias().options()),
                 uneven = at::linspace(-0.5, 1, shape.batch, equal.options());
    const auto wanted = numbers(definition, shape.training, equal, by_definition);
    const auto expect = [&](const char* name, const std::function<Tensor(Random*)>& way) {
      expect_same(model, numbers(model, shape.training, equal, way), wanted, bound,
                  fmt::format("{}, {}", name, where));
    };
    expect("log-probabilities",
           [&](Random* noise) { return model.log_probabilities(words, noise); });
    expect("logits", [&](Random* noise) { return chosen(model.logits(words, noise)); });
    expect("without a graph",
           [&](Random* noise) { return model.differentiate(words, kFactor, noise); });
    if (is_planned(options) && expected > 0) {
      Random noise(5);
      EXPECT_TRUE(std::holds_alternative<PlannedBatch>(
          model.network().route({.words = words.narrow(1, 0, expected),
                                 .noise = shape.training ? &noise : nullptr,
                                 .outcomes = model.output_bias().size(0)})))
          << where;
    }
    if (shape.length > 4 && !(draws_whole_strings() && shape.training)) {
      expect("pieces", [&](Random* noise) {
        return in_pieces(model, {shape.length - 5, 1, 4}, noise);
      });
      if (!shape.end_symbol)
        expect("scores", [&](Random* noise) {
          const auto first = shape.length - 5;
          const Tensor piece = words.narrow(1, 0, first), rest = words.narrow(1, first, 5);
          auto [scores, state] = model.score(piece, piece, model.begin(shape.batch), noise);
          return scores.sum(1) + model.score(rest, rest, state, noise).first.sum(1);
        });
    }
    if (shape.training) continue;
    expect_same(
        model,
        numbers(model, false, uneven, [&](Random*) { return model.log_probabilities(words); }),
        numbers(definition, false, uneven, by_definition), bound, where);
  }
}

TEST_P(Routes, OfRecognizersGiveTheNumbersOfTheDefinition) {
  const Json& options = GetParam().options;
  if (options.contains("architecture") || options.value("output", "") == "hidden_and_reading")
    GTEST_SKIP() << "one way, or none without a graph";
  for (const auto& [length, window, more] :
       {std::tuple{12, 0, Json::object()},
        {1, 0, Json::object()},
        {4, 0, Json{{"passes", 3}, {"carry", "first"}}},
        {4, 0, Json{{"passes", 2}}},
        {7, 3, Json{{"passes", 2}, {"memory_in_passes", "moves"}}},
        {7, 3, Json::object()}}) {
    const Shape shape{2, length, true};
    const auto model = make<Recognizer>(options, shape, more),
               definition = make<Recognizer>(defined(options), shape, more);
    const StringBatch batch{words(shape), at::tensor({1.0, 0.0}, at::kDouble), {}};
    const Json learning = window > 0 ? Json{{"kind", "tbptt"}, {"window", window}} : Json("bptt");
    const auto learned = [&](const Recognizer& learner) {
      return numbers(learner, true, {}, [&](Random* noise) {
        const auto values =
            make_learning(learning)->gradient(learner, *make_objective("stepwise"), batch, *noise);
        std::vector<double> all = values.losses;
        all.insert(all.end(), values.scores.begin(), values.scores.end());
        return at::tensor(all, at::kDouble);
      });
    };
    expect_same(model, learned(model), learned(definition), 1e-9,
                fmt::format("{} symbols, {}, {}", length, learning.dump(), more.dump()));
  }
}

// Sequences of a batch end on their own, and a source is written as it is alone.
TEST_P(Routes, OfTransducersGiveTheNumbersOfTheDefinition) {
  const auto make = [&](Json options) {
    options.update({{"dtype", "float64"}, {"seed", 7}});
    Transducer model(alphabet_of(GetParam().symbols), Alphabet({"x", "y"}), options);
    disturb(model, 1);
    return model;
  };
  const auto model = make(GetParam().options), definition = make(defined(GetParam().options));
  const std::vector<Word> sources{{0, 1, 2}, {}, {2, 2, 1, 0, 0}}, targets{{1}, {0, 0, 1, 1}, {}};
  const auto joint = model.joint(sources, targets);
  const Tensor factors = at::arange(8, at::kDouble).cos();
  for (const bool training : {true, false}) {
    const auto wanted = numbers(definition, training, factors,
                                [&](Random* noise) { return definition.losses(joint, noise); });
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      expect_same(model,
                  numbers(model, training, factors,
                          [&](Random* noise) { return model.losses(joint, noise); }),
                  wanted, 1e-9, fmt::format("{} threads", threads));
      set_thread_count(1);
    }
    if (training) continue;
    std::vector<Tensor> alone;
    for (std::size_t b = 0; b < sources.size(); ++b)
      alone.push_back(model.losses(model.joint({sources[b]}, {targets[b]})));
    EXPECT_LT(deviation(at::cat(alone), wanted.values), 1e-9);
  }
  const auto together = model.translate(sources, 4);
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const auto written = model.translate({sources[b]}, 4).front();
    EXPECT_EQ(together[b].target, written.target);
    EXPECT_EQ(together[b].ended, written.ended);
    EXPECT_EQ(model.translate(sources[b], 4, 1).target, written.target);
    const Tensor best = model.logits(model.joint({sources[b]}, {written.target})).argmax(1);
    for (std::size_t t = 0; t < written.target.size(); ++t)
      EXPECT_EQ(best[static_cast<std::int64_t>(t)].item<std::int64_t>(), written.target[t]);
  }
}

// The same numbers for any number of threads, from one generator, and from a stored model.
TEST_P(Routes, GiveTheSameBitsAgain) {
  const Shape shape{5, 9, true, "float32"};
  const auto model = make<LanguageModel>(GetParam().options, shape);
  const Tensor words = this->words(shape);
  const auto bits = [&](const LanguageModel& same, std::uint64_t seed = 5) {
    Random noise(seed);
    const Tensor values = same.differentiate(words, 1, &noise);
    auto all = taken_gradients(same.parameters());
    all.push_back(values);
    return all;
  };
  const auto first = bits(model);
  const auto expect = [&](const std::vector<Tensor>& got, const char* what) {
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(got[i].equal(first[i])) << what << ' ' << i;
  };
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    expect(bits(model), "threads");
  }
  set_thread_count(1);
  const auto stored = model_from_description(describe_model(model));
  disturb(*stored, shape.scale);
  expect(bits(dynamic_cast<const LanguageModel&>(*stored)), "stored");
  const bool draws = GetParam().options.value("dropout", 0.0) > 0 ||
                     GetParam().options.value("noise", 0.0) > 0 ||
                     GetParam().options.value("positions", "") == "randomized";
  EXPECT_EQ(!bits(model, 6).back().equal(first.back()), draws);
}

// Frozen parameters get no gradients.
TEST_P(Routes, DifferentiateTrainedParametersOnly) {
  const Shape shape{2, 9, false};
  const auto model = make<LanguageModel>(GetParam().options, shape);
  const auto frozen = [&](std::size_t i) { return i % 2 == 0; };
  for (std::size_t i = 0; i < model.parameters().size(); ++i)
    model.parameters()[i].second.requires_grad_(!frozen(i));
  model.differentiate(words(shape), 1, nullptr);
  for (std::size_t i = 0; i < model.parameters().size(); ++i)
    if (frozen(i)) {
      EXPECT_FALSE(model.parameters()[i].second.grad().defined()) << model.parameters()[i].first;
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, Routes, testing::ValuesIn(cases()));

}  // namespace
}  // namespace pushdown::routes_test
