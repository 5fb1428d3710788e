// Reads and writes the safetensors format: 8 bytes with the header's length (little-endian), a JSON
// header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {text: text}},
// then the tensors' bytes, row by row, little-endian, without gaps or overlaps. Offsets count from
// the end of the header. The writer supports F32, F64, I64 and BOOL; the reader supports the types
// of tensor/stored_numbers.h.
//
// The reader is strict: any deviation throws std::runtime_error that names the file and the
// problem.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "tensor/torch.h"

namespace pushdown {

struct TensorFile {
  ParameterList tensors;                        // on the CPU, contiguous, without gradient
  std::map<std::string, std::string> metadata;  // any text

  // Returns the tensor called `name`, or nullptr.
  const Tensor* find(std::string_view name) const;
};

// Returns the file's bytes; accepts tensors on any device. Throws std::invalid_argument for another
// number type, or a duplicate or reserved name.
std::string safetensors_bytes(const TensorFile& content);
// Returns whether the bytes begin like a safetensors file: with the length of a header that the
// format allows, then the header's first character.
bool begins_safetensors(std::string_view bytes);
TensorFile parse_safetensors(std::string_view bytes, const std::string& file_name);

void write_safetensors(const Path& path, const TensorFile& content);  // atomic, see write_file()
TensorFile read_safetensors(const Path& path);

}  // namespace pushdown
