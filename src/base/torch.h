// The only header that includes LibTorch. Every difference between LibTorch 1.13 and 2.x is settled
// here; torch/torch.h is never included (it costs 15 s a file).
#pragma once
#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pushdown {

using at::Tensor;

#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 3 || TORCH_VERSION_MAJOR > 2
using std::optional;
#else
using c10::optional;
#endif

// A trainable module's tensors by name, in a fixed order.
using ParameterList = std::vector<std::pair<std::string, Tensor>>;

// "10 x 20": for messages.
std::string shape_text(const Tensor& tensor);
// "float32", "float64", "int64": the names Lua and configurations use.
std::string dtype_name(at::ScalarType dtype);
at::ScalarType parse_dtype(const std::string& name);

// "cpu", "cuda" or "cuda:1"; a CUDA device that is not there is a std::runtime_error that says why.
at::Device parse_device(const std::string& name);

}  // namespace pushdown
