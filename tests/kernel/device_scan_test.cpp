// The CUDA kernels of the fused recurrence against those of the processor: values, gradients of the
// pre-activations and of the parameters. Their source runs in teams of threads of the processor
// (support/thread_team.h); where there is a device, the kernels run there too.
#include "kernel/device_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kernel/device.h"
#include "kernel/device_scan_loop.h"
#include "support/thread_team.h"

namespace pushdown {
namespace {

using testing_support::run_team;
using testing_support::ThreadTeam;

constexpr std::int64_t kSlack = 4 * kScanPadding;  // the processor's kernels use whole vectors
constexpr std::int64_t kSymbols = 3;

struct Sizes {
  std::int64_t steps, hidden, layers = 1, models = 1, batch = 2;
};

void complete(ScanShape& shape, ScanCell cell, const Sizes& sizes) {
  shape.cell = cell;
  shape.steps = sizes.steps;
  shape.hidden = sizes.hidden;
  shape.layers = sizes.layers;
  shape.gates = scan_gates(cell) * sizes.hidden;
  shape.automaton.steps = sizes.steps - 1;
}
ScanShape superposition(std::int64_t size) {
  ScanShape shape{ScanCell::lstm, ScanStack::superposition};
  shape.size = shape.reading = size;
  shape.actions = 3 + size;
  return shape;
}
ScanShape sections(SectionEnds ends, std::int64_t size, std::int64_t memories = 1,
                   StrengthKind push = StrengthKind::sigmoid,
                   StrengthKind pop = StrengthKind::sigmoid,
                   StrengthKind read = StrengthKind::fixed, std::int64_t greatest = 1) {
  ScanShape shape{ScanCell::lstm, ScanStack::stratification};
  shape.size = size;
  shape.ends = ends;
  shape.memories = memories;
  shape.max_strength = greatest;
  std::int64_t rows = size;
  const StrengthKind kinds[] = {push, pop, read};
  for (int what = 0; what < 3; ++what) {
    shape.strengths[what] = kinds[what];
    rows += strength_rows(kinds[what], greatest);
  }
  const std::int64_t places = ends == SectionEnds::deque ? 2 : 1;
  shape.actions = places * memories * rows;
  shape.reading = places * memories * size;
  return shape;
}
ScanShape automaton(int states, int symbols, std::int64_t channels = 0, bool reexposed = true,
                    bool state_symbol = true, bool normalized = false) {
  ScanShape shape{ScanCell::lstm, ScanStack::nondeterministic};
  shape.automaton = {states, symbols, 0, channels};
  shape.reexposed = reexposed;
  shape.state_symbol = state_symbol;
  shape.normalized = normalized;
  const std::int64_t c = states * symbols;
  shape.actions = c * (2 * c + states) + channels;
  shape.reading = channels > 0 ? c * channels : state_symbol ? c : symbols;
  return shape;
}

// Everything that a pass leaves behind.
template <class F>
struct Outcome {
  std::vector<F> hidden, readings;                      // M x B x L x T x H, M x B x T x R
  std::vector<F> input, recurrent, actions, gradients;  // see DeviceScan
};

template <class F>
class Problem {
 public:
  static constexpr F kNaN = std::numeric_limits<F>::quiet_NaN();

  Problem(ScanShape given, ScanCell cell, const Sizes& sizes, double scale = 0.7)
      : shape(given), models(sizes.models), batch(sizes.batch), random_(7) {
    complete(shape, cell, sizes);
    for (std::int64_t j = 0, start = 0; j <= shape.automaton.nodes(); ++j) {
      column_start_.push_back(start);
      start += shape.automaton.column(j);
    }
    shape.column_start = column_start_.data();
    for (std::int64_t model = 0; model < models; ++model) {
      const auto begin = static_cast<std::int64_t>(memory_.size());
      pack_model(scale);
      stride_ = static_cast<std::int64_t>(memory_.size()) - begin;
    }
    words.resize(models * batch * (shape.steps + 1));
    for (auto& word : words) word = static_cast<std::int64_t>(random_.uniform() * kSymbols);
    pre = numbers(models * kSymbols * shape.gates, 1);
    hidden_gradient = numbers(models * batch * shape.steps * shape.hidden, 1);
  }

