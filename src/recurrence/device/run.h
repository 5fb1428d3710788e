// The memory of a recorded step on a device for a group of models that share one program, and its
// launches. Internal to this folder.
//
// Letters: M models, B sequences of each, T steps, n numbers of a vector, P numbers in a model's
// matrices and constants.
#pragma once
#include "base/check.h"
#include "kernel/device_team.h"
#include "kernel/step/device_step.h"
#include "recurrence/device/program.h"
#include "recurrence/device/tables.h"

namespace pushdown {

// The layout of matrices and constants within the P numbers of a model.
struct DeviceNumbers {
  struct Part {
    std::int64_t first = -1;  // -1: none
    std::int64_t row = 0;     // stride between rows of a matrix
    bool trained = false;     // whether its gradient is wanted
    bool computed = false;    // whether it is one of the computed numbers
  };
  Tensor all;                  // M x P
  std::int64_t computed = 0;   // further numbers of each model, which the caller computes
  std::vector<Part> matrices;  // the matrices of the program
  std::vector<Part> given;     // by node
};

struct DevicePass {
  std::shared_ptr<const TracedProgram> program;
  std::int64_t models = 1, batch = 0, steps = 0, window = 0;
  bool gradients = false;
  DeviceNumbers numbers;
  Tensor symbols;                 // M x B x T, for programs of symbols
  Tensor lengths;                 // M x B, the number of steps of each sequence; undefined: all
  std::vector<Tensor> sequences;  // by node, of one model: B x T x n, contiguous
  std::vector<Tensor> initial;    // by node: M x B x n, any strides
  std::int64_t more = 0;          // numbers that the caller takes from the same memory
};

template <class F>
class DeviceRun {
 public:
  // Throws std::runtime_error if more memory than is free is needed, or if the code cannot be
  // compiled, and std::invalid_argument for what the kernels do not support.
  DeviceRun(DevicePass run, DevicePtr device)
      : run_(std::move(run)),
        traced_(*run_.program),
        device_(std::move(device)),
        program_(run_.program,
                 {.gradients = run_.gradients,
                  .windowed = run_.window > 0,
                  .is_double = std::is_same_v<F, double>},
                 run_.models * run_.batch, *device_),
        options_(run_.numbers.all.options()) {
    check_numbers();
    lay_out(nullptr, nullptr);
    reserve();
    count_ = 0;
    lay_out(numbers_.data_ptr<F>(), sums_.data_ptr<F>());
    upload_tables();
    module_ = device_->module(program_.source());
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n)
      if (run_.initial[n].defined()) before_first(places_[n], n, false).copy_(run_.initial[n]);
  }

  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;

  void forward() { launch("step_forward"); }
  // slopes : M x B x T x n, contiguous; left_slopes : M x B x m, the gradient of the memory's final
  // content, if it is used.
  void backward(const Tensor& slopes, const Tensor& left_slopes = {}) {
    steps_.left_used =
        traced_.left >= 0 && traced_.nodes[traced_.left].gradient && left_slopes.defined();
    if (steps_.left_used)
      before_first(places_[traced_.left], traced_.left, true).copy_(left_slopes);
    slopes_ = slopes;
    backward(slopes.data_ptr<F>());
  }
  void backward(const F* slopes) {
    steps_.given = slopes;
    steps_.given_step = traced_.nodes[traced_.output].size;
    steps_.given_row = run_.steps * steps_.given_step;
    steps_.given_model = run_.batch * steps_.given_row;
    launch("step_backward");
  }

  // Where the numbers of the run are, by node and by matrix.
  const DeviceSteps<F>& steps() const { return steps_; }
  const DeviceStepPlace<F>& place(int n) const { return places_[n]; }
  const DeviceStepMatrix<F>& matrix(std::size_t k) const { return matrices_[k]; }
  std::int64_t constant(std::size_t n) const { return constants_[n]; }
  F* computed() const { return computed_; }
  F* more() const { return more_; }
  // Returns contiguous numbers that begin at `first`.
  Tensor view(const F* first, at::IntArrayRef sizes) const {
    return numbers_.narrow(0, first - numbers_.data_ptr<F>(), c10::multiply_integers(sizes))
        .view(sizes);
  }

