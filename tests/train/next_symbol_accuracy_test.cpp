// Whole sets of next symbols and answers about every prefix, compared with plain loops over the
// strings.
#include "train/evaluation/next_symbol_accuracy.h"

#include <gtest/gtest.h>

#include "grammar/prefix_probability.h"
#include "grammar/sampler.h"
#include "grammar/text.h"
#include "train/evaluation/accuracy.h"
#include "train/problems/language_modelling.h"
#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::testing_support::next_symbol_accuracy_test {
namespace {

const char* const kAnBn = "S -> 'a' S 'b' | 'a' 'b'";
const char* const kAllStrings = "S -> 'a' S | 'b' S |";

GrammarPtr grammar_of(const char* text) {
  return std::make_shared<const Grammar>(Grammar(parse_grammar(text)));
}

// All strings of up to four symbols with their labels.
LabelledDatasetPtr labelled_by(const Grammar& grammar) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; words[i].size() < 4; ++i)
    for (const int symbol : {0, 1}) {
      words.push_back(words[i]);
      words.back().push_back(symbol);
    }
  const auto sets = next_symbols(grammar, words);
  std::vector<bool> labels;
  for (const auto& of : sets) labels.push_back((of.back() & 4) != 0);
  return std::make_shared<LabelledDataset>(grammar.alphabet(), words, labels);
}

Json loud_options(std::uint64_t seed, bool end_symbol, int passes = 1) {
  return {{"controller", {{"kind", "elman"}, {"hidden", 4}}},
          {"stack", {{"kind", "superposition"}, {"size", 2}}},
          {"next_symbol", true},
          {"end_symbol", end_symbol},
          {"passes", passes},
          {"evaluation_passes", passes},
          {"dtype", "float64"},
          {"seed", seed}};
}

template <class Model>
Model loud(Model model) {
  at::NoGradGuard guard;
  for (const auto& [name, parameter] : model.parameters()) parameter.mul_(4);
  return model;
}

// Returns the set that a row of logits predicts.
SymbolSet predicted_by(const Tensor& logits, double threshold) {
  SymbolSet set = 0;
  double sum = 0;
  for (std::int64_t o = 0; o < logits.size(0); ++o) sum += std::exp(logits[o].item<double>());
  for (std::int64_t o = 0; o < logits.size(0); ++o)
    if (std::exp(logits[o].item<double>()) / sum > threshold) set |= SymbolSet{1} << o;
  return set;
}

// Returns whether each symbol of a set is more probable than every other one.
bool ranks(const Tensor& logits, SymbolSet set) {
  bool right = true;
  for (std::int64_t a = 0; a < logits.size(0); ++a)
    for (std::int64_t b = 0; b < logits.size(0); ++b)
      if ((set >> a & 1) != 0 && (set >> b & 1) == 0)
        right &= logits[a].item<double>() > logits[b].item<double>();
  return right;
}

// Returns the strings that a threshold predicts, after one symbol and on.
std::vector<bool> predicts(const Tensor& logits, const std::vector<std::int64_t>& strings,
                           const NextSymbols& sets, double threshold) {
  std::vector<bool> right;
  for (const auto& of : predicted_sets(logits, strings, sets, 1))
    right.push_back(of.contains(threshold_of(threshold, logits.size(2))));
  return right;
}