  ScanShape shape;
  std::int64_t models, batch;
  std::vector<std::int64_t> words;  // M x B x (T + 1), the last unused
  std::vector<F> pre, hidden_gradient;

  Outcome<F> on_processor() const {
    Outcome<F> all;
    const auto kernel = scan_kernel<F>(current_isa(), shape);
    const auto places = device_gradients(shape, kSymbols);
    const auto steps = shape.steps, h = shape.hidden, g = shape.gates;
    for (std::int64_t model = 0; model < models; ++model) {
      std::vector<double> sums(places.count);
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto zeros = [](std::int64_t count) { return std::vector<F>(count + kSlack); };
        auto hidden = std::vector<std::vector<F>>(shape.layers, zeros(steps * h));
        auto readings = zeros(steps * shape.reading), tape = zeros(scan_tape_size(shape)),
             scratch = zeros(scan_scratch_size(shape)), input = zeros(shape.layers * steps * g),
             recurrent = input, actions = zeros(steps * shape.actions),
             bottom = zeros(shape.automaton.channels);
        const std::int64_t* own = words.data() + (model * batch + b) * (steps + 1);
        ScanSequence<F> sequence{pre.data() + model * kSymbols * g,
                                 own,
                                 {},
                                 readings.data(),
                                 tape.data(),
                                 scratch.data()};
        for (std::int64_t l = 0; l < shape.layers; ++l) sequence.hidden[l] = hidden[l].data();
        const auto parameters = parameters_of(model, memory_.data());
        kernel.forward(shape, parameters, sequence);
        const auto given =
            slice(hidden_gradient, (model * batch + b) * steps * h, steps * h, kSlack);
        kernel.backward(shape, parameters, sequence,
                        {given.data(), input.data(), recurrent.data(), steps * g, actions.data(),
                         bottom.data()});
        if (shape.cell != ScanCell::gru) recurrent = input;
        for (auto& rows : hidden) append(all.hidden, rows, steps * h);
        append(all.readings, readings, steps * shape.reading);
        append(all.input, input, shape.layers * steps * g);
        append(all.recurrent, recurrent, shape.layers * steps * g);
        append(all.actions, actions, steps * shape.actions);
        // The definition of the gradients of the parameters.
        for (std::int64_t t = 0; t < steps; ++t) {
          for (std::int64_t l = 0; l < shape.layers; ++l)
            for (std::int64_t i = 0; i < g; ++i) {
              const double from = input[(l * steps + t) * g + i];
              const double side = recurrent[(l * steps + t) * g + i];
              const std::int64_t width = l == 0 ? shape.reading : h;
              const F* below = l == 0 ? &readings[t * width] : &hidden[l - 1][t * h];
              for (std::int64_t k = 0; k < width; ++k)
                sums[places.input[l] + i * width + k] += from * below[k];
              for (std::int64_t k = 0; t > 0 && k < h; ++k)
                sums[places.hidden[l] + i * h + k] += side * hidden[l][(t - 1) * h + k];
              sums[places.input_bias[l] + i] += from;
              sums[places.hidden_bias[l] + i] += side;
              if (l == 0) sums[places.words + own[t] * g + i] += from;
            }
          for (std::int64_t i = 0; i < shape.actions; ++i) {
            const double slope = actions[t * shape.actions + i];
            for (std::int64_t k = 0; k < h; ++k)
              sums[places.action + i * h + k] += slope * hidden[shape.layers - 1][t * h + k];
            sums[places.action_bias + i] += slope;
          }
        }
        for (std::int64_t k = 0; k < bottom_size(); ++k) sums[places.bottom + k] += bottom[k];
      }
      all.gradients.insert(all.gradients.end(), sums.begin(), sums.end());
    }
    return all;
  }

