// Rule insertion: programmed networks compared with the automata themselves, margins compared with
// brute force over the ends of all intervals, weights that must not change, and errors.
#include "model/rule_insertion.h"

#include <gtest/gtest.h>

#include <set>

#include "model/state_pushdown.h"
#include "pda/deterministic_run.h"
#include "pda/minimisation.h"
#include "support/decisions.h"
#include "support/encodable_pda.h"
#include "support/message.h"

namespace pushdown::rule_insertion_test {
namespace {

using namespace testing_support;

std::unique_ptr<Recognizer> make(const Alphabet& alphabet, const char* order, int states,
                                 const Json& more = Json::object()) {
  Json options{{"architecture", "nspda"}, {"order", order}, {"states", states}, {"seed", 3}};
  options.update(more);
  return std::make_unique<Recognizer>(alphabet, options);
}

const StatePushdown& network_of(const Recognizer& model) {
  return dynamic_cast<const StatePushdown&>(model.network());
}

// Returns the number of accepted words.
int expect_same_language(const Recognizer& model, const Pda& pda, int longest) {
  const auto words = all_words(pda.alphabet().size(), longest);
  const auto decided = decisions_of(model, words);
  const DeterministicRun run(pda);
  int wrong = 0, accepted = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    wrong += decided[i] != run.accepts(words[i]);
    accepted += decided[i];
  }
  EXPECT_EQ(wrong, 0) << "of " << words.size();
  return accepted;
}

TEST(RuleInsertion, ProgrammedNetworksAreTheAutomaton) {
  for (const auto& pda : {marked_palindrome(), equal_counts()})
    for (const auto* order : {"third", "second"})
      for (const auto* discrete : {"evaluation", "never", "always"})
        for (const int passes : {1, 4}) {
          auto model = make(pda.alphabet(), order, 8,
                            {{"discrete", discrete}, {"evaluation_passes", passes}});
          const auto report = insert_rules(*model, pda);
          EXPECT_TRUE(report.holds);
          EXPECT_GT(report.margin, 0.1);
          EXPECT_EQ(report.discrete_margin.has_value(), std::string(discrete) != "never");
          EXPECT_TRUE(report.acceptance);
          EXPECT_GT(expect_same_language(*model, pda, 7), 2);
        }
}

TEST(RuleInsertion, RandomAutomataAreRecovered) {
  int most = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const auto* order : {"third", "second"}) {
      const Pda pda = encodable_pda(3, 2 + seed % 2, 0.7, seed % 3 != 0, seed);
      auto model =
          make(pda.alphabet(), order, 40,
               {{"seed", seed}, {"end_symbol", true}, {"evaluation_passes", 1 + seed % 3}});
      const auto report = insert_rules(*model, pda);
      ASSERT_TRUE(report.holds);
      most = std::max(most, report.needed);
      accepted += expect_same_language(*model, pda, 6);
    }
  EXPECT_GT(most, 8);
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 20000);
}

TEST(RuleInsertion, AcceptanceWithoutAnEndSymbol) {
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pda pda = encodable_pda(3, 2, 0.8, false, seed);
    auto model = make(pda.alphabet(), "second", 30, {{"end_symbol", false}, {"seed", seed}});
    EXPECT_TRUE(insert_rules(*model, pda).acceptance);
    accepted += expect_same_language(*model, pda, 7);
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 2200);
  auto model = make(equal_counts().alphabet(), "third", 5, {{"end_symbol", false}});
  const auto report = insert_rules(*model, equal_counts());
  EXPECT_FALSE(report.acceptance);
  EXPECT_CONTAINS(report.acceptance_reason, "end symbol");
}

// Returns the smallest distance over all corners of the reading's box, from the network's own sums.
double brute_margin(const Recognizer& model, const Pda& pda, const RuleReport& report,
                    bool discrete) {
  const auto& network = network_of(model);
  const auto& least = network.least_values();
  const auto& most = network.greatest_values();
  const int symbols = model.alphabet().size();
  std::map<std::string, std::vector<int>> neurons(report.neurons.begin(), report.neurons.end());
  double margin = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < pda.transitions().size(); ++place) {
    const auto& t = pda.transitions()[place];
    const auto& line = report.transitions[place];
    const int top = t.top == 0 ? symbols : model.alphabet().id(pda.stack_symbols()[t.top]);
    const int input = model.alphabet().id(pda.alphabet().symbol(t.symbol));
    for (int popped = -1; popped < symbols; ++popped) {
      if (popped == top) continue;
      for (int corner = 0; corner < 1 << (symbols + 1); ++corner) {
        std::vector<double> reading;
        for (int k = 0; k <= symbols; ++k) {
          const auto& values = (corner >> k & 1) ? most : least;
          reading.push_back(k == top ? values.top : k == popped ? values.popped : values.other);
        }
        for (const int j : neurons.at(pda.states()[t.state])) {
          std::vector<double> state(report.available, 0);
          state[j] = 1;
          const auto sums = network.pre_activations(state, reading, input, discrete);
          for (int i = 0; i < report.available; ++i)
            margin = std::min(margin, (i == line.to[0] ? 1 : -1) * sums.state[i]);
          const double push = sums.action[input] - network.push_threshold();
          margin = std::min(margin, t.action == StackAction::push ? push : -push);
          if (t.action == StackAction::push || top == symbols) continue;
          const double pop = network.pop_threshold() - sums.action[top];
          margin = std::min(margin, t.action == StackAction::pop ? pop : -pop);
        }
      }
    }
  }
  return margin;
}

