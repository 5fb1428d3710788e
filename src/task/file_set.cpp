#include "task/file_set.h"

#include <glob.h>

#include <algorithm>

#include "base/check.h"

namespace pushdown {

namespace fs = std::filesystem;

std::vector<fs::path> files_named(std::string_view where, const std::string& path,
                                  std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    constexpr auto kFlags = fs::directory_options::follow_directory_symlink;
    fs::recursive_directory_iterator entry(path, kFlags, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
      if (const auto name = entry->path().filename().string(); name.starts_with('.')) {
        if (entry->is_directory()) entry.disable_recursion_pending();
      } else if (name.ends_with(ending) && entry->is_regular_file()) {
        files.push_back(entry->path());
      }
    if (error) fail_environment(where, "cannot read the folder '{}': {}", path, error.message());
    if (files.empty())
      fail_environment(where, "the folder '{}' contains no file{}{}", path,
                       ending.empty() ? "" : " whose name ends in ", ending);
  } else if (fs::exists(path, error)) {
    files.emplace_back(path);
  } else if (path.find_first_of("*?[") != path.npos) {
    glob_t found{};
    if (glob(path.c_str(), GLOB_TILDE, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i)
        if (fs::is_regular_file(found.gl_pathv[i], error)) files.emplace_back(found.gl_pathv[i]);
    globfree(&found);
    if (files.empty()) fail_environment(where, "no file matches '{}'", path);
  } else {
    fail_environment(where, "there is no file or folder '{}'", path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace pushdown
