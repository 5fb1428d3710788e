// Files that survive a kill at any moment. A whole file is written without a name in the same
// folder, synced to disk, and then named and renamed, so a reader sees either the old or the new
// content, never part of a file, and a killed process leaves nothing behind. File systems without
// unnamed files (O_TMPFILE), such as NFS, get a temporary name from the beginning, which a kill
// leaves. File system errors are std::runtime_error and name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pushdown {

using Path = std::filesystem::path;

// Replaces the content of `path` by `bytes`: unnamed file, fsync, rename, fsync of the folder.
void write_file(const Path& path, std::string_view bytes);

// Does the same for a file that is too large to be held in memory. Data goes into the unnamed file;
// commit() gives it the name `path`, and without commit() it is gone.
class FileWriter {
 public:
  explicit FileWriter(const Path& path);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  void write(std::string_view bytes);
  void commit();

 private:
  void flush();
  bool open_named();
  bool give_name();

  Path path_, temporary_;
  int descriptor_ = -1;
  bool named_ = false;  // as temporary_
  std::string buffer_;
};

// Returns the whole file. Throws if the file is missing, unreadable, larger than the memory, or no
// regular file: a pipe or a device in a folder that came from somebody else may have no end.
std::string read_file(const Path& path);
// Reads a file that the user has named, which may also be a pipe or a device.
std::string read_stream(const Path& path);

// Creates `folder` and its parents, and checks that files can be created in it.
void make_writable_folder(const Path& folder);
// Removes the file; does nothing if it does not exist.
void remove_file(const Path& path);

// A text file that grows by whole lines. append() hands each line to the operating system before it
// returns, so appended lines survive the death of the process. If a line cannot be written
// completely (a full disk), the partial line is removed so that the next one starts on its own
// line.
class LineFile {
 public:
  LineFile() = default;
  // Replaces the content of the file by `lines` (each ended by a newline); append() adds after
  // them.
  LineFile(const Path& path, std::string_view lines);
  LineFile(LineFile&& other) noexcept { swap(other); }
  LineFile& operator=(LineFile&& other) noexcept { return swap(other), *this; }
  ~LineFile();

  bool open() const { return descriptor_ >= 0; }
  void append(std::string_view line);  // `line` has no newline

 private:
  void swap(LineFile& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
  }

  Path path_;
  int descriptor_ = -1;
};

// Returns whether a lock failed with this errno because the file system has no locks.
bool has_no_locks(int error);
// The same for a folder. Tries a lock on a temporary file in it.
bool has_no_locks(const Path& folder);

// Keeps other processes out of a folder during its lifetime. It locks the file `.lock` in the
// folder with a lock that belongs to the open file (F_OFD_SETLK). The kernel releases the lock when
// the process ends for any reason. Within one process, all locks of a folder share that lock, and
// claim() chooses the one that may write.
class ProcessLock {
 public:
  ProcessLock() = default;
  // Throws std::runtime_error that names the process holding the folder.
  explicit ProcessLock(const Path& folder);

  // Makes this lock the writer: from now on, owned() is false for every other lock of the folder.
  void claim();
  bool owned() const;
  bool taken() const { return held_ != nullptr; }
  // Returns whether the file system has no locks, so that other processes are not kept out.
  bool powerless() const;

 private:
  struct Held;
  std::shared_ptr<Held> held_;
  std::uint64_t claim_ = 0;
};

}  // namespace pushdown
