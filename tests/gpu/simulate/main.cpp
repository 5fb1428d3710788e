// Runs the machine code of the project's CUDA kernels on the CPU; see usage().
// label: slow
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "base/parallel.h"
#include "gpu/simulate/passes.h"
#include "gpu/simulate/table.h"
#include "gpu/simulator/report.h"

namespace pushdown::gpu_simulate {
namespace {

constexpr int kSkipped = 77;
constexpr double kTolerance = 1e-5;
constexpr const char* kTable = PUSHDOWN_TESTS_FOLDER "/gpu/instructions.txt";

void usage() {
  std::puts(
      "simulate check [--update]  runs all cases at 12 symbols, compares their values and "
      "gradients\n"
      "                           with the CPU's, and their costs with tests/gpu/instructions.txt\n"
      "simulate CASE [N [BATCH [TOGETHER]]] [--lines [FILE]]\n"
      "                           prints milliseconds of both passes for 1 and 1,000 models (N = "
      "80\n"
      "                           symbols, 10 sequences, as many blocks on a multiprocessor as "
      "fit)\n"
      "                           and their instructions by class, and by line of FILE\n"
      "simulate times             prints only the milliseconds, for 2x2 and 3x3\n"
      "simulate print FOLDER      writes the printed code of some networks, for printed.sh\n"
      "Cases: 2x2, 3x3, superposition, stratification, none. Needs nvcc and nvdisasm; the "
      "variables\n"
      "PUSHDOWN_NVCC and PUSHDOWN_NVDISASM can name them.");
}

CostTable costs_of(KernelLibrary& library, const std::string& compiler, bool& equal) {
  CostTable table{compiler, {}};
  for (const PassCase& which : pass_cases()) {
    const auto begin = std::chrono::steady_clock::now();
    const SimulatedPasses passes = simulate_passes(library, which, {});
    for (const SimulatedLaunch& launch : passes.launches) {
      const KernelResources& resources = launch.compiled->resources;
      table.costs[which.name + " " + launch.kernel] = {
          resources.registers, resources.spilled_bytes,
          launch.per_step(launch.statistics.generic_shared),
          launch.per_step(launch.statistics.instructions)};
    }
    // A NaN is different, too.
    const bool fine = passes.values < kTolerance && passes.gradients < kTolerance;
    std::printf("%s: values differ by %.2g, gradients by %.2g of the largest: %s, %.1f s\n",
                which.name.c_str(), passes.values, passes.gradients, fine ? "equal" : "DIFFERENT",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
    equal = equal && fine;
  }
  return table;
}

int check(const Toolchain& tools, bool update) {
  KernelLibrary library(tools);
  bool equal = true;
  const CostTable now = costs_of(library, tools.version, equal);
  std::printf("%s", text_of(now).c_str());
  if (!equal) return 1;
  if (update) {
    std::ofstream(kTable) << text_of(now);
    std::printf("written to %s\n", kTable);
    return 0;
  }
  const CostTable recorded = read_table(kTable);
  if (recorded.compiler != now.compiler) {
    std::printf("costs not compared: the table is from nvcc %s, this is %s\n",
                recorded.compiler.c_str(), now.compiler.c_str());
    return kSkipped;
  }
  const auto worse = growth(recorded, now);
  for (const std::string& line : worse) std::printf("WORSE %s\n", line.c_str());
  if (!worse.empty())
    std::printf("If this is intended, run `simulate check --update` and commit %s.\n", kTable);
  return worse.empty() ? 0 : 1;
}

struct Options {
  int length = 80, batch = 10;
  unsigned together = 0;
  bool report = false, lines = false;
  std::string file;
};

// The times of one pass are those of all of its launches.
void print_times(KernelLibrary& library, const PassCase& which, const Options& options) {
  // From 400 sequences on, a launch takes the form for many models.
  for (const int models : {1, 1000}) {
    PassSizes sizes;
    sizes.length = options.length;
    sizes.batch = options.batch;
    sizes.first_round = true;
    sizes.full_device = models > 1;
    sizes.models = models == 1 ? 1 : (500 + options.batch - 1) / options.batch;
    sizes.together = models == 1 ? 1 : options.together;
    const SimulatedPasses passes = simulate_passes(library, which, sizes);
    double milliseconds[2] = {};
    double instructions[2] = {};
    for (const SimulatedLaunch& launch : passes.launches) {
      milliseconds[launch.backward] += launch.milliseconds(models);
      instructions[launch.backward] += launch.per_step(launch.statistics.instructions);
    }
    std::printf(
        "simulated case=%s n=%d batch=%d models=%d forward_ms=%.2f backward_ms=%.2f "
        "forward_instructions=%.0f backward_instructions=%.0f\n",
        which.name.c_str(), options.length, options.batch, models, milliseconds[0], milliseconds[1],
        instructions[0], instructions[1]);
    std::fflush(stdout);
    if (!options.report) continue;
    for (const SimulatedLaunch& launch : passes.launches) {
      std::printf("\n%s, %u threads, %u blocks together, %.3f ms a round; by step and block:\n%s",
                  launch.kernel.c_str(), launch.launch.threads[0], launch.launch.together,
                  launch.statistics.round_milliseconds(launch.model),
                  report_classes(launch.statistics, launch.steps).c_str());
      if (options.lines)
        std::printf("%s", report_lines(*launch.compiled->code, launch.statistics, launch.steps,
                                       options.file)
                              .c_str());
    }
  }
}

int run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help") {
    usage();
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "print" && arguments.size() == 2) {
    const std::vector<std::tuple<const char*, bool, int>> printed{
        {"none", false, 256}, {"superposition", false, 256},
        {"2x2", false, 256},  {"2x2", false, 128},
        {"2x2", true, 256},   {"3x3", false, 256}};
    for (const auto& [name, is_double, threads] : printed)
      std::ofstream(fmt::format("{}/{}_{}_{}.cu", arguments[1], name, is_double ? 64 : 32, threads))
          << source_of(pass_case(name), is_double, threads);
    return 0;
  }
  std::string reason;
  const auto tools = find_toolchain(reason);
  if (!tools) {
    std::printf("simulate: skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  if (arguments[0] == "check")
    return check(*tools, arguments.size() > 1 && arguments[1] == "--update");
  KernelLibrary library(*tools);
  if (arguments[0] == "times") {
    for (const char* name : {"2x2", "3x3"}) print_times(library, pass_case(name), {});
    return 0;
  }
  Options options;
  options.report = true;
  std::vector<int> numbers;
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    if (arguments[k] == "--lines") {
      options.lines = true;
      if (k + 1 < arguments.size()) options.file = arguments[++k];
    } else {
      numbers.push_back(std::stoi(arguments[k]));
      if (numbers.back() < (numbers.size() == 1 ? 3 : 1))
        throw std::invalid_argument("[simulate] N must be at least 3, BATCH and TOGETHER 1");
    }
  }
  if (numbers.size() > 0) options.length = numbers[0];
  if (numbers.size() > 1) options.batch = numbers[1];
  if (numbers.size() > 2) options.together = static_cast<unsigned>(numbers[2]);
  print_times(library, pass_case(arguments[0]), options);
  return 0;
}

}  // namespace
}  // namespace pushdown::gpu_simulate

int main(int count, char** arguments) {
  pushdown::set_thread_count(1);
  try {
    return pushdown::gpu_simulate::run_program({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
