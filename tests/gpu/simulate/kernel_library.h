// The machine code of printed kernels.
#pragma once
#include <map>
#include <memory>

#include "gpu/simulator/simulator.h"
#include "gpu/simulator/toolchain.h"

namespace pushdown::gpu_simulate {

using namespace gpu_simulator;

struct CompiledKernel {
  const Kernel* code = nullptr;
  KernelResources resources;
};

class KernelLibrary {
 public:
  explicit KernelLibrary(Toolchain tools) : tools_(std::move(tools)) {}

  // Returns a kernel of a source, which is compiled once.
  const CompiledKernel& kernel(const std::string& name, const std::string& source);

 private:
  Toolchain tools_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::pair<std::string, std::string>, CompiledKernel> kernels_;  // by source and name
};

// Returns the blocks of such a launch that a multiprocessor holds at once.
unsigned resident_blocks(const KernelResources& kernel, const Launch& launch);

}  // namespace pushdown::gpu_simulate
