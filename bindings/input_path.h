// Where the text of an input lies: in its file, or, while a run is reproduced, in the copy that the
// run kept. The shell, which does without the core, and the core both read inputs.
#pragma once
#include <cstdlib>
#include <filesystem>

namespace pushdown {

// The path from the root on, without dots; links are not followed.
inline std::filesystem::path absolute_input(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal();
}

// The file to read for `path`. PUSHDOWN_INPUTS names a folder with copies: that of /a/b is
// FOLDER/a/b.
inline std::filesystem::path input_path(const std::filesystem::path& path) {
  const char* folder = std::getenv("PUSHDOWN_INPUTS");
  if (folder == nullptr || *folder == '\0') return path;
  std::filesystem::path copy = folder;
  copy += absolute_input(path);
  std::error_code ignored;
  return std::filesystem::is_regular_file(copy, ignored) ? copy : path;
}

}  // namespace pushdown
