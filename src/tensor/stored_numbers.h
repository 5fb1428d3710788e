// The types of numbers in tensor files (safetensors, NumPy) and what they become here: float16 and
// bfloat16 are read as float32, whole numbers of other sizes as int64. All others keep their type.
#pragma once
#include <string_view>

#include "tensor/torch.h"

namespace pushdown {

struct StoredType {
  const char* safetensors;  // "F32"
  const char* numpy;        // "f4", without the byte order; "" if NumPy has no such type
  at::ScalarType type;      // of the same size; for unsigned numbers the signed type
  std::int64_t size;
  bool is_unsigned = false;
};

// Null if there is no such type.
const StoredType* find_safetensors_type(std::string_view name);
const StoredType* find_numpy_type(std::string_view name);
// The type in which tensors of this type are written: float32, float64, int64 and bool. Null for
// any other.
const StoredType* written_type(at::ScalarType type);
std::string readable_types();  // "F32, F64, ..."

// The tensor of little-endian numbers, row by row; `bytes` has exactly the right size. Throws
// std::invalid_argument for a number that int64 cannot hold.
Tensor tensor_from_bytes(const StoredType& type, const std::vector<std::int64_t>& shape,
                         std::string_view bytes);
// The same back, from any device.
std::string bytes_of_tensor(const Tensor& tensor);

// The number of elements of the shape, and whether it stays within what a file can hold: each
// extent below 2^40, the product below 2^63.
std::optional<std::uint64_t> element_count(const std::vector<std::uint64_t>& shape);

}  // namespace pushdown
