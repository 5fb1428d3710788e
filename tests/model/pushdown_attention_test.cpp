// Pushdown attention and the head that attaches symbols, compared with their equations in plain
// loops; readings in pieces; and the search for trees, compared with all trees.
#include "model/pushdown_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "grammar/incremental_parse.h"
#include "model/attaching_network.h"
#include "model/attachment_search.h"
#include "support/gradient.h"
#include "support/message.h"

namespace pushdown::pushdown_attention_test {
namespace {

using testing_support::message;

constexpr std::int64_t kSize = 6;

LanguageModel make_model(const Json& layers, bool end_symbol = true,
                         const std::string& positions = "sinusoidal") {
  LanguageModel model(Alphabet({"a", "b", "c"}), Json{{"architecture", "transformer"},
                                                      {"layers", layers},
                                                      {"hidden", kSize},
                                                      {"heads", 3},
                                                      {"feedforward", 5},
                                                      {"end_symbol", end_symbol},
                                                      {"dtype", "float64"},
                                                      {"positions", positions},
                                                      {"seed", 3}});
  // Depths and places that matter, so that the choices differ from string to string.
  const at::NoGradGuard guard;
  for (const auto& [name, tensor] : model.parameters())
    if (name.find("depth_embedding") != name.npos) tensor.mul_(10);
  return model;
}

const Json kPushdown = Json{{"kind", "pushdown_attention"}, {"depths", 3}};
const Json kLayers = Json::array({"attention", kPushdown, kPushdown});

Tensor tensor_of(const std::vector<int>& word) {
  return at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
}

// ---- The equations, one position and one number at a time, as tensors with gradients. ----

class Reference {
 public:
  explicit Reference(const LanguageModel& model) {
    for (const auto& [name, tensor] : model.parameters()) parameters_[name] = tensor;
  }

  // log p(w, tree) in two parts.
  TreeLogProbabilities log_probabilities(const Word& word, const Attachments& attachments) const {
    const auto length = static_cast<int>(word.size());
    // The constituents that are complete after each symbol, from the trees alone.
    std::vector<std::vector<int>> depths(length + 1, std::vector<int>(length + 1, 0));
    const auto all = parse_of(attachments).constituents();
    for (int t = 1; t <= length; ++t)
      for (int s = 1; s <= t; ++s)
        for (const auto& [begin, end] : all)
          depths[t][s] += end <= t && begin <= s - 1 && s - 1 < end;
    const bool relative = parameters_.count("layers.1.distance_weight") > 0;
    std::vector<Tensor> x;
    for (int t = 0; t <= length; ++t) {
      x.push_back(std::sqrt(6.0) * at("embedding")[t == 0 ? 3 : word[t - 1]]);
      if (!relative) x.back() = x.back() + encoding(t);
    }
    for (int layer = 1; layer <= 3; ++layer) {
      const std::string name = "layers." + std::to_string(layer) + ".";
      const auto seen = attention(normed(x, name + "norm"), name, layer > 1 ? &depths : nullptr);
      for (int t = 0; t <= length; ++t) x[t] = x[t] + seen[t];
      const auto inner = normed(x, name + "feedforward_norm");
      for (int t = 0; t <= length; ++t)
        x[t] = x[t] + affine(affine(inner[t], name + "feedforward_inner").relu(),
                             name + "feedforward_outer");
    }
    const auto hiddens = normed(x, "norm");
    TreeLogProbabilities sums{at::zeros({1}, at::kDouble), at::zeros({1}, at::kDouble)};
    for (int t = 0; t <= length; ++t) {
      const int target = t < length ? word[t] : 3;
      if (target < at("output.bias").size(0))
        sums.symbols =
            sums.symbols +
            (at::mv(at("output.weight"), hiddens[t]) + at("output.bias")).log_softmax(0)[target];
    }
    IncrementalParse parse;
    for (int t = 1; t <= length; ++t) {
      const Tensor unit =
          affine(affine(at::cat({at("embedding")[word[t - 1]], hiddens[t - 1]}), "attachment_inner")
                     .relu(),
                 "attachment_outer");
      const Tensor query = at::mv(at("attachment_choice_weight"), unit);
      std::vector<Tensor> scores;
      int chosen = -1;
      for (const int choice : parse.choices()) {
        if (choice == attachments[t - 1]) chosen = static_cast<int>(scores.size());
        const Tensor key = choice == t - 1 ? unit : hiddens[choice + 1];
        scores.push_back(
            query.dot(key + at::mv(at("attachment_distance_weight"), encoding(t - 1 - choice))));
      }
      sums.attachments = sums.attachments + at::stack(scores).log_softmax(0)[chosen];
      parse.add(attachments[t - 1]);
    }
    return sums;
  }