  // M x B x T x n, 0 after the end of a sequence.
  Tensor output() const {
    const std::size_t n = traced_.output;
    if (run_.sequences[n].defined()) return run_.sequences[n].unsqueeze(0);
    const auto& place = places_[n];
    const Tensor all =
        of_steps(place.value, place.model, place.row, place.step, n, 1 + place.shift);
    return until_ends(all);
  }
  // The memory's final content, M x B x m.
  Tensor left() const { return before_first(places_[traced_.left], traced_.left, false); }
  // Results of the backward pass: M x rows x columns for a matrix, M x n for a constant, M x B x T
  // x n for a sequence, and M x B x n for the initial value of a `previous` node. Views if
  // possible.
  Tensor matrix_gradient(std::size_t k) const {
    const Tensor& matrix = traced_.matrices[k];
    return summed(matrices_[k].gradient, matrix.numel())
        .view({run_.models, matrix.size(0), matrix.size(1)});
  }
  Tensor constant_gradient(std::size_t n) const {
    return summed(constants_[n], traced_.nodes[n].size);
  }
  Tensor sequence_gradient(std::size_t n) const {
    const auto& place = places_[n];
    return until_ends(of_steps(place.gradient, place.gradient_model, place.gradient_row,
                               place.gradient_step, n, 1));
  }
  Tensor initial_gradient(std::size_t n) const { return before_first(places_[n], n, true); }

 private:
  // all : M x B x T x n, set to 0 after the end of a sequence.
  Tensor until_ends(const Tensor& all) const {
    if (!run_.lengths.defined()) return all;
    const Tensor step = at::arange(run_.steps, run_.lengths.options());
    return all.masked_fill_(step.ge(run_.lengths.unsqueeze(2)).unsqueeze(3), 0);
  }

  void launch(const char* kernel) const {
    const at::DeviceGuard guard(options_.device());
    module_->launch(kernel, run_.batch, run_.models, program_.form().threads,
                    program_.shared_bytes(), device_->stream(), &steps_);
  }

  void check_numbers() const {
    constexpr auto kWhere = "device";
    check(run_.batch >= 1 && run_.steps >= 1, kWhere,
          "there must be a sequence and a step, got {} and {}", run_.batch, run_.steps);
    // The limit of the second axis of a grid.
    check(run_.models >= 1 && run_.models <= 65535, kWhere, "models must be 1 to 65535, got {}",
          run_.models);
    check(traced_.shape.kind != MemoryKind::nondeterministic || run_.window == 0, kWhere,
          "gradients through the nondeterministic stack cannot end behind a window");
    const auto sizes = device_step_sizes(traced_.shape);
    const auto most = std::max(sizes.tape, sizes.scratch);
    check(most <= device::kMostNumbers, kWhere,
          "a sequence of {} steps takes {} numbers, the kernels {} at most", run_.steps, most,
          device::kMostNumbers);
  }

  // Takes a part of the one tensor that holds all numbers; null during counting.
  F* take(F* numbers, std::int64_t count) {
    F* place = numbers == nullptr ? nullptr : numbers + count_;
    count_ += (count + 3) / 4 * 4;  // kernels read several numbers at once
    return place;
  }

  // Allocates memory for everything that was counted.
  void reserve() {
    const auto sequences = run_.models * run_.batch, sums = sequences * steps_.parameters;
    const auto sizes = device_step_sizes(traced_.shape);
    const auto free_bytes = device_->free_bytes();
    const auto bytes = [](std::int64_t count) { return count * sizeof(F); };
    const auto fail = [&](const std::string& what_is_there) {
      const auto text = [&](std::int64_t count) {
        return fmt::format("{:.1f} MB", static_cast<double>(bytes(count)) / 1e6);
      };
      const auto tape = sequences * sizes.tape, scratch = sequences * sizes.scratch;
      fail_environment(
          "device",
          "{} strings of {} steps, {} models at once: {} of the device's memory are "
          "needed (tape {}, scratch {}, other {}), but {}; take a smaller batch, fewer "
          "models at once or shorter strings",
          run_.batch, run_.steps, run_.models, text(count_ + sums), text(tape), text(scratch),
          text(count_ + sums - tape - scratch), what_is_there);
    };
    if (bytes(count_ + sums) > free_bytes)
      fail(fmt::format("{:.1f} MB are free", static_cast<double>(free_bytes) / 1e6));
    try {
      numbers_ = at::empty({count_}, options_);
      sums_ = at::empty({sums}, options_);
    } catch (const c10::OutOfMemoryError&) {
      fail("the free memory is too fragmented");
    }
  }

