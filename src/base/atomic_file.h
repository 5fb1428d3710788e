// Files that survive a kill at any moment. A whole file is written under a temporary name in its
// own folder, synced to the disk and renamed, so that a reader sees the old content or the new one
// and never a part. Errors of the file system are std::runtime_error and name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pushdown {

using Path = std::filesystem::path;

// Replaces `path` by `bytes`: temporary file, fsync, rename, fsync of the folder.
void write_file(const Path& path, std::string_view bytes);

// The same for a file that is too large to be in memory: what is written goes into the temporary
// file, which becomes `path` by commit() and is removed without.
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

  Path path_, temporary_;
  int descriptor_ = -1;
  std::string buffer_;
};

// The whole file; a missing or unreadable one is an error.
std::string read_file(const Path& path);

// Makes `folder` with its parents and proves that files can be made in it.
void make_writable_folder(const Path& folder);
// No error when the file is not there.
void remove_file(const Path& path);

// A text file that grows by whole lines, each handed to the operating system before append()
// returns: what was appended survives the death of the process. When a line cannot be written
// completely (a full disk), its part is taken back, so that the next line begins on a line of its
// own.
class LineFile {
 public:
  LineFile() = default;
  // Replaces the file by `lines` (each ended by a newline) and goes on behind them.
  LineFile(const Path& path, std::string_view lines);
  LineFile(LineFile&& other) noexcept { swap(other); }
  LineFile& operator=(LineFile&& other) noexcept { return swap(other), *this; }
  ~LineFile();

  bool open() const { return descriptor_ >= 0; }
  void append(std::string_view line);  // without its newline

 private:
  void swap(LineFile& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
  }

  Path path_;
  int descriptor_ = -1;
};

// Keeps other processes out of a folder while it lives, by a lock on the file `.lock` in it that
// belongs to the open file (F_OFD_SETLK). The kernel releases it when the process ends, however
// that ends. Within one process, the locks of a folder share that lock, and claim() says which of
// them writes.
class ProcessLock {
 public:
  ProcessLock() = default;
  // std::runtime_error naming the process that holds the folder.
  explicit ProcessLock(const Path& folder);

  // Makes this the writer: owned() of every other lock of the folder is false from now on.
  void claim();
  bool owned() const;
  bool taken() const { return held_ != nullptr; }

 private:
  struct Held;
  std::shared_ptr<Held> held_;
  std::uint64_t claim_ = 0;
};

}  // namespace pushdown
