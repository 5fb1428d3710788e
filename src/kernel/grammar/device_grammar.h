// Inside weights of many strings of a grammar on a CUDA device. They correspond to
// log_probability() (grammar/inside.h), over the normal form of grammar/normal_form.h. Numbers are
// doubles.
//
//   W[A,i,l] : weight of the derivations of the l symbols from i on, from A
//
// A block of threads processes one string, from the shortest spans to the longest. It computes in
// real numbers, which are scaled by a power of two per symbol, and again in logarithms if a number
// leaves [2^-500, 2^500]. Within these bounds no product of two numbers underflows or overflows.
//
// Memory is the caller's, on the device of the stream. There are two implementations:
// device_grammar.cu with a CUDA toolkit, nocuda.cpp without; errors as in device_update.h.
#pragma once
#include <cstdint>

namespace pushdown {

// Kinds of right sides of rules.
enum class DeviceRuleKind : std::int32_t {
  lexical,         // terminal first
  terminal_pair,   // terminals first, second
  terminal_left,   // terminal first, nonterminal second
  terminal_right,  // nonterminal second, terminal first
  pair,            // pair `first` of the table of pairs
};
struct DeviceRule {
  DeviceRuleKind kind = DeviceRuleKind::lexical;
  std::int32_t first = 0, second = 0;
  double weight = 0;
};
struct DeviceClosure {  // K[A, from]
  std::int32_t from = 0;
  double weight = 0;
};

// The normal form of a grammar with `size` nonterminals, as tables in device memory.
struct DeviceGrammar {
  std::int32_t size = 0, start = 0, pair_count = 0;
  std::int32_t scale = 0;          // 2^scale per symbol
  bool logarithms = false;         // a weight is outside [2^-500, 2^500]
  double empty_mass = 0;           // of the empty string
  const std::int32_t* rule_begin;  // size + 1: the rules of A are rules[rule_begin[A] ..]
  const DeviceRule* rules;
  const std::int32_t* pairs;          // pair_count x 2 nonterminals
  const std::int32_t* closure_begin;  // size + 1
  const DeviceClosure* closure;
};

// Returns how many numbers a string of that length needs.
std::int64_t device_inside_size(const DeviceGrammar& grammar, std::int64_t length);

struct DeviceInside {
  const DeviceGrammar* grammar = nullptr;  // in device memory
  std::int64_t strings = 0;
  const std::int32_t* symbols = nullptr;  // all strings, concatenated
  const std::int64_t* begin = nullptr;    // strings + 1: start of each string
  const std::int64_t* place = nullptr;    // for each string: position of its numbers in memory
  double* memory = nullptr;               // device_inside_size() numbers for each
  double* log_weights = nullptr;          // the results; -infinity for a string of weight 0
};

// Runs on the stream (a cudaStream_t; null: the default one) and returns immediately.
void device_inside(const DeviceInside& work, void* stream);

}  // namespace pushdown