  void lay_out(F* numbers, F* sums) {
    steps_ = {};
    const auto parameter = [&](std::int64_t count) {
      const auto place = steps_.parameters;
      steps_.parameters += count;
      return place;
    };
    computed_ = take(numbers, run_.models * run_.numbers.computed);
    more_ = take(numbers, run_.more);
    F* all = run_.numbers.all.template data_ptr<F>();
    const auto first = [&](const DeviceNumbers::Part& part) {
      if (!part.computed) return all + part.first;
      return computed_ == nullptr ? nullptr : computed_ + part.first;
    };
    const auto model = [&](const DeviceNumbers::Part& part) {
      return part.computed ? run_.numbers.computed : run_.numbers.all.size(1);
    };
    matrices_.clear();
    for (std::size_t k = 0; k < traced_.matrices.size(); ++k) {
      const auto& part = run_.numbers.matrices[k];
      const auto rows = traced_.matrices[k].size(0), columns = traced_.matrices[k].size(1);
      matrices_.push_back({first(part), part.row, model(part),
                           run_.gradients && part.trained ? parameter(rows * columns) : -1});
    }
    const auto records = run_.models * run_.batch * (run_.steps + 1);
    values_ = take(numbers, records * program_.layout().values);
    slope_records_ = take(numbers, records * program_.layout().slopes);
    places_.assign(traced_.nodes.size(), {});
    constants_.assign(traced_.nodes.size(), -1);
    for (std::size_t n = 0; n < places_.size(); ++n) {
      const StepNode& node = traced_.nodes[n];
      if (const auto& part = run_.numbers.given[n]; part.first >= 0) {
        places_[n].value = first(part);
        places_[n].model = model(part);
        if (run_.gradients && node.gradient) {
          constants_[n] = parameter(node.size);
          places_[n].gradient = sums == nullptr ? nullptr : sums + constants_[n];
        }
      } else {
        place_node(n, numbers);
      }
    }
    for (std::size_t n = 0; n < places_.size(); ++n) look_into(n);
    // Gradients of constants are stored with those of their sequence.
    for (std::size_t n = 0; n < places_.size(); ++n) {
      if (!holds_constant(n)) continue;
      places_[n].gradient_row = steps_.parameters;
      places_[n].gradient_model = run_.batch * steps_.parameters;
    }
    steps_.models = run_.models;
    steps_.batch = run_.batch;
    steps_.steps = run_.steps;
    steps_.window = run_.window;
    if (run_.lengths.defined()) steps_.lengths = run_.lengths.data_ptr<std::int64_t>();
    if (run_.symbols.defined()) steps_.symbols = run_.symbols.data_ptr<std::int64_t>();
    const auto sequences = run_.models * run_.batch;
    for (const ArrayProgramPtr& array : traced_.arrays)
      steps_.array_memory = std::max(steps_.array_memory, array->memory);
    steps_.array_room = take(numbers, sequences * 2 * steps_.array_memory);
    steps_.sequence_gradients = sums;
    steps_.memory = traced_.shape;
    steps_.memory.automaton.row_start = nullptr;
    const auto sizes = device_step_sizes(steps_.memory);
    steps_.tape = take(numbers, sequences * sizes.tape);
    steps_.scratch = take(numbers, sequences * sizes.scratch);
  }

  void place_node(std::size_t n, F* numbers) {
    const StepNode& node = traced_.nodes[n];
    auto& place = places_[n];
    if (node.op == StepOp::slice || node.op == StepOp::previous) return;
    const StepNeeds& needs = program_.needs();
    const DeviceLayout& layout = program_.layout();
    if (node.op == StepOp::symbols && !needs.read[n]) return;
    if (run_.sequences[n].defined()) {
      place.step = node.size;
      place.row = run_.steps * node.size;
      // The first step has no previous step.
      place.value = run_.sequences[n].template data_ptr<F>() - place.step;
    } else if (layout.value[n] >= 0) {
      place.step = layout.values;
      place.row = (run_.steps + 1) * layout.values;
      place.model = run_.batch * place.row;
      place.value = within(values_, layout.value[n]);
    } else {
      place.step = needs.kept[n] ? node.size : 0;
      place.row = (needs.kept[n] ? run_.steps + 1 : 1) * node.size;
      place.model = run_.batch * place.row;
      place.value = take(numbers, run_.models * place.model);
    }
    if (!run_.gradients || !node.gradient) return;
    const bool recorded = layout.slope[n] >= 0;
    place.slots = recorded ? run_.steps + 1 : node.carried ? 2 : 1;
    place.gradient_step = recorded ? layout.slopes : node.size;
    place.gradient_row = place.slots * place.gradient_step;
    place.gradient_model = run_.batch * place.gradient_row;
    place.gradient = recorded ? within(slope_records_, layout.slope[n])
                              : take(numbers, run_.models * place.gradient_model);
  }
  static F* within(F* records, std::int64_t offset) {
    return records == nullptr ? nullptr : records + offset;
  }

