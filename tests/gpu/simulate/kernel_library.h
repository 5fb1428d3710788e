// The machine code of the project's kernels.
#pragma once
#include <map>
#include <memory>
#include <set>

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

  // Compiles the kernels of the project's .cu files with these names, as name_of_function() returns
  // them, that are not there yet.
  void add(const std::set<std::string>& names);
  // Compiles a source once. Its kernels have the names of their symbols.
  void add_source(const std::string& text);
  // `source`: the text of add_source(), "" for the kernels of .cu files.
  const CompiledKernel& kernel(const std::string& name, const std::string& source = "") const;

 private:
  void compile_into(const std::string& source, const std::string& text);

  Toolchain tools_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::pair<std::string, std::string>, CompiledKernel> kernels_;  // by source and name
  std::set<std::string> sources_;
};

// Returns the blocks of such a launch that a multiprocessor holds at once.
unsigned resident_blocks(const KernelResources& kernel, const Launch& launch);

}  // namespace pushdown::gpu_simulate
