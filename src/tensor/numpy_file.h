// Reads and writes NumPy's files. An .npy file consists of "\x93NUMPY", a version, the length of
// the header, the header (a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2,
// 3)}), and the numbers. An .npz file is a zip archive of such files, each named after its array.
//
// The readers accept every simple number type that StoredType knows, both byte orders and both
// dimension orders. They never execute the content of a file: object arrays, which NumPy stores as
// pickles, are rejected. Invalid content throws std::runtime_error that names the file, the array
// and the problem.
#pragma once
#include <string>
#include <string_view>

#include "tensor/torch.h"

namespace pushdown {

Tensor parse_npy(std::string_view bytes, const std::string& file_name);
ParameterList parse_npz(std::string_view bytes, const std::string& file_name);

// Accept float32, float64, int64 and bool tensors on any device. Throw std::invalid_argument for
// any other type, and for names that are empty, used twice, or contain '/', '\\' or NUL.
std::string npy_bytes(const Tensor& tensor);
std::string npz_bytes(const ParameterList& tensors);

}  // namespace pushdown