 private:
  const Tensor& at(const std::string& name) const { return parameters_.at(name); }
  Tensor affine(const Tensor& x, const std::string& name) const {
    return at::mv(at(name + "_weight"), x) + at(name + "_bias");
  }
  static Tensor encoding(int t) {
    std::vector<double> row;
    for (int i = 0; i < kSize; ++i) {
      const double angle = t / std::pow(10000.0, (i - i % 2) / 6.0);
      row.push_back(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
    return at::tensor(row, at::kDouble);
  }
  std::vector<Tensor> normed(const std::vector<Tensor>& x, const std::string& name) const {
    std::vector<Tensor> out;
    for (const Tensor& row : x) {
      const Tensor centred = row - row.mean();
      out.push_back(centred / (centred.square().mean() + 1e-5).sqrt() * at(name + "_gain") +
                    at(name + "_bias"));
    }
    return out;
  }
  std::vector<Tensor> attention(const std::vector<Tensor>& x, const std::string& name,
                                const std::vector<std::vector<int>>* depths) const {
    const bool relative = parameters_.count(name + "distance_weight") > 0;
    std::vector<Tensor> out;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Tensor query = at::mv(at(name + "query_weight"), x[t]);
      std::vector<Tensor> keys, values, distances;
      for (std::size_t s = 0; s <= t; ++s) {
        Tensor input = x[s];
        if (depths != nullptr)
          input = input + at(name + "depth_embedding")[std::min((*depths)[t][s], 2)];
        keys.push_back(at::mv(at(name + "key_weight"), input));
        if (relative)
          distances.push_back(
              at::mv(at(name + "distance_weight"), encoding(static_cast<int>(t - s))));
        values.push_back(at::mv(at(name + "value_weight"), x[s]));
      }
      std::vector<Tensor> heads;
      for (int h = 0; h < 3; ++h) {
        std::vector<Tensor> scores;
        const auto own = [h](const Tensor& of) { return of.narrow(0, 2 * h, 2); };
        for (std::size_t s = 0; s < keys.size(); ++s) {
          Tensor score = own(query).dot(own(keys[s]));
          if (relative)
            score = score + own(query).dot(own(distances[s])) +
                    own(at(name + "content_bias")).dot(own(keys[s])) +
                    own(at(name + "distance_bias")).dot(own(distances[s]));
          scores.push_back(score / std::sqrt(2.0));
        }
        const Tensor shares = at::stack(scores).softmax(0);
        Tensor sum = at::zeros({2}, at::kDouble);
        for (std::size_t s = 0; s <= t; ++s)
          sum = sum + shares[static_cast<std::int64_t>(s)] * values[s].narrow(0, 2 * h, 2);
        heads.push_back(sum);
      }
      out.push_back(at::mv(at(name + "output_weight"), at::cat(heads)));
    }
    return out;
  }

  std::map<std::string, Tensor> parameters_;
};

// Every list of attachments of a number of symbols.
std::vector<Attachments> all_attachments(int symbols) {
  std::vector<Attachments> all;
  const std::function<void(IncrementalParse, Attachments)> extend =
      [&](const IncrementalParse& parse, Attachments attachments) {
        if (parse.size() == symbols) return all.push_back(attachments);
        for (const int choice : parse.choices()) {
          IncrementalParse longer = parse;
          longer.add(choice);
          Attachments next = attachments;
          next.push_back(choice);
          extend(longer, next);
        }
      };
  extend({}, {});
  return all;
}

TEST(PushdownAttention, ValuesAndGradientsAreThoseOfTheEquations) {
  const std::vector<std::pair<Word, Attachments>> cases{
      {{0, 1, 2, 0, 1, 1, 2}, {0, 0, 2, 1, 4, 4, 3}},
      {{2, 2, 1, 0, 1, 0, 0}, {0, 1, 2, 3, 0, 5, 6}},
      {{1}, {0}},
      {{}, {}}};
  for (const auto& [end_symbol, positions] :
       {std::pair{true, "sinusoidal"}, {false, "sinusoidal"}, {true, "relative"}}) {
    const auto model = make_model(kLayers, end_symbol, positions),
               other = make_model(kLayers, end_symbol, positions);
    for (const auto& [word, attachments] : cases) {
      const auto found = model.tree_log_probabilities(tensor_of(word), tensor_of(attachments));
      const auto expected = Reference(other).log_probabilities(word, attachments);
      EXPECT_NEAR(found.symbols.item<double>(), expected.symbols.item<double>(), 1e-11);
      EXPECT_NEAR(found.attachments.item<double>(), expected.attachments.item<double>(), 1e-11);
      if (word.size() < 2) continue;
      for (const auto& m : {&model, &other})
        for (const auto& [name, tensor] : m->parameters()) tensor.mutable_grad() = Tensor();
      found.sum().sum().backward();
      expected.sum().sum().backward();
      for (std::size_t i = 0; i < model.parameters().size(); ++i) {
        const auto& [name, tensor] = model.parameters()[i];
        const Tensor wanted = other.parameters()[i].second.grad();
        ASSERT_TRUE(wanted.defined()) << name;
        EXPECT_LT((tensor.grad() - wanted).abs().max().item<double>(), 1e-9) << name;
      }
    }
  }
}

TEST(PushdownAttention, StringsOfABatchAreThoseAlone) {
  const auto model = make_model(kLayers);
  const Attachments first{0, 0, 1, 3, 2}, second{0, 1, 2, 1, 0};
  const Tensor words = at::cat({tensor_of({0, 1, 2, 2, 1}), tensor_of({1, 1, 0, 2, 0})});
  const auto both =
      model.tree_log_probabilities(words, at::cat({tensor_of(first), tensor_of(second)})).sum();
  EXPECT_NEAR(
      both[0].item<double>(),
      model.tree_log_probabilities(words.narrow(0, 0, 1), tensor_of(first)).sum().item<double>(),
      1e-12);
  EXPECT_NEAR(
      both[1].item<double>(),
      model.tree_log_probabilities(words.narrow(0, 1, 1), tensor_of(second)).sum().item<double>(),
      1e-12);
}

// The symbols given their trees, and the trees given the symbols, are distributions.
TEST(PushdownAttention, AllStringsWithAllTreesHaveProbabilityOne) {
  const auto model = make_model(kLayers, false);
  double total = 0;
  for (int code = 0; code < 27; ++code)
    for (const auto& attachments : all_attachments(3))
      total += model
                   .tree_log_probabilities(tensor_of({code % 3, code / 3 % 3, code / 9}),
                                           tensor_of(attachments))
                   .sum()
                   .exp()
                   .item<double>();
  EXPECT_NEAR(total, 1, 1e-12);
}

// Reading without trees is reading with the attachments that the model makes itself.
TEST(PushdownAttention, AStringWithoutATreeIsReadWithTheMostProbableAttachments) {
  const auto model = make_model(kLayers);
  std::set<Attachments> different;
  for (const Word& word :
       {Word{0, 1, 2, 2, 1, 0}, Word{1, 1, 1, 0, 2, 0}, Word{2, 0, 1, 1, 2, 2}}) {
    const auto greedy = best_trees(model, word, 1);
    ASSERT_EQ(greedy.size(), 1u);
    different.insert(greedy[0].attachments);
    const auto with =
        model.tree_log_probabilities(tensor_of(word), tensor_of(greedy[0].attachments));
    EXPECT_NEAR(model.log_probabilities(tensor_of(word)).item<double>(),
                with.symbols.item<double>(), 1e-12);
    EXPECT_NEAR(greedy[0].log_probability, with.sum().item<double>(), 1e-12);
    // Symbol by symbol, and in pieces.
    ReadingState state = model.begin(1);
    std::vector<Tensor> rows;
    for (const auto& [first, count] : {std::pair{0, 1}, {1, 3}, {4, 2}}) {
      auto [logits, next] = model.read(tensor_of(word).narrow(1, first, count), state);
      rows.push_back(logits);
      state = next;
    }
    rows.push_back(model.next(state).first.unsqueeze(1));
    EXPECT_LT((at::cat(rows, 1) - model.logits(tensor_of(word))).abs().max().item<double>(), 1e-12);
  }
  EXPECT_GT(different.size(), 1u);
}

TEST(PushdownAttention, AWideSearchFindsTheBestOfAllTrees) {
  const auto model = make_model(kLayers);
  const Word word{0, 2, 1, 1, 0};
  std::vector<std::pair<double, Attachments>> expected;
  for (const auto& attachments : all_attachments(5))
    expected.emplace_back(
        model.tree_log_probabilities(tensor_of(word), tensor_of(attachments)).sum().item<double>(),
        attachments);
  std::sort(expected.rbegin(), expected.rend());
  const auto found = best_trees(model, word, static_cast<std::int64_t>(expected.size()));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].attachments, expected[i].second);
    EXPECT_NEAR(found[i].log_probability, expected[i].first, 1e-11);
  }
  double narrow = best_trees(model, word, 1)[0].log_probability;
  EXPECT_LE(narrow, found[0].log_probability + 1e-12);
}

