// The neural network pushdown automaton, compared with its equations in plain loops with numbers
// that carry a derivative along, and as a programmed recognizer.
#include "model/analog_pushdown.h"
#include "model/kinds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/recognizer.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::analog_pushdown_test {
namespace {

using namespace testing_support;

// A number and its derivative in one direction.
struct Dual {
  double value = 0, slope = 0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(Dual a, Dual b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
Dual logistic(Dual a) {
  const double g = 1 / (1 + std::exp(-a.value));
  return {g, g * (1 - g) * a.slope};
}
Dual smaller(Dual a, Dual b) { return a.value <= b.value ? a : b; }

// A parameter and the direction in which it is differentiated.
struct DualTensor {
  Tensor value, slope;
  Dual at(std::initializer_list<std::int64_t> index) const {
    std::int64_t place = 0;
    auto size = value.sizes().begin();
    for (const auto i : index) place = place * *size++ + i;
    return {value.data_ptr<double>()[place], slope.data_ptr<double>()[place]};
  }
};

struct Setting {
  std::string order;
  std::int64_t strings, states, end_symbols;  // symbols of strings, state neurons
  double epsilon, tolerance;
  bool bottom;
  bool exact;
};

// One string by equations 5 to 9, 14, 18 and 20: the hidden vectors h_0 .. h_n; for K passes, h_0
// and the hidden vectors of all passes.
std::vector<std::vector<Dual>> by_equations(const Setting& set, std::map<std::string, DualTensor> p,
                                            const std::vector<std::int64_t>& word, int passes = 1,
                                            bool carry_first = false) {
  const auto J = set.states, V = set.strings;
  struct Section {
    std::int64_t symbol;
    Dual length;
  };
  std::vector<Section> sections;
  std::vector<Dual> S(J), R(V);
  S[0].value = 1;
  Dual L, U;
  std::vector<std::vector<Dual>> hiddens;
  const auto remember = [&] {
    hiddens.push_back(S);
    hiddens.back().push_back(L);
    hiddens.back().push_back(U);
  };
  remember();
  for (const auto l : word) {
    std::vector<Dual> read = R;
    if (set.bottom) {
      Dual rest{1, 0};
      for (const Dual& r : R) rest = rest - r;
      read.push_back(rest);
    }
    const auto K = static_cast<std::int64_t>(read.size());
    const auto pass = [&] {
      std::vector<Dual> next(J);
      for (std::int64_t i = 0; i < J; ++i) {
        Dual v = p["state.bias"].at({i});
        for (std::int64_t j = 0; j < J; ++j) {
          for (std::int64_t k = 0; k < K; ++k)
            v = v + (set.order == "second" ? p["state.weight"].at({i, j, k})
                                           : p["state.weight"].at({i, j, k, l})) *
                        S[j] * read[k];
          if (set.order == "second") v = v + p["state.weight"].at({i, j, K + l}) * S[j];
        }
        next[i] = logistic(v);
      }
      return next;
    };
    const std::vector<Dual> next = pass();
    // The further passes of the strings that continue.
    const auto refine = [&] {
      remember();
      const auto first = S;
      for (int k = 1; k < passes; ++k) {
        if (U.value == 0) S = pass();
        remember();
      }
      if (carry_first) S = first;
    };
    Dual A;
    if (set.order == "full") {
      for (std::int64_t pattern = 0; pattern < 1 << J; ++pattern) {
        Dual product{1, 0};
        for (std::int64_t m = 0; m < J; ++m)
          product = product * (pattern >> m & 1 ? S[m] : Dual{1, 0} - S[m]);
        for (std::int64_t k = 0; k < K; ++k)
          A = A + p["action.weight"].at({pattern, k, l}) * product * read[k];
      }
    } else {
      Dual u = p["action.bias"].at({0});
      for (std::int64_t j = 0; j < J; ++j) {
        for (std::int64_t k = 0; k < K; ++k)
          u = u + (set.order == "second" ? p["action.weight"].at({j, k})
                                         : p["action.weight"].at({j, k, l})) *
                      S[j] * read[k];
        if (set.order == "second") u = u + p["action.weight"].at({j, K + l}) * S[j];
      }
      A = Dual{2, 0} * logistic(u) - Dual{1, 0};
    }
    if (U.value > 0) {
      refine();
      continue;
    }
    if (std::abs(A.value) <= set.epsilon || l >= V) A = {};
    if (A.value < 0 && (L.value <= 0 || L.value < (1 - set.tolerance) * -A.value)) {
      U = Dual{} - L - A;
      refine();
      continue;
    }
    S = next;
    if (A.value > 0) sections.push_back({l, A});
    for (Dual left = Dual{} - A; left.value > 0 && !sections.empty();) {
      const Dual taken = smaller(left, sections.back().length);
      left = left - taken;
      sections.back().length = sections.back().length - taken;
      if (sections.back().length.value <= 0) sections.pop_back();
    }
    const Dual before = L;
    L = {};
    for (const auto& section : sections) L = L + section.length;
    R.assign(V, {});
    Dual room{1, 0};
    std::int64_t lowest = -1;
    for (auto section = sections.rbegin(); section != sections.rend() && room.value > 0;
         ++section) {
      const Dual share = smaller(section->length, room);
      R[section->symbol] = R[section->symbol] + share;
      room = room - share;
      lowest = section->symbol;
    }
    if (!set.exact) {
      L.slope = before.slope + A.slope;
      for (Dual& r : R) r.slope = 0;
      if (!sections.empty()) R[sections.back().symbol].slope += A.slope;
      if (L.value >= 1) R[lowest].slope -= A.slope;
    }
    refine();
  }
  return hiddens;
}

Json network_options(const Setting& set) {
  Json options{{"order", set.order},
               {"states", set.states},
               {"epsilon", set.epsilon},
               {"tolerance", set.tolerance},
               {"bottom_reading", set.bottom},
               {"stack_derivative", set.exact ? "exact" : "top_and_bottom"},
               {"range", set.order == "full" ? 1.0 : 3.0}};
  const NetworkKind kind = analog_pushdown_network();
  return kind.complete(resolve_options("test", kind.options, options), registered_kinds());
}
NetworkPtr make_network(const Setting& set, std::uint64_t seed) {
  Random random(seed);
  ModuleContext context{set.strings + set.end_symbols, at::kDouble, &random, set.end_symbols};
  return analog_pushdown_network().make(network_options(set), context, registered_kinds());
}
class AnalogPushdown : public testing::TestWithParam<Setting> {};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const char* order : {"second", "third", "full"})
    for (const bool exact : {true, false}) {
      all.push_back({order, 2, 3, 1, 0.05, 0.5, true, exact});
      // Without a bottom neuron the full order never starts to push.
      all.push_back({order, 3, 2, 0, 0.0, 0.0, std::string(order) == "full", exact});
      all.push_back({order, 2, 1, 0, 0.2, 1.0, true, exact});
    }
  return all;
}
void PrintTo(const Setting& set, std::ostream* out) {
  *out << set.order << " order, " << set.states << " states, tolerance " << set.tolerance
       << (set.bottom ? ", bottom" : "") << (set.exact ? "" : ", rough");
}

TEST_P(AnalogPushdown, FollowsItsEquationsAndTheirDerivatives) {
  const Setting& set = GetParam();
  std::int64_t refused = 0, popped = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const NetworkPtr network = make_network(set, seed);
    const Tensor words = random_words(4, 9, set.strings + set.end_symbols, seed + 90);
    const Tensor hiddens = network->run(words, nullptr);
    ASSERT_EQ(hiddens.sizes(), (std::vector<std::int64_t>{4, 10, set.states + 2}));
    const Tensor factor = random_tensor(hiddens.sizes(), seed + 7);
    (hiddens * factor).sum().backward();
    double slope = 0, wanted_slope = 0;
    std::map<std::string, DualTensor> parameters;
    for (const auto& [name, tensor] : network->parameters()) {
      const Tensor direction = random_tensor(tensor.sizes(), seed + 17);
      parameters[name] = {tensor.detach().contiguous(), direction};
      slope += (tensor.grad() * direction).sum().item<double>();
    }
    for (std::int64_t b = 0; b < 4; ++b) {
      std::vector<std::int64_t> word;
      for (std::int64_t t = 0; t < 9; ++t) word.push_back(words[b][t].item<std::int64_t>());
      const auto wanted = by_equations(set, parameters, word);
      for (std::int64_t t = 0; t <= 9; ++t)
        for (std::int64_t i = 0; i < set.states + 2; ++i) {
          EXPECT_NEAR(hiddens[b][t][i].item<double>(), wanted[t][i].value, 1e-12)
              << "seed " << seed << ", string " << b << ", time " << t << ", entry " << i;
          wanted_slope += factor[b][t][i].item<double>() * wanted[t][i].slope;
        }
      refused += wanted[9].back().value > 0;
      for (std::int64_t t = 0; t < 9; ++t)
        popped += wanted[t + 1][set.states].value < wanted[t][set.states].value;
    }
    EXPECT_NEAR(slope, wanted_slope, 1e-9 * std::max(1.0, std::abs(wanted_slope))) << seed;
  }
  // Checks that the strings above cover the intended cases.
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 48);
  EXPECT_GT(popped, 0);
}

