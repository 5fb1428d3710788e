#include "recurrence/device_steps.h"

#include <cstring>

#include "recurrence/step_function.h"
#include "recurrence/step_needs.h"

namespace pushdown {
namespace {

// A program with its numbers, in tensors of its device.
template <class F>
class DeviceStepMachine {
 public:
  DeviceStepMachine(TracedProgram program, std::int64_t batch, std::int64_t steps,
                    std::int64_t window, bool gradients, const at::TensorOptions& options,
                    DeviceStepLaunch<F> launch, std::size_t free_bytes)
      : traced_(std::move(program)),
        batch_(batch),
        steps_(steps),
        window_(window),
        gradients_(gradients),
        needs_(step_needs(traced_, gradients)),
        options_(options),
        launch_(std::move(launch)) {
    const auto hold = [](const Tensor& tensor) {
      return tensor.defined() ? tensor.detach().contiguous() : Tensor();
    };
    for (const Tensor& matrix : traced_.matrices) held_matrices_.push_back(hold(matrix));
    for (const Tensor& given : traced_.given) held_given_.push_back(hold(given));
    lay_out(nullptr, nullptr);
    const auto parameters = (batch_ + 1) * program_.parameters;
    const auto bytes = static_cast<std::size_t>(count_ + parameters) * sizeof(F);
    if (bytes > free_bytes)
      fail_environment("device",
                       "a batch of {} sequences of {} steps takes {} MB on the device, {} MB are "
                       "free; shorter strings or a smaller batch take less",
                       batch_, steps_, bytes / 1000000, free_bytes / 1000000);
    numbers_ = at::empty({count_}, options_);
    parameters_ = at::empty({parameters}, options_);
    count_ = 0;
    lay_out(numbers_.data_ptr<F>(), parameters_.data_ptr<F>());
    upload_tables();
    fill();
  }

  void forward() { launch_(program_, false); }
  // slopes : B x T x n
  void backward(const Tensor& slopes) {
    slopes_ = slopes;
    program_.given = slopes.data_ptr<F>();
    program_.given_step = slopes.size(2);
    program_.given_row = steps_ * slopes.size(2);
    launch_(program_, true);
  }

  Tensor output(const at::TensorOptions&) const {
    const auto n = at(traced_.output);
    if (traced_.given[n].defined()) return traced_.given[n].detach();
    const auto& place = places_[n];
    return of_steps(place.value, place.row, place.step, traced_.nodes[n].size, 1 + place.shift);
  }
  variable_list gradients(const at::TensorOptions&) const {
    variable_list all;
    for (std::size_t k = 0; k < matrices_.size(); ++k) {
      all.emplace_back();
      if (matrices_[k].gradient >= 0)
        all.back() = parameter(matrices_[k].gradient, matrices_[k].rows * matrices_[k].columns)
                         .view({matrices_[k].rows, matrices_[k].columns});
    }
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& given = traced_.given[n];
      if (!given.defined()) continue;
      const auto size = traced_.nodes[n].size;
      const auto& place = places_[n];
      all.emplace_back();
      if (!given.requires_grad()) continue;
      all.back() = given.dim() == 1
                       ? parameter(place.gradient - program_.sequence_gradients, size)
                       : of_steps(place.gradient, place.gradient_row, place.gradient_step, size, 1);
    }
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& initial = traced_.initial[n];
      if (!initial.defined()) continue;
      all.emplace_back();
      if (initial.requires_grad())
        all.back() = before_first(places_[n].gradient, places_[n].gradient_row, initial.size(1));
    }
    return all;
  }

