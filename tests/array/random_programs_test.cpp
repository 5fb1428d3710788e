// Random programs of operators: recorded programs give the same values and gradients as LibTorch,
// on the CPU and by the source for devices.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "array/array_function.h"
#include "array/array_recorder.h"
#include "base/random.h"
#include "kernel/array/team_pass.h"
#include "support/thread_team.h"

namespace pushdown::array_random_programs_test {
namespace {

constexpr std::int64_t kBatch = 5;

struct Argument {
  Tensor tensor;
  bool parameter;
};

// A program: the same seed gives the same operations for the same shapes.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed, "program") {}

  std::vector<Tensor> run(const std::vector<Argument>& arguments) {
    for (const Argument& own : arguments)
      (own.parameter ? parameters_ : pool_).push_back(own.tensor);
    const auto count = 3 + random_.below(10);
    for (std::uint64_t k = 0; k < count; ++k) {
      const Tensor made = step();
      if (made.defined() && made.numel() <= 300 * kBatch && made.dim() <= 5 && made.dim() >= 2)
        pool_.push_back(made);
    }
    return {pool_.back(), pool_[pool_.size() - 2], any()};
  }

 private:
  Tensor any() { return pool_[random_.below(pool_.size())]; }
  std::int64_t dimension(const Tensor& x) {
    return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(x.dim() - 1)));
  }
  // A tensor that can be broadcast with x.
  Tensor partner(const Tensor& x) {
    for (int k = 0; k < 8; ++k) {
      const Tensor y = any();
      if (y.sizes() == x.sizes()) return y;
      if (y.dim() == 2 && x.dim() == 3 && y.size(1) == x.size(2)) return y.unsqueeze(1);
      if (y.dim() == 2 && x.dim() == 3 && y.size(1) == x.size(1)) return y.unsqueeze(2);
    }
    if (x.size(-1) == 3 && random_.below(2) == 0) return parameters_[1];
    return random_.below(2) == 0 ? x.flip(x.dim() - 1) : at::full({x.size(-1)}, 0.7, x.options());
  }

  Tensor step() {
    const Tensor x = any();
    switch (random_.below(48)) {
      case 0: return x.tanh();
      case 1: return x.sigmoid();
      case 2: return x.tanh().exp();
      case 3: return x.relu();
      case 4: return at::softplus(x);
      case 5: return x.sin() + x.cos();
      case 6: return x.abs() - 0.2;
      case 7: return (x * x + 1).sqrt();
      case 8: return (x.abs() + 0.5).log();
      case 9: return -x;
      case 10: return x.tanh().expm1() + (x * x).log1p();
      case 11: return x.clamp(-0.5, 0.7);
      case 12: return at::gelu(x) + at::silu(x) + x.erf();
      case 13: return x + partner(x);
      case 14: return x - 2 * partner(x);
      case 15: return x.tanh() * partner(x);
      case 16: {
        const Tensor y = partner(x);
        return x / (y * y + 1);
      }
      case 17: return at::maximum(x, partner(x));
      case 18: return at::minimum(x, partner(x) * 0.5);
      case 19: {
        const Tensor y = partner(x);
        return at::where(x.gt(y), x, y.sin());
      }
      case 20: return x * x.gt(0.1).to(x.scalar_type()) + x.le(partner(x)).logical_not() * 0.5;
      case 21: return (x.abs() + 0.1).pow(1.7) + x.pow(2);
      case 22: return at::rsub(0.3 * x, 1) + at::logaddexp(x, partner(x));
      case 23: return x.masked_fill(x.lt(-0.2), 0.25);
      case 24: return x.sum(dimension(x), true);
      case 25: return x.dim() > 2 ? x.sum(dimension(x)) : x.mean(1, true);
      case 26: return std::get<0>(x.max(dimension(x), true));
      case 27: return x.dim() > 2 ? std::get<0>(x.min(dimension(x))) : x;
      case 28: return x.logsumexp(dimension(x), true);
      case 29: return x.tanh().prod(dimension(x), true);
      case 30: return x.softmax(dimension(x));
      case 31: return x.log_softmax(dimension(x));
      case 32: return x.cumsum(dimension(x));
      case 33: return x.tanh().cumprod(dimension(x));
      case 34:
        return x.dim() > 2 ? x.transpose(1, 2)
                           : x.unsqueeze(1 + static_cast<std::int64_t>(random_.below(2)));
      case 35: {
        const auto d = dimension(x);
        const auto first =
            static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(x.size(d))));
        return x.narrow(d, first, x.size(d) - first);
      }
      case 36: return x.dim() > 2 ? x.select(dimension(x), 0) : x.reshape({x.size(0), 1, -1});
      case 37: return x.reshape({x.size(0), -1});
      case 38: {
        const auto d = dimension(x);
        return at::roll(x, 1, d) + x.flip(d);
      }
      case 39: return at::constant_pad_nd(x, {1, 2}, 0.5);
      case 40: {
        const auto d = dimension(x);
        return at::cat({x.sin(), x, at::zeros_like(x)}, d);
      }
      case 41: return at::stack({x, x * 0.5}, dimension(x));
      case 42: return x.size(-1) == 3 ? at::matmul(x, parameters_[0]) : x.unsqueeze(-1);
      case 43:
        return x.dim() == 3   ? at::matmul(x, x.transpose(1, 2)).tanh()
               : x.dim() == 2 ? at::einsum("bi,bj->bij", {x, x.cos()})
                              : x;
      case 44:
        return x.dim() == 3
                   ? at::einsum("bij,bik->bjk", {x, x.sin()}).tanh()
                   : at::linear(x, x.size(-1) == 3 ? parameters_[0]
                                                   : at::ones({2, x.size(-1)}, x.options()));
      case 45: {
        // At positions that are computed.
        const auto d = dimension(x);
        const Tensor places = (x.narrow(d, 0, 1).sin() * static_cast<double>(x.size(d))).abs();
        return x.gather(d, places.to(at::kLong).clamp(0, x.size(d) - 1));
      }
      case 46: return x.cumsum(dimension(x)) / (1 + x.sum(dimension(x), true).square());
      default:
        return x.dim() < 4 ? x.unsqueeze(1).expand([&] {
          auto sizes = x.sizes().vec();
          sizes.insert(sizes.begin() + 1, 2);
          return sizes;
        }())
                           : x;
    }
  }

  Random random_;
  std::vector<Tensor> pool_, parameters_;
};