// As a whole, and in pieces, which run step by step.
TEST_P(AnalogPushdown, RefinementFollowsItsEquations) {
  const Setting& set = GetParam();
  constexpr int kPasses = 3;
  for (const bool carry_first : {false, true})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Refinement refinement(kPasses, carry_first);
      const NetworkPtr network = make_network(set, seed);
      const Tensor words = random_words(4, 7, set.strings + set.end_symbols, seed + 90);
      for (const bool whole : {true, false}) {
        for (const auto& [name, tensor] : network->parameters()) tensor.mutable_grad() = Tensor();
        Tensor hiddens;
        if (whole) {
          hiddens = network->run({words, refinement}).hiddens;
        } else {
          const auto begin = network->initial(4, 0);
          const Passes one = network->advance(words.narrow(1, 0, 3), refinement, begin, nullptr);
          const Passes two =
              network->advance(words.narrow(1, 3, 4), refinement, one.state, nullptr);
          hiddens = at::cat(
              {network->peek(begin, nullptr).first.unsqueeze(1), one.hiddens, two.hiddens}, 1);
        }
        const auto count = 7 * kPasses + 1;
        ASSERT_EQ(hiddens.sizes(), (std::vector<std::int64_t>{4, count, set.states + 2}));
        const Tensor factor = random_tensor(hiddens.sizes(), seed + 7);
        (hiddens * factor).sum().backward();
        double slope = 0, wanted_slope = 0;
        std::map<std::string, DualTensor> parameters;
        for (const auto& [name, tensor] : network->parameters()) {
          const Tensor direction = random_tensor(tensor.sizes(), seed + 17);
          parameters[name] = {tensor.detach().contiguous(), direction};
          slope += (tensor.grad() * direction).sum().item<double>();
        }
        for (std::int64_t b = 0; b < 4; ++b) {
          std::vector<std::int64_t> word;
          for (std::int64_t t = 0; t < 7; ++t) word.push_back(words[b][t].item<std::int64_t>());
          const auto wanted = by_equations(set, parameters, word, kPasses, carry_first);
          for (std::int64_t t = 0; t < count; ++t)
            for (std::int64_t i = 0; i < set.states + 2; ++i) {
              EXPECT_NEAR(hiddens[b][t][i].item<double>(), wanted[t][i].value, 1e-12)
                  << "string " << b << ", pass " << t << ", entry " << i;
              wanted_slope += factor[b][t][i].item<double>() * wanted[t][i].slope;
            }
        }
        EXPECT_NEAR(slope, wanted_slope, 1e-9 * std::max(1.0, std::abs(wanted_slope))) << seed;
      }
    }
}