TEST(NextSymbolAccuracy, TheWholeSetAtEveryPlace) {
  // After 1 and 2 symbols a, and a or the end (bit 2).
  const NextSymbols sets{{7, 1, 5}, {7, 1, 5}, {7, 2, 5}};
  const auto logit = [](double p) { return std::log(p); };
  const auto rows = [&](double second) {
    return std::vector<double>{logit(.9),  logit(.05),          logit(.05),
                               logit(.45), logit(.55 - second), logit(second)};
  };
  std::vector<double> values;
  for (const double second : {.45, .2, .45}) {
    const auto row = rows(second);
    values.insert(values.end(), row.begin(), row.end());
  }
  const Tensor logits = at::tensor(values).view({3, 2, 3});
  // String 1 has .35 for b after two symbols, string 2 wants b after the first.
  EXPECT_EQ(predicts(logits, {0, 1, 2}, sets, 0), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(predicts(logits, {0, 1, 2}, sets, 0.5), (std::vector<bool>{false, false, false}));
  // Without an end symbol its bit is ignored.
  EXPECT_EQ(predicts(logits.narrow(1, 0, 1).narrow(2, 0, 2), {0, 2}, sets, 0),
            (std::vector<bool>{true, false}));
}

// The probability of what may follow differs by a factor of 100 between the two places, so no
// threshold fits both.
TEST(NextSymbolAccuracy, ARankingNeedsNoCommonThreshold) {
  const NextSymbols sets{{7, 3, 1}};
  const auto found = [&](double last_allowed, double last_other) {
    const std::vector<double> p{.989,         .01, .001,  // a and b may follow
                                last_allowed, .1,  last_other};
    return predicted_sets(at::tensor(p).log().view({1, 2, 3}), {0}, sets, 1).front();
  };
  EXPECT_TRUE(found(.6, .3).ranked);
  EXPECT_FALSE(found(.6, .3).least < found(.6, .3).most);
  EXPECT_FALSE(found(.3, .6).ranked);
  EXPECT_FALSE(found(.45, .45).ranked);  // a tie
  // An exact model gives symbols that cannot follow no probability.
  EXPECT_TRUE(found(1, 0).ranked);
}

// D2, D3, D6 and palindromes with a mark, by the probabilities of their grammars: in strings of up
// to 40 symbols, given that the string goes on.
TEST(NextSymbolAccuracy, ExactModelsAreRanked) {
  const auto dyck = [](int types) {
    std::string text = "S -> S S | ";
    for (int i = 0; i < types; ++i) text += fmt::format("'o{0}' S 'c{0}' | ", i);
    return text;
  };
  const std::vector<std::int64_t> strings{0, 1, 2, 3, 4};
  for (const std::string& text :
       {dyck(2), dyck(3), dyck(6), std::string("S -> 'a' S 'a' | 'b' S 'b' | 'm'")}) {
    const auto grammar = grammar_of(text.c_str());
    const Sampler sampler(*grammar, 1, 40);
    const LengthTable table(*grammar, 40);
    const int length = text.find('m') == std::string::npos ? 14 : 15;
    std::vector<Word> words;
    Random random(1);
    for ([[maybe_unused]] const auto string : strings)
      words.push_back(sampler.sample_of_length(length, random));
    const std::int64_t outcomes = grammar->alphabet().size();
    Tensor logits = at::empty({std::ssize(strings), length, outcomes}, at::kDouble);
    for (const auto k : strings)
      for (int t = 0; t < length; ++t)
        for (int a = 0; a < outcomes; ++a) {
          Word before(words[k].begin(), words[k].begin() + t);
          before.push_back(a);
          logits[k][t][a] = next_symbol_log_probabilities(table, sampler.lengths(), before).back();
        }
    for (const auto& of : predicted_sets(logits, strings, next_symbols(*grammar, words), 0)) {
      EXPECT_TRUE(of.ranked) << text;
      EXPECT_EQ(of.least, 0) << text;
    }
  }
}

TEST(NextSymbolAccuracy, TheLargestAlphabetHasAllBits) {
  // 63 symbols and the end; the first and the last outcome.
  Tensor logits = at::full({1, 1, 64}, -50.0, at::kDouble);
  logits[0][0][0] = 1.0;
  logits[0][0][63] = 1.0;
  const SymbolSet ends = (SymbolSet{1} << 63) | 1;
  EXPECT_EQ(predicts(logits, {0}, {{0, ends}}, 0), std::vector<bool>{true});
  EXPECT_EQ(predicts(logits, {0}, {{0, 1}}, 0), std::vector<bool>{false});
}

TEST(NextSymbolAccuracy, OfARecognizerIsThatOfAPlainLoop) {
  at::NoGradGuard guard;
  std::set<std::int64_t> followed_counts, predicted_counts, ranked_counts;
  for (const char* text : {kAnBn, kAllStrings})
    for (const bool end_symbol : {true, false})
      for (const int passes : {1, 3})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          const auto grammar = grammar_of(text);
          const auto data = labelled_by(*grammar);
          const auto sets =
              std::make_shared<const NextSymbols>(next_symbols(*grammar, data->words()));
          const auto model =
              loud(Recognizer(grammar->alphabet(), loud_options(seed, end_symbol, passes)));
          EvaluationOptions options{.batch = 3};
          options.next_symbols = sets;
          options.threshold = 0.1;
          const auto result = *evaluate(model, *data, options);
          std::int64_t followed = 0, predicted = 0, ranked = 0;
          for (std::int64_t i = 0; i < data->size(); ++i) {
            const Word& word = data->words()[i];
            const auto n = std::ssize(word), read = n + (end_symbol ? 1 : 0);
            const Recognition said = model.run(word_tensor(data->words(), {i}));
            const auto made = read > 0 ? (said.scores.size(1) - 1) / read : 1;
            bool follows = true, predicts = data->labels()[i], orders = predicts;
            for (std::int64_t t = read == 0 ? 0 : 1; t <= read; ++t) {
              const bool answer = said.scores[0][t * made].item<double>() > 0;
              follows &= answer == (t == read ? data->labels()[i] : (*sets)[i][t] != 0);
              if (t < 1 || t >= read) continue;
              const Tensor scores = model.next_scores(said.hiddens)[0][t * made];
              predicts &= predicted_by(scores, 0.1) == ((*sets)[i][t] & (end_symbol ? 7 : 3));
              orders &= ranks(scores, (*sets)[i][t]);
            }
            followed += follows;
            predicted += predicts;
            ranked += orders;
          }
          EXPECT_EQ(result.all.followed, followed) << text << seed;
          EXPECT_EQ(result.all.predicted, predicted) << text << seed;
          EXPECT_EQ(result.all.ranked, ranked) << text << seed;
          followed_counts.insert(followed);
          predicted_counts.insert(predicted);
          ranked_counts.insert(ranked);
          const auto json = to_json(result);
          EXPECT_DOUBLE_EQ(json["prefix_accuracy"].get<double>(),
                           static_cast<double>(followed) / static_cast<double>(data->size()));
          EXPECT_DOUBLE_EQ(json["next_symbol_accuracy"].get<double>(),
                           static_cast<double>(predicted) / static_cast<double>(data->positives()));
          EXPECT_DOUBLE_EQ(json["next_symbol_ranking"].get<double>(),
                           static_cast<double>(ranked) / static_cast<double>(data->positives()));
          std::int64_t in_bins = 0;
          for (const auto& bin : result.bins) in_bins += bin.predicted;
          EXPECT_EQ(in_bins, predicted);
        }
  // The cases above are of several kinds.
  EXPECT_GT(followed_counts.size(), 3U);
  EXPECT_GT(predicted_counts.size(), 3U);
  EXPECT_GT(ranked_counts.size(), 3U);
}

