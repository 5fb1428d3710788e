// Runs the benchmarks named on the command line, or all: update, grammar.
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench.h"

namespace pushdown::bench {
namespace {

double peak_at_start = 0;

double memory_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
  return 0;
}

}  // namespace

double median_milliseconds(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

void start_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;  // the kernel forgets the old peak
  peak_at_start = memory_field("VmRSS");
}

double peak_megabytes() { return std::max(0.0, memory_field("VmHWM") - peak_at_start); }

}  // namespace pushdown::bench

int main(int count, char** arguments) {
  at::set_num_threads(1);
  const std::vector<std::string> wanted(arguments + 1, arguments + count);
  const auto asked = [&](const char* name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  if (asked("update")) pushdown::bench::bench_updates();
  if (asked("grammar")) bench_grammar();
}
