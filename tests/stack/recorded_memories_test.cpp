// The memories of recorded steps, with all options of their kernels, compared with their
// definitions by tensor operations: values and all gradients, also those that end at the border of
// a window. The kernels for devices have the same source and are compared with these
// (tests/cuda/printed_code_test.cpp).
#include <gtest/gtest.h>

#include "recurrence/memory_networks.h"
#include "stack/analog_stack.h"
#include "stack/stratification.h"

namespace pushdown::recorded_memories_test {
namespace {

using namespace testing_support;

class Definition {
 public:
  virtual ~Definition() = default;
  virtual void step(const Tensor& actions) = 0;
  virtual Tensor reading() const = 0;
  virtual void detach() = 0;
};

// kernel/memory/shifted.h, on as many cells as the steps can reach.
class Shifted final : public Definition {
 public:
  Shifted(const MemoryShape& shape, std::int64_t batch, std::int64_t steps,
          at::TensorOptions options)
      : z_(shape.shifted), rest_(at::full({batch, z_.size}, z_.empty, options)) {
    const auto many = z_.limit > 0 ? z_.limit : steps + z_.reach + 1;
    low_ = z_.kind == ShiftedKind::list ? -many : 0;
    cells_.assign(many - low_, rest_);
  }
  void step(const Tensor& given) override {
    const auto batch = given.size(0), weights = given.size(1) - z_.size - (z_.jump < 0 ? 1 : 0);
    const Tensor value = given.narrow(1, weights, z_.size);
    const auto w = [&](std::int64_t a) {
      return given.narrow(1, 0, weights)
          .view({batch, z_.memories, -1})
          .select(2, a)
          .repeat_interleave(z_.size / z_.memories, 1);
    };
    if (z_.kind == ShiftedKind::ring) {
      // Sequence by sequence, because of their distances.
      std::vector<Tensor> rows;
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto jump =
            z_.jump < 0 ? given[b][given.size(1) - 1].item().to<std::int64_t>() : z_.jump;
        std::vector<Tensor> cells{value[b]};
        for (std::int64_t d = 1; d < z_.limit; ++d) cells.push_back(cells_[d][b]);
        const Tensor all = at::stack(cells);
        const std::int64_t moves[] = {0, -1, 1, -jump, jump};
        Tensor sum = at::zeros_like(all);
        for (int a = 0; a < 5; ++a) sum = sum + w(a)[b] * all.roll(moves[a], 0);
        rows.push_back(sum);
      }
      cells_ = at::stack(rows, 1).unbind(0);
      return;
    }
    if (z_.kind == ShiftedKind::tape) {
      const Tensor all = at::stack(cells_, 1), none = at::zeros_like(all.narrow(1, 0, 1));
      const auto beyond = z_.limit - 1;
      const Tensor later = at::cat({none, all.narrow(1, 0, beyond)}, 1),
                   earlier = at::cat({all.narrow(1, 1, beyond), none}, 1);
      const Tensor places[] = {all.roll(-1, 1), all.roll(1, 1), all, later, earlier};
      Tensor sum = at::zeros_like(all);
      for (int a = 0; a < 5; ++a) sum = sum + w(a).unsqueeze(1) * places[a];
      cells_ = sum.unbind(1);
      cells_[0] = cells_[0] + value;
      return;
    }
    std::vector<Tensor> next;
    for (auto d = low_; d < low_ + static_cast<std::int64_t>(cells_.size()); ++d) {
      Tensor sum;
      if (z_.kind == ShiftedKind::stack) {
        sum = w(0) * (d == 0 ? value : cell(d - 1)) + w(1) * cell(d + 1);
        if (z_.no_op && !(z_.worn && d > 0)) sum = sum + w(2) * cell(d);
      } else {
        const Tensor inserted = d < 0 ? cell(d + 1) : d == 0 ? value : cell(d);
        sum = w(0) * cell(d - 1) + w(1) * cell(d + 1) + w(2) * inserted;
        if (z_.no_op) sum = sum + w(3) * cell(d);
      }
      next.push_back(sum);
    }
    cells_ = next;
    if (z_.worn) rest_ = (w(0) + w(1)) * rest_;
  }
  Tensor reading() const override {
    std::vector<Tensor> read;
    const bool list = z_.kind == ShiftedKind::list, stack = z_.kind == ShiftedKind::stack;
    for (auto d = list ? -z_.reach : 0; d <= (list ? z_.reach : stack ? z_.reach - 1 : 0); ++d)
      read.push_back(cell(d).view({-1, z_.memories, z_.size / z_.memories}));
    return at::stack(read, 2).flatten(1);
  }
  void detach() override {
    for (Tensor& one : cells_) one = one.detach();
    rest_ = rest_.detach();
  }

