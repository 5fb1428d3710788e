// Runs the groups named on the command line, or the usual ones (kGroups). `bench device` runs those
// of a CUDA device and exits with 77 if there is none. `bench peers [TEXT]...` compares with
// PyTorch, and `bench growth [TEXT]...` larger sizes with smaller ones; both measure only what
// contains one of the texts in its name. `bench model NAME LENGTH UPDATES [THREADS]` repeats the
// update of one model, for a profiler.
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/flush_denormals.h"
#include "base/memory.h"
#include "bench.h"
#include "tensor/blas.h"

namespace pushdown::bench {
namespace {

double peak_at_start = 0;

// Runs a group of updates.lua, which also measures parts written in Lua, in the program beside this
// one.
void bench_in_lua(const std::string& group) {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  std::fflush(stdout);
  const std::string command = "'" + (folder / "pushdown").string() +
                              "' --threads 1 '" PUSHDOWN_BENCH_FOLDER "/updates.lua' " + group;
  if (std::system(command.c_str()) != 0) std::printf("updates.lua %s failed\n", group.c_str());
}

struct Group {
  const char* name;
  void (*run)();  // null: a group of updates.lua
  bool usual;     // whether `bench` without a name runs it
};
const Group kGroups[] = {
    {"update", bench_updates, true},    {"recognizer", bench_recognizers, true},
    {"steps", bench_steps, true},       {"transduction", bench_transduction, true},
    {"language", bench_language, true}, {"loops", bench_loops, true},
    {"grammar", bench_grammar, true},   {"trained", nullptr, true},
    {"defined", nullptr, true},         {"cells", nullptr, false},
    {"tape", nullptr, false},           {"pieces", nullptr, false},
    {"stacks", nullptr, false}};

// Runs the groups of these names, or the usual ones. Returns an exit status.
int run_groups(const std::vector<std::string>& names) {
  const auto asked = [&](const Group& group) {
    return names.empty() ? group.usual
                         : std::find(names.begin(), names.end(), group.name) != names.end();
  };
  if (std::none_of(std::begin(kGroups), std::end(kGroups), asked)) {
    std::fprintf(stderr, "[bench] no group has the name '%s'\n", names.front().c_str());
    return 2;
  }
  for (const auto& group : kGroups)
    if (asked(group)) group.run != nullptr ? group.run() : bench_in_lua(group.name);
  return 0;
}

double memory_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
  return 0;
}

}  // namespace

Timing measure(int repeats, const std::function<void()>& work, double seconds) {
  const auto processor_ms = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  };
  work();
  std::vector<double> wall, processor;
  double all = 0;
  for (int i = 0; i < repeats && (i < 2 || all < 1e3 * seconds); ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double used = processor_ms();
    work();
    processor.push_back(processor_ms() - used);
    wall.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
    all += wall.back();
  }
  const auto middle = wall.begin() + static_cast<std::ptrdiff_t>(wall.size() / 2);
  std::nth_element(wall.begin(), middle, wall.end());
  return {*middle, *std::min_element(wall.begin(), wall.end()),
          *std::min_element(processor.begin(), processor.end())};
}

bool among(const std::string& name, const std::vector<std::string>& texts) {
  return texts.empty() || std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
           return name.find(text) != std::string::npos;
         });
}

void start_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak in the kernel
  peak_at_start = memory_field("VmRSS");
}

double peak_megabytes() { return std::max(0.0, memory_field("VmHWM") - peak_at_start); }

}  // namespace pushdown::bench

int main(int count, char** arguments) {
  pushdown::keep_freed_memory();  // as the programs do
  const pushdown::FlushDenormals flush;
  at::set_num_threads(1);
  pushdown::limit_blas_to_one_thread();
  const std::vector<std::string> wanted(arguments + 1, arguments + count);
  if (wanted.size() >= 4 && wanted[0] == "model") {
    pushdown::bench::bench_model(wanted[1], std::stoi(wanted[2]), std::stoi(wanted[3]),
                                 wanted.size() > 4 ? std::stoi(wanted[4]) : 1);
    return 0;
  }
  if (wanted.size() == 3 && wanted[0] == "peer")
    return pushdown::bench::bench_peer(wanted[1], std::stoi(wanted[2]));
  if (!wanted.empty() && (wanted[0] == "peers" || wanted[0] == "growth")) {
    const std::vector<std::string> texts(wanted.begin() + 1, wanted.end());
    (wanted[0] == "peers" ? pushdown::bench::bench_peers : pushdown::bench::bench_growth)(texts);
    return 0;
  }
  if (wanted == std::vector<std::string>{"device"}) return pushdown::bench::bench_device();
  return pushdown::bench::run_groups(wanted);
}
