// The CUDA compiler and disassembler, as programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace pushdown::gpu_simulator {

struct Toolchain {
  std::string nvcc, nvdisasm;  // paths
  std::string version;         // of nvcc, "13.0.88"
};
// Looks for both in PUSHDOWN_NVCC and PUSHDOWN_NVDISASM, on the PATH, and in /usr/local/cuda. If
// one is missing, `reason` names it.
std::optional<Toolchain> find_toolchain(std::string& reason);

// What the compiler reports of a kernel.
struct KernelResources {
  std::string kernel;  // the symbol
  int registers = 0;
  int spilled_bytes = 0;  // stored, by a thread
};

struct CompiledSource {
  std::string disassembly;
  std::vector<KernelResources> resources;
};
// Compiles a source for compute capability 9.0 with the options of the project's build, and
// disassembles it. Throws std::runtime_error with the compiler's messages.
CompiledSource compile(const Toolchain& tools, const std::string& source);
// Disassembles a file of machine code, such as a compiler at run time makes.
std::string disassemble(const Toolchain& tools, const std::string& cubin);

}  // namespace pushdown::gpu_simulator
