// Tensors. Only this header and tensor/autograd.h include LibTorch, and they hide every difference
// between LibTorch 1.13 and the newest 2.x.
//
// Only the operators below are declared: ATen/ATen.h declares all 2,000 of them, and every file
// would take a second longer to compile. To use another operator, add its header here.
// torch/torch.h is never included because it adds 15 s per file.
#pragma once
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/div.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/index.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/le.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/std.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/api/include/torch/version.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

// True if the LibTorch of this build has at least this version.
#define PUSHDOWN_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||           \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace pushdown {

using at::Tensor;

#if PUSHDOWN_TORCH_AT_LEAST(2, 3)
using std::optional;
#else
using c10::optional;
#endif

// The tensors of a trainable module by name, in a fixed order.
using ParameterList = std::vector<std::pair<std::string, Tensor>>;

// Returns the gradient of a parameter, whose memory may be written, with the parameter's strides;
// zeros if it had none.
Tensor& gradient_of(const Tensor& parameter);

// Returns a matrix as it lies in memory: itself, or its transpose if it is stored by columns.
inline Tensor stored(const Tensor& matrix) {
  return matrix.dim() == 2 && !matrix.is_contiguous() ? matrix.t() : matrix;
}

// Returns a shape for messages: "10 x 20".
std::string shape_text(const Tensor& tensor);
// Returns "float32", "float64" or "int64": the names used in Lua and in configurations.
std::string dtype_name(at::ScalarType dtype);
at::ScalarType parse_dtype(const std::string& name);

// Parses "cpu", "cuda" or "cuda:1". Throws std::runtime_error with the reason if the CUDA device is
// not available.
at::Device parse_device(const std::string& name);

// Returns the derivatives of the sum of `outputs` (weighted by `output_gradients`, which may be
// left out for scalars) with respect to `inputs`; undefined where an output does not depend on an
// input. Keeps the graph if `keep_graph`, and records the derivatives themselves if `record`.
struct GradientOptions {
  bool keep_graph = false;
  bool record = false;
};
std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& output_gradients = {},
                              GradientOptions options = {});

// Returns `x` clamped to [low, high]; either bound may be infinite. The derivative is 1 inside and
// at the bounds, where the derivative of clamp() is 1 in LibTorch 1.13 and 0 in 2.14.
Tensor limited(const Tensor& x, double low, double high);
// Returns max(x, 0) with the derivative 1 at 0.
Tensor positive_part(const Tensor& x);

}  // namespace pushdown
