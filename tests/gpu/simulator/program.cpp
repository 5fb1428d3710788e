// Reads disassemblies.
#include "gpu/simulator/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "gpu/simulator/instruction_set.h"
#include "gpu/simulator/text.h"

namespace pushdown::gpu_simulator {
namespace {

constexpr std::pair<std::string_view, Modifier> kModifierNames[] = {
    {"ALL", Modifier::all},
    {"AND", Modifier::and_},
    {"ANY", Modifier::any},
    {"BF", Modifier::bf},
    {"BFLY", Modifier::bfly},
    {"CLEAR", Modifier::clear},
    {"COLLECTIVE", Modifier::collective},
    {"CONSTANT", Modifier::constant},
    {"DEFER_BLOCKING", Modifier::defer_blocking},
    {"DIV", Modifier::div},
    {"DOWN", Modifier::down},
    {"E", Modifier::e},
    {"EX", Modifier::ex},
    {"EX2", Modifier::ex2},
    {"F32", Modifier::f32},
    {"F64", Modifier::f64},
    {"FTZ", Modifier::ftz},
    {"HI", Modifier::hi},
    {"IADD", Modifier::iadd},
    {"IDX", Modifier::idx},
    {"L", Modifier::l},
    {"LG2", Modifier::lg2},
    {"LU", Modifier::lu},
    {"LUT", Modifier::lut},
    {"MMA", Modifier::mma},
    {"MOV", Modifier::mov},
    {"128", Modifier::n128},
    {"32", Modifier::n32},
    {"64", Modifier::n64},
    {"NAN", Modifier::nan},
    {"NODEC", Modifier::nodec},
    {"NOINC", Modifier::noinc},
    {"NTZ", Modifier::ntz},
    {"OR", Modifier::or_},
    {"R", Modifier::r},
    {"RCP", Modifier::rcp},
    {"REL", Modifier::rel},
    {"RM", Modifier::rm},
    {"RP", Modifier::rp},
    {"RSQ", Modifier::rsq},
    {"RZ", Modifier::rz},
    {"S16", Modifier::s16},
    {"S32", Modifier::s32},
    {"S64", Modifier::s64},
    {"S8", Modifier::s8},
    {"SAT", Modifier::sat},
    {"SHL", Modifier::shl},
    {"SQRT", Modifier::sqrt},
    {"SX32", Modifier::sx32},
    {"SYNC", Modifier::sync},
    {"TANH", Modifier::tanh},
    {"TRAP", Modifier::trap},
    {"TRUNC", Modifier::trunc},
    {"U16", Modifier::u16},
    {"U32", Modifier::u32},
    {"U64", Modifier::u64},
    {"U8", Modifier::u8},
    {"UP", Modifier::up},
    {"WIDE", Modifier::wide},
    {"X", Modifier::x},
    {"XOR", Modifier::xor_},
};
static_assert(std::size(kModifierNames) == static_cast<std::size_t>(Modifier::count));

constexpr std::pair<std::string_view, Comparison> kComparisonNames[] = {
    {"LT", Comparison::lt},      {"LE", Comparison::le},   {"GT", Comparison::gt},
    {"GE", Comparison::ge},      {"EQ", Comparison::eq},   {"NE", Comparison::ne},
    {"LTU", Comparison::ltu},    {"LEU", Comparison::leu}, {"GTU", Comparison::gtu},
    {"GEU", Comparison::geu},    {"EQU", Comparison::equ}, {"NEU", Comparison::neu},
    {"NUM", Comparison::number}, {"NAN", Comparison::nan},
};

template <class Table>
auto find_name(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& row) { return row.first == name; });
}

bool permits(const Operation& operation, std::string_view modifier) {
  const auto names = divided(operation.modifiers, ' ');
  return std::find(names.begin(), names.end(), modifier) != names.end();
}

// Reads "IADD3.X" into the operation, the modifiers and the comparison.
void parse_mnemonic(std::string_view mnemonic, Instruction& instruction, const std::string& where) {
  const auto words = divided(mnemonic, '.');
  const Operation* operation = instruction.operation = find_operation(words[0]);
  if (operation == nullptr)
    throw Fault(fmt::format("{}: unknown instruction '{}'", where, instruction.text));
  for (std::size_t k = 1; k < words.size(); ++k) {
    const auto comparison = find_name(kComparisonNames, words[k]);
    if (comparison != std::end(kComparisonNames) && permits(*operation, "<=>")) {
      instruction.comparison = comparison->second;
      continue;
    }
    const auto modifier = find_name(kModifierNames, words[k]);
    if (modifier == std::end(kModifierNames) || !permits(*operation, words[k]))
      throw Fault(
          fmt::format("{}: unknown modifier '{}' of '{}'", where, words[k], instruction.text));
    instruction.modifiers.set(static_cast<std::size_t>(modifier->second));
  }
}

// Reads "@!P0 " if it is there.
void parse_guard(std::string_view& text, Instruction& instruction, const std::string& where) {
  if (!take_prefix(text, "@")) return;
  const auto blank = std::min(text.find(' '), text.size());
  const Operand guard = parse_operand(text.substr(0, blank), where);
  if (!guard.is_predicate())
    throw Fault(fmt::format("{}: unknown guard in '{}'", where, instruction.text));
  instruction.guard = guard.index;
  instruction.guard_inverted = guard.inverted;
  instruction.guard_uniform = guard.kind == OperandKind::uniform_predicate;
  text = trimmed(text.substr(blank));
}

