#include "kernel/compile/code_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "base/sha256.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

// A file is this line, the digest of what follows it in a line, the key in a line, and the code.
constexpr std::string_view kFormat = "pushdown device code 1\n";
constexpr const char* kEnding = ".code";

std::string contents(const std::string& key, const std::string& code) {
  const std::string rest = sha256(key) + '\n' + code;
  return std::string(kFormat) + sha256(rest) + '\n' + rest;
}

}  // namespace

Path CodeCache::place(const std::string& key) const { return folder_ / (sha256(key) + kEnding); }

std::optional<std::string> CodeCache::find(const std::string& key) const {
  const Path path = place(key);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  check_owner();
  const std::string bytes = read_file(path);
  constexpr std::size_t kDigest = 65;  // with the end of its line
  const std::size_t head = kFormat.size() + kDigest;
  std::string code = bytes.size() > head + kDigest ? bytes.substr(head + kDigest) : "";
  if (bytes != contents(key, code))
    fail_environment("cache", "{} is damaged: its digest differs", path.string());
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // in use
  return code;
}

void CodeCache::put(const std::string& key, const std::string& code) const {
  std::error_code error;
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  make_writable_folder(folder_);
  check_owner();
  write_file(place(key), contents(key, code));
  shrink();
}

void CodeCache::check_owner() const {
  struct stat found {};
  if (::stat(folder_.c_str(), &found) != 0) return;  // the next call on it fails
  if (found.st_uid != ::geteuid())
    fail_environment("cache", "'{}' is not used: expected a folder of user {}, got one of user {}",
                     folder_.string(), ::geteuid(), found.st_uid);
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    fail_environment("cache",
                     "'{0}' is not used: expected a folder that only its owner can write, got mode "
                     "{1:o}; remove it, because others may have changed it",
                     folder_.string(), found.st_mode & 07777u);
}

void CodeCache::shrink() const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes;
    Path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t all = 0;
  // Other processes may remove entries meanwhile.
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kEnding) continue;
    std::error_code gone;
    Entry entry{at->last_write_time(gone), at->file_size(gone), at->path()};
    if (gone) continue;
    all += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& left, const Entry& right) { return left.used < right.used; });
  for (const Entry& entry : entries) {
    if (all <= most_bytes_) return;
    all -= entry.bytes;
    fs::remove(entry.path, error);
  }
}

Path device_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "pushdown" / "device";
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "pushdown" / "device";
  return {};
}

}  // namespace pushdown
