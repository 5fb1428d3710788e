// The memories of sections with strengths, compared with the paper's equations in loops, with its
// backward equations at smooth points and at kinks, and with finite differences.
// label: long
#include "stack/stratification.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::stratification_test {
namespace {

using namespace testing_support;
using Numbers = std::vector<double>;

// Sums over the paper's indices low .. high, which begin at 1.
double sum(const Numbers& s, int low, int high) {
  double total = 0;
  for (int j = low; j <= high; ++j) total += s[j - 1];
  return total;
}

// One memory and its readings by equations 1-11.
struct Equations {
  SectionEnds ends;
  std::vector<Numbers> V;
  Numbers s;

  int count() const { return static_cast<int>(s.size()); }
  static double positive(double x) { return std::max(0.0, x); }
  // Equations 2 and 7 (to the top), 4 and 8 (to the bottom).
  Numbers popped(const Numbers& from, double u, bool top) const {
    Numbers result;
    const int n = static_cast<int>(from.size());
    for (int i = 1; i <= n; ++i) {
      const double before = top ? sum(from, i + 1, n) : sum(from, 1, i - 1);
      result.push_back(positive(from[i - 1] - positive(u - before)));
    }
    return result;
  }
  void step(double d, double u, const Numbers& v, double d_bottom = 0, double u_bottom = 0,
            const Numbers& v_bottom = {}) {
    s = popped(s, u, ends != SectionEnds::queue);
    if (ends == SectionEnds::deque) {
      s = popped(s, u_bottom, false);
      s.insert(s.begin(), d_bottom);
      V.insert(V.begin(), v_bottom);
    }
    s.push_back(d);
    V.push_back(v);
  }
  // Equations 3 and 10 (top), 5 and 11 (bottom), with r instead of their 1.
  Numbers shares(bool top, double r) const {
    Numbers result;
    for (int i = 1; i <= count(); ++i)
      result.push_back(
          std::min(s[i - 1], positive(r - (top ? sum(s, i + 1, count()) : sum(s, 1, i - 1)))));
    return result;
  }
  // Readings with these strengths; only a deque uses `at_bottom`.
  Numbers read(std::size_t size, double strength, double at_bottom) const {
    Numbers r;
    for (const bool top : {true, false}) {
      if (ends != SectionEnds::deque && top != (ends == SectionEnds::stack)) continue;
      Numbers own(size, 0.0);
      const auto share = shares(top, ends == SectionEnds::deque && !top ? at_bottom : strength);
      for (std::size_t i = 0; i < s.size(); ++i)
        for (std::size_t k = 0; k < size; ++k) own[k] += share[i] * V[i][k];
      r.insert(r.end(), own.begin(), own.end());
    }
    return r;
  }
};

struct Kind {
  const char* name;
  SectionEnds ends;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
const std::vector<Kind> kKinds{{"stratification", SectionEnds::stack},
                               {"stratification_queue", SectionEnds::queue},
                               {"stratification_deque", SectionEnds::deque}};

Numbers numbers(const Tensor& tensor) {
  const Tensor flat = tensor.contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

class Memories : public testing::TestWithParam<Kind> {
 protected:
  static bool deque() { return GetParam().ends == SectionEnds::deque; }
  static Json options() { return {{"kind", GetParam().name}}; }
  // Strengths up to `most`, multiples of `grain` if it is not 0.
  static NamedTensors inputs(std::int64_t batch, std::int64_t length, std::int64_t size,
                             double most, double grain, std::uint64_t seed, bool reads = true) {
    Random random(seed);
    NamedTensors all;
    for (const std::string end : {"_top", "_bottom"}) {
      if (!deque() && end == "_bottom") continue;
      const std::string name = deque() ? end : "";
      for (const std::string what : {"push", "pop", "read"}) {
        if (what == "read" && !reads) continue;
        Tensor& given = all[what + name] = random_tensor({batch, length}, random, 0, most);
        if (grain > 0) given.div_(grain).round_().mul_(grain);
      }
      all["vectors" + name] = random_tensor({batch, length, size}, random, -1, 1);
    }
    return all;
  }
};

TEST_P(Memories, FollowTheEquations) {
  constexpr std::int64_t kLength = 14, kSize = 3;
  for (const double grain : {0.0, 0.25, 1.0})
    for (const double most : {0.6, 1.0, 2.5}) {
      const auto given = inputs(3, kLength, kSize, most, grain, 7);
      const Tensor readings = simulate_stack(options(), given);
      const auto run = simulate_strengths(options(), given);
      const auto row = [&](const std::string& name, std::int64_t b, std::int64_t t) {
        const auto found = given.find(name);
        return found == given.end() ? Numbers{0} : numbers(found->second[b][t]);
      };
      for (std::int64_t b = 0; b < 3; ++b) {
        Equations plain{GetParam().ends, {}, {}};
        EXPECT_EQ(readings[b][0].abs().max().item<double>(), 0);
        for (std::int64_t t = 0; t < kLength; ++t) {
          const std::string top = deque() ? "_top" : "";
          plain.step(row("push" + top, b, t)[0], row("pop" + top, b, t)[0],
                     row("vectors" + top, b, t), row("push_bottom", b, t)[0],
                     row("pop_bottom", b, t)[0], row("vectors_bottom", b, t));
          const double read = row("read" + top, b, t)[0], read_bottom = row("read_bottom", b, t)[0];
          const auto wanted = plain.read(kSize, read, read_bottom);
          EXPECT_LT(deviation(readings[b][t + 1], at::tensor(wanted, at::kDouble)), 1e-14);
          // Every section stays in its place.
          const auto first = deque() ? kLength - 1 - t : 0;
          const auto own = [&](const Tensor& of) {
            EXPECT_EQ(of.size(3), deque() ? 2 * kLength : kLength);
            const Tensor places = of[b][t][0];
            EXPECT_NEAR(places.sum().item<double>(),
                        places.narrow(0, first, plain.count()).sum().item<double>(), 1e-12);
            return places.narrow(0, first, plain.count());
          };
          const auto same = [&](const char* name, const Numbers& numbers) {
            EXPECT_LT(deviation(own(run.at(name)), at::tensor(numbers, at::kDouble)), 1e-14);
          };
          same("strengths", plain.s);
          if (deque()) {
            same("read_top", plain.shares(true, read));
            same("read_bottom", plain.shares(false, read_bottom));
          } else {
            same("read", plain.shares(GetParam().ends == SectionEnds::stack, read));
          }
        }
      }
      for (const auto& [name, tensor] : given) {
        if (name.starts_with("vectors")) continue;
        const auto told = name.starts_with("read") ? "read_strength" + name.substr(4) : name;
        EXPECT_TRUE(run.at(told).squeeze(2).equal(tensor)) << name;
      }
    }
}

// Whole pushes and pops equal those of the data structure.
TEST_P(Memories, AreTheDataStructureForWholeActions) {
  constexpr std::int64_t kLength = 40;
  const auto given = inputs(4, kLength, 2, 1, 1, 3, false);
  const Tensor readings = simulate_stack(options(), given);
  for (std::int64_t b = 0; b < 4; ++b) {
    std::deque<Numbers> plain;
    for (std::int64_t t = 0; t < kLength; ++t) {
      const auto on = [&](const std::string& name) {
        const auto found = given.find(name);
        return found != given.end() && found->second[b][t].item<double>() == 1;
      };
      const std::string top = deque() ? "_top" : "";
      if (on("pop" + top) && !plain.empty()) {
        if (GetParam().ends == SectionEnds::queue)
          plain.pop_front();
        else
          plain.pop_back();
      }
      if (on("pop_bottom") && !plain.empty()) plain.pop_front();
      if (on("push_bottom")) plain.push_front(numbers(given.at("vectors_bottom")[b][t]));
      if (on("push" + top)) plain.push_back(numbers(given.at("vectors" + top)[b][t]));
      Numbers wanted;
      const auto read = [&](bool at_top) {
        const Numbers own = plain.empty() ? Numbers{0, 0} : at_top ? plain.back() : plain.front();
        wanted.insert(wanted.end(), own.begin(), own.end());
      };
      if (GetParam().ends != SectionEnds::queue) read(true);
      if (GetParam().ends != SectionEnds::stack) read(false);
      EXPECT_EQ(numbers(readings[b][t + 1]), wanted) << t;
    }
  }
}

// Memories side by side equal separate memories.
TEST_P(Memories, SideBySideDoNotKnowEachOther) {
  const auto make = [](std::int64_t memories) {
    Random random(5);
    return make_stack({{"kind", GetParam().name}, {"size", 3}, {"memories", memories}},
                      {4, at::TensorOptions(at::kDouble), &random});
  };
  constexpr std::int64_t kMemories = 3;
  const auto all = make(kMemories), one = make(1);
  Random random(9);
  const Tensor hiddens = random_tensor({2, 7, 4}, random, -2, 2);
  const at::NoGradGuard guard;
  const Tensor readings = all->readings(hiddens);
  const auto run = all->strengths(hiddens);
  for (std::int64_t k = 0; k < kMemories; ++k) {
    for (std::size_t i = 0; i < one->parameters().size(); ++i) {
      const Tensor& own = one->parameters()[i].second;
      own.copy_(all->parameters()[i].second.narrow(0, k * own.size(0), own.size(0)));
    }
    const auto size = one->reading_size();
    EXPECT_LT(deviation(readings.narrow(2, k * size, size), one->readings(hiddens)), 1e-14);
    for (const auto& [name, tensor] : one->strengths(hiddens))
      EXPECT_LT(deviation(run.at(name).narrow(2, k, 1), tensor), 1e-14) << name;
  }
}

TEST_P(Memories, ThePopBiasIsAddedToTheBiasOfPops) {
  const auto make = [](double pop_bias) {
    Random random(5);
    return make_stack({{"kind", GetParam().name}, {"pop_bias", pop_bias}},
                      {4, at::TensorOptions(at::kDouble), &random});
  };
  const auto plain = make(0), moved = make(-1);
  for (std::size_t i = 0; i < plain->parameters().size(); ++i) {
    const auto& [name, own] = plain->parameters()[i];
    const bool pops = name.starts_with("pop") && name.ends_with("bias");
    EXPECT_LT(deviation(moved->parameters()[i].second, pops ? own - 1 : own), 1e-15) << name;
    EXPECT_EQ(name.find("_top") != std::string::npos || name.find("_bottom") != std::string::npos,
              deque());
  }
}

TEST(Deque, TheBottomPushBiasIsAddedToTheBiasOfPushesThere) {
  const auto make = [](const Json& more) {
    Random random(5);
    Json options{{"kind", "stratification_deque"}};
    options.update(more);
    return make_stack(options, {4, at::TensorOptions(at::kDouble), &random});
  };
  const auto plain = make(Json::object()), moved = make({{"bottom_push_bias", -3}});
  for (std::size_t i = 0; i < plain->parameters().size(); ++i) {
    const auto& [name, own] = plain->parameters()[i];
    EXPECT_LT(deviation(moved->parameters()[i].second, name == "push_bottom_bias" ? own - 3 : own),
              1e-15)
        << name;
  }
  EXPECT_EQ(message([&] {
              make({{"bottom_push_bias", -3}, {"push", "fixed"}});
            }),
            "[stack.stratification] bottom_push_bias needs push = 'sigmoid', got -3 with push = "
            "'fixed'");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Memories, testing::ValuesIn(kKinds));

// ---- Appendix A of the paper: the partial derivatives of one step of the stack. ----

struct Point {
  const char* name;
  Numbers s;  // s_{t-1}
  double d, u;
};
void PrintTo(const Point& point, std::ostream* out) { *out << point.name; }

class BackwardEquations : public testing::TestWithParam<Point> {
 protected:
  // Rows of d(output) / d(input), output and input as flat vectors.
  static std::vector<Numbers> jacobian(const Tensor& output, const Tensor& input) {
    std::vector<Numbers> rows;
    const Tensor flat = output.flatten();
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      Tensor row = gradients({flat[i]}, {input}, {}, {.keep_graph = true})[0];
      rows.push_back(numbers(row.defined() ? row : at::zeros_like(input)));
    }
    return rows;
  }
};

TEST_P(BackwardEquations, AreTheGradientsOfAStep) {
  const auto& [point, s_old, d, u] = GetParam();
  const int t = static_cast<int>(s_old.size()) + 1;
  const auto row = [](const Numbers& of) { return at::tensor(of, at::kDouble).view({1, 1, -1}); };
  Random random(3);
  constexpr std::int64_t kSize = 2;
  const Tensor old = row(s_old).requires_grad_(), push = row({d}).select(2, 0).requires_grad_(),
               pop = row({u}).select(2, 0).requires_grad_(),
               values = random_tensor({1, 1, t - 1, kSize}, random, -1, 1).requires_grad_(),
               vector = random_tensor({1, 1, kSize}, random, -1, 1).requires_grad_();
  const Strata next = strata_step(SectionEnds::stack, {values, old}, {push, pop, vector});
  const auto s = [&](int i) { return next.strengths[0][0][i - 1].item<double>(); };
  const auto popped = [&](int i) { return u - sum(s_old, i + 1, t - 1); };

  const auto by_push = jacobian(next.strengths, push), by_pop = jacobian(next.strengths, pop),
             by_old = jacobian(next.strengths, old);
  for (int i = 1; i <= t; ++i) {
    const auto at = static_cast<std::size_t>(i - 1);
    EXPECT_EQ(by_push[at][0], i == t ? 1 : 0);
    EXPECT_EQ(by_pop[at][0], i < t && s(i) > 0 && popped(i) > 0 ? -1 : 0) << i;
    for (int n = 1; n < t; ++n) {
      // The first case is printed for i < n. A section that is cut in part loses none of its own
      // strength either, so it also holds for i = n.
      const double wanted = i == t || s(i) <= 0 ? 0
                            : popped(i) > 0     ? (i <= n ? 1 : 0)
                                                : (i == n ? 1 : 0);
      EXPECT_EQ(by_old[at][n - 1], wanted) << i << ' ' << n;
    }
  }
  const auto by_vector = jacobian(next.vectors, vector);
  for (int n = 1; n <= t; ++n)
    for (std::size_t k = 0; k < kSize * kSize; ++k)
      EXPECT_EQ(by_vector[(static_cast<std::size_t>(n) - 1) * kSize + k / kSize][k % kSize],
                n == t && k / kSize == k % kSize ? 1 : 0);

  // The reading as a function of V_t and s_t.
  const Tensor V = next.vectors.detach().requires_grad_(),
               now = next.strengths.detach().requires_grad_();
  const Tensor reading = strata_reading(SectionEnds::stack, {V, now});
  const auto above = [&](int i) {
    double total = 0;
    for (int j = t; j > i; --j) total += s(j);
    return total;
  };
  const auto room = [&](int i) { return std::max(0.0, 1 - above(i)); };
  const auto h = [&](int i, int n) {
    if (s(i) <= room(i)) return i == n ? 1 : 0;
    return i < n && above(i) <= 1 ? -1 : 0;
  };
  const auto by_values = jacobian(reading, V), by_strengths = jacobian(reading, now);
  for (std::int64_t k = 0; k < kSize; ++k)
    for (int n = 1; n <= t; ++n) {
      double wanted = 0;
      for (int i = 1; i <= t; ++i) wanted += h(i, n) * V[0][0][i - 1][k].item<double>();
      const auto place = static_cast<std::size_t>(n - 1);
      EXPECT_NEAR(by_strengths[k][place], wanted, 1e-15) << n;
      for (std::int64_t other = 0; other < kSize; ++other)
        EXPECT_EQ(by_values[k][place * kSize + other], k == other ? std::min(s(n), room(n)) : 0);
    }
}

// Ties are multiples of 1/4: their sums are exact.
INSTANTIATE_TEST_SUITE_P(
    Points, BackwardEquations,
    testing::Values(Point{"smooth", {.31, .22, .67, .45}, .38, .59},
                    Point{"nothing popped", {.31, .22, .67}, .38, 0},
                    Point{"all popped", {.31, .22, .17}, .38, .9},
                    Point{"pop ends with a section", {.5, .25, .5, .25}, .5, .75},
                    Point{"pop takes all there is", {.5, .25}, .5, .75},
                    Point{"a section just fits", {.75, .5, .25}, .25, 0},
                    Point{"full before the next", {.75, .5, .5}, .5, 0},
                    Point{"full with the pushed one", {.75, 1, 1}, 1, 0},
                    Point{"whole actions", {1, 1, 1, 1}, 1, 1},
                    Point{"empty sections within", {.5, 0, .5, 0, 0, .5}, .5, .5},
                    Point{"empty behind the full", {.5, 0, .75, 0}, .25, 0},
                    Point{"nothing pushed", {.5, .25, .75}, 0, .75},
                    Point{"more than one pushed", {.5, .25, .75}, 1.5, .25},
                    Point{"the first step", {}, .5, .5}));

}  // namespace
}  // namespace pushdown::stratification_test