// Without vectors of depths the layer is plain attention, with every encoding of positions; with
// them a search, and reading in pieces, agree with whole strings.
TEST(PushdownAttention, ReadsPositionsAsAttentionDoes) {
  const Word word{0, 2, 1, 1, 0};
  for (const std::string positions : {"none", "sinusoidal", "rotary", "alibi", "relative"}) {
    Json layers = Json::array({"attention", kPushdown});
    const auto plain = make_model(Json::array({"attention", "attention"}), true, positions);
    const auto model = make_model(layers, true, positions);
    const auto found = best_trees(model, word, 2);
    for (const auto& tree : found)
      EXPECT_NEAR(tree.log_probability,
                  model.tree_log_probabilities(tensor_of(word), tensor_of(tree.attachments))
                      .sum()
                      .item<double>(),
                  1e-11)
          << positions;
    const at::NoGradGuard guard;
    std::map<std::string, Tensor> known;
    for (const auto& [name, tensor] : plain.parameters()) known[name] = tensor;
    for (const auto& [name, tensor] : model.parameters())
      if (known.count(name) > 0)
        tensor.copy_(known[name]);
      else if (name.find("depth_embedding") != name.npos)
        tensor.zero_();
    EXPECT_LT(
        (model.logits(tensor_of(word)) - plain.logits(tensor_of(word))).abs().max().item<double>(),
        1e-12)
        << positions;
  }
}