Instruction parse_instruction(std::string_view text, const std::string& where) {
  Instruction instruction;
  instruction.text = text;
  parse_guard(text, instruction, where);
  const auto blank = std::min(text.find(' '), text.size());
  parse_mnemonic(text.substr(0, blank), instruction, where);
  text = trimmed(text.substr(blank));
  if (instruction.operation->name == "RET") text = text.substr(0, text.find(' '));  // R2 `(name)
  if (text.empty()) return instruction;
  for (const std::string_view operand : divided(text, ','))
    instruction.operands.push_back(parse_operand(operand, where));
  return instruction;
}

// The upper half of the encoding ends with the control code: stall count, a bit that the simulator
// ignores, the two counters and the bits of those that are waited for.
void set_control(std::uint64_t upper, Instruction& instruction) {
  const std::uint64_t code = upper >> 41;
  instruction.stall = static_cast<int>(code & 15);
  instruction.result_counter = static_cast<int>(code >> 5 & 7);
  instruction.read_counter = static_cast<int>(code >> 8 & 7);
  instruction.waits = static_cast<unsigned>(code >> 11 & 63);
}

std::uint64_t hexadecimal(std::string_view text, const std::string& where) {
  text = trimmed(text);
  take_prefix(text, "0x");
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value, 16).ec != std::errc())
    throw Fault(fmt::format("{}: expected a hexadecimal number, got '{}'", where, text));
  return value;
}

// Reads ' File "a.h", line 3 inlined at "b.h", line 4'.
SourceLine parse_source(std::string_view text) {
  SourceLine source;
  const auto first = text.find('"');
  const auto end = text.find('"', first + 1);
  if (end == std::string_view::npos) return source;
  source.file = text.substr(first + 1, end - first - 1);
  const std::string_view rest = text.substr(end + 1);
  constexpr std::string_view kLine = ", line ";
  if (rest.starts_with(kLine))
    std::from_chars(rest.data() + kLine.size(), rest.data() + rest.size(), source.line);
  return source;
}

class Reader {
 public:
  std::vector<std::unique_ptr<Kernel>> read(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(trimmed(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    finish();
    return std::move(kernels_);
  }

 private:
  std::string where() const { return fmt::format("[gpu simulator] line {}", line_); }

  void read_line(std::string_view text) {
    constexpr std::string_view kText = ".section\t.text.", kSource = "//##";
    if (take_prefix(text, kText)) {
      finish();
      kernels_.push_back(std::make_unique<Kernel>());
      kernels_.back()->name = text.substr(0, text.find(','));
      sources_.clear();
    } else if (take_prefix(text, kSource)) {
      if (std::exchange(used_, false)) sources_.clear();
      sources_.push_back(parse_source(text));
    } else if (text.ends_with(':') && !text.starts_with("/")) {
      labels_[std::string(text.substr(0, text.size() - 1))] = kernel().code.size();
    } else if (take_prefix(text, "/*")) {
      const auto close = text.find("*/");
      if (trimmed(text).starts_with("0x"))
        return set_control(hexadecimal(text.substr(0, close), where()), last());
      read_instruction(text.substr(0, close), trimmed(text.substr(close + 2)));
    }
  }

  void read_instruction(std::string_view address, std::string_view text) {
    text = trimmed(text.substr(0, text.find(';')));
    text = trimmed(text.substr(0, text.find("(*")));  // a remark
    Instruction instruction = parse_instruction(text, where());
    instruction.address = static_cast<std::uint32_t>(hexadecimal(address, where()));
    instruction.line = line_;
    if (!sources_.empty()) {
      auto& all = kernel().sources;
      if (!std::exchange(used_, true)) all.push_back(sources_);
      if (all.empty()) all.push_back(sources_);
      instruction.source = static_cast<int>(all.size()) - 1;
    }
    for (const Operand& operand : instruction.operands)
      if (operand.kind == OperandKind::vector || operand.kind == OperandKind::address)
        kernel().registers = std::max({kernel().registers, operand.index + 4, operand.base + 2});
    kernel().code.push_back(std::move(instruction));
  }

  Kernel& kernel() {
    if (kernels_.empty()) throw Fault(where() + ": there is no '.section .text.NAME' before");
    return *kernels_.back();
  }
  Instruction& last() {
    if (kernel().code.empty()) throw Fault(where() + ": there is no instruction before");
    return kernel().code.back();
  }

  // Resolves the labels of the last kernel.
  void finish() {
    if (kernels_.empty()) return;
    for (Instruction& instruction : kernel().code)
      for (Operand& operand : instruction.operands) {
        if (operand.kind != OperandKind::label) continue;
        const auto found = labels_.find(operand.name);
        if (found == labels_.end())
          throw Fault(fmt::format("[gpu simulator] line {}: unknown label '{}'", instruction.line,
                                  operand.name));
        operand.index = static_cast<int>(found->second);
      }
    labels_.clear();
    used_ = false;
  }

  int line_ = 0;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<std::string, std::size_t> labels_;
  std::vector<SourceLine> sources_;  // of the next instruction
  bool used_ = false;                // whether an instruction has them
};

}  // namespace

int Kernel::index_of(std::uint32_t address) const {
  const auto index = address / 16;  // bytes of an instruction
  return index < code.size() && code[index].address == address ? static_cast<int>(index) : -1;
}

Module::Module(const std::string& disassembly) : kernels_(Reader().read(disassembly)) {}

const Kernel& Module::kernel(std::string_view name) const {
  const Kernel* found = nullptr;
  for (const auto& kernel : kernels_) {
    if (kernel->name == name) return *kernel;
    if (kernel->name.find(name) == std::string::npos) continue;
    if (found != nullptr)
      throw Fault(fmt::format("[gpu simulator] several kernels have '{}' in their names", name));
    found = kernel.get();
  }
  if (found == nullptr) throw Fault(fmt::format("[gpu simulator] there is no kernel '{}'", name));
  return *found;
}

}  // namespace pushdown::gpu_simulator
