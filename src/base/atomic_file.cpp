#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "base/written_list.h"

namespace pushdown {
namespace {

class Descriptor {
 public:
  Descriptor(const Path& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(written);
  }
  return true;
}

[[noreturn]] void fail_on(const char* action, const Path& path, int error) {
  fail_environment("file", "cannot {} '{}': {}", action, path.string(), std::strerror(error));
}

std::string read_all(int descriptor, const Path& path) {
  const StopCheck stop;
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const auto count = ::read(descriptor, buffer, sizeof buffer);
    stop();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on("read", path, errno);
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(count) > bytes.capacity())
      check_memory("file", path.string(), 2.0 * static_cast<double>(bytes.capacity()));
    bytes.append(buffer, count);
  }
}

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

void sync_folder(const Path& folder) {
  Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder; the rename is atomic even then.
  if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

}  // namespace

FileWriter::FileWriter(const Path& path)
    // The process id in the name keeps two processes from writing to the same temporary file.
    : path_(path), temporary_(path.string() + fmt::format(".{}.tmp", ::getpid())) {
  descriptor_ = ::open(folder_of(path).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0644);
  if (descriptor_ < 0 && !open_named()) fail_on("write", path_, errno);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (named_) ::unlink(temporary_.c_str());
}

bool FileWriter::open_named() {
  // A killed process with the same id may have left one. It may also be a link to another file.
  ::unlink(temporary_.c_str());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  return named_ = descriptor_ >= 0;
}

// Gives the unnamed file its temporary name: rename() needs one. Without /proc, the file is copied.
bool FileWriter::give_name() {
  if (named_) return true;
  ::unlink(temporary_.c_str());
  const auto own = fmt::format("/proc/self/fd/{}", descriptor_);
  named_ = ::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  if (named_) return true;
  const Descriptor unnamed(std::exchange(descriptor_, -1));
  if (!open_named()) return false;
  ssize_t count = 0;
  for (off_t at = 0; (count = ::sendfile(descriptor_, unnamed.number(), &at, 1 << 30)) > 0;) {
  }
  return count == 0 && ::fsync(descriptor_) == 0;
}

void FileWriter::write(std::string_view bytes) {
  constexpr std::size_t kBuffer = 1 << 20;
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() > kBuffer) {
    if (!write_all(descriptor_, bytes)) fail_on("write", path_, errno);
  } else {
    buffer_ += bytes;
  }
}

void FileWriter::flush() {
  if (!write_all(descriptor_, buffer_)) fail_on("write", path_, errno);
  buffer_.clear();
}

void FileWriter::commit() {
  flush();
  note_written(path_);
  const bool synced = ::fsync(descriptor_) == 0 && give_name();
  const int error = errno;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!synced || !closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int last = synced ? errno : error;
    if (named_) ::unlink(temporary_.c_str());
    fail_on("write", path_, last);
  }
  sync_folder(folder_of(path_));
}

void write_file(const Path& path, std::string_view bytes) {
  FileWriter file(path);
  file.write(bytes);
  file.commit();
}

std::string read_file(const Path& path) {
  Descriptor descriptor(path, O_RDONLY | O_NONBLOCK);  // opening a pipe must not wait for a writer
  struct stat status {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &status) != 0)
    fail_on("read", path, errno);
  if (S_ISDIR(status.st_mode)) fail_on("read", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    fail_environment("file", "cannot read '{}': it is a pipe or a device, not a regular file",
                     path.string());
  check_memory("file", path.string(), static_cast<double>(status.st_size));
  return read_all(descriptor.number(), path);
}

std::string read_stream(const Path& path) {
  const StopCheck stop;
  for (;;) {
    const Descriptor descriptor(path, O_RDONLY);
    if (descriptor.number() >= 0) return read_all(descriptor.number(), path);
    if (errno != EINTR) fail_on("read", path, errno);
    stop();
  }
}

void make_writable_folder(const Path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    if (std::filesystem::exists(folder) || !error)
      fail_environment("file", "cannot make the folder '{}': a file of that name exists",
                       folder.string());
    fail_environment("file", "cannot make the folder '{}': {}", folder.string(), error.message());
  }
  const Path probe = folder / fmt::format(".write_test.{}.tmp", ::getpid());
  Descriptor descriptor(probe, O_WRONLY | O_CREAT | O_TRUNC);
  if (descriptor.number() < 0) fail_on("write into the folder", folder, errno);
  ::unlink(probe.c_str());
}

void remove_file(const Path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_on("remove", path, errno);
}

LineFile::LineFile(const Path& path, std::string_view lines) : path_(path) {
  write_file(path, lines);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) fail_on("write", path, errno);
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineFile::append(std::string_view line) {
  struct stat before {};
  const bool known = ::fstat(descriptor_, &before) == 0;
  if (write_all(descriptor_, std::string(line) + "\n")) return;
  const int error = errno;
  // Without the newline, the next line would be appended to the partial one.
  if (known && ::ftruncate(descriptor_, before.st_size) != 0) write_all(descriptor_, "\n");
  fail_on("write", path_, error);
}

// The lock that this process holds on one folder.
struct ProcessLock::Held {
  explicit Held(int number) : descriptor(number) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { ::close(descriptor); }

  const int descriptor;
  std::atomic<std::uint64_t> writer{0};  // the current claim
  bool powerless = false;
};

namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool has_no_locks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == ENOTSUP;
}

bool has_no_locks(const Path& folder) {
  const Path probe = folder / fmt::format(".lock_test.{}.tmp", ::getpid());
  const Descriptor descriptor(probe, O_RDWR | O_CREAT);
  if (descriptor.number() < 0) return false;
  ::unlink(probe.c_str());
  const struct flock lock = whole_file();
  return ::fcntl(descriptor.number(), F_SETLK, &lock) != 0 && has_no_locks(errno);
}

ProcessLock::ProcessLock(const Path& folder) {
  using File = std::pair<dev_t, ino_t>;
  static std::mutex mutex;
  static std::map<File, std::weak_ptr<Held>> locks;
  const Path path = folder / ".lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_on("write", path, errno);
  note_written(path);
  auto held = std::make_shared<Held>(descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_on("read", path, errno);
  const std::lock_guard guard(mutex);
  std::weak_ptr<Held>& ours = locks[{status.st_dev, status.st_ino}];
  if ((held_ = ours.lock())) return;
  std::erase_if(
      locks, [&](const auto& entry) { return &entry.second != &ours && entry.second.expired(); });
  const struct flock lock = whole_file();
  // Some file systems have no locks; that must not prevent the work.
  held->powerless = ::fcntl(descriptor, F_OFD_SETLK, &lock) != 0;
  if (held->powerless && (errno == EACCES || errno == EAGAIN)) {
    char holder[32] = {};
    const auto count = ::pread(descriptor, holder, sizeof holder - 1, 0);
    const bool known = count > 0 && std::isdigit(static_cast<unsigned char>(holder[0]));
    fail_environment("file", "the folder '{}' is in use by {}", folder.string(),
                     known ? fmt::format("process {}", std::atoll(holder)) : "another process");
  }
  // Needed only for the message above; without it, the message names no process.
  const std::string number = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) == 0) write_all(descriptor, number);
  ours = held_ = std::move(held);
}

void ProcessLock::claim() {
  static std::atomic<std::uint64_t> claims{0};
  if (held_) held_->writer = claim_ = ++claims;
}

bool ProcessLock::powerless() const { return held_ && held_->powerless; }

bool ProcessLock::owned() const { return held_ && claim_ != 0 && held_->writer == claim_; }

}  // namespace pushdown
