// Benchmarks print one row a case, `name key=value ...`, so that scripts can read them, and tables
// for people.
#pragma once
#include <functional>
#include <string>

namespace pushdown::bench {

struct Timing {
  double median_ms = 0;  // of the wall times
  double least_ms = 0;   // the least of them: what an undisturbed run takes on a busy machine
  double best_ms = 0;    // least processor time of all threads together
};
// At least `repeats` runs of `work` after one that does not count.
Timing measure(int repeats, const std::function<void()>& work);

// Peak memory of the process above what it held when `start_peak` was called, MB (10^6 bytes).
void start_peak();
double peak_megabytes();

void bench_updates();
void bench_recognizers();
void bench_steps();
void bench_transduction();
void bench_language();
// 0, or 77 where there is no CUDA device.
int bench_device();
// One row of the above, so many updates: something to run under a profiler.
void bench_model(const std::string& name, int length, int repeats, int threads);

}  // namespace pushdown::bench

void bench_grammar();
