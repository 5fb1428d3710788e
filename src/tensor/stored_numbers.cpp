#include "tensor/stored_numbers.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace pushdown {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr std::uint64_t kLargestExtent = std::uint64_t{1} << 40;

// Only the first four are also written.
constexpr StoredType kStoredTypes[] = {
    {"F64", "f8", at::kDouble, 8},    {"I64", "i8", at::kLong, 8},
    {"F32", "f4", at::kFloat, 4},     {"BOOL", "b1", at::kBool, 1},
    {"F16", "f2", at::kHalf, 2},      {"BF16", "", at::kBFloat16, 2},
    {"I32", "i4", at::kInt, 4},       {"I16", "i2", at::kShort, 2},
    {"I8", "i1", at::kChar, 1},       {"U64", "u8", at::kLong, 8, true},
    {"U32", "u4", at::kInt, 4, true}, {"U16", "u2", at::kShort, 2, true},
    {"U8", "u1", at::kByte, 1}};
constexpr std::size_t kWrittenTypes = 4;

template <class Matches>
const StoredType* first_type(std::size_t count, const Matches& matches) {
  for (std::size_t i = 0; i < count; ++i)
    if (matches(kStoredTypes[i])) return &kStoredTypes[i];
  return nullptr;
}

// Converts bit patterns of unsigned numbers that are stored in the signed type of the same size.
Tensor unsigned_numbers(const Tensor& raw, std::int64_t size) {
  const Tensor wide = raw.to(at::kLong);
  const Tensor negative = wide.lt(0);
  if (size < 8) return wide + negative.to(at::kLong) * (std::int64_t{1} << (8 * size));
  check(!negative.any().item<bool>(), "tensor", "a number of type U64 is 2^63 or greater");
  return wide;
}

}  // namespace

const StoredType* find_safetensors_type(std::string_view name) {
  return first_type(std::size(kStoredTypes), [&](auto& type) { return name == type.safetensors; });
}

const StoredType* find_numpy_type(std::string_view name) {
  if (name.empty()) return nullptr;
  return first_type(std::size(kStoredTypes), [&](auto& type) { return name == type.numpy; });
}

const StoredType* written_type(at::ScalarType type) {
  return first_type(kWrittenTypes, [&](auto& known) { return known.type == type; });
}

std::string readable_types() {
  std::string text;
  for (const auto& type : kStoredTypes)
    text += (text.empty() ? "" : ", ") + std::string(type.safetensors);
  return text;
}

Tensor tensor_from_bytes(const StoredType& type, const std::vector<std::int64_t>& shape,
                         std::string_view bytes) {
  // A bool must be 0 or 1 in memory, whatever byte the file contains.
  const bool boolean = type.type == at::kBool;
  const Tensor raw = at::empty(shape, boolean ? at::kByte : type.type);
  if (!bytes.empty()) std::memcpy(raw.data_ptr(), bytes.data(), bytes.size());
  if (boolean) return raw.ne(0);
  if (type.is_unsigned) return unsigned_numbers(raw, type.size);
  if (at::isFloatingType(type.type)) return type.size == 2 ? raw.to(at::kFloat) : raw;
  return raw.to(at::kLong);
}

std::string bytes_of_tensor(const Tensor& tensor) {
  const Tensor source = tensor.detach().to(at::kCPU).contiguous();
  if (source.numel() == 0) return "";
  return {static_cast<const char*>(source.data_ptr()),
          static_cast<std::size_t>(source.numel()) * source.element_size()};
}

std::optional<std::uint64_t> element_count(const std::vector<std::uint64_t>& shape) {
  // The strides must not overflow either, which can happen if one extent is 0 and others are large.
  std::int64_t stride = 1;
  bool empty = false;
  for (const auto extent : shape) {
    const auto factor = static_cast<std::int64_t>(std::max<std::uint64_t>(extent, 1));
    if (extent > kLargestExtent || __builtin_mul_overflow(stride, factor, &stride))
      return std::nullopt;
    empty = empty || extent == 0;
  }
  return empty ? 0 : static_cast<std::uint64_t>(stride);
}

}  // namespace pushdown
