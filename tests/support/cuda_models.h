// Whether models can run on a CUDA device here.
#pragma once
#include <stdexcept>
#include <string>

#include "recurrence/device/device.h"
#include "tensor/torch.h"

namespace pushdown::testing_support {

// Returns the reason why they cannot, or "".
inline std::string no_device() {
  try {
    if (cuda_device(parse_device("cuda")) != nullptr) return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "this build has no CUDA kernels";
}

}  // namespace pushdown::testing_support