 private:
  Tensor cell(std::int64_t d) const {
    const auto at = d - low_;
    return at >= 0 && at < static_cast<std::int64_t>(cells_.size()) ? cells_[at] : rest_;
  }

  ShiftedShape z_;
  std::int64_t low_;
  std::vector<Tensor> cells_;
  Tensor rest_;  // all other cells
};

// kernel/memory/sections.h
class SectionsByTensors final : public Definition {
 public:
  SectionsByTensors(const MemoryShape& shape, std::int64_t batch, at::TensorOptions options)
      : z_(shape.sections), strata_(empty_strata(batch, z_.memories, z_.size, options)) {}
  void step(const Tensor& given) override {
    const auto batch = given.size(0);
    std::int64_t at = 0;
    const auto next = [&](std::int64_t rows) {
      return given.narrow(1, std::exchange(at, at + rows), rows);
    };
    StrataActions ends[2];
    for (int end = 0; end < (z_.ends == SectionEnds::deque ? 2 : 1); ++end) {
      Tensor strengths[3];
      for (int what = 0; what < 3; ++what) {
        const auto rows = z_.memories * strength_rows(z_.strengths[what], z_.max_strength);
        const Tensor own = next(rows);
        if (z_.strengths[what] == StrengthKind::sigmoid) strengths[what] = own.sigmoid();
        if (z_.strengths[what] == StrengthKind::fixed)
          strengths[what] = at::ones({batch, z_.memories}, given.options());
        if (z_.strengths[what] == StrengthKind::expectation)
          strengths[what] = own.view({batch, z_.memories, -1})
                                .softmax(2)
                                .matmul(at::arange(z_.max_strength + 1, given.options()));
      }
      const Tensor vectors = next(z_.memories * z_.size).tanh();
      ends[end] = {strengths[0], strengths[1], vectors.view({batch, z_.memories, -1}),
                   strengths[2]};
    }
    strata_ = strata_step(z_.ends, strata_, ends[0], ends[1]);
  }
  Tensor reading() const override { return strata_reading(z_.ends, strata_).flatten(1); }
  void detach() override {
    for (Tensor* one : {&strata_.vectors, &strata_.strengths, &strata_.read, &strata_.bottom_read})
      if (one->defined()) *one = one->detach();
  }

 private:
  SectionsShape z_;
  Strata strata_;
};

// kernel/memory/analog.h
class Analog final : public Definition {
 public:
  Analog(const MemoryShape& shape, std::int64_t batch, at::TensorOptions options)
      : z_(shape.analog),
        stack_(empty_analog_stack(batch, shape.analog.symbols, options)),
        unmet_(at::zeros({batch}, options)),
        counts_(at::ones({batch}, options)) {}
  void step(const Tensor& given) override {
    const Tensor symbol = given.narrow(1, 1, z_.symbols), none = at::zeros_like(unmet_);
    const Tensor running = unmet_ == 0, length = analog_length(stack_);
    const Tensor active = running.logical_and(symbol.sum(1) > 0);
    Tensor action = at::where(active, active_actions(given.select(1, 0), z_.epsilon), none);
    Tensor refused = at::zeros_like(running);
    if (z_.stops)
      refused =
          (action < 0).logical_and((length < -(1 - z_.tolerance) * action).logical_or(length <= 0));
    unmet_ = at::where(refused, -(length + action), unmet_);
    action = at::where(refused, none, action);
    counts_ = running.logical_and(refused.logical_not()).to(unmet_.scalar_type());
    stack_ = analog_step(stack_, action, symbol);
  }
  Tensor reading() const override {
    return at::cat({analog_reading(stack_), at::stack({analog_length(stack_), unmet_, counts_}, 1)},
                   1);
  }
  void detach() override {
    for (Tensor* one : {&stack_.vectors, &stack_.lengths, &unmet_}) *one = one->detach();
  }

