// Starting threads where the system may refuse: limits of processes (ulimit -u) or of memory
// (ulimit -v).
#pragma once
#include <functional>
#include <thread>
#include <vector>

namespace pushdown {

// Adds `count` threads that run `body`. If the system refuses one, calls `stop`, which must make
// the bodies return, joins the threads and throws std::runtime_error.
void start_threads(std::vector<std::thread>& threads, int count, const std::function<void()>& body,
                   const std::function<void()>& stop);

// Starts so many threads at once and ends them, or throws std::runtime_error. A library that starts
// threads may wait for ever for one that the system refused.
void require_threads(int count);

}  // namespace pushdown
