// The folder with the program's own scripts and grammars. Both the shell, which does not need the
// core, and the core find it from the place of the module.
#pragma once
#include <filesystem>

namespace pushdown {

// Returns share/pushdown of the installation of the module in this folder, or the source tree from
// which it was built. A Python package has its modules one folder deeper.
inline std::filesystem::path program_root(const std::filesystem::path& module_folder) {
  std::error_code ignored;
  for (const char* prefix : {"../..", "../../.."}) {
    const auto installed = module_folder / prefix / "share" / "pushdown";
    if (std::filesystem::exists(installed / "scripts", ignored))
      return std::filesystem::canonical(installed, ignored);
  }
  return PUSHDOWN_SOURCE_DIR;
}

}  // namespace pushdown
