#include "gpu/simulate/kernel_library.h"

#include <algorithm>
#include <stdexcept>

namespace pushdown::gpu_simulate {

const CompiledKernel& KernelLibrary::kernel(const std::string& name, const std::string& source) {
  if (kernels_.try_emplace({source, ""}).second) {
    const CompiledSource compiled = compile(tools_, source);
    modules_.push_back(std::make_unique<Module>(compiled.disassembly));
    for (const auto& kernel : modules_.back()->kernels()) {
      CompiledKernel& own = kernels_[{source, kernel->name}];
      own.code = kernel.get();
      for (const KernelResources& resources : compiled.resources)
        if (resources.kernel == kernel->name) own.resources = resources;
    }
  }
  const auto found = kernels_.find({source, name});
  if (found == kernels_.end())
    throw std::runtime_error("[simulate] the compiler made no kernel " + name);
  return found->second;
}

unsigned resident_blocks(const KernelResources& kernel, const Launch& launch) {
  constexpr unsigned kRegisters = 65536, kGranularity = 8, kThreads = 2048, kBlocks = 32;
  constexpr std::size_t kShared = 228 * 1024;
  const unsigned threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
  const unsigned registers =
      (static_cast<unsigned>(std::max(kernel.registers, 1)) + kGranularity - 1) / kGranularity *
      kGranularity;
  const auto shared = static_cast<unsigned>(kShared / (launch.shared_bytes + kReservedShared));
  return std::max(
      1u, std::min({kRegisters / (registers * threads), kThreads / threads, kBlocks, shared}));
}

}  // namespace pushdown::gpu_simulate
