// pd.file: operations on files and folders that must be correct even if the process is killed or
// the folder came from somebody else: reading and writing whole files, and removing folders without
// following links.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/written_list.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/session/inputs.h"
#include "record/git_state.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<FileWriter> = "FileWriter";

namespace {

namespace fs = std::filesystem;

void write_text(const PathText& path, const std::string& text) { write_file(path, text); }

std::string read_text(const PathText& path) { return read_file(path); }

bool can_read(const PathText& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  return (type == fs::file_type::regular || type == fs::file_type::directory) &&
         ::access(path.c_str(), R_OK) == 0;
}

std::shared_ptr<FileWriter> writer(const PathText& path) {
  return std::make_shared<FileWriter>(path);
}

void write_part(FileWriter& out, const std::string& text) { out.write(text); }

// The kind of the path itself; links are not followed.
std::optional<std::string> kind_of(const PathText& path) {
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

// The path without links, dots and double slashes. Parts that do not exist stay unchanged.
std::string real_path(const PathText& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path), error);
  if (error) fail_environment("file.real_path", "'{}': {}", path, error.message());
  const std::string text = real.string();
  return text.size() > 1 && text.back() == '/' ? text.substr(0, text.size() - 1) : text;
}

void check_folder(const PathText& path, const char* where) {
  check(kind_of(path) == "folder", where, "'{}' must be a folder, not a link", path);
}

// The entries of the folder itself.
std::vector<std::string> names_in_folder(const PathText& path) {
  check_folder(path, "file.list");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  if (error) fail_environment("file.list", "cannot read '{}': {}", path, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// The number of files and bytes below a folder; links are not followed.
Json contents(const PathText& path) {
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

void keep_list(const PathText& path) {
  check_folder(path, "file.keep_written_list");
  keep_written_list(path);
}

void note(const PathText& path) { note_written(path); }

std::vector<std::string> list_of(const PathText& path) {
  check_folder(path, "file.written_list");
  return written_list(path);
}

void remove_folder(const PathText& path) {
  check_folder(path, "file.remove_folder");
  std::error_code error;
  fs::remove_all(path, error);  // removes links, not their targets
  if (error) fail_environment("file.remove_folder", "'{}': {}", path, error.message());
}

void make_folder(const PathText& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    fail_environment("file.make_folder", "cannot make the folder '{}': {}", path, error.message());
}

std::string temporary_folder() {
  std::string name = (fs::temp_directory_path() / "pushdown-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    fail_environment("file.temporary_folder", "cannot make the folder '{}': {}", name,
                     std::strerror(errno));
  return name;
}

// Adds the regular files below the folder. Folders that are gone or cannot be read are left out.
void add_files(const fs::path& folder, const std::string& above, std::vector<std::string>& paths) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto path = above + at->path().filename().string();
    std::error_code ignored;
    const auto type = at->symlink_status(ignored).type();
    if (type == fs::file_type::directory) add_files(at->path(), path + "/", paths);
    if (type == fs::file_type::regular) paths.push_back(path);
  }
  const bool absent = error == std::errc::no_such_file_or_directory ||
                      error == std::errc::not_a_directory || error == std::errc::permission_denied;
  if (error && !absent)
    fail_environment("file.files", "cannot list the folder '{}': {}", folder.string(),
                     error.message());
}

std::vector<std::string> files_below(const PathText& folder) {
  std::vector<std::string> paths;
  add_files(folder, "", paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Json repository(const PathText& folder) { return git_state(folder); }

}  // namespace

void bind_file(lua_State* L) {
  Module module(L, "file", "Whole files, and folders. Symbolic links in folders are not followed.");
  module
      .def<&write_text>(
          "write(path, text)  Replaces the file completely or not at all, and waits until it is on "
          "the disk.")
      .def<&read_text>(
          "read(path) -> string  Returns the content of a file. Raises an error for pipes and "
          "devices, and for files that do not fit into memory.")
      .def<&can_read>(
          "can_read(path) -> boolean  Returns whether the path, or the target of a link, is a file "
          "or folder that can be read.")
      .def<&writer>(
          "writer(path) -> FileWriter  Returns a writer for a file that is written piece by piece. "
          "The file exists after commit().")
      .def<&kind_of>(
          "kind(path) -> string  Returns 'file', 'folder', 'link' or 'other', or nil if the path "
          "does not exist.")
      .def<&real_path>(
          "real_path(path) -> string  Returns the absolute path without symbolic links.")
      .def<&names_in_folder>(
          "list(folder) -> table  Returns the sorted names of the entries of the folder itself.")
      .def<&files_below>(
          "files(folder) -> table  Returns the sorted relative paths of the files in the folder "
          "and below it; an empty table if there is no such folder.")
      .def<&make_folder>(
          "make_folder(path)  Makes the folder and the folders above it, unless they exist.")
      .def<&temporary_folder>(
          "temporary_folder() -> string  Makes an empty folder for temporary files and returns its "
          "path.")
      .def<&contents>(
          "contents(folder) -> {files=, bytes=}  Returns the number of files in the folder and "
          "below it, and their total size in bytes.")
      .def<&keep_list>(
          "keep_written_list(folder)  Keeps a list of the files that this process writes in the "
          "folder and below it, in the folder's file .written.")
      .def<&note>(
          "note_written(path)  Enters a file in these lists that is written in another way, before "
          "it is written.")
      .def<&list_of>(
          "written_list(folder) -> table  Returns the relative paths of the files that are on that "
          "list; an empty table if there is none.")
      .def<&remove_folder>(
          "remove_folder(folder)  Removes the folder and everything in it. Symbolic links are "
          "removed, not followed.");
  module.def<&repository>(
      "repository(folder) -> {commit=, branch=, dirty=, description=}  Returns the state of the "
      "git repository around the folder, or nil. Runs no program that the repository names.");
  bind_inputs(module);
  Class<FileWriter>(module, "A file that is written piece by piece, and appears whole.")
      .def<&write_part>("writer:write(text)  Appends a text to the file.")
      .def<&FileWriter::commit>(
          "writer:commit()  Gives the complete file its name after its content is on the disk.");
}

}  // namespace pushdown