  // By teams of `size` threads in groups of `lanes`.
  Outcome<F> by_teams(int size, int lanes) const {
    Outcome<F> all = empty_outcome();
    const auto sizes = device_scan_sizes(shape);
    std::vector<F> tape(models * batch * sizes.tape, kNaN),
        scratch(models * batch * sizes.scratch, kNaN), parts(batch * all.gradients.size(), kNaN);
    const DeviceScan<F> scan =
        scan_over(all, memory_.data(), pre.data(), words.data(), hidden_gradient.data(),
                  tape.data(), scratch.data(), parts.data());
    check_device_scan(scan, true);
    device::with_scan_loop<F>(shape, [&]<class Loop>() {
      for (std::int64_t place = 0; place < models * batch; ++place)
        run_team(size, lanes, [&](const ThreadTeam& team) {
          Loop(scan, place / batch, place % batch, nullptr).forward(team);
        });
      // Fast memory of its own, and nothing left in scratch.
      scratch.assign(scratch.size(), kNaN);
      for (std::int64_t place = 0; place < models * batch; ++place) {
        std::vector<F> near(sizes.fast, kNaN);
        run_team(size, lanes, [&](const ThreadTeam& team) {
          Loop(scan, place / batch, place % batch, near.data()).backward(team);
        });
      }
    });
    const auto count = device_gradients(shape, kSymbols).count;
    for (std::int64_t model = 0; model < models; ++model)
      for (std::int64_t i = 0; i < count; ++i) device::sum_over_sequences(scan, count, model, i);
    if (shape.cell != ScanCell::gru) all.recurrent = all.input;
    return all;
  }

  Outcome<F> on_device() const {
    Outcome<F> all = empty_outcome();
    const auto sizes = device_scan_sizes(shape);
    const auto upload = [](const auto& from) {
      auto memory =
          std::make_unique<DeviceMemory>(std::max<std::size_t>(1, from.size()) * sizeof(from[0]));
      if (!from.empty()) memory->upload(from.data());
      return memory;
    };
    const auto parameters = upload(memory_), table = upload(pre), ids = upload(words),
               given = upload(hidden_gradient),
               tape = upload(std::vector<F>(models * batch * sizes.tape, kNaN)),
               scratch = upload(std::vector<F>(models * batch * sizes.scratch, kNaN)),
               parts = upload(std::vector<F>(batch * all.gradients.size(), kNaN));
    std::vector<std::unique_ptr<DeviceMemory>> results;
    const auto number = [](const auto& memory) { return static_cast<F*>(memory->data()); };
    DeviceScan<F> scan = scan_over(all, number(parameters), number(table),
                                   static_cast<const std::int64_t*>(ids->data()), number(given),
                                   number(tape), number(scratch), number(parts));
    std::vector<F>* const outcomes[] = {&all.hidden,    &all.readings, &all.input,
                                        &all.recurrent, &all.actions,  &all.gradients};
    F** const places[] = {&scan.hidden,          &scan.readings,
                          &scan.input_gradient,  &scan.recurrent_gradient,
                          &scan.action_gradient, &scan.gradients};
    for (int i = 0; i < 6; ++i) {
      results.push_back(upload(*outcomes[i]));
      *places[i] = number(results.back());
    }
    device_scan_forward(scan, nullptr);
    device_scan_backward(scan, nullptr);
    for (int i = 0; i < 6; ++i)
      if (!outcomes[i]->empty()) results[i]->download(outcomes[i]->data());
    if (shape.cell != ScanCell::gru) all.recurrent = all.input;
    return all;
  }

 private:
  std::int64_t bottom_size() const {
    return shape.stack == ScanStack::nondeterministic ? shape.automaton.channels : 0;
  }
  std::vector<F> numbers(std::int64_t count, double scale) {
    std::vector<F> result(count);
    for (F& number : result) number = static_cast<F>((2 * random_.uniform() - 1) * scale);
    return result;
  }
  static std::vector<F> slice(const std::vector<F>& from, std::int64_t begin, std::int64_t count,
                              std::int64_t slack) {
    std::vector<F> result(from.begin() + begin, from.begin() + begin + count);
    result.resize(count + slack);
    return result;
  }
  static void append(std::vector<F>& to, const std::vector<F>& from, std::int64_t count) {
    to.insert(to.end(), from.begin(), from.begin() + count);
  }

