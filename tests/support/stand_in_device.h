// A replacement for a CUDA device, for tensors of the processor: printed code is compiled for the
// processor and runs with the replacement for the CUDA runtime, as the launches of .cu files do.
#pragma once
#include <limits>
#include <vector>

#include "cuda/cuda_runtime.h"
#include "model/step_engine.h"

namespace pushdown::testing_support {

class StandInDevice final : public Device {
 public:
  std::size_t memory = std::numeric_limits<std::size_t>::max(), shared = kDeviceSharedBytes;
  int block = 64;  // threads
  mutable std::vector<std::string> sources;

  std::shared_ptr<const DeviceModule> module(const std::string& source) const override;
  void* stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return memory; }
  std::size_t shared_bytes() const override { return shared; }
  int threads() const override { return block; }
  // Returns the passes of steps since it was made.
  std::int64_t passes() const { return cuda_stand_in::loaded_launches() - before_; }

 private:
  const std::int64_t before_ = cuda_stand_in::loaded_launches();
};

inline StepEnginePtr stand_in_engine() { return device_engine(std::make_shared<StandInDevice>()); }

}  // namespace pushdown::testing_support
