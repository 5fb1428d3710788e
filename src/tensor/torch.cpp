#include "tensor/torch.h"

#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "base/check.h"
#include "base/stopping.h"
#include "tensor/torch_build.h"

namespace pushdown {

Tensor& gradient_of(const Tensor& parameter) {
  Tensor& gradient = parameter.mutable_grad();
  if (!gradient.defined()) {
    gradient = at::zeros_like(parameter, parameter.options().requires_grad(false));
  } else if (gradient.strides() != parameter.strides()) {
    const Tensor given = gradient;
    gradient = at::zeros_like(parameter, parameter.options().requires_grad(false)).copy_(given);
  }
  // Who writes to the memory of a tensor counts as an operation on it.
  gradient.unsafeGetTensorImpl()->bump_version();
  return gradient;
}

std::string shape_text(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  if (tensor.dim() == 0) return "a scalar";
  return fmt::format("{}", fmt::join(tensor.sizes(), " x "));
}

std::string dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat: return "float32";
    case at::kDouble: return "float64";
    case at::kLong: return "int64";
    case at::kBool: return "bool";
    default: return c10::toString(dtype);
  }
}

at::ScalarType parse_dtype(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "float64") return at::kDouble;
  if (name == "int64") return at::kLong;
  fail("dtype", "dtype must be 'float32', 'float64' or 'int64', got '{}'", name);
}

bool torch_has_cuda() {
#ifdef PUSHDOWN_TORCH_CUDA
  return true;
#else
  return false;
#endif
}

std::string torch_version() {
  return fmt::format("{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
}

namespace {

// Returns the reason why there is no CUDA device for tensors.
std::string no_cuda() {
  if (torch_has_cuda())
    return "LibTorch finds no CUDA driver or no device (pd.device.status().reason has the driver's "
           "message)";
#ifdef PUSHDOWN_HAVE_CUDA
  constexpr auto kKernels = "";
#else
  constexpr auto kKernels = ", and this build has no CUDA kernels";
#endif
  return fmt::format(
      "the LibTorch {} of this build has no CUDA (PUSHDOWN_TORCH_DIR names another one){}",
      torch_version(), kKernels);
}

}  // namespace

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& output_gradients,
                              GradientOptions options) {
  StopCheck()();
  return torch::autograd::grad(outputs, inputs, output_gradients,
                               options.keep_graph || options.record, options.record,
                               /*allow_unused=*/true);
}

Tensor limited(const Tensor& x, double low, double high) {
  return at::where(x.ge(low).logical_and(x.le(high)), x, x.detach().clamp(low, high));
}

Tensor positive_part(const Tensor& x) {
  return limited(x, 0, std::numeric_limits<double>::infinity());
}

at::Device parse_device(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  const bool cuda =
      name == "cuda" || (name.starts_with("cuda:") && name.size() > 5 && name.size() < 9 &&
                         name.find_first_not_of("0123456789", 5) == name.npos);
  check(cuda, "device", "device must be 'cpu', 'cuda' or 'cuda:n', got '{}'", name);
  const int index = name == "cuda" ? 0 : std::stoi(name.substr(5));
  if (!at::hasCUDA()) fail_environment("device", "'{}' was requested, but {}", name, no_cuda());
  const int count = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
  if (index >= count)
    fail_environment("device", "'{}' was requested, but there {} {} CUDA device{}", name,
                     count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index));
}

}  // namespace pushdown