TEST_P(AnalogPushdown, TensorsOfAnotherShapeAreNoState) {
  const NetworkPtr network = make_network(GetParam(), 8);
  const auto state =
      network
          ->advance(random_words(4, 5, GetParam().strings, 9), 1, network->initial(4, 8), nullptr)
          .state;
  auto cut = state->tensors();
  EXPECT_THROW(state->with_tensors({}), std::invalid_argument);
  cut[0] = cut[0].narrow(0, 0, 1);
  EXPECT_THROW(state->with_tensors(cut), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Orders, AnalogPushdown, testing::ValuesIn(settings()));

TEST(AnalogPushdownFullOrder, ActionsStayWithinOneAndSaturatedNeuronsHaveGradients) {
  const Setting set{"full", 2, 3, 0, 0.0, 1.0, true, true};
  const NetworkPtr network = make_network(set, 1);
  {
    at::NoGradGuard guard;
    // Values outside of [-1, 1], to be clipped.
    network->parameters()[2].second.mul_(50);
    network->parameters()[1].second.copy_(at::tensor({2000., -2000., 0.}, at::kDouble));
  }
  const Tensor words = random_words(6, 12, 2, 2);
  const Tensor hiddens = network->run(words, nullptr);
  const Tensor lengths = hiddens.select(2, 3);
  EXPECT_LE(lengths.diff().abs().max().item<double>(), 1 + 1e-12);
  EXPECT_EQ(hiddens.select(2, 0).min().item<double>(), 1);
  EXPECT_LT(hiddens.select(1, 5).select(1, 1).max().item<double>(), 1e-300);
  hiddens.sum().backward();
  for (const auto& [name, tensor] : network->parameters())
    EXPECT_TRUE(tensor.grad().isfinite().all().item<bool>()) << name;
  EXPECT_GT(network->parameters()[2].second.grad().abs().max().item<double>(), 0);
}

TEST(AnalogPushdownQuantised, EvaluationsAreWholeAndTrainingIsNot) {
  for (const char* order : {"second", "third", "full"}) {
    const Setting set{order, 2, 3, 0, 0.01, 0.5, true, true};
    Json options = network_options(set);
    const auto make = [&](bool quantised) {
      options["quantised"] = quantised;
      Random random(12);
      return analog_pushdown_network().make(options, {2, at::kDouble, &random, 0},
                                            registered_kinds());
    };
    const NetworkPtr whole = make(true), plain = make(false);
    const Tensor words = random_words(20, 15, 2, 3);
    Random noise(1);
    EXPECT_TRUE(whole->run(words, &noise).equal(plain->run(words, nullptr)));
    const Tensor hiddens = whole->run(words, nullptr);
    EXPECT_TRUE(hiddens.equal(hiddens.round())) << order;
    EXPECT_LE(hiddens.narrow(2, 0, 3).max().item<double>(), 1);
    EXPECT_GT(deviation(hiddens, plain->run(words, nullptr)), 0.01);
  }
}

// '(' pushes and ')' pops for any reading; the only neuron is always on. A string is valid if and
// only if every pop finds a symbol and the stack is empty at the end.
void program_parentheses(const Recognizer& model) {
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : model.parameters()) {
    tensor.zero_();
    if (name == "state.bias") tensor.fill_(20);
    if (name != "action.weight") continue;
    tensor.select(-1, 0).fill_(20);
    tensor.select(-1, 1).fill_(-20);
  }
}