std::vector<Argument> arguments(bool gradients) {
  const auto numbers = [&](std::vector<std::int64_t> sizes, int number) {
    std::int64_t count = 1;
    for (const auto size : sizes) count *= size;
    const Tensor made = (at::arange(count, at::kDouble) * 1.3 + number).sin().view(sizes).clone();
    return made.set_requires_grad(gradients);
  };
  return {{numbers({kBatch, 3}, 1), false},
          {numbers({kBatch, 4, 3}, 2), false},
          {numbers({kBatch, 3, 4}, 3), false},
          {numbers({3, 3}, 4), true},
          {numbers({3}, 5), true}};
}

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor own = tensor.detach().contiguous();
  return {own.data_ptr<double>(), own.data_ptr<double>() + own.numel()};
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 const std::string& what) {
  ASSERT_GE(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], 1e-11 * (1 + std::fabs(wanted[i]))) << what << ", number " << i;
}

struct Evaluation {
  std::vector<double> output;
  std::vector<std::vector<double>> slopes;  // of the inputs
};
// Runs the program for one sequence, by a team of threads.
Evaluation evaluate_by_team(const ArrayProgram& program,
                            const std::vector<std::vector<double>>& inputs,
                            const std::vector<double>& output_slope, int size, int lanes) {
  const auto code = program.code<double>();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  struct Buffers {
    mutable std::vector<std::vector<double>> values, slopes;
    double* value(int buffer) const { return values[static_cast<std::size_t>(buffer)].data(); }
    double* slope(int buffer) const {
      auto& own = slopes[static_cast<std::size_t>(buffer)];
      return own.empty() ? nullptr : own.data();
    }
  } buffers;
  const auto room = [](std::int64_t count, double value) {
    return std::vector<double>(static_cast<std::size_t>(count), value);
  };
  buffers.values = inputs;
  buffers.values.push_back(room(program.output, kNaN));
  buffers.values.push_back(program.constants);
  buffers.values.push_back(room(program.memory, kNaN));
  for (const auto& own : inputs)
    buffers.slopes.push_back(room(static_cast<std::int64_t>(own.size()), 0));
  buffers.slopes.push_back(output_slope);
  buffers.slopes.back().resize(static_cast<std::size_t>(program.output));
  buffers.slopes.emplace_back();
  buffers.slopes.push_back(room(program.memory, 0));
  testing_support::run_team(size, lanes, [&](const testing_support::ThreadTeam& team) {
    const device::ArrayTeamPass<double, Buffers> run(code, buffers, 0);
    run.forward(team);
    team.sync();
    run.backward(team);
  });
  Evaluation made;
  made.output = buffers.values[inputs.size()];
  made.slopes.assign(buffers.slopes.begin(), buffers.slopes.begin() + std::ssize(inputs));
  return made;
}