TEST(NextSymbolAccuracy, OfALanguageModelIsThatOfAPlainLoop) {
  at::NoGradGuard guard;
  std::set<std::int64_t> counts;
  for (const char* text : {kAnBn, kAllStrings})
    for (const bool end_symbol : {true, false})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto grammar = grammar_of(text);
        const auto labelled = labelled_by(*grammar);
        std::vector<Word> words;
        for (std::int64_t i = 0; i < labelled->size(); ++i)
          if (labelled->labels()[i]) words.push_back(labelled->words()[i]);
        const Dataset data(grammar->alphabet(), words);
        const auto sets = std::make_shared<const NextSymbols>(next_symbols(*grammar, words));
        Json options = loud_options(seed, end_symbol);
        options.erase("next_symbol");
        options.erase("passes");
        options.erase("evaluation_passes");
        const auto model = loud(LanguageModel(grammar->alphabet(), options));
        EvaluationOptions evaluation;
        evaluation.next_symbols = sets;
        evaluation.threshold = 0.05;
        const auto result = *evaluate(model, data, evaluation);
        std::int64_t predicted = 0, ranked = 0;
        for (std::int64_t i = 0; i < data.size(); ++i) {
          const Tensor logits = model.logits(word_tensor(words, {i}));
          bool all = true, orders = true;
          for (std::int64_t t = 0; t < logits.size(1); ++t) {
            all &= predicted_by(logits[0][t], 0.05) == ((*sets)[i][t] & (end_symbol ? 7 : 3));
            orders &= ranks(logits[0][t], (*sets)[i][t]);
          }
          predicted += all;
          ranked += orders;
        }
        EXPECT_DOUBLE_EQ(*result.all.next_symbol_accuracy,
                         static_cast<double>(predicted) / static_cast<double>(data.size()));
        EXPECT_DOUBLE_EQ(*result.all.next_symbol_ranking,
                         static_cast<double>(ranked) / static_cast<double>(data.size()));
        counts.insert(predicted);
      }
  EXPECT_GT(counts.size(), 2U);
}

