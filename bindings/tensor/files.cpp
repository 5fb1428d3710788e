// pd.tensor.load and pd.tensor.save: tensors in files of other programs.
#include "base/check.h"
#include "bindings/binder/path.h"
#include "bindings/session/state.h"
#include "bindings/tensor/classes.h"
#include "train/records/tensor_files.h"

namespace pushdown {
namespace {

struct LoadOptions {
  std::optional<std::string> device;
  static OptionRows rows() {
    return declare<LoadOptions>({{"device", &LoadOptions::device,
                                  "'cpu', 'cuda' or 'cuda:n'; if absent, that of the session"}});
  }
};
struct SaveOptions {
  std::map<std::string, std::string> metadata;
  static OptionRows rows() {
    return declare<SaveOptions>(
        {{"metadata", &SaveOptions::metadata, "texts by name, in .safetensors files only"}});
  }
};

// Returns one tensor for an .npy file and otherwise a table by name, then the metadata.
std::tuple<std::variant<Tensor, std::map<std::string, Tensor>>, std::map<std::string, std::string>>
load_tensors(lua_State* L, const PathText& path, const LoadOptions& options) {
  const at::Device device = options.device ? parse_device(*options.device) : session(L).device;
  TensorFile file = read_tensors(path);
  if (file.tensors.size() == 1 && file.tensors[0].first.empty())
    return {file.tensors[0].second.to(device), {}};
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : file.tensors) tensors[name] = tensor.to(device);
  return {tensors, file.metadata};
}

void save_tensors(const PathText& path,
                  const std::variant<Tensor, std::map<std::string, Tensor>>& given,
                  const SaveOptions& options) {
  TensorFile file;
  if (const auto* one = std::get_if<Tensor>(&given))
    file.tensors.emplace_back("", *one);
  else
    for (const auto& [name, tensor] : std::get<1>(given)) file.tensors.emplace_back(name, tensor);
  file.metadata = options.metadata;
  check(!std::holds_alternative<Tensor>(given) || path.ends_with(".npy"), "tensor.save",
        "'{}': a tensor needs a name in all files but .npy", path);
  write_tensors(path, file);
}

}  // namespace

void bind_tensor_files(Module& module) {
  module
      .def<&load_tensors>(
          "load(file, {options}) -> table, table  Returns the tensors of a .safetensors or .npz "
          "file by name and the file's metadata, or the one Tensor of an .npy file. float16 and "
          "bfloat16 become float32, other integers int64. Pickles are refused.")
      .def<&save_tensors>(
          "save(file, tensors, {options})  Writes {name = tensor} to a .safetensors or .npz file, "
          "or one Tensor to an .npy file, completely or not at all.");
}

}  // namespace pushdown
