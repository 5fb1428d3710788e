// Who works in a run folder: a lock on the file run.lock in it. The lock belongs to an open file
// (fcntl's F_OFD_SETLK), so that a child process that inherits the file holds it too, and the
// kernel lets go of it when the last of them has ended, however it ended. It needs no clean-up, and
// no process number, host name or clock is compared; it works across containers and over NFS.
#pragma once
#include <filesystem>
#include <memory>

namespace pushdown {

class FolderLock {
 public:
  // Makes the folder and takes its lock, or gives null when another one holds it.
  static std::shared_ptr<FolderLock> take(const std::filesystem::path& folder);
  // Whether somebody holds the folder's lock now. Takes nothing.
  static bool held(const std::filesystem::path& folder);

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
