// Benchmarks print one row `name key=value ...` per case, for scripts, and tables for people.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace pushdown::bench {

struct Timing {
  double median_ms = 0;  // median wall time
  double least_ms = 0;   // least wall time, as for an undisturbed run on a busy machine
  double best_ms = 0;    // least processor time, summed over all threads
};
// Runs `work` once without counting it, and then `repeats` times, or at least twice for about this
// many seconds.
Timing measure(int repeats, const std::function<void()>& work, double seconds = 1e9);
// Returns whether one of the texts is part of the name, or there are none.
bool among(const std::string& name, const std::vector<std::string>& texts);

// Peak memory of the process minus its memory when `start_peak` was called, in MB (10^6 bytes).
void start_peak();
double peak_megabytes();

void bench_updates();
void bench_recognizers();
void bench_steps();
void bench_transduction();
void bench_language();
void bench_loops();
// Those of their rows whose names are among the texts.
void bench_peers(const std::vector<std::string>& texts);
void bench_growth(const std::vector<std::string>& texts);
// Our side of one row of bench_peers(). Returns an exit status.
int bench_peer(const std::string& name, int threads);
// Returns 0, or 77 if there is no CUDA device.
int bench_device();
// Repeats one of these rows for this number of updates, to be run under a profiler.
void bench_model(const std::string& name, int length, int repeats, int threads);

}  // namespace pushdown::bench

void bench_grammar();
