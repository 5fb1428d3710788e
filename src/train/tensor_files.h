// Files of tensors in any of the formats that are known: safetensors, .npz and .npy.
#pragma once
#include "train/safetensors.h"

namespace pushdown {

// Finds the format by the file's first bytes. The one array of an .npy file has the name "". Files
// of Python's pickle, as PyTorch writes them, are refused: reading them would run them.
TensorFile read_tensors(const Path& path);
// By the ending of the path: .safetensors, .npz or .npy, the latter for one tensor. Metadata can
// only be written to safetensors. Atomic, see write_file().
void write_tensors(const Path& path, const TensorFile& content);

}  // namespace pushdown
