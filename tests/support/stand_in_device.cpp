#include "support/stand_in_device.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernel/compile/device_code.h"
#include "recurrence/device/program.h"

namespace pushdown::testing_support {
namespace {

// FNV-1a
std::uint64_t hash_of(const std::string& text, std::uint64_t hash = 14695981039346656037u) {
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return hash;
}

// Compiles the text after the headers, which are precompiled, to a library whose name is the code.
// Libraries are kept for later runs.
std::string compiled(const std::string& source) {
  static const std::string headers = DeviceProgram::headers();
  static const std::uint64_t of_headers = [] {
    std::uint64_t hash = hash_of(headers);
    for (const char* file : {"cuda_runtime.h", "printed.h"}) {
      std::ifstream stream(std::string(PUSHDOWN_PRINTED_INCLUDES "/") + file);
      hash = hash_of({std::istreambuf_iterator<char>(stream), {}}, hash);
    }
    return hash;
  }();
  if (!source.starts_with(headers)) throw std::runtime_error("the text has other headers");
  std::string text = source.substr(headers.size());
  text.resize(text.rfind('}'));
  const bool has_memory = text.find("\nusing Memory = ") != text.npos;
  text +=
      fmt::format("#define PUSHDOWN_SPOIL_MEMORY(backward) {}\n",
                  has_memory ? "spoil_memory<Memory>(p, step_memory(p.memory, 0), backward)" : "");
  text += "PUSHDOWN_PRINTED_KERNEL(step_forward, false)\n";
  if (text.find("step_backward(") != text.npos)
    text += "PUSHDOWN_PRINTED_KERNEL(step_backward, true)\n";
  text += "}\n";
  const std::string name =
      fmt::format(PUSHDOWN_PRINTED_FOLDER "/{:016x}", hash_of(text, of_headers));
  if (std::filesystem::exists(name + ".so")) return name + ".so";
  // Other tests may compile it at the same time.
  const std::string own = fmt::format("{}.{}", name, getpid());
  std::ofstream(own + ".cpp") << text;
  const std::string command = fmt::format("{0} -o {1}.so {1}.cpp", PUSHDOWN_PRINTED_COMPILER, own);
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
  std::filesystem::rename(own + ".so", name + ".so");
  std::filesystem::remove(own + ".cpp");
  return name + ".so";
}

}  // namespace

std::shared_ptr<const DeviceModule> StandInDevice::module(const std::string& source) const {
  static DeviceCode code({"the compiler of this build", compiled}, std::nullopt);
  sources.push_back(source);
  return code.module(source);
}

}  // namespace pushdown::testing_support
