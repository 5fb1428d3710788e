// Benchmarks print one row `name key=value ...` per case, for scripts, and tables for people.
#pragma once
#include <functional>
#include <string>

namespace pushdown::bench {

struct Timing {
  double median_ms = 0;  // median wall time
  double least_ms = 0;   // least wall time, as for an undisturbed run on a busy machine
  double best_ms = 0;    // least processor time, summed over all threads
};
// Runs `work` once without counting it, and then at least `repeats` times.
Timing measure(int repeats, const std::function<void()>& work);

// Peak memory of the process minus its memory when `start_peak` was called, in MB (10^6 bytes).
void start_peak();
double peak_megabytes();

void bench_updates();
void bench_recognizers();
void bench_steps();
void bench_transduction();
void bench_language();
void bench_loops();
// Returns 0, or 77 if there is no CUDA device.
int bench_device();
// Repeats one of these rows for this number of updates, to be run under a profiler.
void bench_model(const std::string& name, int length, int repeats, int threads);

}  // namespace pushdown::bench

void bench_grammar();