 private:
  AnalogShape z_;
  AnalogStack stack_;
  Tensor unmet_, counts_;
};

std::unique_ptr<Definition> definition(const MemoryNetwork& network) {
  const auto& z = network.shape;
  const auto options = network.first.options().requires_grad(false);
  if (z.kind == MemoryKind::analog) return std::make_unique<Analog>(z, network.batch, options);
  if (z.kind == MemoryKind::stratification)
    return std::make_unique<SectionsByTensors>(z, network.batch, options);
  return std::make_unique<Shifted>(z, network.batch, network.steps, options);
}

// The steps that MemoryNetwork::record() records.
Tensor run_plainly(const MemoryNetwork& network, std::int64_t window) {
  const auto& z = network.shape;
  const auto memory = definition(network);
  Tensor hidden = network.first;
  std::vector<Tensor> all;
  for (std::int64_t t = 0; t < network.steps; ++t) {
    const Tensor seen = at::cat({network.input.select(1, t), memory->reading()}, 1);
    hidden =
        (at::linear(seen, network.weight, network.bias) + at::linear(hidden, network.recurrent))
            .tanh();
    const Tensor made = hidden;
    if (window > 0 && (t + 1) % window == 0) {
      hidden = hidden.detach();
      memory->detach();
    }
    Tensor given = at::linear(hidden, network.action, network.action_bias);
    if (z.kind == MemoryKind::shifted) {
      const auto size = z.shifted.size;
      const auto weights = z.actions - size, kinds = weights / z.shifted.memories;
      const Tensor shares = given.narrow(1, 0, weights).unflatten(1, {-1, kinds}).softmax(2);
      given = at::cat({shares.flatten(1), given.narrow(1, weights, size).sigmoid()}, 1);
      if (z.shifted.jump < 0) given = at::cat({given, network.distances().select(1, t)}, 1);
    } else if (z.kind == MemoryKind::analog) {
      given = at::cat({given.tanh(), network.symbols.select(1, t)}, 1);
    }
    memory->step(given);
    all.push_back(z.kind == MemoryKind::analog ? at::cat({made, memory->reading()}, 1) : made);
  }
  return at::stack(all, 1);
}

TEST(RecordedMemories, EqualTheirDefinitions) {
  for (const auto& [name, shape] : memories()) {
    if (shape.kind == MemoryKind::nondeterministic) continue;  // vector_nondeterministic_test.cpp
    for (const auto& [batch, steps, window] : {std::tuple{1, 1, 0},
                                               {2, 2, 0},
                                               {3, 5, 0},
                                               {2, 14, 0},
                                               {2, 8, 1},
                                               {2, 8, 3},
                                               {1, 8, 20}}) {
      // The values after a step are outputs of the analog stack's network, which has no window.
      if (window > 0 && shape.kind == MemoryKind::analog) continue;
      const MemoryNetwork network(shape, batch, steps, at::kDouble);
      const Tensor wanted = run_plainly(network, window),
                   got = run_steps(network.record(), batch, steps, std::make_shared<BufferPool>(),
                                   window);
      const auto what = fmt::format("{}, {} x {}, window {}", name, batch, steps, window);
      EXPECT_LT((wanted - got).abs().max().item<double>(), 1e-12) << what;
      const Tensor probe = numbers(wanted.sizes(), wanted.options(), 0.5, 1);
      const auto expected = gradients({(wanted * probe).sum()}, network.tensors),
                 found = gradients({(got * probe).sum()}, network.tensors);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!expected[i].defined() && !found[i].defined()) continue;
        const Tensor none = at::zeros_like(network.tensors[i]);
        const Tensor one = expected[i].defined() ? expected[i] : none,
                     other = found[i].defined() ? found[i] : none;
        EXPECT_LT((one - other).abs().max().item<double>(), 1e-11) << what << ", tensor " << i;
      }
    }
  }
}

}  // namespace
}  // namespace pushdown::recorded_memories_test
