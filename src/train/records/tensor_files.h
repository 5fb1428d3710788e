// Files of tensors in any supported format: safetensors, .npz and .npy.
#pragma once
#include "train/records/safetensors.h"

namespace pushdown {

// Determines the format from the file's first bytes. The one array of an .npy file has the name "".
// Throws for files of Python's pickle, as PyTorch writes them, because reading them would execute
// them.
TensorFile read_tensors(const Path& path);
// Chooses the format by the ending of the path: .safetensors, .npz or .npy, the latter for one
// tensor. Only safetensors can hold metadata. Atomic, see write_file().
void write_tensors(const Path& path, const TensorFile& content);

}  // namespace pushdown