// Large negative weights do not change the language.
TEST(RuleInsertion, InhibitionKeepsTheLanguage) {
  int refusing = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const auto* order : {"third", "second"})
      for (const bool end : {true, false}) {
        const Pda pda = encodable_pda(3, 2, 0.7, end, seed);
        const auto made = [&](bool inhibition) {
          auto model = make(pda.alphabet(), order, 40, {{"seed", seed}, {"end_symbol", end}});
          const auto report = insert_rules(*model, pda, {.inhibition = inhibition});
          EXPECT_TRUE(report.holds);
          EXPECT_TRUE(report.acceptance);
          return model;
        };
        const auto plain = made(false), inhibited = made(true);
        expect_same_language(*inhibited, pda, 6);
        const auto inhibits = [](const Recognizer& model) {
          return model.output_weight().min().item<double>() < -7.9;
        };
        EXPECT_FALSE(inhibits(*plain));
        if (end) {
          EXPECT_FALSE(inhibits(*inhibited));
        }
        refusing += inhibits(*inhibited);
      }
  EXPECT_GT(refusing, 6);
}

TEST(RuleInsertion, InhibitionIsWhereThePaperHasIt) {
  const Pda pda = equal_counts();
  auto model = make(pda.alphabet(), "third", 6);
  const auto report = insert_rules(*model, pda, {.strength = 2.0, .inhibition = true});
  std::map<std::string, std::vector<int>> neurons(report.neurons.begin(), report.neurons.end());
  const int accepted = neurons.at("(accepted)")[0], end = model->alphabet().size();
  const Tensor weights = network_of(*model).state_weight();
  const auto weight = [&](int i, int j, int k, int l) {
    return weights[i][j][k][l].item<double>();
  };
  int left = 0, stayed = 0;
  for (std::size_t place = 0; place < pda.transitions().size(); ++place) {
    const auto& t = pda.transitions()[place];
    const auto& line = report.transitions[place];
    if (!line.programmed || line.to.empty()) continue;
    const int top = t.top == 0 ? end : model->alphabet().id(pda.stack_symbols()[t.top]);
    const int input = model->alphabet().id(pda.alphabet().symbol(t.symbol));
    const int j = line.from[0], i = line.to[0];
    EXPECT_EQ(weight(i, j, top, input), 2);
    EXPECT_EQ(weight(j, j, top, input), i == j ? 2 : -2);
    EXPECT_EQ(weight(accepted, j, top, input), -2);
    ++(i == j ? stayed : left);
  }
  EXPECT_GT(left, 0);
  EXPECT_GT(stayed, 0);
  // At the end of the string, with a symbol left on the stack.
  for (const auto& [name, own] : neurons)
    if (name != "(accepted)") {
      EXPECT_EQ(weight(accepted, own[0], 0, end), -2) << name;
    }
}

TEST(RuleInsertion, MarginsAreTheWorstCase) {
  for (const auto* order : {"third", "second"})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Pda pda = seed == 0 ? marked_palindrome() : encodable_pda(2, 2, 0.6, true, seed);
      // The other weights stay and add disturbances.
      auto model = make(pda.alphabet(), order, 12, {{"dtype", "float64"}, {"range", 0.3}});
      const auto report =
          insert_rules(*model, pda, {.strength = 1.1, .missing = "keep", .inhibition = seed == 1});
      double least = std::numeric_limits<double>::infinity();
      for (const auto& line : report.transitions) least = std::min(least, line.margin);
      EXPECT_NEAR(std::min(brute_margin(*model, pda, report, false),
                           brute_margin(*model, pda, report, true)),
                  least, 1e-9);
    }
}

