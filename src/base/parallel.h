// Threads over independent items. The pool belongs to the process, like the cores it stands for;
// LibTorch itself always runs on one thread (see docs/adr). Results must not depend on the number
// of threads: an item writes only to its own place, and sums over items are taken afterwards in
// order.
#pragma once
#include <cstdint>
#include <functional>

namespace pushdown {

// The number of threads that parallel_for may use, the caller included; at least 1. Starts at 1.
void set_thread_count(int count);
int thread_count();

// Runs body(0) .. body(count - 1), each once, on any thread, and returns when all are done.
// The first exception thrown by a body is rethrown here. A call from within a body runs in place.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace pushdown