TEST(NextSymbolAccuracy, TheRankingCanChooseTheBestEpoch) {
  const auto grammar = grammar_of("S -> 'a' 'b' S | 'a' 'b'");
  const auto data = labelled_by(*grammar);
  const auto best_of = [](Trainer& trainer) {
    const EpochMetrics* best = nullptr;
    while (trainer.finished().empty()) trainer.run_epoch();
    for (const auto& epoch : trainer.history())
      if (best == nullptr || *epoch.next_symbol_ranking > *best->next_symbol_ranking) best = &epoch;
    EXPECT_EQ(trainer.history().back().best_epoch, best->epoch);
    return best->epoch;
  };
  const Json chosen{{"stop_patience", 0},
                    {"seed", 1},
                    {"epochs", 60},
                    {"best_by", "next_symbols"},
                    {"optimizer", {{"kind", "adam"}, {"learning_rate", 0.05}}}};
  Json joint = chosen;
  joint["objective"] = Json{{"kind", "joint"}, {"negatives", false}};
  auto recognizer = std::make_shared<Recognizer>(grammar->alphabet(), loud_options(1, true));
  Trainer of_labels(recognition(recognizer, data, data, objective_kinds(), grammar), joint);
  EXPECT_GT(best_of(of_labels), 1);
  std::vector<Word> words;
  for (std::int64_t i = 0; i < data->size(); ++i)
    if (data->labels()[i]) words.push_back(data->words()[i]);
  const auto strings = std::make_shared<Dataset>(grammar->alphabet(), words);
  Json options = loud_options(1, true);
  for (const char* key : {"next_symbol", "passes", "evaluation_passes"}) options.erase(key);
  auto model = std::make_shared<LanguageModel>(grammar->alphabet(), options);
  Trainer of_strings(language_modelling(model, strings, strings, grammar), chosen);
  EXPECT_GT(best_of(of_strings), 1);
  EXPECT_TRUE(std::isfinite(of_strings.history().back().best_cross_entropy));
  for (const auto& problem : {recognition(recognizer, data, data, objective_kinds(), nullptr),
                              language_modelling(model, strings, strings, nullptr)})
    EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                      Trainer(problem, {{"seed", 1}, {"best_by", "next_symbols"}});
                    }),
                    "best_by = 'next_symbols' needs a grammar");
}

TEST(NextSymbolAccuracy, OfTheValidationStringsOfALanguageModel) {
  const auto grammar =
      grammar_of("S -> '0' S '0' | '1' S '1' | '0' '#' '0' | '1' '#' '1'\n#% symbols '0' '1' '#'");
  const auto strings = reversal_strings(20, 1);
  Trainer trainer(language_modelling(small_model(), strings, strings, grammar),
                  {{"seed", 1}, {"epochs", 1}});
  EXPECT_TRUE(trainer.run_epoch()->next_symbol_accuracy.has_value());
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    Trainer(language_modelling(small_model(), strings, strings, grammar),
                            {{"seed", 1}, {"chunk", 2}});
                  }),
                  "leave out chunk");
  EXPECT_CONTAINS(message<std::invalid_argument>(
                      [&] { language_modelling(small_model(), strings, nullptr, grammar); }),
                  "grammar needs validation strings");
}

TEST(NextSymbolAccuracy, AGrammarThatContradictsTheLabelsIsReported) {
  const auto grammar = grammar_of(kAllStrings), other = grammar_of(kAnBn);
  const auto data = labelled_by(*other);
  const Recognizer model(grammar->alphabet(), loud_options(1, true));
  EvaluationOptions options;
  options.next_symbols = std::make_shared<const NextSymbols>(next_symbols(*grammar, data->words()));
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { evaluate(model, *data, options); }),
                  "is labelled invalid, which contradicts the grammar");
}

}  // namespace
}  // namespace pushdown::testing_support::next_symbol_accuracy_test