TEST(RuleInsertion, TheStrengthIsTheOneWithTheLargestMargin) {
  const Pda pda = marked_palindrome();
  auto model = make(pda.alphabet(), "third", 6);
  const auto chosen = insert_rules(*model, pda);
  EXPECT_EQ(chosen.strength_from, "chosen");
  const double least = std::min(chosen.margin, *chosen.discrete_margin);
  for (const double strength : {0.3, 0.6, 0.9, 1.2, 1.5, 2.5, 3.9}) {
    auto other = make(pda.alphabet(), "third", 6);
    const auto report =
        insert_rules(*other, pda, {.strength = strength, .weight_scale = 1.0, .check = false});
    EXPECT_LE(std::min(report.margin, *report.discrete_margin), least + 1e-6) << strength;
  }
  // Discrete weights of size 1 cannot reach 4; those of size 4 can.
  const auto text = message<std::invalid_argument>(
      [&] { insert_rules(*model, pda, {.strength = 4.0, .weight_scale = 1.0}); });
  EXPECT_CONTAINS(text, "strength 4 does not hold");
  const auto unchecked =
      insert_rules(*model, pda, {.strength = 4.0, .weight_scale = 1.0, .check = false});
  EXPECT_FALSE(unchecked.holds);
  EXPECT_CONTAINS(to_text(unchecked), "DOES NOT HOLD");
  const auto given = insert_rules(*model, pda, {.strength = 4.0});
  EXPECT_TRUE(given.holds);
  EXPECT_EQ(network_of(*model).weight_scale(), 4);
  expect_same_language(*model, pda, 6);
  auto source = pda.source();
  source.strength = 2;
  EXPECT_EQ(insert_rules(*model, Pda(source)).strength, 2);
}

TEST(RuleInsertion, OnlyProgrammedNumbersChange) {
  const Pda hint(parse_pda("%bottom _\n%states rise fall\nrise, _ --a--> rise, push a\n"));
  for (const auto* order : {"third", "second"}) {
    auto model = make(Alphabet({"a", "b"}), order, 5);
    std::map<std::string, Tensor> before;
    for (const auto& [name, tensor] : model->parameters()) before[name] = tensor.detach().clone();
    const auto report = insert_rules(*model, hint, {.frozen = true});
    EXPECT_EQ(report.missing, "keep");
    EXPECT_FALSE(report.acceptance);
    std::int64_t frozen = 0;
    for (const auto& [name, tensor] : model->parameters()) {
      const Tensor mask = model->frozen().at(name);
      EXPECT_TRUE(
          at::equal(tensor.detach().masked_select(~mask), before[name].masked_select(~mask)))
          << name;
      frozen += mask.sum().item<std::int64_t>();
    }
    EXPECT_EQ(frozen, report.numbers);
    EXPECT_EQ(network_of(*model).hints().sum().item<std::int64_t>(), 1);
    EXPECT_TRUE(network_of(*model).hints()[0][2][0].item<bool>());
    // The next insertion is not frozen, and removes the masks.
    insert_rules(*model, hint);
    for (const auto& [name, mask] : model->frozen()) EXPECT_FALSE(mask.any().item<bool>()) << name;
  }
}

TEST(RuleInsertion, DeadStates) {
  const Pda hint(
      parse_pda("%bottom _\n%dead trap\n%start rise\n%states rise fall trap\n"
                "rise, _ --b--> trap, replace _\nfall, x --a--> trap, pop for x in a\n"));
  for (const auto* order : {"third", "second"}) {
    auto model = make(Alphabet({"a", "b"}), order, 6);
    const auto zero = insert_rules(*model, hint);
    EXPECT_EQ(zero.neurons.size(), 2);
    EXPECT_TRUE(zero.transitions[0].to.empty());
    auto after = network_of(*model).pre_activations({1, 0, 0, 0, 0, 0},
                                                    network_of(*model).reading(2), 1, true);
    for (const double v : after.state) EXPECT_LT(v, 0);

    const auto neuron = insert_rules(*model, hint, {.dead = "neuron"});
    ASSERT_EQ(neuron.neurons.back().first, "trap");
    const int trap = neuron.neurons.back().second[0];
    std::vector<double> state{1, 0, 0, 0, 0, 0};
    for (const int input : {1, 0, 1, 1, 0}) {
      after = network_of(*model).pre_activations(state, network_of(*model).reading(2), input, true);
      for (int i = 0; i < 6; ++i) EXPECT_EQ(after.state[i] > 0, i == trap);
      state.assign(6, 0);
      state[trap] = 1;
    }
    EXPECT_LT(model->output_weight()[0][trap].item<double>(), 0);
  }
  EXPECT_CONTAINS(
      message<std::invalid_argument>([] {
        Pda(parse_pda("%bottom _\n%dead t\nq, _ --a--> t, push a\nt, _ --a--> q, push a\n"));
      }),
      "text:4: t is dead, but");
  EXPECT_CONTAINS(message<std::invalid_argument>([] {
                    Pda(parse_pda("%bottom _\n%dead t\n%accepting t\nq, _ --a--> t, push a\n"));
                  }),
                  "dead and accepting");
}

