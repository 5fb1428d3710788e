#include "recurrence/device/source.h"

#include "kernel/memory/device_nondeterministic.h"
#include "kernel/step/device_step.h"
#include "recurrence/device/source_pass.h"
#include "recurrence/program/step_text.h"

namespace pushdown {

// The headers that printed code needs, in order, without those of the system: made when the program
// is built (cmake/PushdownDeviceHeaders.cmake).
extern const char* const kDeviceHeaders;

namespace device_source {
namespace {

// What the interpreter also keeps before a memory's fast numbers, see StepLoop::sizes().
constexpr std::int64_t kBeforeFast = 256;

const char* number_type(const DeviceSourceOptions& options) {
  return options.is_double ? "double" : "float";
}

std::string memory_name(const MemoryShape& shape) {
  const auto& automaton = shape.automaton;
  switch (shape.kind) {
    case MemoryKind::stratification: return "SectionMemory<F>";
    case MemoryKind::shifted: return "ShiftedMemory<F>";
    case MemoryKind::analog: return "AnalogMemory<F>";
    case MemoryKind::nondeterministic:
      return fmt::format("NondeterministicLoops<F, {}, {}, {}, true>", automaton.states,
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

// Why there is no code for a program, or "".
std::string refusal(const TracedProgram& program) {
  for (const StepNode& node : program.nodes) {
    if (!row_of(node.op).on_devices)
      return fmt::format("it has the operation '{}'", operation_name(node));
  }
  for (const StepTerm& term : program.terms)
    if (term.table >= 0) return "it selects columns of a product";
  return "";
}

}  // namespace

std::string Pass::kernel(const std::string& name, const std::string& before_declarations,
                         const std::string& before_loop, const std::string& loop,
                         const std::string& after_loop) const {
  const bool has_memory = program_.memory >= 0;
  std::string all;
  const auto put = [&](const std::string& text) { all += "  " + text + "\n"; };
  all += fmt::format(
      "PUSHDOWN_KERNEL void __launch_bounds__({}, {}) {}(const __grid_constant__ "
      "DeviceStepProgram<F> p) {{\n",
      options_.threads, options_.is_double ? 1 : std::max(1, 512 / options_.threads), name);
  put(fmt::format("const FixedTeam<{}> team;", options_.threads));
  put("const Index model = blockIdx.y, sequence = blockIdx.x;");
  put("const Count place = Count{model} * p.batch + sequence;");
  put("const Index steps = p.lengths == nullptr ? p.steps : p.lengths[place];");
  all += before_declarations;
  put("F* near = shared_numbers<F>();");
  if (carried_size_ > 0)
    put(fmt::format("F *now = near + {}, *before = near + {};", carried_first_,
                    carried_first_ + carried_size_));
  if (backward_) put("F* gradients = p.sequence_gradients + place * p.parameters;");
  all += declarations_;
  if (has_memory) {
    const int bottom = node(program_.memory).b;
    put("const MemoryShape whole = step_memory(p.memory, 0);");
    put("const Count tape = Memory::tape_size(whole), fast = fast_size_of<Memory>(whole);");
    put(fmt::format("const Count scratch = Memory::scratch_size(whole) + fast + {};",
                    kBeforeFast + program_.shape.actions));
    put(fmt::format(
        "Memory memory(step_memory(p.memory, steps == 0 ? 0 : p.steps - steps), "
        "{{p.tape + place * tape, p.scratch + place * scratch, {}, value_of(p, {}, model, "
        "sequence), {}}});",
        options_.near ? fmt::format("near + {}", near_size_)
                      : "p.scratch + (place + 1) * scratch - fast",
        program_.memory,
        bottom < 0 ? "nullptr" : fmt::format("value_of(p, {}, model, sequence)", bottom)));
  }
  all += before_loop;
  put(backward_ ? "for (Index t = steps; t-- > 0;) {" : "for (Index t = 0; t < steps; ++t) {");
  all += loop;
  put("}");
  return all + after_loop + "}\n";
}

}  // namespace device_source

DeviceSource device_source_kernels(const TracedProgram& program,
                                   const DeviceSourceOptions& options) {
  DeviceSource source;
  source.threads = options.threads;
  source.reason = device_source::refusal(program);
  if (!source.reason.empty()) return source;
  source.text = fmt::format("using F = {};\n", device_source::number_type(options));
  if (program.memory >= 0)
    source.text += fmt::format("using Memory = {};\n", device_source::memory_name(program.shape)) +
                   device_source::shape_function(program.shape);
  int barriers = 0;
  source.text += "\n" + device_source::print_forward(program, options, source.shared, barriers);
  if (options.gradients)
    source.text += "\n" + device_source::print_backward(program, options, source.shared, barriers);
  source.barriers = barriers;
  return source;
}

std::string device_source_prelude() { return kDeviceHeaders; }

DeviceSource device_step_source(const TracedProgram& program, const DeviceSourceOptions& options) {
  DeviceSource source = device_source_kernels(program, options);
  if (source.text.empty()) return source;
  source.text = device_source_prelude() + "\nnamespace pushdown::device {\n\n" + source.text +
                "\n}  // namespace pushdown::device\n";
  return source;
}

std::size_t device_source_bytes(const DeviceSource& source, const MemoryShape& memory, bool near,
                                std::size_t number_size) {
  const auto fast = memory.kind == MemoryKind::none || !near ? 0 : device_step_sizes(memory).fast;
  return static_cast<std::size_t>(source.shared + fast) * number_size;
}

}  // namespace pushdown