  // Appends a piece and gives its place in the model's memory.
  std::int64_t take(const std::vector<F>& piece) {
    const auto place = static_cast<std::int64_t>(memory_.size());
    memory_.insert(memory_.end(), piece.begin(), piece.end());
    memory_.resize(memory_.size() + 2 * kScanPadding);
    return place;
  }
  // A random rows x columns matrix: its places transposed and as it is, rows padded with zeros.
  std::pair<std::int64_t, std::int64_t> matrix(std::int64_t rows, std::int64_t columns,
                                               double scale) {
    const auto values = numbers(rows * columns, scale);
    std::vector<F> plain(rows * scan_padded(columns)), turned(columns * scan_padded(rows));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k)
        plain[i * scan_padded(columns) + k] = turned[k * scan_padded(rows) + i] =
            values[i * columns + k];
    const auto first = take(turned);
    return {first, take(plain)};
  }
  std::int64_t vector(std::int64_t count, double scale) {
    auto values = numbers(count, scale);
    values.resize(scan_padded(count));
    return take(values);
  }
  void pack_model(double scale) {
    const auto begin = static_cast<std::int64_t>(memory_.size());
    places_.clear();
    const auto put = [&](std::int64_t place) { places_.push_back(place - begin); };
    const auto put_matrix = [&](std::int64_t rows, std::int64_t columns, double factor) {
      const auto [turned, plain] = matrix(rows, columns, factor);
      put(turned);
      put(plain);
    };
    for (std::int64_t l = 0; l < shape.layers; ++l) {
      put_matrix(shape.gates, l == 0 ? shape.reading : shape.hidden, scale);
      put_matrix(shape.gates, shape.hidden, scale);
      put(vector(shape.gates, scale));
      put(vector(shape.gates, scale));
    }
    put_matrix(shape.actions, shape.hidden, 3 * scale);
    put(vector(shape.actions, 2 * scale));
    put(vector(bottom_size(), 1));
  }
  ScanParameters<F> parameters_of(std::int64_t model, const F* memory) const {
    ScanParameters<F> result{};
    std::size_t next = 0;
    const auto piece = [&] { return memory + model * stride_ + places_[next++]; };
    for (std::int64_t l = 0; l < shape.layers; ++l) {
      auto& layer = result.layers[l];
      layer.input_t = piece();
      layer.input = piece();
      layer.hidden_t = piece();
      layer.hidden = piece();
      layer.input_bias = piece();
      layer.hidden_bias = piece();
      if (l == 0) layer.input_bias = nullptr;
    }
    result.action_t = piece();
    result.action = piece();
    result.action_bias = piece();
    result.bottom = piece();
    return result;
  }

  Outcome<F> empty_outcome() const {
    const auto places = models * batch * shape.steps;
    const auto fill = [](std::int64_t count) { return std::vector<F>(count, kNaN); };
    return {fill(places * shape.layers * shape.hidden),
            fill(places * shape.reading),
            fill(places * shape.layers * shape.gates),
            fill(places * shape.layers * shape.gates),
            fill(places * shape.actions),
            fill(models * device_gradients(shape, kSymbols).count)};
  }
  DeviceScan<F> scan_over(Outcome<F>& all, const F* parameters, const F* table,
                          const std::int64_t* ids, const F* given, F* tape, F* scratch,
                          F* parts) const {
    DeviceScan<F> scan;
    scan.shape = shape;
    scan.shape.column_start = nullptr;
    scan.models = models;
    scan.batch = batch;
    scan.parameters = parameters_of(0, parameters);
    scan.parameter_stride = stride_;
    scan.symbols = kSymbols;
    scan.pre = table;
    scan.pre_stride = kSymbols * shape.gates;
    scan.words = ids;
    scan.word_stride = shape.steps + 1;
    scan.model_word_stride = batch * scan.word_stride;
    scan.hidden = all.hidden.data();
    scan.readings = all.readings.data();
    scan.tape = tape;
    scan.scratch = scratch;
    scan.hidden_gradient = given;
    scan.input_gradient = all.input.data();
    scan.recurrent_gradient = all.recurrent.data();
    scan.action_gradient = all.actions.data();
    scan.sequence_gradients = parts;
    scan.gradients = all.gradients.data();
    return scan;
  }

