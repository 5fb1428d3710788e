// Reads and writes NumPy's files. An .npy file is "\x93NUMPY", a version, the length of a header,
// the header, a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}, and
// the numbers. An .npz file is a zip archive of such files, each named after its array.
//
// The readers accept every simple type of number that StoredType knows, both byte orders and both
// orders of dimensions. They never run what a file contains: arrays of objects, which NumPy stores
// as pickles, are refused. Whatever is not sound is a std::runtime_error that names the file, the
// array and what is wrong.
#pragma once
#include <string>
#include <string_view>

#include "tensor/torch.h"

namespace pushdown {

Tensor parse_npy(std::string_view bytes, const std::string& file_name);
ParameterList parse_npz(std::string_view bytes, const std::string& file_name);

// Tensors of any device; float32, float64, int64 and bool. Throw std::invalid_argument for any
// other type, and for names that are empty, used twice, or contain '/', '\\' or NUL.
std::string npy_bytes(const Tensor& tensor);
std::string npz_bytes(const ParameterList& tensors);

}  // namespace pushdown
