#include "gpu/simulator/toolchain.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "gpu/simulator/text.h"
#include "support/scratch.h"

namespace pushdown::gpu_simulator {
namespace {

std::string find_program(const char* name, const char* variable) {
  if (const char* given = std::getenv(variable)) return given;
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// Returns what a command prints. Throws if it fails.
std::string output_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += quoted(word) + ' ';
  FILE* pipe = ::popen((command + "2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("[gpu simulator] cannot run " + command);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, count);
  const int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("[gpu simulator] {}failed:\n{}", command, text));
  return text;
}

// Reads "ptxas info    : Compiling entry function 'NAME' for 'sm_90'" and the lines that follow it.
std::vector<KernelResources> resources_in(const std::string& report) {
  std::vector<KernelResources> all;
  std::istringstream lines(report);
  bool spills_known = true;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ",
                               kSpills = "bytes stack frame, ";
    const auto after = [&](std::string_view text) -> const char* {
      const auto at = line.find(text);
      return at == std::string::npos ? nullptr : line.c_str() + at + text.size();
    };
    if (const char* name = after(kEntry)) {
      const std::string_view rest = name;
      all.push_back({std::string(rest.substr(0, rest.find('\'')))});
      spills_known = false;
    } else if (const char* spills = after(kSpills); spills != nullptr && !spills_known) {
      all.back().spilled_bytes = std::atoi(spills);
      spills_known = true;
    } else if (const char* used = after(kUsed); used != nullptr && !all.empty()) {
      all.back().registers = std::atoi(used);
    }
  }
  return all;
}

}  // namespace

std::optional<Toolchain> find_toolchain(std::string& reason) {
  Toolchain tools{find_program("nvcc", "PUSHDOWN_NVCC"),
                  find_program("nvdisasm", "PUSHDOWN_NVDISASM"), ""};
  if (tools.nvcc.empty()) reason = "there is no nvcc";
  if (tools.nvdisasm.empty()) reason = "there is no nvdisasm (PUSHDOWN_NVDISASM can name it)";
  if (tools.nvcc.empty() || tools.nvdisasm.empty()) return std::nullopt;
  const std::string text = output_of({tools.nvcc, "--version"});
  const auto at = text.find(", V");
  if (at != std::string::npos)
    tools.version = text.substr(at + 3, text.find_first_of(" \n", at + 3) - at - 3);
  return tools;
}

std::string disassemble(const Toolchain& tools, const std::string& cubin) {
  return output_of({tools.nvdisasm, "-c", "-hex", "-gi", cubin});
}

CompiledSource compile(const Toolchain& tools, const std::string& source) {
  const testing_support::Scratch folder;
  const std::string file = folder / "source.cu", cubin = folder / "code.cubin";
  std::ofstream(file) << source;
  std::vector<std::string> command = {
      tools.nvcc,  "-std=c++20", "-O3", "-DNDEBUG", "-arch=sm_90", "--expt-relaxed-constexpr",
      "-lineinfo", "-Xptxas",    "-v",  "-cubin",   "-o",          cubin,
      file};
  const std::string report = output_of(command);
  return {disassemble(tools, cubin), resources_in(report)};
}

}  // namespace pushdown::gpu_simulator
