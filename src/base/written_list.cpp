#include "base/written_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "base/check.h"
#include "base/json.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = ".written";

struct Lists {
  std::mutex mutex;
  std::map<Path, std::set<std::string>> by_folder;  // canonical folders
};

Lists& lists() {
  static Lists all;
  return all;
}

// The path below `folder`, or "" if the file lies elsewhere. Both are canonical.
std::string path_below(const Path& folder, const Path& file) {
  const Path relative = file.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? "" : relative.string();
}

bool stays_inside(const std::string& path) {
  if (path.empty() || Path(path).is_absolute()) return false;
  for (const Path& part : Path(path))
    if (part == ".." || part == "." || part.empty()) return false;
  return true;
}

void append_line(const Path& list, const std::string& path) {
  const int descriptor =
      ::open(list.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  // The newline in front ends a line that a full disk has cut off.
  const std::string line =
      "\n" + Json(path).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const bool whole = descriptor >= 0 && ::write(descriptor, line.data(), line.size()) ==
                                            static_cast<ssize_t>(line.size());
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!whole)
    fail_environment("file", "cannot write '{}': {}", list.string(),
                     std::strerror(descriptor >= 0 && error == 0 ? ENOSPC : error));
}

}  // namespace

std::vector<std::string> written_list(const Path& folder) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  const Path list = folder / kList;
  if (!fs::is_regular_file(fs::symlink_status(list))) return paths;
  std::istringstream lines(read_file(list));
  for (std::string line; std::getline(lines, line);) {
    const Json entry = try_parse_json(line);
    if (!entry.is_string()) continue;
    const std::string path = entry.get<std::string>();
    if (stays_inside(path) && seen.insert(path).second) paths.push_back(path);
  }
  return paths;
}

void keep_written_list(const Path& folder) {
  const std::vector<std::string> before = written_list(folder);
  Lists& all = lists();
  const std::lock_guard guard(all.mutex);
  all.by_folder[fs::canonical(folder)] = {before.begin(), before.end()};
}

void note_written(const Path& file) {
  Lists& all = lists();
  const std::lock_guard guard(all.mutex);
  if (all.by_folder.empty()) return;
  std::error_code error;
  // The file itself may be a link, which writing replaces.
  const Path parent = fs::weakly_canonical(
      file.has_parent_path() ? fs::absolute(file.parent_path()) : fs::current_path(), error);
  if (error) return;
  for (auto& [folder, known] : all.by_folder) {
    const std::string path = path_below(folder, parent / file.filename());
    if (path.empty() || path == kList || known.contains(path)) continue;
    append_line(folder / kList, path);
    known.insert(path);
  }
}

}  // namespace pushdown