 private:
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }

  // Numbers of the one tensor for all; null while they are counted.
  F* take(F* numbers, std::int64_t count) {
    F* place = numbers == nullptr ? nullptr : numbers + count_;
    count_ += count;
    return place;
  }

  void lay_out(F* numbers, F* parameters) {
    program_ = {};
    places_.assign(traced_.nodes.size(), {});
    const auto parameter = [&](std::int64_t count) {
      const auto place = program_.parameters;
      program_.parameters += count;
      return place;
    };
    matrices_.clear();
    for (std::size_t k = 0; k < held_matrices_.size(); ++k) {
      const auto rows = held_matrices_[k].size(0), columns = held_matrices_[k].size(1);
      const bool wanted = gradients_ && traced_.matrices[k].requires_grad();
      matrices_.push_back({held_matrices_[k].template data_ptr<F>(), rows, columns, 0,
                           wanted ? parameter(rows * columns) : -1});
    }
    for (std::size_t n = 0; n < places_.size(); ++n) place_node(n, numbers, parameters, parameter);
    for (std::size_t n = 0; n < places_.size(); ++n) {
      const StepNode& node = traced_.nodes[n];
      if (node.op == StepOp::slice || node.op == StepOp::previous) look_into(n);
    }
    program_.count = static_cast<std::int64_t>(places_.size());
    program_.matrix_count = static_cast<std::int64_t>(matrices_.size());
    program_.batch = batch_;
    program_.steps = steps_;
    program_.window = window_;
    program_.after = traced_.after;
    program_.output = traced_.output;
    program_.sequence_gradients = parameters;
    program_.gradients =
        parameters == nullptr ? nullptr : parameters + batch_ * program_.parameters;
    if (traced_.memory < 0) return;
    const StepNode& memory = traced_.nodes[at(traced_.memory)];
    program_.memory_node = traced_.memory;
    program_.bottom_node = memory.b;
    program_.memory = traced_.shape;
    program_.memory.row_start = nullptr;
    program_.memory.actions = traced_.nodes[at(memory.a)].size;
    program_.memory.reading = memory.size;
    const auto sizes = device_step_sizes(program_.memory);
    program_.tape = take(numbers, batch_ * sizes.tape);
    program_.scratch = take(numbers, batch_ * sizes.scratch);
  }

  template <class Parameter>
  void place_node(std::size_t n, F* numbers, F* parameters, const Parameter& parameter) {
    const StepNode& node = traced_.nodes[n];
    auto& place = places_[n];
    if (node.op == StepOp::slice || node.op == StepOp::previous) return;
    if (traced_.given[n].defined()) {
      F* given = held_given_[n].template data_ptr<F>();
      const bool sequence = node.op == StepOp::sequence;
      place.step = sequence ? node.size : 0;
      place.row = sequence ? steps_ * node.size : 0;
      place.value = given - place.step;  // there is no step before the first one
    } else {
      const std::int64_t rows = needs_.kept[n] ? steps_ + 1 : 1;
      place.step = needs_.kept[n] ? node.size : 0;
      place.row = rows * node.size;
      place.value = take(numbers, batch_ * place.row);
    }
    if (!gradients_ || !node.gradient) return;
    if (node.op == StepOp::constant) {
      const auto first = parameter(node.size);
      place.gradient = parameters == nullptr ? nullptr : parameters + first;
      return;
    }
    place.slots = needs_.recorded[n] ? steps_ + 1 : node.carried ? 2 : 1;
    place.gradient_step = node.size;
    place.gradient_row = place.slots * node.size;
    place.gradient = take(numbers, batch_ * place.gradient_row);
  }

  void look_into(std::size_t n) {
    const StepNode& node = traced_.nodes[n];
    // A state may be bound to a node that comes later, whose place is known by now; parts of states
    // come after these.
    auto& place = places_[n] = places_[at(node.a)];
    if (node.op == StepOp::previous) place.shift = -1;
    if (place.value != nullptr) place.value += node.offset;
    if (place.gradient != nullptr) place.gradient += node.offset;
  }

  // Tables that the device reads, in one tensor of bytes.
  void upload_tables() {
    for (std::size_t n = 0; n < places_.size(); ++n)
      if (holds_constant(n)) places_[n].gradient_row = program_.parameters;
    std::vector<std::uint8_t> bytes;
    const auto put = [&](const auto& table) {
      bytes.resize((bytes.size() + 15) / 16 * 16);
      const auto place = bytes.size(), size = table.size() * sizeof(table[0]);
      bytes.resize(place + size);
      if (size > 0) std::memcpy(bytes.data() + place, table.data(), size);
      return place;
    };
    const auto nodes = put(traced_.nodes), terms = put(traced_.terms),
               operands = put(traced_.operands), matrices = put(matrices_), places = put(places_);
    tables_ = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
    std::memcpy(tables_.data_ptr<std::uint8_t>(), bytes.data(), bytes.size());
    tables_ = tables_.to(options_.device());
    const std::uint8_t* first = tables_.data_ptr<std::uint8_t>();
    program_.nodes = reinterpret_cast<const StepNode*>(first + nodes);
    program_.terms = reinterpret_cast<const StepTerm*>(first + terms);
    program_.operands = reinterpret_cast<const int*>(first + operands);
    program_.matrices = reinterpret_cast<const DeviceStepMatrix<F>*>(first + matrices);
    program_.places = reinterpret_cast<const DeviceStepPlace<F>*>(first + places);
  }
  bool holds_constant(std::size_t n) const {
    std::size_t of = n;
    while (traced_.nodes[of].op == StepOp::slice) of = at(traced_.nodes[of].a);
    return traced_.nodes[of].op == StepOp::constant;
  }

  // What `previous` nodes see at first.
  void fill() {
    for (std::size_t n = 0; n < traced_.nodes.size(); ++n) {
      const Tensor& initial = traced_.initial[n];
      if (!initial.defined()) continue;
      const auto& place = places_[n];
      numbers_
          .as_strided({batch_, traced_.nodes[n].size}, {place.row, 1},
                      place.value - numbers_.data_ptr<F>())
          .copy_(initial.detach());
    }
  }

  // B x T x n of numbers at `first` for the step before the first one, from slot `slot` on.
  Tensor of_steps(const F* first, std::int64_t row, std::int64_t step, std::int64_t size,
                  std::int64_t slot) const {
    return numbers_
        .as_strided({batch_, steps_, size}, {row, step, 1},
                    first - numbers_.data_ptr<F>() + slot * step)
        .clone(at::MemoryFormat::Contiguous);
  }
  Tensor before_first(const F* first, std::int64_t row, std::int64_t size) const {
    return numbers_.as_strided({batch_, size}, {row, 1}, first - numbers_.data_ptr<F>()).clone();
  }
  Tensor parameter(std::int64_t first, std::int64_t count) const {
    return parameters_.narrow(0, batch_ * program_.parameters + first, count).clone();
  }

  TracedProgram traced_;
  std::int64_t batch_, steps_, window_;
  bool gradients_;
  StepNeeds needs_;
  at::TensorOptions options_;
  DeviceStepLaunch<F> launch_;
  std::vector<DeviceStepPlace<F>> places_;
  std::vector<DeviceStepMatrix<F>> matrices_;
  DeviceStepProgram<F> program_;
  std::vector<Tensor> held_matrices_, held_given_;
  std::int64_t count_ = 0;
  // All values, gradients, tapes and scratch; the gradients of parameters, by sequence, then
  // summed.
  Tensor numbers_, parameters_;
  Tensor tables_, slopes_;
};

// The device of the tensors.
at::Device device_of(const TracedProgram& program) {
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    for (const Tensor& tensor : *tensors)
      if (tensor.defined()) return tensor.device();
  return at::kCPU;
}

}  // namespace

template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes) {
  const auto options =
      at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value).device(device_of(program));
  return run_machine<DeviceStepMachine<F>>(
      std::move(program), options, [&](auto& machine, TracedProgram&& traced, bool gradients) {
        machine.emplace(std::move(traced), batch, steps, window, gradients, options, launch,
                        free_bytes);
      });
}

template Tensor run_device_steps<float>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                        const DeviceStepLaunch<float>&, std::size_t);
template Tensor run_device_steps<double>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                         const DeviceStepLaunch<double>&, std::size_t);

}  // namespace pushdown
