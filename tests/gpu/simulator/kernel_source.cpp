#include "gpu/simulator/kernel_source.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

namespace pushdown::gpu_simulator {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("[gpu simulator] cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The functions of this program by address, from the symbol table of its file. Kernels in anonymous
// namespaces are not among the symbols that the loader knows.
std::map<std::uintptr_t, std::string> own_functions() {
  const std::string file = content_of("/proc/self/exe");
  const auto at = [&]<class T>(std::size_t offset, T* to) {
    if (offset + sizeof(T) > file.size()) throw std::runtime_error("[gpu simulator] no ELF file");
    std::memcpy(to, file.data() + offset, sizeof(T));
  };
  std::uintptr_t base = 0;  // the first object is the program
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = info->dlpi_addr;
        return 1;
      },
      &base);
  ElfW(Ehdr) header;
  at(0, &header);
  std::map<std::uintptr_t, std::string> functions;
  for (std::size_t k = 0; k < header.e_shnum; ++k) {
    ElfW(Shdr) section, names;
    at(header.e_shoff + k * sizeof(section), &section);
    if (section.sh_type != SHT_SYMTAB) continue;
    at(header.e_shoff + section.sh_link * sizeof(names), &names);
    for (std::size_t offset = 0; offset < section.sh_size; offset += sizeof(ElfW(Sym))) {
      ElfW(Sym) symbol;
      at(section.sh_offset + offset, &symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        functions[base + symbol.st_value] = file.c_str() + names.sh_offset + symbol.st_name;
    }
  }
  return functions;
}

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

// "void a::f<int>(int)" -> "a::f<int>", as it is written in the file of an anonymous namespace.
std::string expression_of(std::string name) {
  for (std::size_t at = 0; (at = name.find(kAnonymous)) != std::string::npos;)
    name.erase(at, kAnonymous.size());
  int depth = 0;
  std::size_t begin = 0, end = name.size();
  for (std::size_t k = 0; k < name.size(); ++k) {
    if (name[k] == '<') ++depth;
    if (name[k] == '>') --depth;
    if (depth > 0) continue;
    if (name[k] == ' ') begin = k + 1;
    if (name[k] != '(') continue;
    end = k;
    break;
  }
  return name.substr(begin, end - begin);
}
// "a::f<int>" -> "f"
std::string base_of(const std::string& expression) {
  const std::string name = expression.substr(0, expression.find('<'));
  const auto colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

// Replaces "template void f(...);" by empty lines.
std::string without_instantiations(std::string text) {
  constexpr std::string_view kBegin = "\ntemplate ";
  for (std::size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos; ++at) {
    if (text[at + kBegin.size()] == '<') continue;
    const auto end = text.find(';', at);
    if (end == std::string::npos) break;
    for (std::size_t k = at; k <= end; ++k)
      if (text[k] != '\n') text[k] = ' ';
  }
  return text;
}

// A file, and the headers of its folders that it includes.
bool defines(const std::filesystem::path& root, const std::string& text, const std::string& name) {
  const auto kernel = [&](const std::string& in) {
    return in.find(" " + name + "(") != std::string::npos;
  };
  if (kernel(text)) return true;
  constexpr std::string_view kInclude = "#include \"";
  for (std::size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos;) {
    at += kInclude.size();
    const auto header = root / text.substr(at, text.find('"', at) - at);
    if (std::filesystem::exists(header) && kernel(content_of(header))) return true;
  }
  return false;
}

}  // namespace

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : symbol;
}

std::string name_of_function(const void* function) {
  static const auto functions = own_functions();
  const auto found = functions.find(reinterpret_cast<std::uintptr_t>(function));
  if (found == functions.end())
    throw std::runtime_error("[gpu simulator] a kernel is not a function of this program");
  return demangled(found->second);
}

std::vector<std::string> sources_of_kernels(const std::string& folder,
                                            const std::vector<std::string>& names) {
  std::map<std::string, std::string> files;  // in the order of their names
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cu") files[entry.path()] = content_of(entry.path());
  std::map<std::string, std::string> sources;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string expression = expression_of(names[k]);
    const auto file = std::find_if(files.begin(), files.end(), [&](const auto& candidate) {
      return defines(folder, candidate.second, base_of(expression));
    });
    if (file == files.end())
      throw std::runtime_error(
          fmt::format("[gpu simulator] no .cu file in {} defines {}", folder, expression));
    auto& source = sources[file->first];
    if (source.empty())
      source = fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"uses of kernels\"\n", file->first,
                           without_instantiations(file->second));
    source += fmt::format(
        "namespace pushdown {{ const void* use_{}() {{ return (const void*)&{}; }} }}\n", k,
        expression);
  }
  std::vector<std::string> result;
  for (auto& [file, source] : sources) result.push_back(std::move(source));
  return result;
}

}  // namespace pushdown::gpu_simulator
