// Benchmarks print one row a case, `name key=value ...`, so that scripts can read them.
#pragma once
#include <functional>
#include <string>

namespace pushdown::bench {

// Median wall time of `work` in milliseconds: at least `repeats` runs after one that does not
// count.
double median_milliseconds(int repeats, const std::function<void()>& work);

// Peak memory of the process above what it held when `start_peak` was called, MB (10^6 bytes).
void start_peak();
double peak_megabytes();

void bench_updates();

}  // namespace pushdown::bench

void bench_grammar();