  void look_into(std::size_t n) {
    const StepNode& node = traced_.nodes[n];
    if (node.op != StepOp::slice && node.op != StepOp::previous) return;
    // A state may be bound to a node that comes later, whose place is already known; parts of
    // states come after these.
    auto& place = places_[n] = places_[node.a];
    if (node.op == StepOp::previous) place.shift = -1;
    if (place.value != nullptr) place.value += node.offset;
    if (place.gradient != nullptr) place.gradient += node.offset;
  }
  bool holds_constant(std::size_t n) const {
    while (traced_.nodes[n].op == StepOp::slice) n = traced_.nodes[n].a;
    return traced_.nodes[n].op == StepOp::constant;
  }

  void upload_tables() {
    DeviceTables all;
    const auto matrices = all.put(matrices_), places = all.put(places_);
    tables_ = all.uploaded(options_.device());
    steps_.matrices = DeviceTables::view<DeviceStepMatrix<F>>(tables_, matrices);
    steps_.places = DeviceTables::view<DeviceStepPlace<F>>(tables_, places);
    if (!traced_.arrays.empty()) upload_arrays();
  }

  void upload_arrays() {
    DeviceTables all;
    struct Starts {
      std::size_t instructions, views, calls, steps, constants;
    };
    std::vector<Starts> starts;
    std::vector<ArrayCode<F>> codes;
    for (const ArrayProgramPtr& array : traced_.arrays) {
      codes.push_back(array->template code<F>());
      starts.push_back({all.put(array->instructions), all.put(array->views), all.put(array->calls),
                        all.put(array->steps),
                        all.put(codes.back().constants, array->constants.size())});
    }
    array_tables_ = all.uploaded(options_.device());
    for (std::size_t k = 0; k < codes.size(); ++k) {
      codes[k].instructions =
          DeviceTables::view<ArrayInstruction>(array_tables_, starts[k].instructions);
      codes[k].views = DeviceTables::view<ArrayView>(array_tables_, starts[k].views);
      codes[k].calls = DeviceTables::view<ArrayCall>(array_tables_, starts[k].calls);
      codes[k].steps = DeviceTables::view<ArrayStep>(array_tables_, starts[k].steps);
      codes[k].constants = DeviceTables::view<F>(array_tables_, starts[k].constants);
    }
    DeviceTables heads;
    heads.put(codes);
    array_codes_ = heads.uploaded(options_.device());
    steps_.arrays = DeviceTables::view<ArrayCode<F>>(array_codes_, 0);
  }

  // Returns a view of numbers starting at `first`.
  Tensor view(const F* first, at::IntArrayRef sizes, at::IntArrayRef strides) const {
    return numbers_.as_strided(sizes, strides, first - numbers_.data_ptr<F>());
  }
  // M x B x T x n, where `first` is the place for the step before the first one, starting at slot
  // `slot`.
  Tensor of_steps(const F* first, std::int64_t model, std::int64_t row, std::int64_t step,
                  std::size_t n, std::int64_t slot) const {
    return view(first + slot * step, {run_.models, run_.batch, run_.steps, traced_.nodes[n].size},
                {model, row, step, 1})
        .clone(at::MemoryFormat::Contiguous);
  }
  Tensor before_first(const DeviceStepPlace<F>& place, std::size_t n, bool gradient) const {
    return view(gradient ? place.gradient : place.value,
                {run_.models, run_.batch, traced_.nodes[n].size},
                {gradient ? place.gradient_model : place.model,
                 gradient ? place.gradient_row : place.row, 1});
  }
  // Over the sequences of a model.
  Tensor summed(std::int64_t first, std::int64_t count) const {
    return sums_.view({run_.models, run_.batch, steps_.parameters}).narrow(2, first, count).sum(1);
  }

  DevicePass run_;
  const TracedProgram& traced_;
  DevicePtr device_;
  DeviceProgram program_;
  std::shared_ptr<const DeviceModule> module_;
  at::TensorOptions options_;
  std::vector<DeviceStepPlace<F>> places_;
  std::vector<DeviceStepMatrix<F>> matrices_;
  std::vector<std::int64_t> constants_;  // by node: position of its gradient; -1: none
  DeviceSteps<F> steps_;
  std::int64_t count_ = 0;
  F *values_ = nullptr, *slope_records_ = nullptr;  // the records of all steps
  F *computed_ = nullptr, *more_ = nullptr;
  // numbers_: all values, gradients, tapes and scratch. sums_: the gradients of matrices and
  // constants by sequence.
  Tensor numbers_, sums_;
  Tensor tables_, array_tables_, array_codes_, slopes_;
};

}  // namespace pushdown
