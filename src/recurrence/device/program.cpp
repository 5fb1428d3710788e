#include "recurrence/device/program.h"

#include "base/check.h"
#include "kernel/step/device_step.h"
#include "recurrence/device/source_pass.h"
#include "recurrence/program/step_text.h"

namespace pushdown {

// The headers that printed code needs, in order, without those of the system: made when the program
// is built (cmake/PushdownDeviceHeaders.cmake).
extern const char* const kDeviceHeaders;

namespace {

// From this many sequences on, a device is full whatever the size of a block, and half the threads
// repeat half of what every thread does alone.
constexpr std::int64_t kManySequences = 400;
// Up to this many sequences, each has a multiprocessor of a large device.
constexpr std::int64_t kFewSequences = 100;

DeviceForm with_threads(DeviceForm form, const AutomatonShape& automaton, std::int64_t sequences,
                        const Device& device) {
  form.threads = device.threads();
  if (sequences >= kManySequences) form.threads /= 2;
  // A step of a large automaton has work for more threads, if each block has a multiprocessor.
  if (sequences < kFewSequences && automaton.states * automaton.symbols > 4) form.threads *= 2;
  return form;
}

DeviceLayout layout_of(const TracedProgram& program, const StepNeeds& needs) {
  DeviceLayout layout;
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const StepNode& node = program.nodes[n];
    const StepOperation& row = row_of(node.op);
    // The values of a memory are contiguous.
    const bool computed = row.is_computed() && node.op != StepOp::memory;
    const auto take = [&](bool wanted, std::int64_t& size) {
      const auto place = wanted ? size : -1;
      if (wanted) size += node.size;
      return place;
    };
    layout.value.push_back(take(computed && needs.kept[n] != 0, layout.values));
    layout.slope.push_back(take(row.owns_rows() && needs.recorded[n] != 0, layout.slopes));
  }
  return layout;
}

std::string memory_name(const MemoryShape& shape) {
  const auto& automaton = shape.automaton;
  switch (shape.kind) {
    case MemoryKind::stratification: return "SectionMemory<F>";
    case MemoryKind::shifted: return "ShiftedMemory<F>";
    case MemoryKind::analog: return "AnalogMemory<F>";
    case MemoryKind::nondeterministic:
      return fmt::format("NondeterministicLoops<F, {}, {}, {}>", automaton.states,
                         automaton.symbols, automaton.window > 0);
    case MemoryKind::none: break;
  }
  return "NoMemory<F>";
}

// The shape with all that depends on the network as constants.
std::string shape_function(const MemoryShape& shape) {
  std::string all =
      "__device__ inline MemoryShape step_memory(const MemoryShape& run, Count less) {\n"
      "  MemoryShape shape;\n";
  const auto set = [&](const char* name, const auto& value, const auto& usual) {
    if (value != usual) all += fmt::format("  shape.{} = {};\n", name, value);
  };
  const auto set_enum = [&](const std::string& name, const char* type, auto value) {
    all += fmt::format("  shape.{} = {}({});\n", name, type, static_cast<int>(value));
  };
  const MemoryShape usual;
  set_enum("kind", "MemoryKind", shape.kind);
  set("reading", shape.reading, usual.reading);
  set("actions", shape.actions, usual.actions);
  set("goes_on", shape.goes_on, usual.goes_on);
  const auto &sections = shape.sections, &usual_sections = usual.sections;
  set_enum("sections.ends", "SectionEnds", sections.ends);
  set("sections.size", sections.size, usual_sections.size);
  set("sections.memories", sections.memories, usual_sections.memories);
  for (int k = 0; k < 3; ++k)
    set_enum(fmt::format("sections.strengths[{}]", k), "StrengthKind", sections.strengths[k]);
  set("sections.max_strength", sections.max_strength, usual_sections.max_strength);
  const auto &shifted = shape.shifted, &usual_shifted = usual.shifted;
  set_enum("shifted.kind", "ShiftedKind", shifted.kind);
  set("shifted.size", shifted.size, usual_shifted.size);
  set("shifted.memories", shifted.memories, usual_shifted.memories);
  set("shifted.no_op", shifted.no_op, usual_shifted.no_op);
  set("shifted.worn", shifted.worn, usual_shifted.worn);
  set("shifted.reach", shifted.reach, usual_shifted.reach);
  set("shifted.limit", shifted.limit, usual_shifted.limit);
  set("shifted.jump", shifted.jump, usual_shifted.jump);
  set("shifted.empty", shifted.empty, usual_shifted.empty);
  set("shifted.taped", shifted.taped, usual_shifted.taped);
  const auto &automaton = shape.automaton, &usual_automaton = usual.automaton;
  set("automaton.states", automaton.states, 0);
  set("automaton.symbols", automaton.symbols, 0);
  set("automaton.channels", automaton.channels, 0);
  set("automaton.window", automaton.window, 0);
  set("automaton.reexposed", automaton.reexposed, usual_automaton.reexposed);
  set("automaton.state_symbol", automaton.state_symbol, usual_automaton.state_symbol);
  set("automaton.normalized", automaton.normalized, usual_automaton.normalized);
  set("automaton.held_moves", automaton.held_moves, usual_automaton.held_moves);
  set("automaton.held_constant", automaton.held_constant, usual_automaton.held_constant);
  set("analog.symbols", shape.analog.symbols, usual.analog.symbols);
  set("analog.epsilon", shape.analog.epsilon, usual.analog.epsilon);
  set("analog.tolerance", shape.analog.tolerance, usual.analog.tolerance);
  set("analog.stops", shape.analog.stops, usual.analog.stops);
  return all +
         "  shape.steps = run.steps - less;\n"
         "  shape.held = run.held;\n"
         "  shape.automaton.steps = run.automaton.steps - less;\n"
         "  shape.automaton.held = run.automaton.held;\n"
         "  return shape;\n"
         "}\n";
}

}  // namespace