TEST(RuleInsertion, HintsTogether) {
  const Pda live(
      parse_pda("%name live\n%bottom _\n%states rise fall\nrise, _ --a--> rise, push a\n"
                "rise, a --b--> fall, pop\n"));
  const Pda dead(
      parse_pda("%name dead\n%bottom _\n%dead trap\n%start rise\n"
                "rise, _ --b--> trap, replace _\nrise, _ --a--> rise, push a\n"));
  const Pda both = merged({live, dead});
  EXPECT_EQ(both.transitions().size(), 3);
  EXPECT_EQ(both.name(), "live+dead");
  auto model = make(Alphabet({"a", "b"}), "third", 4);
  EXPECT_EQ(insert_rules(*model, both).triples, 3);
  const Pda against(
      parse_pda("%name x\n%bottom _\n%dead trap\n%start rise\n"
                "rise, a --b--> trap, replace a\n"));
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    insert_rules(*model, merged({live, against}));
                  }),
                  "text:5: rise, a --b--> trap, replace a contradicts text:5: rise, a --b--> "
                  "fall, pop");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    merged({live, Pda(parse_pda("%bottom z\nq, z --a--> q, pop"))});
                  }),
                  "bottom symbol");
}

TEST(RuleInsertion, ReportsAutomataThatCannotBeEncoded) {
  const Pda hint(parse_pda(
      "%bottom _\nq, _ --a--> q, push a\nq, a --a--> q, push b\nq, a --b--> q, replace b\n"
      "q, _ --b--> q, pop\nq, X --a--> q, pop\nq, b --a/0.5--> q, pop\n"
      "q, b --b/0--> q, pop\n"));
  auto model = make(Alphabet({"a", "b"}), "third", 3);
  const auto report = insert_rules(*model, hint);
  const std::vector<std::string> reasons{"",
                                         "only the symbol that is read, 'a'",
                                         "replaces 'a' by 'b'",
                                         "bottom symbol cannot be popped",
                                         "if it means any top, write: for all X",
                                         "its weight is 0.5",
                                         "which disables it"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(report.transitions[i].programmed, i == 0);
    EXPECT_CONTAINS(report.transitions[i].reason, reasons[i]) << report.transitions[i].reason;
  }
  EXPECT_CONTAINS(to_text(report), "1 of 7 transitions programmed");
}

TEST(RuleInsertion, ErrorsChangeNothing) {
  auto model = make(Alphabet({"a", "b"}), "third", 3);
  std::vector<Tensor> before;
  for (const auto& [name, tensor] : model->parameters()) before.push_back(tensor.detach().clone());
  const auto fails = [&](const std::string& text, const std::string& expected,
                         const RuleOptions& options = {}) {
    EXPECT_CONTAINS(message<std::invalid_argument>(
                        [&] { insert_rules(*model, Pda(parse_pda(text)), options); }),
                    expected);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_TRUE(at::equal(model->parameters()[i].second.detach(), before[i]));
    EXPECT_FALSE(network_of(*model).hints().any().item<bool>());
    EXPECT_EQ(network_of(*model).weight_scale(), 1);
  };
  const std::string start = "%bottom _\nq, _ --a--> q, push a\n";
  fails(start + "q, a --c--> q, pop\n", "text:3: the network does not know the symbol 'c'");
  fails(start + "q, _ --a--> q, replace _\n",
        "text:3: q, _ --a--> q, replace _ contradicts text:2: q, _ --a--> q, push a");
  fails("%bottom _\n%accepting q\nq, _ --a--> r, push a\nr, a --a--> s, push a\n",
        "the rules need 4 state neurons, but the network has 3");
  fails("%bottom _\nq, _ --a--> q, push b\n", "none of the 1 transitions can be encoded");
  fails(start, "strength must be a number above 0, got -1", {.strength = -1.0});
  fails(start, "does not hold", {.strength = 0.1});
  fails(start, "missing must be 'keep' or 'trap', got 'x'", {.missing = "x"});
  fails(start, "dead must be 'zero' or 'neuron', got 'x'", {.dead = "x"});
  auto action = make(Alphabet({"a", "b"}), "third", 3, {{"reading", "action"}});
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { insert_rules(*action, Pda(parse_pda(start))); }),
      "reading = 'top'");
  Recognizer plain(Alphabet({"a", "b"}), Json::object());
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { insert_rules(plain, Pda(parse_pda(start))); }),
      "'nspda'");
}

}  // namespace
}  // namespace pushdown::rule_insertion_test
