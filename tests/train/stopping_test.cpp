// A training that stops and goes on gives the numbers of one that does not stop, to the last bit:
// for every problem, in stages and in pieces, with every optimizer, learning algorithm, objective,
// annealing and curriculum, however it stops and with any number of threads.
// label: long
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "grammar/text.h"
#include "task/curriculum.h"
#include "task/pair_list.h"
#include "train/learning/learning.h"
#include "train/optimizing/annealing.h"
#include "train/problems/language_modelling.h"
#include "train/problems/recognition.h"
#include "train/problems/sentence_modelling.h"
#include "train/problems/stages.h"
#include "train/problems/text_modelling.h"
#include "train/problems/transduction.h"
#include "train/toy.h"

namespace pushdown::stopping_test {
namespace {

using namespace testing_support;

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

const Json kSuperposition{{"kind", "superposition"}, {"size", 2}};
const Json kElman{{"controller", {{"kind", "elman"}, {"hidden", 3}}}, {"stack", kSuperposition}};
const Json kLstm{{"controller", {{"kind", "lstm"}, {"hidden", 4}}}};
const Json kDiffStk{
    {"controller", {{"kind", "mrnn"}, {"hidden", 4}, {"activation", "scaled_tanh"}}},
    {"stack",
     {{"kind", "parallel_superposition"},
      {"stacks", 1},
      {"read_depth", 3},
      {"no_op", true},
      {"bias", true}}},
    {"coupling", "state"},
    {"noise", 0.1},
    {"carry_forward", "counter"}};
const Json kTape{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                 {"stack", {{"kind", "baby_ntm"}, {"size", 2}, {"cells", 6}}},
                 {"coupling", "state"}};

using Make = std::function<std::unique_ptr<Trainer>(const Json& more)>;

struct Case {
  std::string name;
  Make make;  // with further options
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.name; }

// ---- Problems, all with a few updates an epoch. ----

Json trainer_options(const Json& more) {
  return with({{"batch", 6},
               {"epochs", 3},
               {"seed", 4},
               {"stop_patience", 0},
               {"optimizer", {{"learning_rate", 0.02}}}},
              more);
}

ProblemPtr strings(const LanguageModelPtr& model, int longest = 4) {
  return language_modelling(model, reversal_strings(30, 1, longest), reversal_strings(10, 2));
}

Make language(const Json& model, const Json& options) {
  return [=](const Json& more) {
    const auto made =
        std::make_shared<LanguageModel>(Alphabet({"0", "1", "#"}), with(model, {{"seed", 3}}));
    return std::make_unique<Trainer>(strings(made), with(trainer_options(options), more));
  };
}

RecognizerPtr recognizer_of(const Json& network) {
  return std::make_shared<Recognizer>(Alphabet({"a", "b"}), with(network, {{"seed", 5}}));
}

ProblemPtr labelled(const RecognizerPtr& model) {
  // a^n b^n has a grammar, by which next symbols and prefixes are measured.
  static const auto grammar =
      std::make_shared<const Grammar>(Grammar(parse_grammar("S -> 'a' S 'b' | 'a' 'b'")));
  return recognition(model, counted_strings(), counted_strings(), objective_kinds(),
                     model->predicts_next_symbol() ? grammar : nullptr);
}

Make recognizer(const Json& network, const Json& options) {
  return [=](const Json& more) {
    return std::make_unique<Trainer>(
        labelled(recognizer_of(network)),
        with(trainer_options(with({{"stop_accuracy", 0}}, options)), more));
  };
}

const Alphabet& vocabulary() {
  static const Alphabet words({"<unk>", "<eos>", "a", "b", "c"});
  return words;
}

RunningTextPtr text_of(int size, int step) {
  Word words;
  for (int i = 0; i < size; ++i) words.push_back(i % 5 == 4 ? 1 : 2 + (i * step) % 3);
  return std::make_shared<RunningText>(vocabulary(), words);
}

LanguageModelPtr word_model(const Json& network) {
  return std::make_shared<LanguageModel>(
      vocabulary(), with(network, {{"embedding", 3}, {"end_symbol", false}, {"seed", 5}}));
}

Make text(const Json& network, int stack_chunks) {
  return [=](const Json& more) {
    return std::make_unique<Trainer>(
        text_modelling(word_model(network), text_of(92, 1), text_of(31, 2)),
        with(trainer_options(
                 {{"batch", 3}, {"chunk", 4}, {"clip_value", 15}, {"stack_chunks", stack_chunks}}),
             more));
  };
}

// Sentences stay on disk.
TokenFilePtr sentences(const char* name, int count) {
  static const Scratch scratch;
  const Path path = scratch / name;
  if (!std::filesystem::exists(path)) {
    Random random(1, name);
    TokenFileWriter writer(path, Alphabet({"<unk>", "a", "b", "c"}));
    for (int i = 0; i < count; ++i) {
      Word word(random.below(5));
      for (auto& id : word) id = 1 + static_cast<int>(random.below(3));
      writer.add(word);
    }
    writer.commit(Json::object());
  }
  return std::make_shared<TokenFile>(path);
}

std::unique_ptr<Trainer> sentence_trainer(const Json& more) {
  const auto train = sentences("train.tokens", 40), valid = sentences("valid.tokens", 10);
  const auto model = std::make_shared<LanguageModel>(
      train->alphabet(),
      with(kLstm,
           {{"stack", {{"kind", "stratification"}, {"size", 2}}}, {"embedding", 3}, {"seed", 3}}));
  return std::make_unique<Trainer>(sentence_modelling(model, train, valid),
                                   with(trainer_options({{"batch", 8}}), more));
}

PairSourcePtr reversal_pairs(int shortest, int longest) {
  return make_pairs(
      {{"kind", "reversal"}, {"symbols", 2}, {"lengths", Json::array({shortest, longest})}});
}

ProblemPtr pairs(const TransducerPtr& model, int longest) {
  return transduction(model, reversal_pairs(1, longest), reversal_pairs(longest + 1, longest + 1));
}

TransducerPtr transducer() {
  const auto some = reversal_pairs(1, 2);
  return std::make_shared<Transducer>(
      some->source_alphabet(), some->target_alphabet(),
      with(kLstm,
           {{"stack", kSuperposition}, {"embedding", 3}, {"output_embedding", 3}, {"seed", 2}}));
}

const Json kPairs{{"epoch_batches", 5}, {"accuracy_every", 2}, {"accuracy_pairs", 10}};

// The same model on the problems of several stages.
Make staged_trainer(const std::function<std::vector<ProblemPtr>()>& problems, const Json& stages,
                    const Json& options = Json::object()) {
  return [=](const Json& more) {
    return std::make_unique<Trainer>(
        staged(problems()),
        with(trainer_options(with({{"stages", stages}, {"epochs", 30}}, options)), more));
  };
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, Make make) {
    all.push_back({name, std::move(make)});
  };
  // Every optimizer, in both precisions.
  for (const auto& kind : optimizer_kinds())
    for (const char* dtype : {"float32", "float64"}) {
      Json optimizer{{"kind", kind.name}, {"learning_rate", 0.01}};
      for (const auto& option : kind.options)
        if (option.name == "momentum") optimizer["momentum"] = 0.5;
      add(kind.name + "_" + dtype,
          language(with(kLstm, {{"stack", kSuperposition}, {"dtype", dtype}}),
                   {{"optimizer", optimizer}}));
    }
  for (const auto& kind : annealing_kinds())
    add("annealing_" + kind.name, language(kElman, {{"annealing", {{"kind", kind.name}}}}));
  add("accumulated", language(kElman, {{"batch", 4}, {"accumulate", 3}}));
  add("averaged_by_batches", language(kElman, {{"average", "batches"}}));
  add("in_pieces",
      language(with(kLstm, {{"stack", {{"kind", "vector_nondeterministic"}, {"window", 3}}}}),
               {{"chunk", 4}}));
  add("dropout", language(with(kElman, {{"dropout", 0.3}, {"embedding", 3}}), Json::object()));
  for (const char* positions : {"sinusoidal", "relative", "randomized"})
    for (const int chunk : {0, 3})
      add(fmt::format("transformer_{}_{}", positions, chunk),
          language({{"architecture", "transformer"},
                    {"layers", {"attention", "superposition", "nondeterministic"}},
                    {"hidden", 8},
                    {"heads", 2},
                    {"feedforward", 8},
                    {"dropout", 0.2},
                    {"positions", positions}},
                   {{"chunk", chunk}}));
  add("text", text(kLstm, 0));
  add("text_diffstk", text(kDiffStk, 0));
  add("text_diffstk_emptied", text(kDiffStk, 3));
  add("text_tape", text(kTape, 1));
  add("text_superposition",
      text({{"controller", {{"kind", "gru"}, {"hidden", 4}}},
            {"stack", {{"kind", "superposition"}, {"size", 2}, {"no_op", false}, {"depth", 4}}}},
           3));
  add("sentences", sentence_trainer);
  add("pairs", [](const Json& more) {
    return std::make_unique<Trainer>(pairs(transducer(), 3), with(trainer_options(kPairs), more));
  });
  // Recognizers, also with noise on the weights and a random learning rate.
  const Json noisy{{"noise", {{"share", 0.3}, {"first_epoch", 2}}},
                   {"annealing", {{"kind", "stochastic"}, {"half_life", 3}}}};
  Json second = kElman, still = kDiffStk;
  second["controller"]["kind"] = "second_order";
  still["controller"] = {{"kind", "elman"}, {"hidden", 3}};
  for (const auto& kind : learning_kinds()) {
    Json learning{{"kind", kind.name}};
    if (kind.name == "tbptt") learning["window"] = 2;
    add(kind.name, recognizer(second, with(noisy, {{"learning", learning}})));
    add(kind.name + "_diffstk", recognizer(still, {{"learning", learning}}));
  }
  // Networks of higher order have a faster way.
  add("uoro_bare",
      recognizer(with(second, {{"stack", {{"kind", "none"}}}, {"passes", 4}, {"carry", "first"}}),
                 with(noisy, {{"learning", "uoro"}})));
  add("uoro_nnpda",
      recognizer({{"architecture", "nnpda"}, {"output", "own"}},
                 with(noisy, {{"learning", "uoro"}, {"objective", "state_and_length"}})));
  for (const auto& kind : objective_kinds())
    if (kind.name != "state_and_length")
      for (const char* decision : {"last", "mean", "every"})
        add(kind.name + "_" + decision,
            recognizer(
                with(kElman, {{"next_symbol", true}, {"decision", decision}}),
                {{"objective", kind.name}, {"learning", {{"kind", "tbptt"}, {"window", 3}}}}));
  for (const auto& kind : curriculum_kinds()) {
    Json curriculum{{"kind", kind}};
    if (kind == "two_stage") curriculum.update({{"threshold", 3}, {"epochs", {1, 2}}});
    add("curriculum_" + kind, recognizer(kElman, {{"curriculum", curriculum}, {"epochs", 8}}));
  }
  // Stages.
  const Json two{{{"epochs", 2}}, {{"epochs", 2}, {"learning_rate", 0.01}}};
  add("stages_of_strings",
      staged_trainer(
          [] {
            const auto model = small_model(kSuperposition);
            return std::vector{strings(model, 2), strings(model, 3), strings(model, 4)};
          },
          {{{"epochs", 2}}, {{"epochs", 1}}, {{"epochs", 2}}}));
  add("stages_of_labels", staged_trainer(
                              [] {
                                const auto model = recognizer_of(kElman);
                                return std::vector{labelled(model), labelled(model)};
                              },
                              two, {{"stop_accuracy", 0}}));
  add("stages_of_texts", staged_trainer(
                             [] {
                               const auto model = word_model(kLstm);
                               return std::vector{
                                   text_modelling(model, text_of(60, 1), text_of(20, 2)),
                                   text_modelling(model, text_of(90, 2), nullptr)};
                             },
                             two, {{"batch", 2}, {"chunk", 7}}));
  add("stages_of_pairs", staged_trainer(
                             [] {
                               const auto model = transducer();
                               return std::vector{pairs(model, 2), pairs(model, 4)};
                             },
                             {{{"epochs", 2}, {"accuracy", 1}}, {{"epochs", 2}}}, kPairs));
  return all;
}

class Stopping : public testing::TestWithParam<Case> {
 protected:
  static void expect_same(Trainer& got, const Trainer& wanted, const std::string& where) {
    while (got.epochs_done() < wanted.epochs_done()) ASSERT_TRUE(got.run_epoch()) << where;
    EXPECT_EQ(timeless(got.history()), timeless(wanted.history())) << where;
    EXPECT_TRUE(same(weights(*got.model()), weights(*wanted.model()))) << where;
  }
};

TEST_P(Stopping, ChangesNoBit) {
  const auto& make = GetParam().make;
  const auto whole = make(Json::object());
  run_to_end(*whole);
  EXPECT_EQ(whole->stage(), whole->stages());
  const auto all = whole->updates_done(), epoch = whole->history().front().updates;
  ASSERT_GT(all, 3);
  // Before the first update, within an epoch, at its last update, after it, and in the last epoch.
  for (const std::int64_t stop : {std::int64_t{0}, std::int64_t{1}, epoch - 1, epoch, epoch + 1,
                                  epoch + 3, all / 2, all - 1}) {
    const Scratch scratch;
    {
      const auto first = make(Json::object());
      for (std::int64_t i = 0; i < stop; ++i) first->step();
      first->save(scratch / "run");
    }
    const auto second = resume_trainer(scratch / "run");
    EXPECT_EQ(second->updates_done(), stop);
    expect_same(*second, *whole, fmt::format("stopped at update {}", stop));
    // The stored model is the trained one.
    second->save(scratch / "run");
    const auto loaded = load_model(scratch / "run", "last");
    EXPECT_TRUE(same(weights(*loaded), weights(*whole->model())));
    EXPECT_EQ(loaded->options(), whole->model()->options());
  }
}

// Without a last checkpoint, the updates after the one before are made again.
TEST_P(Stopping, WithoutACheckpointRepeatsUpdates) {
  const auto& make = GetParam().make;
  const auto whole = make(Json::object());
  run_to_end(*whole);
  const Scratch scratch;
  const auto epoch = whole->history().front().updates;
  {
    const auto first = make({{"run_folder", (scratch / "run").string()}, {"checkpoint_every", 2}});
    for (std::int64_t i = 0; i < epoch + 3; ++i) first->step();
  }
  const auto second = resume_trainer(scratch / "run");
  EXPECT_GE(second->updates_done(), epoch);
  // An interrupt writes one.
  int questions = 0;
  second->callbacks.should_stop = [&] { return ++questions > 1; };
  EXPECT_FALSE(second->run_epoch());
  const auto third = resume_trainer(scratch / "run");
  EXPECT_EQ(third->updates_done(), second->updates_done());
  // Before batches of training and of validation.
  Random random(5);
  third->callbacks.should_stop = [&] { return random.below(4) == 0; };
  while (third->epochs_done() < whole->epochs_done()) third->run_epoch();
  expect_same(*third, *whole, "interrupted");
}

TEST_P(Stopping, AndTheNumberOfThreadsDoNotMatter) {
  const auto one = GetParam().make(Json::object()), several = GetParam().make(Json::object());
  one->run_epoch();
  set_thread_count(3);
  several->run_epoch();
  set_thread_count(1);
  expect_same(*several, *one, "threads");
}

INSTANTIATE_TEST_SUITE_P(Trainings, Stopping, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace pushdown::stopping_test