std::string DeviceProgram::refusal(const TracedProgram& program) {
  for (const StepNode& node : program.nodes)
    if (!row_of(node.op).on_devices)
      return fmt::format("it has the operation '{}'", operation_name(node));
  return "";
}

DeviceProgram::DeviceProgram(std::shared_ptr<const TracedProgram> traced, const DeviceForm& form)
    : traced_(std::move(traced)),
      form_(form),
      needs_(step_needs(*traced_, form.gradients)),
      layout_(layout_of(*traced_, needs_)) {
  const std::string reason = refusal(*traced_);
  check(reason.empty(), "device", "there is no code for devices: {}", reason);
  print();
}

DeviceProgram::DeviceProgram(const std::shared_ptr<const TracedProgram>& traced,
                             const DeviceForm& form, std::int64_t sequences, const Device& device)
    : DeviceProgram(traced, with_threads(form, traced->shape.automaton, sequences, device)) {
  if (shared_bytes() <= device.shared_bytes()) return;
  form_.near = false;
  print();
}

void DeviceProgram::print() {
  shared_ = barriers_ = 0;
  kernels_ = fmt::format("using F = {};\n", form_.is_double ? "double" : "float");
  if (traced_->memory >= 0)
    kernels_ += fmt::format("using Memory = {};\n", memory_name(traced_->shape)) +
                shape_function(traced_->shape);
  kernels_ += "\n" + device_source::print_forward(*this, shared_, barriers_);
  if (form_.gradients) kernels_ += "\n" + device_source::print_backward(*this, shared_, barriers_);
}

std::string DeviceProgram::headers() { return kDeviceHeaders; }

std::string DeviceProgram::source() const {
  return headers() + "\nnamespace pushdown::device {\n\n" + kernels_ +
         "\n}  // namespace pushdown::device\n";
}

std::size_t DeviceProgram::shared_bytes() const {
  const auto fast = form_.near ? device_step_sizes(traced_->shape).fast : 0;
  return static_cast<std::size_t>(shared_ + fast) * (form_.is_double ? 8 : 4);
}

}  // namespace pushdown