TEST(AnalogPushdownRecognizer, ProgrammedParenthesesAreExact) {
  for (const bool end : {false, true})
    for (const char* order : {"third", "full"}) {
      const Recognizer model(Alphabet({"(", ")"}), Json{{"architecture", "nnpda"},
                                                        {"order", order},
                                                        {"states", 1},
                                                        {"output", "own"},
                                                        {"end_symbol", end}});
      program_parentheses(model);
      at::NoGradGuard guard;
      for (std::int64_t length = 0; length <= 10; ++length) {
        Tensor words = at::empty({1 << length, length}, at::kLong);
        for (std::int64_t code = 0; code < 1 << length; ++code)
          for (std::int64_t t = 0; t < length; ++t) words[code][t] = code >> t & 1;
        const Tensor said = model.decisions(words) > model.threshold();
        for (std::int64_t code = 0; code < 1 << length; ++code) {
          std::int64_t height = 0, lowest = 0;
          for (std::int64_t t = 0; t < length; ++t) {
            height += code >> t & 1 ? -1 : 1;
            lowest = std::min(lowest, height);
          }
          EXPECT_EQ(said[code].item<bool>(), height == 0 && lowest == 0)
              << "length " << length << ", code " << code;
        }
      }
    }
}

TEST(AnalogPushdownRecognizer, TheEndSymbolLeavesTheStackAlone) {
  const Recognizer model(Alphabet({"a", "b"}),
                         Json{{"architecture", "nnpda"}, {"states", 2}, {"seed", 3}});
  const Recognition said = model.run(random_words(5, 6, 2, 1));
  const Tensor lengths = said.hiddens.select(2, 2);
  EXPECT_TRUE(lengths.select(1, 7).equal(lengths.select(1, 6)));
  EXPECT_FALSE(
      said.hiddens.select(2, 0).select(1, 7).equal(said.hiddens.select(2, 0).select(1, 6)));
}

TEST(AnalogPushdownUnderflow, PopsTakeTheRestIfStringsDoNotStop) {
  const Setting set{"third", 2, 2, 0, 0.0, 0.5, true, true};
  Json options = network_options(set);
  options["underflow"] = "continue";
  Random random(3);
  const NetworkPtr network =
      analog_pushdown_network().make(options, {2, at::kDouble, &random, 0}, registered_kinds());
  {
    at::NoGradGuard guard;
    // Always A = tanh(-1 / 2).
    for (const auto& [name, tensor] : network->parameters())
      if (name.starts_with("action")) tensor.fill_(name == "action.bias" ? -1 : 0);
  }
  const Tensor hiddens = network->run(random_words(2, 5, 2, 1), nullptr);
  EXPECT_EQ(hiddens.narrow(2, 2, 2).abs().max().item<double>(), 0);
  EXPECT_FALSE(hiddens.select(1, 5).equal(hiddens.select(1, 4)));
  EXPECT_TRUE(network->validity(hiddens).equal(hiddens.select(2, 1)));
}

TEST(AnalogPushdownErrors, TheFullOrderHasFewStates) {
  EXPECT_CONTAINS(
      message<std::invalid_argument>([] {
        Recognizer(Alphabet({"a"}), {{"architecture", "nnpda"}, {"order", "full"}, {"states", 13}});
      }),
      "at most 12, got 13");
}

}  // namespace
}  // namespace pushdown::analog_pushdown_test
