// Reads and writes the safetensors format: 8 bytes with the header's length (little-endian), a JSON
// header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {text: text}},
// then the tensors' bytes, row by row, little-endian, without gaps or overlaps. Offsets count from
// the end of the header. It writes
// F32, F64, I64 and BOOL, and reads the types of tensor/stored_numbers.h.
//
// The reader is strict: whatever is not exactly that is a std::runtime_error that names the file
// and what is wrong with it.
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

  // The tensor called `name`, or nullptr.
  const Tensor* find(std::string_view name) const;
};

// The file's bytes; tensors of any device. Throws std::invalid_argument for another type of number,
// a repeated or reserved name.
std::string safetensors_bytes(const TensorFile& content);
TensorFile parse_safetensors(std::string_view bytes, const std::string& file_name);

void write_safetensors(const Path& path, const TensorFile& content);  // atomic, see write_file()
TensorFile read_safetensors(const Path& path);

}  // namespace pushdown
