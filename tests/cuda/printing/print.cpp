// print FILE...: distributes the printed code of all cases among C++ files, which register it.
#include <fstream>
#include <iostream>

#include "cuda/printing/cases.h"
#include "cuda/printing/printed.h"

int main(int argc, char** argv) {
  using namespace pushdown;
  const auto cases = testing_support::printed_cases();
  const auto files = static_cast<std::size_t>(argc - 1);
  for (std::size_t f = 0; f < files; ++f) {
    std::ofstream out(argv[1 + f]);
    out << "#define PUSHDOWN_KERNEL static\n"
           "#define PUSHDOWN_BARRIER(number) ::pushdown::testing_support::wait_at(number)\n"
        << device_source_prelude()
        << "#include \"cuda/printing/printed.h\"\n"
           "namespace pushdown::device {\n";
    for (std::size_t k = f; k < cases.size(); k += files) {
      const auto source = device_source_kernels(cases[k].record(2, 4), cases[k].options);
      if (source.text.empty()) {
        std::cerr << cases[k].name << ": " << source.reason << '\n';
        return 1;
      }
      out << "\n// ---- " << cases[k].name << " ----\nnamespace case_" << k << " {\n"
          << source.text << "const bool registered = testing_support::add_printed("
          << testing_support::text_hash(source.text) << "u, step_forward, "
          << (cases[k].options.gradients ? "step_backward" : "step_forward") << ");\n}\n";
    }
    out << "}\n";
  }
  return 0;
}
