// Version of LibTorch in this build.
#pragma once
#include <string>

namespace pushdown {

bool torch_has_cuda();
std::string torch_version();  // "2.11"

}  // namespace pushdown
