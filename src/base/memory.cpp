#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// Returns the first number in a file, or nothing if there is none (the file may say "max").
std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

// Returns the number after `key` in a file of lines "key number".
std::optional<std::uint64_t> number_of(const std::string& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t number = 0;
    if (words >> first >> number && first == key) return number;
  }
  return std::nullopt;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

// Returns the smallest remaining memory of a control group and its ancestors. File caches count as
// free because the kernel can reclaim them.
std::uint64_t left_in_groups(const std::string& mount, std::string group, const char* limit,
                             const char* usage, const char* cache) {
  std::uint64_t left = kUnlimited;
  for (;;) {
    const std::string folder = mount + group + "/";
    if (const auto most = number_in(folder + limit)) {
      const auto used = number_in(folder + usage).value_or(0);
      const auto caches = number_of(folder + "memory.stat", cache).value_or(0);
      left = std::min(left, left_of(*most, left_of(used, caches)));
    }
    if (group.empty()) return left;
    group.resize(std::min(group.rfind('/'), group.size()));
  }
}

std::uint64_t left_in_control_groups() {
  std::uint64_t left = kUnlimited;
  std::ifstream stream("/proc/self/cgroup");  // lines "number:controllers:path"
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers.empty())
      left = std::min(left, left_in_groups("/sys/fs/cgroup", group, "memory.max", "memory.current",
                                           "inactive_file"));
    else if (controllers.find("memory") != controllers.npos)
      left = std::min(left, left_in_groups("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                           "memory.usage_in_bytes", "total_inactive_file"));
  }
  return left;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto pages = number_in("/proc/self/statm").value_or(0);
  return left_of(limit.rlim_cur, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

std::string byte_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return bytes < 1e3 ? fmt::format("{:.3g} {}", bytes, kUnits[unit])
                     : fmt::format("{:.2e} {}", bytes, kUnits[unit]);
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t left = kUnlimited;
  if (const auto free = number_of("/proc/meminfo", "MemAvailable:")) left = *free * 1024;
  return std::min({left, left_in_control_groups(), left_of_address_space()});
}

void keep_freed_memory() {
#ifdef __GLIBC__
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"})
    if (std::getenv(name) != nullptr) return;
  // Larger allocations always come from the system; glibc accepts no higher threshold.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void check_memory(std::string_view where, std::string_view what, double bytes) {
  constexpr double kSmall = 64e6;
  if (bytes < kSmall) return;
  const auto available = static_cast<double>(available_memory());
  if (bytes <= available) return;
  fail_environment(where, "{} needs {} of memory, {} are available", what, byte_text(bytes),
                   byte_text(available));
}

}  // namespace pushdown
