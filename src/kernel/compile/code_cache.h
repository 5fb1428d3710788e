// Compiled code on disk, shared by all processes of a user. An entry is a file of its own, written
// under a temporary name and renamed. It begins with a digest of its key and its code, so that a
// shortened, changed or exchanged file is found. The oldest entries are removed when the folder
// grows above its limit; an entry is as old as its last use. A digest is no signature: whoever can
// write the folder decides what runs. Therefore only a folder of the user's own is used, which
// nobody else can write.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/atomic_file.h"

namespace pushdown {

class CodeCache {
 public:
  // `folder` is made when an entry is added, for the user alone.
  explicit CodeCache(Path folder, std::uintmax_t most_bytes = std::uintmax_t{256} << 20)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  // Returns the code; nothing if there is none. Throws std::runtime_error if the entry cannot be
  // read or is damaged, which put() then replaces, and if others can write the folder.
  std::optional<std::string> find(const std::string& key) const;
  // Throws std::runtime_error if it cannot be written, or others can write the folder.
  void put(const std::string& key, const std::string& code) const;

  Path place(const std::string& key) const;

 private:
  void check_owner() const;
  void shrink() const;

  Path folder_;
  std::uintmax_t most_bytes_;
};

// $XDG_CACHE_HOME/pushdown/device or ~/.cache/pushdown/device; empty without a home.
Path device_cache_folder();

}  // namespace pushdown