TEST(PushdownAttention, MixesWithStackAttention) {
  const auto model = make_model(Json::array(
      {kPushdown, "superposition", Json{{"kind", "pushdown_attention"}, {"depths", 2}}}));
  const auto found = best_trees(model, {0, 1, 2, 1}, 3);
  ASSERT_EQ(found.size(), 3u);
  for (const auto& tree : found)
    EXPECT_NEAR(tree.log_probability,
                model.tree_log_probabilities(tensor_of({0, 1, 2, 1}), tensor_of(tree.attachments))
                    .sum()
                    .item<double>(),
                1e-11);
}

TEST(PushdownAttention, Errors) {
  const auto model = make_model(kLayers), plain = make_model(Json::array({"attention"}));
  EXPECT_TRUE(model.reads_trees());
  EXPECT_FALSE(plain.reads_trees());
  const Tensor word = tensor_of({0, 1, 2});
  EXPECT_EQ(message([&] {
              (void)model.tree_log_probabilities(word, tensor_of({0, 0, 0}));
            }),
            "[attachments] word 3 cannot attach to word 1: expected 2, 3, the last words of "
            "constituents");
  EXPECT_CONTAINS(message([&] {
                    (void)model.tree_log_probabilities(word, tensor_of({0, 0}));
                  }),
                  "attachments must be");
  EXPECT_EQ(message([&] {
              (void)plain.tree_log_probabilities(word, tensor_of({0, 0, 1}));
            }),
            "[language_model.tree_log_probabilities] trees need a transformer with a layer "
            "'pushdown_attention', got a transformer of attention");
  EXPECT_EQ(message([&] { (void)best_trees(plain, {0}, 1); }),
            "[model.trees] trees need a transformer with a layer 'pushdown_attention', got a "
            "transformer of attention");
  EXPECT_EQ(message([&] { (void)best_trees(model, {0}, 0); }),
            "[model.trees] beam must be at least 1, got 0");
}

}  // namespace
}  // namespace pushdown::pushdown_attention_test
