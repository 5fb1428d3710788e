// The neural state pushdown automaton: its equations and its surrogate gradient in plain loops,
// stack traces, refinement and hints, pieces and batches, discrete weights, options.
#include "model/state_pushdown_cases.h"
#include "model/state_pushdown_reference.h"
#include "support/message.h"

namespace pushdown::state_pushdown_test {
namespace {

using namespace testing_support;

class StatePushdownCases : public testing::TestWithParam<StatePushdownCase> {};
INSTANTIATE_TEST_SUITE_P(All, StatePushdownCases, testing::ValuesIn(state_pushdown_cases()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(StatePushdownCases, FollowTheEquations) {
  int operations = 0, left_out = 0;
  for (int seed = 1; seed <= 6; ++seed) {
    const auto model = make_model(GetParam(), seed, {{"discrete", "never"}});
    const Tensor words = random_words(3, 9, 3, static_cast<std::uint64_t>(seed));
    // With gradients, tensor operations run instead of the kernel.
    const Recognition slow = model->run(words);
    at::NoGradGuard guard;
    const Recognition fast = model->run(words);
    StatePushdownReference reference(*model);
    for (std::int64_t b = 0; b < 3; ++b) {
      reference.loss(word_of(model->input(words), b), 1, true);
      const auto count = static_cast<std::int64_t>(reference.hiddens.size());
      ASSERT_EQ(slow.hiddens.size(1), count + 1);
      for (std::int64_t p = 0; p < count; ++p) {
        const Tensor wanted = at::tensor(reference.hiddens[p], at::kDouble);
        EXPECT_TRUE(slow.hiddens[b][p + 1].equal(wanted)) << seed << " " << b << " " << p;
        EXPECT_TRUE(fast.hiddens[b][p + 1].equal(wanted)) << seed << " " << b << " " << p;
        left_out += reference.pass_weights[p] == 0 ? 1 : 0;
        for (const auto* said : {&slow, &fast})
          EXPECT_EQ(said->weights.defined() ? said->weights[b][p].item<double>() : 1.0,
                    reference.pass_weights[p]);
      }
      std::size_t depth = 0;
      for (const auto& stack : reference.stacks) {
        operations |= stack.size() > depth ? 1 : stack.size() < depth ? 2 : 4;
        depth = stack.size();
      }
    }
  }
  EXPECT_EQ(operations, 7);  // pushes, pops and neither
  EXPECT_EQ(left_out > 0, GetParam().hints);
}

TEST_P(StatePushdownCases, GradientsAreThoseOfTheSmoothFunctionAround) {
  for (int seed = 1; seed <= 3; ++seed) {
    const auto model = make_model(GetParam(), seed, {}, 3);
    const Tensor words = random_words(1, 7, 3, static_cast<std::uint64_t>(seed));
    const auto word = word_of(model->input(words), 0);
    const bool every_pass = seed != 3;
    const Tensor loss = loss_of(*model, words, at::ones({1}, at::kDouble), every_pass);
    loss.backward();
    StatePushdownReference reference(*model);
    EXPECT_NEAR(reference.loss(word, 1, true, every_pass), loss.item<double>(), 1e-12);
    double largest = 0;
    for (const auto& [name, tensor] : model->parameters()) {
      const Tensor flat = tensor.grad().contiguous();
      auto& values = reference.weights[name];
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double old = values[i], h = 1e-5;
        values[i] = old + h;
        const double above = reference.loss(word, 1, false, every_pass);
        values[i] = old - h;
        const double below = reference.loss(word, 1, false, every_pass);
        values[i] = old;
        EXPECT_NEAR(flat.data_ptr<double>()[i], (above - below) / (2 * h), 1e-7)
            << name << " " << i << " seed " << seed;
        if (name.starts_with("action")) largest = std::max(largest, std::abs(above - below) / h);
      }
    }
    // Gradients reach the action neurons through the reading.
    if (every_pass) {
      EXPECT_GT(largest, 1e-4);
    }
  }
}

// read() and peek(), which lag by one symbol.
TEST_P(StatePushdownCases, PiecesEqualTheWhole) {
  if (GetParam().passes > 1) return;
  const auto model = make_model(GetParam(), 4);
  const auto& network = model->network();
  const Tensor words = model->input(random_words(3, 9));  // 10 symbols
  NetworkStatePtr state = network.initial(3, 0);
  std::vector<Tensor> hiddens;
  std::int64_t start = 0;
  for (const std::int64_t size : {2, 0, 5, 3}) {
    auto [some, next] = network.read(words.narrow(1, start, size), state, nullptr);
    hiddens.push_back(some);
    state = next;
    start += size;
  }
  auto [last, seen] = network.peek(state, nullptr);
  hiddens.push_back(last.unsqueeze(1));
  EXPECT_TRUE(at::cat(hiddens, 1).equal(network.run(words, nullptr)));
  EXPECT_TRUE(network.peek(seen, nullptr).first.equal(last));
}

// a pushes, b pops, c does neither, and the end symbol comes with an empty stack.
std::unique_ptr<Recognizer> programmed(const std::string& order) {
  auto model = make_model({order}, 1, {{"discrete", "never"}}, 2, 3);
  at::NoGradGuard guard;
  const auto& network = network_of(*model);
  for (const auto& [name, tensor] : model->parameters()) tensor.fill_(0);
  // Second order: the input columns follow the four columns of the reading.
  const auto action = [&](std::int64_t neuron, std::int64_t symbol) {
    return order == "third" ? network.action_weight()[neuron].select(2, symbol)
                            : network.action_weight()[neuron].select(1, 4 + symbol);
  };
  action(0, 0).fill_(8);   // reading a: neuron a pushes
  action(0, 1).fill_(-8);  // reading b: neuron a pops where a is on top
  network.state_bias().fill_(-4);
  network.state_bias()[0].fill_(4);  // state 0 stays on
  // State 1: the stack was empty before the symbol.
  network.state_weight()[1][0][3].fill_(8);
  return model;
}

TEST(StatePushdownStack, IsMovedByTheActionsOfInputAndTop) {
  for (const std::string order : {"third", "second"}) {
    const auto model = programmed(order);
    const auto& network = network_of(*model);
    const auto values = network.values();
    // symbols, the stack after them, the reading after them
    struct Row {
      int symbol;
      std::vector<std::int64_t> stack;
      std::vector<double> reading;
      double was_empty;
    };
    const double o = values.other, t = values.top, p = values.popped;
    const Row rows[] = {{1, {}, {o, o, o, t}, 1},      // nothing to pop
                        {0, {0}, {t, o, o, o}, 1},     // push
                        {2, {0}, {t, o, o, o}, 0},     // neither
                        {0, {0, 0}, {t, o, o, o}, 0},  // push
                        {1, {0}, {t, o, o, o}, 0},     // pop: the new top is also a
                        {3, {0}, {t, o, o, o}, 0},     // the end symbol pushes nothing
                        {1, {}, {p, o, o, t}, 0},      // pop: empty, a was popped
                        {1, {}, {o, o, o, t}, 1}};
    for (const bool with_gradient : {true, false}) {
      const at::AutoGradMode mode(with_gradient);
      NetworkStatePtr state = network.initial(1, 0);
      for (const Row& row : rows) {
        const Passes made =
            network.advance(at::full({1, 1}, row.symbol, at::kLong), 1, state, nullptr);
        state = made.state;
        const auto& now = dynamic_cast<const StatePushdownState&>(*state);
        EXPECT_EQ(now.stacks->front(), row.stack) << row.symbol;
        EXPECT_LT(deviation(now.reading[0], at::tensor(row.reading, at::kDouble)), 1e-15);
        EXPECT_EQ(made.hiddens[0][0][0].item<double>(), 1);
        EXPECT_EQ(made.hiddens[0][0][1].item<double>(), row.was_empty);
      }
    }
  }
}

TEST(StatePushdownStack, PushHasPriorityOverPop) {
  // Every action neuron except c pushes; the symbol that was pushed before is on top of c.
  const auto model = programmed("third");
  const auto& network = network_of(*model);
  at::NoGradGuard guard;
  network.action_bias().fill_(4);
  network.action_weight().fill_(0);
  const auto stack_after = [&](std::vector<std::int64_t> word) {
    const Passes made = network.advance(at::tensor(word, at::kLong).unsqueeze(0), 1,
                                        network.initial(1, 0), nullptr);
    return dynamic_cast<const StatePushdownState&>(*made.state).stacks->front();
  };
  EXPECT_EQ(stack_after({2, 1}), (std::vector<std::int64_t>{2, 1}));
  network.action_weight()[2].narrow(1, 0, 3).fill_(-20);  // c pops unless the stack is empty
  EXPECT_EQ(stack_after({2, 1}), (std::vector<std::int64_t>{2, 1}));  // b is pushed: no pop
  EXPECT_EQ(stack_after({2, 2}), (std::vector<std::int64_t>{}));      // c is not pushed: pop
  EXPECT_EQ(stack_after({2, 3}), (std::vector<std::int64_t>{}));      // nor is the end symbol
}

TEST(StatePushdownWeights, ThePreActivationsAreThoseOfAStep) {
  for (const std::string order : {"third", "second"}) {
    const auto model = make_model({order}, 3);
    const auto& network = network_of(*model);
    const auto sums = network.pre_activations({0, 1, 0, 1}, network.reading(1, 0), 2);
    const Tensor w = network.state_weight().detach();
    double wanted = network.state_bias()[3].item<double>();
    const double r[] = {network.values().popped, network.values().top, network.values().other,
                        network.values().other};
    for (const int j : {1, 3}) {
      for (int k = 0; k < 4; ++k)
        wanted += r[k] * (order == "third" ? w[3][j][k][2] : w[3][j][k]).item<double>();
      if (order == "second") wanted += w[3][j][4 + 2].item<double>();
    }
    EXPECT_NEAR(sums.state[3], wanted, 1e-14);
    EXPECT_EQ(sums.action.size(), 3u);
    EXPECT_THROW(network.pre_activations({0, 1}, network.reading(1), 2), std::invalid_argument);
    EXPECT_THROW(network.pre_activations({0, 1, 0, 1}, network.reading(1), 4),
                 std::invalid_argument);
  }
}

TEST(StatePushdownWeights, AreDiscreteOnlyInEvaluation) {
  for (const std::string order : {"third", "second"})
    for (const double scale : {0.5, 1.5}) {
      const Json more{{"range", 1.5}, {"weight_scale", scale}};
      const auto model = make_model({order}, 2, more);
      Json never = more;
      never["discrete"] = "never";
      const auto full = make_model({order}, 2, never), rounded = make_model({order}, 2, never);
      {
        at::NoGradGuard guard;
        for (const auto& [name, tensor] : rounded->parameters()) {
          if (name == "state.weight") tensor.copy_(scale * tensor.gt(scale / 2).to(at::kDouble));
          if (name == "action.weight")
            tensor.copy_(scale * (tensor.gt(scale / 2).to(at::kDouble) -
                                  tensor.lt(-scale / 2).to(at::kDouble)));
        }
      }
      const Tensor words = random_words(4, 9);
      const Tensor discrete = rounded->run(words).hiddens, plain = full->run(words).hiddens;
      EXPECT_FALSE(discrete.equal(plain));
      Random noise(1);
      EXPECT_TRUE(model->run(words, &noise).hiddens.equal(plain));
      {
        at::NoGradGuard guard;
        EXPECT_TRUE(model->run(words).hiddens.equal(discrete));
        EXPECT_TRUE(model->run(words, &noise).hiddens.equal(plain));
        EXPECT_TRUE(full->run(words).hiddens.equal(plain));
      }
      // Always: the gradients of the rounded network go to the underlying weights.
      Json always = more;
      always["discrete"] = "always";
      const auto through = make_model({order}, 2, always);
      const Tensor labels = alternating_labels(4);
      loss_of(*rounded, words, labels).backward();
      loss_of(*through, words, labels).backward();
      const auto wanted = taken_gradients(rounded->parameters()),
                 found = taken_gradients(through->parameters());
      differentiate(*through, words, labels, "bptt");
      const auto inside = taken_gradients(through->parameters());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_LT(deviation(found[i], wanted[i]), 1e-12);
        EXPECT_LT(deviation(inside[i], wanted[i]), 1e-10);
      }
    }
}

TEST(StatePushdownOptions, ReadingValuesAreDrawnAndRecorded) {
  const auto first = make_model({}, 7), again = make_model({}, 7), other = make_model({}, 8);
  EXPECT_EQ(first->options()["reading_values"], again->options()["reading_values"]);
  EXPECT_NE(first->options()["reading_values"], other->options()["reading_values"]);
  for (const auto& model : {&first, &other}) {
    const auto& network = network_of(**model);
    const auto inside = [](double low, double value, double high) {
      return low <= value && value <= high;
    };
    EXPECT_TRUE(inside(0.0001, network.values().other, 0.008));
    EXPECT_TRUE(inside(0.901, network.values().top, 0.992));
    EXPECT_TRUE(inside(0.025, network.values().popped, 0.110));
    EXPECT_EQ(network.least_values().top, 0.901);
    EXPECT_EQ(network.greatest_values().popped, 0.110);
  }
  // A model made from recorded options has the same numbers for any seed.
  Json recorded = first->options();
  recorded["seed"] = 9;
  const Recognizer loaded(Alphabet({"a", "b", "c"}), recorded);
  EXPECT_EQ(network_of(loaded).values().top, network_of(*first).values().top);
  // The thresholds on f^ are those of u: f^(u) = 2 logistic(u) - 1.
  const auto& network = network_of(*first);
  EXPECT_NEAR(2 / (1 + std::exp(-network.push_threshold())) - 1, 0.13, 1e-15);
  EXPECT_NEAR(2 / (1 + std::exp(-network.pop_threshold())) - 1, -0.09, 1e-15);
}

TEST(StatePushdownOptions, HintsAndScaleAreBuffers) {
  auto model = make_model({"third", "top", "last", 2, true}, 3);
  const auto& network = network_of(*model);
  network.set_weight_scale(3);
  auto other = make_model({"third", "top", "last", 2, false}, 3);
  for (const auto& [name, tensor] : model->buffers()) other->set_buffer(name, tensor);
  EXPECT_TRUE(network_of(*other).hints().equal(network.hints()));
  EXPECT_TRUE(network.hints().any().item<bool>());
  EXPECT_EQ(network_of(*other).weight_scale(), 3);
  EXPECT_THROW(network.set_hints(at::zeros({4, 4, 3}, at::kBool)), std::invalid_argument);
  EXPECT_THROW(network.set_hints(at::zeros({4, 4, 4})), std::invalid_argument);
  EXPECT_THROW(network.set_weight_scale(0), std::invalid_argument);
}

TEST(StatePushdownOptions, ErrorsNameTheWrongOption) {
  const auto expect = [](const Json& more, const char* part) {
    EXPECT_CONTAINS(message<std::invalid_argument>([&] { make_model({}, 1, more); }), part);
  };
  expect({{"alpha_2", {0.9}}}, "'alpha_2' must be two numbers");
  expect({{"alpha_1", {0.3, 0.2}}}, "lower one first");
  expect({{"alpha_3", {"x", 1}}}, "'alpha_3'");
  expect({{"action_thresholds", {0.1, 0.2}}}, "(-1, 0]");
  expect({{"action_thresholds", {-0.1, 1}}}, "[0, 1)");
  expect({{"reading_values", {0.001, 0.95}}}, "three numbers");
  expect({{"reading_values", {0.001, 0.5, 0.1}}}, "number 2 of option 'reading_values'");
  const auto model = make_model({});
  EXPECT_THROW(model->network().run(at::full({1, 2}, 9, at::kLong), nullptr), std::exception);
  const auto state = model->network().initial(2, 0);
  EXPECT_THROW(state->with_tensors({at::zeros({2, 3})}), std::invalid_argument);
  const auto held = model->network().read(at::zeros({2, 1}, at::kLong), state, nullptr).second;
  EXPECT_THROW(held->tensors(), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::state_pushdown_test
