#include "gpu/simulator/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pushdown::gpu_simulator {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// "/a/b.h", 3 -> "b.h:3"
std::string text_of(const SourceLine& line) {
  return fmt::format("{}:{}", line.file.substr(line.file.rfind('/') + 1), line.line);
}

std::string line_of(const Kernel& kernel, const Instruction& instruction, const std::string& file) {
  if (instruction.source < 0) return "unknown";
  for (const SourceLine& line : kernel.sources[static_cast<std::size_t>(instruction.source)])
    if (line.file.ends_with(file)) return text_of(line);
  return "elsewhere";
}

}  // namespace

std::string report_classes(const Statistics& statistics, double per) {
  std::string text =
      fmt::format("{:24} {:>12} {:>8} {:>8}\n", "class", "instructions", "share", "lanes");
  for (int k = 0; k < kInstructionClasses; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const std::uint64_t count = statistics.executed[at];
    if (count > 0)
      text += fmt::format(
          "{:24} {:12.1f} {:6.1f} % {:8.1f}\n", name_of(static_cast<InstructionClass>(k)),
          static_cast<double>(count) / per, 100 * ratio(count, statistics.instructions),
          ratio(statistics.lanes[at], count));
  }
  const auto& memory = statistics.memory;
  const auto of = [&](std::uint64_t count) { return static_cast<double>(count) / per; };
  return text +
         fmt::format(
             "total {:.0f}; generic accesses of shared memory {:.1f}; branches that divide a group "
             "{:.1f}\nglobal memory: requests {:.1f}, sectors {:.1f}, from the second level "
             "{:.1f}, "
             "from the device {:.1f}; cycles of shared memory {:.1f}\n",
             of(statistics.instructions), of(statistics.generic_shared), of(statistics.divided),
             of(memory.requests), of(memory.sectors), of(memory.second_level_sectors),
             of(memory.device_sectors), of(memory.shared_wavefronts));
}

std::string report_lines(const Kernel& kernel, const Statistics& statistics, double per,
                         const std::string& file, std::size_t most) {
  std::map<std::string, InstructionStatistics> lines;
  for (std::size_t k = 0; k < kernel.code.size(); ++k) {
    const auto& from = statistics.by_instruction[k];
    auto& to = lines[line_of(kernel, kernel.code[k], file)];
    to.executed += from.executed;
    to.lanes += from.lanes;
    to.cycles += from.cycles;
  }
  std::vector<std::pair<std::string, InstructionStatistics>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.executed > b.second.executed;
  });
  sorted.resize(std::min(sorted.size(), most));
  std::string text = fmt::format("{:40} {:>12} {:>8} {:>12} {:>8}\n", "line", "instructions",
                                 "share", "cycles", "lanes");
  for (const auto& [line, counts] : sorted)
    if (counts.executed > 0)
      text += fmt::format("{:40} {:12.1f} {:6.1f} % {:12.1f} {:8.1f}\n", line,
                          static_cast<double>(counts.executed) / per,
                          100 * ratio(counts.executed, statistics.instructions),
                          static_cast<double>(counts.cycles) / per,
                          ratio(counts.lanes, counts.executed));
  return text;
}

}  // namespace pushdown::gpu_simulator
