// Array programs with their memory (kernel/array/program.h describes the instructions).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernel/array/program.h"

namespace pushdown {

struct ArrayProgram {
  std::vector<ArrayInstruction> instructions;
  std::vector<ArrayView> views;
  std::vector<ArrayCall> calls;
  std::vector<ArrayStep> steps;  // the last one is also used for all further steps
  std::vector<double> constants;
  std::vector<std::string> inputs;  // their names
  std::int64_t output = 0;          // maximum size of the output of a step
  std::int64_t memory = 0;          // maximum size of a step's own memory

  bool operator==(const ArrayProgram&) const = default;

  // Adds the steps of another program with the same inputs.
  void append(const ArrayProgram& other);
  // Adds a step without instructions.
  void append_idle();
  // Must be called when all steps are there.
  void finish();
  // Valid only as long as the program exists.
  template <class F>
  ArrayCode<F> code() const;

 private:
  std::vector<float> constants_f_;
  std::vector<double> constants_d_;
};
template <>
ArrayCode<float> ArrayProgram::code() const;
template <>
ArrayCode<double> ArrayProgram::code() const;
using ArrayProgramPtr = std::shared_ptr<const ArrayProgram>;

// The cost of a step: a multiplication with an addition counts as one, a function as one.
struct ArrayCosts {
  std::int64_t instructions = 0, operations = 0, multiply_adds = 0, memory = 0;
};
ArrayCosts costs_of(const ArrayProgram& program, std::int64_t step);

// Returns the instructions of a step, one line each.
std::string array_text(const ArrayProgram& program, std::int64_t step);

}  // namespace pushdown
