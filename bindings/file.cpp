// pd.file: files and folders for what has to be right also when a process is killed: writing whole
// files, and removing folders without following a link.
#include <algorithm>

#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/inputs.h"
#include "bindings/modules.h"
#include "bindings/options.h"

namespace pushdown {

template <>
struct ClassName<FileWriter> {
  static constexpr const char* value = "FileWriter";
};

namespace {

namespace fs = std::filesystem;

void write_text(const std::string& path, const std::string& text) { write_file(path, text); }

std::shared_ptr<FileWriter> writer(const std::string& path) {
  return std::make_shared<FileWriter>(path);
}

void write_part(FileWriter& out, const std::string& text) { out.write(text); }

// What the path itself is, not what a link leads to.
std::optional<std::string> kind_of(const std::string& path) {
  std::error_code error;
  switch (fs::symlink_status(path, error).type()) {
    case fs::file_type::none:
    case fs::file_type::not_found: return std::nullopt;
    case fs::file_type::regular: return "file";
    case fs::file_type::directory: return "folder";
    case fs::file_type::symlink: return "link";
    default: return "other";
  }
}

// The path without links, dots and doubled slashes; what does not exist of it stays as it is.
std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path), error);
  if (error) fail_environment("file.real_path", "'{}': {}", path, error.message());
  const std::string text = real.string();
  return text.size() > 1 && text.back() == '/' ? text.substr(0, text.size() - 1) : text;
}

void check_folder(const std::string& path, const char* where) {
  check(kind_of(path) == "folder", where, "'{}' must be a folder and no link", path);
}

// What is in the folder itself.
std::vector<std::string> names_in_folder(const std::string& path) {
  check_folder(path, "file.list");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  if (error) fail_environment("file.list", "cannot read '{}': {}", path, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// Files and bytes below a folder, links not followed.
Json contents(const std::string& path) {
  check_folder(path, "file.contents");
  std::int64_t files = 0, bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    const auto type = at->symlink_status(ignored).type();
    if (type == fs::file_type::directory) continue;
    ++files;
    if (type == fs::file_type::regular) bytes += static_cast<std::int64_t>(at->file_size(ignored));
  }
  if (error) fail_environment("file.contents", "cannot read '{}': {}", path, error.message());
  return {{"files", files}, {"bytes", bytes}};
}

void remove_folder(const std::string& path) {
  check_folder(path, "file.remove_folder");
  std::error_code error;
  fs::remove_all(path, error);  // removes links, not what they lead to
  if (error) fail_environment("file.remove_folder", "'{}': {}", path, error.message());
}

}  // namespace

void bind_file(lua_State* L) {
  Module module(L, "file", "Files and folders: whole files, and folders without their links.");
  module
      .def<&write_text>("write",
                        "write(path, text)  Replaces the file as a whole, or not at all, and waits "
                        "for the disk.")
      .def<&writer>("writer",
                    "writer(path) -> FileWriter  Writes a file piece by piece; it is there after "
                    "commit().")
      .def<&kind_of>("kind",
                     "kind(path) -> string  'file', 'folder', 'link' or 'other'; nil if there is "
                     "nothing.")
      .def<&real_path>("real_path",
                       "real_path(path) -> string  The path from the root on, without links.")
      .def<&names_in_folder>(
          "list", "list(folder) -> table  The names of what is in the folder itself, sorted.")
      .def<&contents>("contents",
                      "contents(folder) -> {files=, bytes=}  How much is in the folder and below "
                      "it.")
      .def<&remove_folder>("remove_folder",
                           "remove_folder(folder)  Removes the folder and all in it; links are "
                           "removed, not followed.");
  bind_inputs(module);
  Class<FileWriter>(module, "A file that is written piece by piece under a temporary name.")
      .def<&write_part>("write", "writer:write(text)  Appends.")
      .def<&FileWriter::commit>("commit",
                                "writer:commit()  The file gets its name, complete and on the "
                                "disk.");
}

}  // namespace pushdown
