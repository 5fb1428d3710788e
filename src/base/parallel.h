// Threads over independent items. The process has one pool of threads; LibTorch itself always runs
// on one thread (see docs/adr). Results must not depend on the number of threads: each item writes
// only to its own place, and sums over items are computed afterwards in order.
#pragma once
#include <cstdint>
#include <functional>

namespace pushdown {

// Sets the number of threads that parallel_for may use, including the caller; at least 1. The
// initial value is 1.
void set_thread_count(int count);
int thread_count();

// Runs body(0) .. body(count - 1), each once, on any thread, and returns when all are done.
// Rethrows the first exception thrown by a body. A nested call runs in the calling thread.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace pushdown
