// Compiles CUDA C++ at run time with NVRTC, which comes with the CUDA toolkit and with LibTorch for
// CUDA. The library is loaded when it is first needed; nothing is linked against it.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace pushdown {

class Nvrtc {
 public:
  // Loads the library: the file or folder that PUSHDOWN_NVRTC names if it is set, else what the
  // loader finds, the libraries beside LibTorch's, and those of a toolkit in /usr/local/cuda.
  // Throws std::runtime_error that says what was tried.
  Nvrtc();
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  std::string version() const;  // "13.0"
  // Returns machine code for an architecture ("sm_90"). The source includes no files. Throws
  // std::runtime_error with the first messages of the compiler.
  std::string compile(const std::string& source, const std::string& architecture) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// The file names that Nvrtc() tries, in order. `loaded`: paths of the libraries of this process.
std::vector<std::string> nvrtc_candidates(const char* chosen,
                                          const std::vector<std::string>& loaded);

}  // namespace pushdown
