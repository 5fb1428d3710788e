// Fused gates give the same numbers as the operations of which they consist.
#include "recurrence/program/step_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recurrence/execute/step_run.h"
#include "recurrence/program/step_text.h"

namespace pushdown::step_fusion_test {
namespace {

constexpr std::int64_t kBatch = 5, kSteps = 9;

// A step of one cell. Without `fused`, a factor of 1 between the operations hides the cell and
// changes no number.
struct Cell {
  at::ScalarType type;
  std::int64_t hidden;
  bool fused = true;
  std::vector<Tensor> leaves;

  Tensor leaf(at::IntArrayRef shape, double factor = 0.7) {
    Tensor tensor = at::empty(shape, at::kDouble);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<double>()[i] = std::sin(static_cast<double>(i + 7) * factor) * 0.8;
    leaves.push_back(tensor.to(type).requires_grad_());
    return leaves.back();
  }
  Traced own(const Traced& x) const { return fused ? x : 1.0 * x; }
};

std::vector<Traced> lstm(const Cell& cell, const Traced& x, const Traced& h, const Traced& c) {
  const auto gates =
      (pushdown::linear(x, cell.leaves[0], cell.leaves[2]) + pushdown::linear(h, cell.leaves[1]))
          .chunk(4, 1);
  const Traced next = cell.own(gates[1]).sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * next.tanh(), next};
}

std::vector<Traced> gru(const Cell& cell, const Traced& x, const Traced& h, const Traced& c) {
  // Not known in advance: then the parts would be separate inputs.
  const auto from_x =
      (pushdown::linear(x, cell.leaves[0], cell.leaves[2]) + pushdown::linear(c, cell.leaves[3]))
          .chunk(3, 1);
  const auto from_h = pushdown::linear(h, cell.leaves[1]).chunk(3, 1);
  const Traced reset = (from_x[0] + from_h[0]).sigmoid(),
               update = (from_x[1] + from_h[1]).sigmoid();
  const Traced candidate = cell.own(from_x[2] + reset * from_h[2]).tanh();
  return {candidate + update * (h - candidate), (0.5 * c + 0.1)};
}

using Step = std::vector<Traced> (*)(const Cell&, const Traced&, const Traced&, const Traced&);

struct Run {
  const char* name;
  std::int64_t window = 0;
  std::vector<std::int64_t> lengths = {};
  bool masked = false, coupled = false, frozen = false, read_later = false;
};

struct Result {
  std::vector<std::string> operations;
  std::vector<Tensor> numbers;  // the output, then all gradients
};

Result run(const Run& given, Step step, std::int64_t gates, at::ScalarType type,
           std::int64_t hidden, bool fused) {
  Cell cell{type, hidden, fused, {}};
  cell.leaf({gates * hidden, 3});
  cell.leaf({gates * hidden, hidden});
  cell.leaf({gates * hidden});
  cell.leaf({gates * hidden, hidden});
  const Tensor mask_map = cell.leaf({hidden, hidden}), x = cell.leaf({kBatch, kSteps, 3}, 1.3),
               h0 = cell.leaf({kBatch, hidden}, 0.3), c0 = cell.leaf({kBatch, hidden}, 0.9);
  if (given.frozen)
    for (const std::size_t k : {0, 1, 2, 3}) cell.leaves[k].requires_grad_(false);
  StepTrace trace;
  const Traced h = trace.state(h0), c = trace.state(c0);
  Traced from = h;
  if (given.masked)
    from = from * trace.sequence(cell.leaf({kBatch, kSteps, hidden}, 2.1).detach().gt(0).to(type));
  if (given.coupled) from = from + pushdown::linear(c, mask_map);
  auto next = step(cell, trace.sequence(x), from, c);
  Traced output = next[0];
  if (given.read_later) output = output + next[1] * next[1];
  trace.bind(h, next[0]);
  trace.bind(c, next[1]);
  Result result;
  auto program = trace.finish(output);
  for (const StepNode& node : program.nodes) result.operations.emplace_back(operation_name(node));
  const Tensor values =
      run_steps(std::move(program), kBatch, kSteps, std::make_shared<BufferPool>(), given.window,
                nullptr, given.lengths);
  result.numbers.push_back(values.detach());
  (values * at::arange(values.numel(), at::kDouble).cos().to(type).view_as(values))
      .sum()
      .backward();
  for (const Tensor& own : cell.leaves) result.numbers.push_back(own.grad());
  return result;
}

void expect_equal(Step step, std::int64_t gates, const std::vector<std::string>& operations) {
  const Run runs[] = {{"plain"},
                      {"window", 4},
                      {"lengths", 0, {9, 9, 6, 2, 1}},
                      {"window and lengths", 3, {9, 7, 6, 2, 1}},
                      {"masked", 0, {}, true},
                      {"coupled", 4, {}, true, true},
                      {"frozen", 0, {}, false, true, true},
                      {"read later", 0, {}, false, false, false, true}};
  for (const Run& given : runs)
    for (const at::ScalarType type : {at::kFloat, at::kDouble})
      for (const std::int64_t hidden : {1, 3, 8, 20, 33}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", given.name, c10::toString(type), hidden));
        const Result fused = run(given, step, gates, type, hidden, true),
                     plain = run(given, step, gates, type, hidden, false);
        for (const std::string& op : operations) {
          EXPECT_EQ(std::count(fused.operations.begin(), fused.operations.end(), op), 1);
          EXPECT_EQ(std::count(plain.operations.begin(), plain.operations.end(), op), 0);
        }
        EXPECT_EQ(std::count(fused.operations.begin(), fused.operations.end(), "sigmoid"), 0);
        ASSERT_EQ(fused.numbers.size(), plain.numbers.size());
        for (std::size_t k = 0; k < fused.numbers.size(); ++k) {
          ASSERT_EQ(fused.numbers[k].defined(), plain.numbers[k].defined()) << k;
          const bool same =
              !fused.numbers[k].defined() || at::equal(fused.numbers[k], plain.numbers[k]);
          EXPECT_TRUE(same) << k;
        }
      }
}

TEST(StepFusion, AnLstmGivesTheNumbersOfItsOperations) {
  expect_equal(lstm, 4, {"lstm c", "lstm h", "kept"});
}

TEST(StepFusion, AGruGivesTheNumbersOfItsOperations) { expect_equal(gru, 3, {"gru"}); }

// A cell whose gates something else needs is left alone.
TEST(StepFusion, LeavesGatesThatAreReadElsewhere) {
  const Tensor start = at::zeros({1, 2}), weight = at::ones({8, 2}).requires_grad_();
  for (const int what : {0, 1, 2, 3}) {
    StepTrace trace;
    const Traced h = trace.state(start), c = trace.state(start);
    const Traced all = pushdown::linear(h, weight);
    const auto gates = all.chunk(4, 1);
    const Traced forget = gates[1].sigmoid(),
                 cell = forget * c + gates[0].sigmoid() * gates[2].tanh();
    const Traced hidden = gates[3].sigmoid() * cell.tanh();
    trace.bind(h, hidden);
    trace.bind(c, cell);
    const Traced output = what == 0   ? hidden
                          : what == 1 ? hidden + forget
                          : what == 2 ? hidden + gates[2]
                                      : hidden + all.narrow(1, 1, 2);
    const auto program = trace.finish(output);
    const bool fused = std::any_of(program.nodes.begin(), program.nodes.end(),
                                   [](const auto& node) { return node.op == StepOp::lstm_cell; });
    EXPECT_EQ(fused, what == 0) << what;
  }
}

}  // namespace
}  // namespace pushdown::step_fusion_test
