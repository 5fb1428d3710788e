// Memories of scalars side by side, the tape and the limited superposition stack, each compared
// with its equations in plain loops.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::parallel_test {
namespace {

using namespace testing_support;

constexpr std::int64_t kBatch = 2, kSteps = 9;

Tensor numbers(at::IntArrayRef shape, std::uint64_t seed) {
  return random_tensor(shape, seed, -2, 2);
}
Tensor shares(std::vector<std::int64_t> shape, std::uint64_t seed) {
  return numbers(shape, seed).softmax(-1);
}
double number(const Tensor& tensor, std::vector<std::int64_t> index) {
  Tensor rest = tensor;
  for (const auto i : index) rest = rest[i];
  return rest.item<double>();
}

// Drives one memory of sequence b through all steps and returns its readings in order.
using Drive = std::function<std::vector<double>(std::int64_t b)>;

void expect_readings(const Tensor& got, const Drive& drive) {
  for (std::int64_t b = 0; b < got.size(0); ++b) {
    const auto wanted = drive(b);
    ASSERT_EQ(static_cast<std::int64_t>(wanted.size()), got[b].numel());
    EXPECT_LT(deviation(got[b].flatten(), at::tensor(wanted, at::kDouble)), 1e-14) << b;
  }
}

struct ParallelCase {
  std::int64_t memories, read;  // read_depth or reach
  bool no_op;
  double empty;
};
void PrintTo(const ParallelCase& given, std::ostream* out) {
  *out << given.memories << " memories, reads " << given.read << (given.no_op ? ", no_op" : "");
}

class Parallel : public testing::TestWithParam<ParallelCase> {
 protected:
  Tensor values() const { return numbers({kBatch, kSteps, GetParam().memories}, 2); }
  Tensor actions(std::int64_t count) const {
    return shares({kBatch, kSteps, GetParam().memories, count + (GetParam().no_op ? 1 : 0)}, 1);
  }
  Json options(const char* kind, const char* read) const {
    return {{"kind", kind},
            {read, GetParam().read},
            {"no_op", GetParam().no_op},
            {"empty", GetParam().empty}};
  }
};

TEST_P(Parallel, StacksFollowTheirEquations) {
  const auto [memories, read, no_op, empty] = GetParam();
  const Tensor actions = this->actions(2), values = this->values();
  const Tensor got = simulate_stack(options("parallel_superposition", "read_depth"),
                                    {{"actions", actions}, {"values", values}});
  EXPECT_EQ(got.sizes(), (std::vector<std::int64_t>{kBatch, kSteps + 1, memories * read}));
  expect_readings(got, [&](std::int64_t b) {
    // More cells than can be reached.
    const std::size_t size = kSteps + read + 3;
    std::vector<std::vector<double>> stacks(memories, std::vector<double>(size, empty));
    std::vector<double> readings;
    for (std::int64_t t = 0; t <= kSteps; ++t) {
      for (auto& stack : stacks)
        readings.insert(readings.end(), stack.begin(), stack.begin() + read);
      for (std::int64_t k = 0; k < memories && t < kSteps; ++k) {
        const auto old = stacks[k];
        for (std::size_t i = 0; i + 1 < size; ++i) {
          const double above = i == 0 ? number(values, {b, t, k}) : old[i - 1];
          stacks[k][i] =
              number(actions, {b, t, k, 0}) * above + number(actions, {b, t, k, 1}) * old[i + 1];
          if (no_op) stacks[k][i] += number(actions, {b, t, k, 2}) * old[i];
        }
      }
    }
    return readings;
  });
}

TEST_P(Parallel, ListsFollowTheirEquations) {
  const auto [memories, read, no_op, empty] = GetParam();
  const Tensor actions = this->actions(3), values = this->values();
  const auto reach = read;
  const Tensor got =
      simulate_stack(options("list", "reach"), {{"actions", actions}, {"values", values}});
  EXPECT_EQ(got.sizes(),
            (std::vector<std::int64_t>{kBatch, kSteps + 1, memories * (2 * reach + 1)}));
  expect_readings(got, [&](std::int64_t b) {
    const auto far = kSteps + reach + 2;
    std::vector<std::map<std::int64_t, double>> lists(memories);  // by position, the head at 0
    const auto at = [&](const std::map<std::int64_t, double>& list, std::int64_t i) {
      const auto found = list.find(i);
      return found == list.end() ? empty : found->second;
    };
    std::vector<double> readings;
    for (std::int64_t t = 0; t <= kSteps; ++t) {
      for (const auto& list : lists)
        for (std::int64_t i = -reach; i <= reach; ++i) readings.push_back(at(list, i));
      for (std::int64_t k = 0; k < memories && t < kSteps; ++k) {
        const auto old = lists[k];
        const auto weight = [&](std::int64_t a) { return number(actions, {b, t, k, a}); };
        for (std::int64_t i = -far; i <= far; ++i) {
          double value = weight(0) * at(old, i - 1) + weight(1) * at(old, i + 1);
          if (i < 0) value += weight(2) * at(old, i + 1);
          if (i == 0) value += weight(2) * number(values, {b, t, k});
          if (i > 0) value += weight(2) * at(old, i);
          if (no_op) value += weight(3) * at(old, i);
          lists[k][i] = value;
        }
      }
    }
    return readings;
  });
}

// Rounded actions are those of the discrete memory.
TEST_P(Parallel, RoundingTakesTheGreatestAction) {
  for (const bool list : {false, true}) {
    Json options = list ? this->options("list", "reach")
                        : this->options("parallel_superposition", "read_depth");
    const Tensor actions = this->actions(list ? 3 : 2), values = this->values();
    const Tensor whole = at::eq(actions, actions.amax(-1, true)).to(at::kDouble);
    const Tensor wanted = simulate_stack(options, {{"actions", whole}, {"values", values}});
    options["rounding"] = true;
    EXPECT_TRUE(simulate_stack(options, {{"actions", actions}, {"values", values}}).equal(wanted));
    // The first of several equal ones.
    const Tensor equal = at::ones_like(actions);
    Tensor first = at::zeros_like(actions);
    first.select(3, 0).fill_(1);
    EXPECT_TRUE(simulate_stack(options, {{"actions", equal}, {"values", values}})
                    .equal(simulate_stack(options, {{"actions", first}, {"values", values}})));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Parallel,
                         testing::Values(ParallelCase{3, 2, false, -1},
                                         ParallelCase{2, 1, true, -1},
                                         ParallelCase{1, 4, true, 0.5}));

// Equations 6 and 7 of Mali et al. (2021) as they are printed, on a stack whose end is too deep to
// matter: no_op has a term only at the top.
TEST(WornStacks, FollowThePrintedEquations) {
  const std::int64_t memories = 2;
  const Tensor actions = shares({kBatch, kSteps, memories, 3}, 7);
  const Tensor values = numbers({kBatch, kSteps, memories}, 8);
  for (const double empty : {0.0, -1.0})
    for (const std::int64_t read : {1, 3}) {
      const auto simulate = [&] {
        return simulate_stack({{"kind", "parallel_superposition"},
                               {"read_depth", read},
                               {"no_op", true},
                               {"no_op_keeps", "top"},
                               {"empty", empty}},
                              {{"actions", actions}, {"values", values}});
      };
      expect_readings(simulate(), [&](std::int64_t b) {
        const std::size_t size = 2 * kSteps + read;
        std::vector<std::vector<double>> stacks(memories, std::vector<double>(size, empty));
        std::vector<double> readings;
        for (std::int64_t t = 0; t <= kSteps; ++t) {
          for (auto& stack : stacks)
            readings.insert(readings.end(), stack.begin(), stack.begin() + read);
          for (std::int64_t k = 0; k < memories && t < kSteps; ++k) {
            const auto old = stacks[k];
            const double push = number(actions, {b, t, k, 0}), pop = number(actions, {b, t, k, 1}),
                         no_op = number(actions, {b, t, k, 2});
            stacks[k][0] = push * number(values, {b, t, k}) + pop * old[1] + no_op * old[0];
            // The end of the vector cannot reach the cells that are read.
            for (std::size_t i = 1; i + 1 < size; ++i)
              stacks[k][i] = push * old[i - 1] + pop * old[i + 1];
          }
        }
        return readings;
      });
    }
  // Without the action nothing can keep less.
  const Tensor two = shares({kBatch, kSteps, memories, 2}, 9);
  const auto plain = [&](const char* keeps) {
    return simulate_stack({{"kind", "parallel_superposition"}, {"no_op_keeps", keeps}},
                          {{"actions", two}, {"values", values}});
  };
  EXPECT_TRUE(plain("all").equal(plain("top")));
}

// Whole actions edit a list: insert 1, 2, 3, go left twice, insert 9, go right.
TEST(List, MovesItsHeadAndInserts) {
  const std::vector<int> actions{2, 2, 2, 0, 0, 2, 1};
  const std::vector<double> values{1, 2, 3, 0, 0, 9, 0};
  const auto steps = static_cast<std::int64_t>(actions.size());
  Tensor weights = at::zeros({1, steps, 1, 3}, at::kDouble);
  for (std::int64_t t = 0; t < steps; ++t) weights[0][t][0][actions[t]].fill_(1);
  const Tensor readings = simulate_stack(
      {{"kind", "list"}, {"reach", 2}},
      {{"actions", weights}, {"values", at::tensor(values, at::kDouble).view({1, steps, 1})}});
  // 1 | 1 2 | 1 2 3 with the head on the last; then the head is on 1; 9 takes its position and 1
  // moves to its left; then the head is on 2.
  const Json wanted{{-1, -1, -1, -1, -1}, {-1, -1, 1, -1, -1}, {-1, 1, 2, -1, -1},
                    {1, 2, 3, -1, -1},    {-1, 1, 2, 3, -1},   {-1, -1, 1, 2, 3},
                    {-1, 1, 9, 2, 3},     {1, 9, 2, 3, -1}};
  EXPECT_TRUE(readings[0].equal(golden_tensor(wanted))) << readings;
}

// The five operations as the matrices of the published program.
TEST(BabyNtm, FollowsItsEquations) {
  for (const std::int64_t cells : {1, 2, 4, 20}) {
    const std::int64_t size = 3;
    std::vector<Tensor> operations(5, at::zeros({cells, cells}, at::kDouble));
    for (auto& operation : operations) operation = at::zeros({cells, cells}, at::kDouble);
    for (std::int64_t i = 0; i < cells; ++i) {
      const auto next = (i + 1) % cells;
      operations[0][i][next].fill_(1);
      operations[1][next][i].fill_(1);
      operations[2][i][i].fill_(1);
      if (next != 0) operations[3][next][i].fill_(1);
      if (next != 0) operations[4][i][next].fill_(1);
    }
    const Tensor actions = shares({kBatch, kSteps, 5}, 3);
    const Tensor vectors = numbers({kBatch, kSteps, size}, 4);
    const auto simulate = [&] {
      return simulate_stack({{"kind", "baby_ntm"}, {"cells", cells}},
                            {{"actions", actions}, {"vectors", vectors}});
    };
    const Tensor got = simulate();
    at::NoGradGuard guard;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      Tensor memory = at::zeros({cells, size}, at::kDouble);
      for (std::int64_t t = 0; t <= kSteps; ++t) {
        EXPECT_LT(deviation(got[b][t], memory[0]), 1e-13) << cells << " cells, step " << t;
        if (t == kSteps) break;
        Tensor mixed = at::zeros_like(memory);
        for (std::int64_t a = 0; a < 5; ++a)
          mixed += actions[b][t][a] * at::mm(operations[a], memory);
        mixed[0] += vectors[b][t];
        memory = mixed;
      }
    }
  }
}

// The stack of Suzgun et al. (2019): push or pop, and a depth at which the lowest vector is lost.
TEST(LimitedSuperposition, FollowsItsEquations) {
  for (const bool no_op : {false, true})
    for (const std::int64_t depth : {0, 1, 3, 50}) {
      const std::int64_t size = 2, limit = depth == 0 ? kSteps + 2 : depth;
      const Tensor actions = shares({kBatch, kSteps, no_op ? 3 : 2}, 5);
      const Tensor vectors = numbers({kBatch, kSteps, size}, 6);
      const auto simulate = [&] {
        return simulate_stack({{"kind", "superposition"}, {"no_op", no_op}, {"depth", depth}},
                              {{"actions", actions}, {"vectors", vectors}});
      };
      expect_readings(simulate(), [&](std::int64_t b) {
        std::vector<std::vector<double>> stack(limit, std::vector<double>(size, 0.0));
        std::vector<double> readings;
        for (std::int64_t t = 0; t <= kSteps; ++t) {
          readings.insert(readings.end(), stack[0].begin(), stack[0].end());
          const auto old = stack;
          for (std::int64_t i = 0; i < limit && t < kSteps; ++i)
            for (std::int64_t k = 0; k < size; ++k) {
              const double above = i == 0 ? number(vectors, {b, t, k}) : old[i - 1][k];
              const double below = i + 1 < limit ? old[i + 1][k] : 0;
              stack[i][k] = number(actions, {b, t, 0}) * above +
                            number(actions, {b, t, 1}) * below +
                            (no_op ? number(actions, {b, t, 2}) * old[i][k] : 0);
            }
        }
        return readings;
      });
    }
}

// Whole actions on two tapes of five cells, whose jumps are three cells long.
TEST(Tape, WritesAndThenMoves) {
  enum { stay, left, right, jump_left, jump_right };
  const std::vector<int> first{left, left, right, jump_left, stay, jump_right},
      second{stay, right, right, jump_left, jump_left, left};
  const auto steps = std::ssize(first);
  Tensor actions = at::zeros({1, steps, 10}, at::kDouble);
  for (std::int64_t t = 0; t < steps; ++t) {
    actions[0][t][first[t]].fill_(1);
    actions[0][t][5 + second[t]].fill_(1);
  }
  const Tensor vectors = at::arange(1.0, 1.0 + 2 * static_cast<double>(steps), at::kDouble);
  const Tensor readings =
      simulate_stack({{"kind", "tape"}, {"tapes", 2}, {"cells", 5}, {"jump", 3}},
                     {{"actions", actions}, {"vectors", vectors.view({1, steps, 2})}});
  // The first tape: 1 in cell 0, 3 in cell 1, 5 in cell 2, from which the head goes back to 3. It
  // writes 7 there and jumps to cell 4, writes 9, stays, writes 11, and jumps back to 7.
  const Json wanted{{0, 0}, {0, 2}, {0, 0}, {3, 0}, {0, 0}, {9, 6}, {7, 4}};
  EXPECT_TRUE(readings[0].equal(golden_tensor(wanted))) << readings;
}

TEST(ParallelErrors, NameTheTensor) {
  const Tensor values = at::zeros({1, 2, 3}, at::kDouble);
  const auto simulate = [&](Json options, const Tensor& actions) {
    return message<std::invalid_argument>([&] {
      simulate_stack(options, {{"actions", actions}, {"values", values}});
    });
  };
  const auto zeros = [](std::vector<std::int64_t> shape) { return at::zeros(shape, at::kDouble); };
  EXPECT_EQ(
      simulate({{"kind", "parallel_superposition"}}, zeros({1, 2, 3, 3})),
      "[stack.simulate parallel_superposition] 'actions' must be 1 x 2 x 3 x 2, got 1 x 2 x 3 "
      "x 3");
  EXPECT_EQ(simulate({{"kind", "parallel_superposition"}, {"no_op", true}}, zeros({1, 2, 3, 3})),
            "no error");
  EXPECT_EQ(simulate({{"kind", "list"}}, zeros({1, 2, 2, 3})),
            "[stack.simulate list] 'actions' must be 1 x 2 x 3 x 3, got 1 x 2 x 2 x 3");
  EXPECT_CONTAINS(simulate({{"kind", "list"}, {"reach", -1}}, zeros({1, 2, 3, 3})), "'reach'");
  EXPECT_CONTAINS(
      simulate({{"kind", "parallel_superposition"}, {"read_depth", 0}}, zeros({1, 2, 3, 2})),
      "'read_depth'");
}

}  // namespace
}  // namespace pushdown::parallel_test
