#include "kernel/compile/nvrtc.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "nvrtc";
// Major versions of the library, the newest first.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
          static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

std::vector<std::string> nvrtc_candidates(const char* chosen,
                                          const std::vector<std::string>& loaded) {
  std::vector<std::string> all;
  const auto add_folder = [&](const fs::path& folder) {
    for (const char* name : kNames) all.push_back((folder / name).string());
  };
  if (chosen != nullptr && *chosen != '\0') {
    std::error_code ignored;
    if (fs::is_directory(chosen, ignored))
      add_folder(chosen);
    else
      all.emplace_back(chosen);
    return all;
  }
  for (const char* name : kNames) all.emplace_back(name);
  for (const fs::path library : loaded) {
    if (!library.filename().string().starts_with("libtorch")) continue;
    // Python's torch is beside the packages of the CUDA libraries: torch/lib, nvidia/cu13/lib.
    const fs::path packages = library.parent_path().parent_path().parent_path() / "nvidia";
    add_folder(packages / "cu13" / "lib");
    add_folder(packages / "cuda_nvrtc" / "lib");
    add_folder(library.parent_path());
    break;
  }
  add_folder("/usr/local/cuda/lib64");
  return all;
}

struct Nvrtc::Library {
  using Program = struct OpaqueProgram*;
  void* handle = nullptr;
  std::string path;
  int (*version)(int*, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*code_size)(Program, std::size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;

  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }

  bool load(const std::string& file) {
    handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    path = file;
    bool whole = true;
    const auto find = [&]<class Function>(Function& function, const char* name) {
      function = reinterpret_cast<Function>(dlsym(handle, name));
      whole = whole && function != nullptr;
    };
    find(version, "nvrtcVersion");
    find(error_text, "nvrtcGetErrorString");
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(code_size, "nvrtcGetCUBINSize");
    find(code, "nvrtcGetCUBIN");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    if (!whole) dlclose(std::exchange(handle, nullptr));
    return whole;
  }
  void must(int result, const char* what) const {
    if (result != 0) fail_environment(kWhere, "cannot {}: {}", what, error_text(result));
  }
};

Nvrtc::Nvrtc() : library_(std::make_unique<Library>()) {
  const auto candidates = nvrtc_candidates(std::getenv("PUSHDOWN_NVRTC"), loaded_libraries());
  for (const std::string& file : candidates)
    if (library_->load(file)) return;
  fail_environment(kWhere, "no library found; tried {}", fmt::join(candidates, ", "));
}
Nvrtc::~Nvrtc() = default;

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  library_->must(library_->version(&major, &minor), "ask for its version");
  return fmt::format("{}.{}", major, minor);
}

std::string Nvrtc::compile(const std::string& source, const std::string& architecture) const {
  const Library& nvrtc = *library_;
  Library::Program program = nullptr;
  nvrtc.must(nvrtc.create(&program, source.c_str(), "steps.cu", 0, nullptr, nullptr),
             "begin a program");
  const struct Owner {
    const Library& nvrtc;
    Library::Program* program;
    ~Owner() { nvrtc.destroy(program); }
  } owner{nvrtc, &program};
  const std::string target = "-arch=" + architecture;
  const char* options[] = {target.c_str(), "-std=c++20", "--extra-device-vectorization",
                           "-default-device", "-w"};
  if (const int result = nvrtc.compile(program, std::size(options), options); result != 0) {
    std::size_t size = 0;
    nvrtc.must(nvrtc.log_size(program, &size), "read its messages");
    std::string log(size, '\0');
    nvrtc.must(nvrtc.log(program, log.data()), "read its messages");
    constexpr std::size_t kMost = 2000;
    log.resize(std::min(log.find('\0'), kMost));
    fail_environment(kWhere, "cannot compile for {}: {}\n{}", architecture,
                     nvrtc.error_text(result), log);
  }
  std::size_t size = 0;
  nvrtc.must(nvrtc.code_size(program, &size), "return the code");
  std::string code(size, '\0');
  nvrtc.must(nvrtc.code(program, code.data()), "return the code");
  return code;
}

}  // namespace pushdown
