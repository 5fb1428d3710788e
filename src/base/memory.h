// Available memory, used to reject a request that does not fit before it is made. Without this
// check, the system grants more memory than it has and kills the process when the memory is used.
#pragma once
#include <cstdint>
#include <string_view>

namespace pushdown {

// Returns the number of bytes that this process can still use. Considers the system's free memory
// and caches, the limits of the control groups around the process (containers, batch systems), and
// `ulimit -v`. Returns the largest number if nothing is known.
std::uint64_t available_memory();

// For programs, not for libraries: makes the C library keep up to 256 MB of freed memory for its
// next use. Otherwise it returns the memory of large tensors to the system, which has to clear it
// page by page when the next operation needs it. Does nothing if the environment sets
// MALLOC_TRIM_THRESHOLD_ or GLIBC_TUNABLES, or without glibc.
void keep_freed_memory();

// Throws std::runtime_error "[where] WHAT needs 3.20 TB of memory, 12.3 GB are available" if
// `bytes` is more than is available. Requests below 64 MB are not checked and cost nothing.
void check_memory(std::string_view where, std::string_view what, double bytes);

}  // namespace pushdown
