#include "train/records/tensor_files.h"

#include "base/check.h"
#include "tensor/numpy_file.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "tensor.save";

}  // namespace

TensorFile read_tensors(const Path& path) {
  const std::string bytes = read_file(path);
  const std::string_view view = bytes;
  if (view.starts_with("\x93NUMPY")) return {{{"", parse_npy(view, path.string())}}, {}};
  if (view.starts_with("PK")) return {parse_npz(view, path.string()), {}};
  // The second byte of a pickle is the version of its protocol. A safetensors file may begin with
  // the same bytes, which are then the length of its header.
  if (view.size() > 2 && view[0] == '\x80' && view[1] >= 2 && view[1] <= 5 &&
      !begins_safetensors(view))
    fail_environment("tensor.load",
                     "'{}' is a pickle, which contains a program: convert it to safetensors with "
                     "scripts/tools/from_pytorch.py",
                     path.string());
  return parse_safetensors(view, path.string());
}

void write_tensors(const Path& path, const TensorFile& content) {
  const std::string ending = path.extension().string();
  if (ending == ".safetensors") return write_safetensors(path, content);
  check(ending == ".npz" || ending == ".npy", kWhere, "'{}' must end in .safetensors, .npz or .npy",
        path.string());
  check(content.metadata.empty(), kWhere, "'{}': only safetensors files have metadata",
        path.string());
  if (ending == ".npz") return write_file(path, npz_bytes(content.tensors));
  check(content.tensors.size() == 1, kWhere,
        "'{}' can store one tensor, got {}; use .npz or .safetensors for several", path.string(),
        content.tensors.size());
  write_file(path, npy_bytes(content.tensors[0].second));
}

}  // namespace pushdown
