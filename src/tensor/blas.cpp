#include "tensor/blas.h"

#include <ATen/Version.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

namespace pushdown {
namespace {

// A library loaded in this process, together with its dependencies.
using BlasHandle = std::unique_ptr<void, int (*)(void*)>;

struct BlasLibrary {
  BlasHandle library;
  std::filesystem::path path;
};

// Returns the library whose matrix product LibTorch calls; empty if no library exports it.
BlasLibrary product_library() {
  void* product = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info;
  if (!product || dladdr(product, &info) == 0 || !info.dli_fname) return {{nullptr, &dlclose}, {}};
  std::error_code ignored;
  return {BlasHandle(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), &dlclose),
          std::filesystem::canonical(info.dli_fname, ignored)};
}

template <class Function>
Function* symbol(const BlasHandle& library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library.get(), name)) : nullptr;
}

// Text such as "OpenBLAS 0.3.21 NO_LAPACK DYNAMIC_ARCH Zen ..." begins with the name and the
// version.
std::string first_words(const std::string& text, int count) {
  std::istringstream words(text);
  std::string word, result;
  for (; count > 0 && words >> word; --count) result += (result.empty() ? "" : " ") + word;
  return result;
}

// Shortens "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build ..." to "oneMKL
// 2024.2".
std::string short_mkl(const std::string& text) {
  const auto begin = text.find("Version ");
  if (begin == text.npos) return text;
  return "oneMKL " + text.substr(begin + 8, text.find_first_of("- ", begin + 8) - begin - 8);
}

// Returns name and version, found from the functions that the library exports; empty if it exports
// none of these.
std::string name_of(const BlasHandle& library) {
  if (auto* config = symbol<char*()>(library, "openblas_get_config"))
    return first_words(config(), 2);
  if (auto* version = symbol<void(char*, int)>(library, "MKL_Get_Version_String")) {
    char text[256] = "";
    version(text, sizeof text - 1);
    return short_mkl(text);
  }
  if (auto* version = symbol<const char*()>(library, "bli_info_get_version_str"))
    return fmt::format("BLIS {}", version());
  return "";
}

// Returns the BLAS that LibTorch was linked with, according to LibTorch's own description.
std::string inside_torch() {
  const std::string config = at::show_config();
  const auto begin = config.find("BLAS_INFO=");
  const auto end = config.find_first_of(", \n", begin);
  std::string name = begin == config.npos ? "" : config.substr(begin + 10, end - begin - 10);
  if (name == "mkl") name = short_mkl(at::get_mkl_version());
  if (name == "open") name = "OpenBLAS";
  return fmt::format("{}, inside LibTorch", name.empty() ? "unknown" : name);
}

}  // namespace

void limit_blas_to_one_thread() {
  if (auto* set = symbol<void(int)>(product_library().library, "openblas_set_num_threads")) set(1);
}

std::string blas_text() {
  const auto [library, path] = product_library();
  if (path.empty() || path.filename().string().starts_with("libtorch")) return inside_torch();
  std::string name = name_of(library);
  // The Netlib library exports no version.
  const bool netlib = path.filename().string().starts_with("libblas.so");
  if (name.empty()) name = netlib ? "reference BLAS" : "BLAS";
  return fmt::format("{} ({})", name, path.string());
}

}  // namespace pushdown
