// How much memory there is, to refuse what cannot be held before it is asked for: the system grants
// more than it has and kills the process when that is used.
#pragma once
#include <cstdint>
#include <string_view>

namespace pushdown {

// Bytes that this process can still use: the system's free memory and caches, the limits of the
// control groups around the process (containers, batch systems), and of `ulimit -v`. The largest
// number where nothing can be found out.
std::uint64_t available_memory();

// std::runtime_error "[where] WHAT needs 3.20 TB of memory, there are 12.3 GB" if `bytes` are more
// than there are. Costs nothing for fewer than 64 MB.
void check_memory(std::string_view where, std::string_view what, double bytes);

}  // namespace pushdown