  Random random_;
  std::vector<std::int64_t> column_start_;
  std::vector<F> memory_;             // of all models
  std::vector<std::int64_t> places_;  // of the pieces of a model
  std::int64_t stride_ = 0;
};

template <class F>
void expect_near(const std::vector<F>& expected, const std::vector<F>& got, double bound,
                 const std::string& what) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  double scale = 1, worst = 0;
  for (const F value : expected) scale = std::max(scale, std::abs(double{value}));
  std::size_t where = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double gap = std::abs(double{expected[i]} - double{got[i]});
    if (!(gap <= worst)) worst = gap, where = i;
    if (std::isnan(gap)) break;
  }
  EXPECT_LE(worst, bound * scale) << what << " at " << where << " of " << got.size();
}

template <class F>
void expect_same(const Outcome<F>& expected, const Outcome<F>& got, const std::string& name) {
  const double bound = sizeof(F) == sizeof(float) ? 2e-4 : 1e-11;
  expect_near(expected.hidden, got.hidden, bound, name + ", hidden vectors");
  expect_near(expected.readings, got.readings, bound, name + ", readings");
  expect_near(expected.input, got.input, bound, name + ", input gradients");
  expect_near(expected.recurrent, got.recurrent, bound, name + ", recurrent gradients");
  expect_near(expected.actions, got.actions, bound, name + ", action gradients");
  expect_near(expected.gradients, got.gradients, bound, name + ", parameter gradients");
}

struct Example {
  std::string name;
  ScanShape shape;
};
std::vector<Example> examples() {
  constexpr auto sigmoid = StrengthKind::sigmoid, expectation = StrengthKind::expectation,
                 fixed = StrengthKind::fixed;
  return {
      {"no stack", {ScanCell::lstm, ScanStack::none}},
      {"superposition", superposition(5)},
      {"stack of sections", sections(SectionEnds::stack, 4)},
      {"queue of sections", sections(SectionEnds::queue, 3, 2)},
      {"deque of sections", sections(SectionEnds::deque, 2, 2)},
      {"variable strengths",
       sections(SectionEnds::stack, 3, 2, sigmoid, expectation, expectation, 3)},
      {"variable strengths of a deque",
       sections(SectionEnds::deque, 3, 1, expectation, sigmoid, sigmoid, 2)},
      {"fixed pushes", sections(SectionEnds::queue, 3, 1, fixed, expectation, fixed, 2)},
      {"automaton 2 x 2", automaton(2, 2)},
      {"automaton 2 x 2, symbols read", automaton(2, 2, 0, true, false)},
      {"automaton 3 x 2, original bottom", automaton(3, 2, 0, false, false, true)},
      {"automaton 1 x 3, normalized", automaton(1, 3, 0, true, true, true)},
      {"automaton 5 x 1, more than a tile", automaton(5, 1)},
      {"vector automaton 2 x 2", automaton(2, 2, 3)},
      {"vector automaton 3 x 1, original bottom", automaton(3, 1, 2, false, true, true)},
  };
}
constexpr ScanCell kCells[] = {ScanCell::elman_tanh, ScanCell::elman_sigmoid, ScanCell::lstm,
                               ScanCell::gru};

template <class F>
class DeviceScanTwin : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceScanTwin, Numbers);

TYPED_TEST(DeviceScanTwin, EveryStackWithEveryCellByOneThread) {
  for (const auto& [name, shape] : examples())
    for (const ScanCell cell : kCells) {
      const Problem<TypeParam> problem(shape, cell, {.steps = 9, .hidden = 7, .models = 2});
      expect_same(problem.on_processor(), problem.by_teams(1, 1), name);
    }
}

TYPED_TEST(DeviceScanTwin, Teams) {
  for (const auto& [name, shape] : examples()) {
    const Problem<TypeParam> problem(shape, ScanCell::gru,
                                     {.steps = 6, .hidden = 5, .layers = 2, .batch = 1});
    const auto expected = problem.on_processor();
    expect_same(expected, problem.by_teams(4, 2), name + " by 2 groups of 2");
    expect_same(expected, problem.by_teams(3, 1), name + " by 3 groups of 1");
  }
}

