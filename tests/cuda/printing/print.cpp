// print FILE...: distributes the printed code of all cases among C++ files, which register it.
// print --complete FOLDER: writes the complete code of some networks, for tests/gpu/printed.sh.
#include <fstream>
#include <set>

#include "cuda/printing/cases.h"
#include "cuda/printing/printed.h"
#include "support/steps_by_launch.h"

namespace pushdown {
namespace {

struct Printed {
  std::string name, text;
  bool gradients;
};
std::vector<Printed> all_printed() {
  std::vector<Printed> all;
  for (const auto& of : testing_support::printed_cases()) {
    const auto source = device_source_kernels(of.record(2, 4), of.options);
    if (source.text.empty()) throw std::runtime_error(of.name + ": " + source.reason);
    all.push_back({of.name, source.text, of.options.gradients});
  }
  for (const auto& of : testing_support::recorded_cases()) {
    std::string text;
    const auto runner = std::make_shared<testing_support::StepsByLaunch<double>>(
        [&](const DeviceStepProgram<double>& program, bool backward) {
          text = testing_support::own_code(program.code->print().text);
          testing_support::run_step_teams(program, backward, 1, 1);
        });
    testing_support::recorded_outcome(of, device_engine(runner));
    all.push_back({of.controller.dump() + ' ' + of.stack.dump(), text, true});
  }
  return all;
}

void print_complete(const std::string& folder) {
  const auto automaton = [](int states) {
    return Json{{"kind", "nondeterministic"}, {"states", states}, {"symbols", states}};
  };
  const std::vector<std::tuple<std::string, Json, int, bool>> networks{
      {"none", {{"kind", "none"}}, 256, false},
      {"superposition", {{"kind", "superposition"}, {"size", 20}}, 256, false},
      {"nondeterministic_2x2", automaton(2), 256, false},
      {"nondeterministic_2x2_128", automaton(2), 128, false},
      {"nondeterministic_2x2_float64", automaton(2), 256, true},
      {"nondeterministic_3x3", automaton(3), 256, false}};
  for (const auto& [name, stack, threads, is_double] : networks) {
    const auto model =
        testing_support::printed_model({{"kind", "lstm"}, {"hidden", 20}}, stack, is_double);
    std::ofstream(folder + '/' + name + ".cu")
        << device_step_source(*model.network().plan(10, 79)->program(),
                              testing_support::source_options(is_double, threads))
               .text;
  }
}

}  // namespace
}  // namespace pushdown

int main(int argc, char** argv) {
  using namespace pushdown;
  if (argc == 3 && std::string(argv[1]) == "--complete") return print_complete(argv[2]), 0;
  std::vector<std::ofstream> files;
  for (int f = 1; f < argc; ++f) {
    files.emplace_back(argv[f]);
    files.back() << testing_support::kPrintedBegin << device_source_prelude()
                 << "#include \"cuda/printing/printed.h\"\n"
                    "namespace pushdown::device {\n";
  }
  std::set<std::uint64_t> seen;
  for (const Printed& of : all_printed()) {
    const auto hash = testing_support::text_hash(of.text);
    if (!seen.insert(hash).second) continue;
    files[seen.size() % files.size()]
        << "\n// ---- " << of.name << " ----\nnamespace case_" << seen.size() << " {\n"
        << of.text << "const bool registered = testing_support::add_printed(" << hash
        << "u, step_forward, " << (of.gradients ? "step_backward" : "step_forward") << ");\n}\n";
  }
  for (auto& file : files) file << "}\n";
  return 0;
}
