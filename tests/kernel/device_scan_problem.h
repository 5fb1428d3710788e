// Problems for the CUDA kernels of the fused recurrence: random models and sequences of a shape,
// and what a forward and a backward pass leave behind, by the kernels of the processor with the
// definition of the parameter gradients, by teams of threads of the processor
// (support/thread_team.h), and on a device.
#pragma once
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
#include "kernel/device_scan.h"
#include "kernel/device_scan_loop.h"
#include "kernel/device_scan_shapes.h"
#include "support/thread_team.h"

namespace pushdown::testing_support {

inline constexpr std::int64_t kSlack =
    4 * kScanPadding;  // the processor's kernels use whole vectors
inline constexpr std::int64_t kSymbols = 3;

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
      row_start_.push_back(start);
      start += shape.automaton.row(j);
    }
    shape.row_start = row_start_.data();
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
    scan.shape.row_start = nullptr;
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
  std::vector<std::int64_t> row_start_;
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

}  // namespace pushdown::testing_support
