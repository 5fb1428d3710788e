// Reads operands.
#include <charconv>
#include <cmath>
#include <limits>

#include "gpu/simulator/lanes.h"
#include "gpu/simulator/program.h"
#include "gpu/simulator/text.h"

namespace pushdown::gpu_simulator {
namespace {

[[noreturn]] void unknown_operand(std::string_view text, const std::string& where) {
  throw Fault(where + ": unknown operand '" + std::string(text) + "'");
}

// Returns the number of "R12", "UP3" after its prefix, or `special` for its name, "RZ". -2:
// neither.
int register_number(std::string_view text, std::string_view prefix, std::string_view name,
                    int special) {
  if (text == name) return special;
  if (!take_prefix(text, prefix) || text.empty()) return -2;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -2;
}

bool integer(std::string_view text, std::int64_t& value) {
  const bool negative = take_prefix(text, "-");
  if (!take_prefix(text, "0x")) return false;
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, 16);
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return error == std::errc() && end == text.data() + text.size();
}

bool real(std::string_view text, float& value) {
  const bool negative = take_prefix(text, "-");
  if (!negative) take_prefix(text, "+");
  if (text == "INF") {
    value = std::numeric_limits<float>::infinity();
  } else if (text == "QNAN") {
    value = std::numeric_limits<float>::quiet_NaN();
  } else {
    double parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    value = static_cast<float>(parsed);
  }
  if (negative) value = -value;
  return true;
}

// Reads "R2.64+UR4+-0x10".
void parse_sum(std::string_view text, Operand& operand, std::string_view whole,
               const std::string& where) {
  for (std::string_view part : divided(text, '+')) {
    part = trimmed(part);
    std::int64_t offset = 0;
    if (integer(part, offset)) {
      operand.offset += offset;
      continue;
    }
    const auto dot = part.find('.');
    const std::string_view suffix = dot == std::string_view::npos ? "" : part.substr(dot);
    part = part.substr(0, dot);
    if (const int vector = register_number(part, "R", "RZ", kZeroRegister); vector > -2) {
      operand.base = vector;
      operand.wide = suffix == ".64";
      operand.scale = suffix == ".X4" ? 2 : suffix == ".X8" ? 3 : suffix == ".X16" ? 4 : 0;
      if (!suffix.empty() && !operand.wide && operand.scale == 0 && suffix != ".U32")
        unknown_operand(whole, where);
    } else if (const int uniform = register_number(part, "UR", "URZ", kZeroRegister);
               uniform > -2 && suffix.empty()) {
      operand.uniform_base = uniform;
    } else {
      unknown_operand(whole, where);
    }
  }
}

}  // namespace

Operand parse_operand(std::string_view text, const std::string& where) {
  Operand operand;
  const std::string_view whole = text = trimmed(text);
  if (take_prefix(text, "`(")) {
    operand.kind = OperandKind::label;
    operand.name = text.substr(0, text.size() - 1);
    return operand;
  }
  if (take_prefix(text, "desc[")) text = text.substr(text.find(']') + 1);
  if (take_prefix(text, "[")) {
    operand.kind = OperandKind::address;
    parse_sum(text.substr(0, text.size() - 1), operand, whole, where);
    return operand;
  }
  float number = 0;
  std::int64_t bits = 0;
  if (integer(text, bits)) {
    operand.bits = static_cast<std::uint32_t>(bits);
    return operand;
  }
  if (real(text, number)) {
    operand.bits = std::bit_cast<std::uint32_t>(number);
    return operand;
  }
  if (text.ends_with(".reuse")) text.remove_suffix(6);
  for (;;) {
    if (take_prefix(text, "-"))
      operand.negative = true;
    else if (take_prefix(text, "!") || take_prefix(text, "~"))
      operand.inverted = true;
    else if (take_prefix(text, "|"))
      operand.absolute = true;
    else
      break;
  }
  if (operand.absolute) {
    const auto bar = text.find('|');
    if (bar == std::string_view::npos) unknown_operand(whole, where);
    text = text.substr(0, bar);
  }
  const auto is = [&](OperandKind kind, std::string_view prefix, std::string_view name,
                      int special) {
    operand.index = register_number(text, prefix, name, special);
    operand.kind = kind;
    return operand.index > -2;
  };
  if (is(OperandKind::vector, "R", "RZ", kZeroRegister) ||
      is(OperandKind::vector, "R", "SRZ", kZeroRegister) ||
      is(OperandKind::uniform, "UR", "URZ", kZeroRegister) ||
      is(OperandKind::predicate, "P", "PT", kTruePredicate) ||
      is(OperandKind::uniform_predicate, "UP", "UPT", kTruePredicate) ||
      is(OperandKind::convergence, "B", "", -2))
    return operand;
  if (take_prefix(text, "c[0x0][")) {
    operand.kind = OperandKind::constant;
    parse_sum(text.substr(0, text.size() - 1), operand, whole, where);
    return operand;
  }
  operand.name = text;
  if (text == "PR") {
    operand.kind = OperandKind::all_predicates;
    return operand;
  }
  if (text.starts_with("SR_")) {
    operand.kind = OperandKind::special;
    return operand;
  }
  unknown_operand(whole, where);
}

}  // namespace pushdown::gpu_simulator
