// Everything that a trainable module (controller, stack, output layer) needs to create its
// parameters.
#pragma once
#include "base/random.h"
#include "tensor/torch.h"

namespace pushdown {

struct ModuleContext {
  std::int64_t input = 0;            // size of the vector that drives the module
  at::TensorOptions tensor_options;  // dtype and device of the parameters
  Random* random = nullptr;          // used in the order in which parameters are created
  std::int64_t end_symbols = 0;      // how many input symbols (the last ones) occur in no string
};

// Returns a leaf that requires a gradient, drawn uniformly from [low, high).
Tensor uniform_parameter(at::IntArrayRef shape, double low, double high, const ModuleContext&);
// Returns a weight of shape out x in, initialised by Xavier uniform (Glorot and Bengio, 2010) with
// `gain`.
Tensor xavier_parameter(std::int64_t out, std::int64_t in, double gain, const ModuleContext&);
// Returns a parameter drawn from the normal distribution with mean 0.
Tensor normal_parameter(at::IntArrayRef shape, double deviation, const ModuleContext&);
Tensor constant_parameter(at::IntArrayRef shape, double value, const ModuleContext&);
Tensor zero_parameter(at::IntArrayRef shape, const ModuleContext&);

}  // namespace pushdown
