// The place of an input's text: its file or, while a run is reproduced, the copy that the run kept.
// Both the shell, which does not need the core, and the core read inputs.
#pragma once
#include <cstdlib>
#include <filesystem>

namespace pushdown {

// Returns the absolute path without dots; links are not followed.
inline std::filesystem::path absolute_input(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal();
}

// Returns the file to read for `path`. PUSHDOWN_INPUTS names a folder of copies; the copy of /a/b
// is FOLDER/a/b.
inline std::filesystem::path input_path(const std::filesystem::path& path) {
  const char* folder = std::getenv("PUSHDOWN_INPUTS");
  if (folder == nullptr || *folder == '\0') return path;
  std::filesystem::path copy = folder;
  copy += absolute_input(path);
  std::error_code ignored;
  return std::filesystem::is_regular_file(copy, ignored) ? copy : path;
}

}  // namespace pushdown
