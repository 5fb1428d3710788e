// Ownership of a run folder: a lock on the file run.lock in it. The lock belongs to an open file
// (fcntl's F_OFD_SETLK), so a child process that inherits the file holds it, too. The kernel
// releases it when the last of these processes has ended for any reason. It needs no clean-up, and
// no process number, host name or clock is compared; it works across containers and over NFS 4.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>

namespace pushdown {

class FolderLock {
 public:
  // Creates the folder and takes its lock. Returns null if another process holds it. Throws
  // std::runtime_error if the file system has no locks.
  static std::shared_ptr<FolderLock> take(const std::filesystem::path& folder);
  // Returns whether a process holds the folder's lock now; nothing if the file system has no locks.
  // Takes no lock.
  static std::optional<bool> held(const std::filesystem::path& folder);

  ~FolderLock() { release(); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  int descriptor() const { return descriptor_; }
  // Children that inherited the lock keep it.
  void release();

 private:
  FolderLock(std::filesystem::path folder, int descriptor)
      : folder_(std::move(folder)), descriptor_(descriptor) {}

  std::filesystem::path folder_;
  int descriptor_ = -1;
};

}  // namespace pushdown
