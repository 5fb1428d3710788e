// The names of kernels, and a source that contains some kernels of the project and no others.
#pragma once
#include <string>
#include <vector>

namespace pushdown::gpu_simulator {

// Returns the name of a function of this program, as the compiler writes it for people: "void
// pushdown::device::step_forward_kernel<float, ...>(...)". Throws std::runtime_error.
std::string name_of_function(const void* function);
// Returns the same for a symbol.
std::string demangled(const std::string& symbol);

// Returns one source for each .cu file below `folder` that can instantiate some of the kernels:
// that file without its explicit instantiations, and then a use of each of these kernels. Throws
// std::runtime_error if no file contains a kernel.
std::vector<std::string> sources_of_kernels(const std::string& folder,
                                            const std::vector<std::string>& names);

}  // namespace pushdown::gpu_simulator
