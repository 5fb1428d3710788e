// Number types in tensor files (safetensors, NumPy) and the types they are read as. float16 and
// bfloat16 become float32, and integers of other sizes become int64. All other types are kept.
#pragma once
#include <string_view>

#include "tensor/torch.h"

namespace pushdown {

struct StoredType {
  const char* safetensors;  // "F32"
  const char* numpy;        // "f4", without the byte order; "" if NumPy has no such type
  at::ScalarType type;      // same size; for unsigned numbers, the signed type
  std::int64_t size;
  bool is_unsigned = false;
};

// Returns null if there is no such type.
const StoredType* find_safetensors_type(std::string_view name);
const StoredType* find_numpy_type(std::string_view name);
// Returns the file type for tensors of this type: float32, float64, int64 or bool. Returns null for
// any other type.
const StoredType* written_type(at::ScalarType type);
std::string readable_types();  // Returns a list for messages: "F32, F64, ...".

// Returns the tensor made of little-endian numbers in row-major order; `bytes` must have exactly
// the right size. Throws std::invalid_argument for a number that int64 cannot hold.
Tensor tensor_from_bytes(const StoredType& type, const std::vector<std::int64_t>& shape,
                         std::string_view bytes);
// Returns the bytes of a tensor on any device: the inverse of tensor_from_bytes().
std::string bytes_of_tensor(const Tensor& tensor);

// Returns the number of elements of the shape, or nothing if it exceeds the limits of a file: each
// extent below 2^40, the product below 2^63.
std::optional<std::uint64_t> element_count(const std::vector<std::uint64_t>& shape);

}  // namespace pushdown
