#include "record/folder_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/atomic_file.h"
#include "base/check.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

struct flock whole_file(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

[[noreturn]] void fail_on(const fs::path& file, int error) {
  fail_environment("lock", "cannot lock '{}': {}{}", file.string(), std::strerror(error),
                   has_no_locks(error) ? "; its file system has no locks, which keep two runs from "
                                         "using one folder: choose a folder on another file system"
                                       : "");
}

}  // namespace

std::shared_ptr<FolderLock> FolderLock::take(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    fail_environment("lock", "cannot make the folder '{}': {}", folder.string(),
                     error ? error.message() : "a file of that name exists");
  const fs::path file = folder / "run.lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_on(file, errno);
  std::shared_ptr<FolderLock> taken(new FolderLock(folder, descriptor));
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return taken;
  if (errno != EAGAIN && errno != EACCES) fail_on(file, errno);
  return nullptr;
}

std::optional<bool> FolderLock::held(const fs::path& folder) {
  const fs::path file = folder / "run.lock";
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = whole_file(F_RDLCK);
  const int code = ::fcntl(descriptor, F_OFD_GETLK, &lock);
  const int error = errno;
  ::close(descriptor);
  if (code != 0 && has_no_locks(error)) return std::nullopt;
  if (code != 0) fail_on(file, error);
  return lock.l_type != F_UNLCK;
}

void FolderLock::release() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace pushdown