// The values of a function, its gradients for some slopes, and its derivative along a direction.
std::vector<Tensor> derivatives_of(const Tensor& values, const std::vector<Argument>& arguments) {
  std::vector<Tensor> leaves, directions, all{values.detach()};
  for (const Argument& own : arguments) {
    leaves.push_back(own.tensor);
    directions.push_back((own.tensor.detach() * 2.1).cos());
  }
  if (!values.requires_grad()) return all;
  const Tensor weights =
      (at::arange(values.numel(), at::kDouble) * 0.7).cos().view(values.sizes()).requires_grad_();
  auto back = gradients({values}, leaves, {weights}, {.keep_graph = true, .record = true});
  std::vector<Tensor> from, with;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    all.push_back(back[k].defined() ? back[k].detach() : at::zeros_like(leaves[k]));
    if (!back[k].defined() || !back[k].requires_grad()) continue;
    from.push_back(back[k]);
    with.push_back(directions[k]);
  }
  const Tensor along = from.empty() ? Tensor() : gradients(from, {weights}, with)[0];
  all.push_back(along.defined() ? along : at::zeros_like(values));
  return all;
}

// Compares run_array() with LibTorch for whole batches.
void compare_function(const ArrayProgram& program, const std::vector<Argument>& given,
                      const std::vector<Tensor>& results, const std::string& what) {
  std::vector<Tensor> rows, inputs;
  for (const Tensor& result : results) rows.push_back(result.flatten(1));
  for (const Argument& own : given)
    inputs.push_back(own.parameter ? own.tensor.unsqueeze(0) : own.tensor);
  const auto wanted = derivatives_of(at::cat(rows, 1), given);
  const auto found =
      derivatives_of(run_array(std::make_shared<const ArrayProgram>(program), inputs), given);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    expect_near(numbers_of(found[k]), numbers_of(wanted[k]), fmt::format("{} of {}", k, what));
}

// Whether it was recorded.
bool compare(std::uint64_t seed) {
  const auto given = arguments(true);
  ArrayGraph graph;
  ArrayRecorder recorder(graph, kBatch, [] { return std::string(); });
  ArrayProgram program;
  std::vector<std::vector<double>> inputs;
  for (const Argument& own : given) {
    const auto which = static_cast<int>(inputs.size());
    own.parameter ? recorder.parameter(own.tensor, which) : recorder.input(own.tensor, which, 0);
    inputs.push_back(numbers_of(own.parameter ? own.tensor : own.tensor.select(0, 0)));
    program.inputs.push_back(fmt::format("x{}", which));
  }
  std::vector<Tensor> results;
  {
    const OperatorWatch watch(recorder);
    results = Program(seed).run(given);
  }
  std::vector<int> nodes;
  for (const Tensor& result : results)
    if (const auto node = recorder.output(result)) nodes.push_back(*node);
  if (recorder.refusal()) {
    ADD_FAILURE() << "seed " << seed << ": " << recorder.refusal()->reason;
    return false;
  }
  add_step(graph, nodes, program);
  program.finish();
  const auto what = fmt::format("seed {}\n{}", seed, array_text(program, 0));
  Tensor total = at::zeros({}, at::kDouble);
  std::vector<double> wanted, slopes;
  for (const Tensor& result : results) {
    const Tensor first = result.select(0, 0).contiguous();
    const Tensor slope = (at::arange(first.numel(), at::kDouble) * 0.7).cos().view(first.sizes());
    total = total + (first * slope).sum();
    for (const double value : numbers_of(first)) wanted.push_back(value);
    for (const double value : numbers_of(slope)) slopes.push_back(value);
  }
  std::vector<Tensor> leaves;
  for (const Argument& own : given) leaves.push_back(own.tensor);
  compare_function(program, given, results, "the function, " + what);
  std::vector<Evaluation> ways{evaluate_by_team(program, inputs, slopes, 1, 1)};
  if (seed % 10 == 0) ways.push_back(evaluate_by_team(program, inputs, slopes, 4, 2));
  std::vector<Tensor> derivatives;
  if (total.requires_grad()) derivatives = gradients({total}, leaves);
  for (const Evaluation& found : ways) {
    const auto way = fmt::format("way {}, {}", &found - ways.data(), what);
    expect_near(found.output, wanted, "values, " + way);
    for (std::size_t k = 0; k < derivatives.size(); ++k) {
      if (!derivatives[k].defined()) continue;
      const Tensor own = given[k].parameter ? derivatives[k] : derivatives[k].select(0, 0);
      expect_near(found.slopes[k], numbers_of(own), fmt::format("gradient of x{}, {}", k, way));
    }
  }
  return true;
}

TEST(ArrayRandomPrograms, GiveTheValuesAndGradientsOfLibTorch) {
  int recorded = 0;
  for (std::uint64_t seed = 0; seed < 500 && !::testing::Test::HasFatalFailure(); ++seed)
    recorded += compare(seed);
  EXPECT_EQ(recorded, 500);
}

}  // namespace
}  // namespace pushdown::array_random_programs_test