// Groups as wide as a warp, and more threads than there are numbers.
TYPED_TEST(DeviceScanTwin, GroupsOf32) {
  for (const ScanShape& shape :
       {superposition(3), sections(SectionEnds::deque, 2), automaton(2, 2, 1)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm, {.steps = 3, .hidden = 5, .batch = 1});
    expect_same(problem.on_processor(), problem.by_teams(64, 32), "64 threads");
  }
}

TYPED_TEST(DeviceScanTwin, LengthsAndLayers) {
  for (const auto& [name, shape] : examples())
    for (const std::int64_t steps : {1, 2, 3, 21}) {
      const Problem<TypeParam> problem(
          shape, ScanCell::lstm,
          {.steps = steps, .hidden = 17, .layers = steps == 3 ? 3 : 1, .models = 1, .batch = 3});
      expect_same(problem.on_processor(), problem.by_teams(1, 1),
                  name + ", " + std::to_string(steps) + " steps");
    }
}

// Scores so far apart that some configurations cannot be reached.
TYPED_TEST(DeviceScanTwin, PeakyWeights) {
  for (const ScanShape& shape : {automaton(2, 2, 0, true, true, true), automaton(2, 2)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm, {.steps = 12, .hidden = 6}, 12);
    const auto expected = problem.on_processor(), got = problem.by_teams(1, 1);
    expect_near(expected.readings, got.readings, sizeof(TypeParam) == 4 ? 2e-3 : 1e-9, "readings");
    expect_near(expected.gradients, got.gradients, sizeof(TypeParam) == 4 ? 2e-3 : 1e-9,
                "gradients");
  }
}

TYPED_TEST(DeviceScanTwin, ThousandSteps) {
  for (const auto& shape : {superposition(2), sections(SectionEnds::deque, 2)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm,
                                     {.steps = 1000, .hidden = 3, .batch = 1}, 0.3);
    const auto expected = problem.on_processor(), got = problem.by_teams(1, 1);
    const double bound = sizeof(TypeParam) == 4 ? 1e-3 : 1e-9;
    expect_near(expected.readings, got.readings, bound, "readings");
    expect_near(expected.gradients, got.gradients, bound, "gradients");
  }
}

// The same numbers as above and, being sums in a fixed order, the same again.
TYPED_TEST(DeviceScanTwin, OnTheDevice) {
  std::string reason;
  if (cuda_devices(reason).empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  for (const auto& [name, shape] : examples())
    for (const ScanCell cell : kCells)
      for (const std::int64_t steps : {1, 2, 33}) {
        const Problem<TypeParam> problem(
            shape, cell, {.steps = steps, .hidden = 21, .layers = 2, .models = 3, .batch = 5});
        const auto got = problem.on_device(), again = problem.on_device();
        expect_same(problem.on_processor(), got, name);
        EXPECT_EQ(got.gradients, again.gradients) << name;
        EXPECT_EQ(got.readings, again.readings) << name;
      }
}

TEST(DeviceScan, RefusesWhatItDoesNotHave) {
  DeviceScan<float> scan;
  scan.shape = superposition(2);
  complete(scan.shape, ScanCell::gru, {.steps = 4, .hidden = 3});
  scan.batch = 2;
  EXPECT_NO_THROW(check_device_scan(scan, false));
  EXPECT_THROW(check_device_scan(scan, true), std::invalid_argument);  // gru: no memory
  scan.models = 70000;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  scan.models = 1;
  scan.shape.gates = 4 * 3;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  scan.shape.gates = 3 * 3;
  scan.shape.stack = ScanStack::shifted;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
}

TEST(DeviceScan, WithoutADeviceLaunchesFail) {
  std::string reason;
  if (!cuda_devices(reason).empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_FALSE(reason.empty());
  DeviceScan<float> scan;
  scan.shape = superposition(2);
  complete(scan.shape, ScanCell::lstm, {.steps = 4, .hidden = 3});
  scan.batch = 2;
  EXPECT_THROW(device_scan_forward(scan, nullptr), std::runtime_error);
  EXPECT_THROW(DeviceMemory memory(64), std::runtime_error);
}

}  // namespace
}  // namespace pushdown
