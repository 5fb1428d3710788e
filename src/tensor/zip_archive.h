// Reads and writes zip archives in memory, as .npz files are. The reader accepts entries that are
// stored or deflated, and the 64-bit sizes of the zip64 extension. The writer stores entries
// uncompressed and without a date, so that the same content gives the same bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;    // of the content
  std::uint64_t packed = 0;  // bytes in the archive
  std::uint64_t place = 0;   // of the first one
  std::uint32_t checksum = 0;
  bool deflated = false;
};

class ZipReader {
 public:
  // Reads the archive's list of entries. `bytes` must live longer than the reader. The constructor
  // and `content` throw std::runtime_error with `file_name`, the entry and the problem if the
  // archive is damaged or needs more. No size in the archive is trusted before it is compared with
  // the number of bytes that there are.
  ZipReader(std::string_view bytes, const std::string& file_name);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Returns the content of an entry after verifying its checksum. It is a part of the archive, or
  // of `buffer` if the entry is deflated.
  std::string_view content(const ZipEntry& entry, std::string& buffer) const;

 private:
  struct Directory {
    std::uint64_t begin, size, count;
  };
  Directory find_directory() const;
  ZipEntry read_entry(std::string_view& rest, std::uint64_t limit) const;

  std::string_view bytes_;
  std::string file_name_;
  std::vector<ZipEntry> entries_;
};

class ZipWriter {
 public:
  // Sizes and places above `limit` need the fields of zip64.
  explicit ZipWriter(std::uint64_t limit = 0xFFFFFFFE) : limit_(limit) {}

  void add(const std::string& name, std::string_view content);
  std::string finish() &&;  // the whole archive

 private:
  std::uint64_t limit_, count_ = 0;
  std::string bytes_, directory_;
};

}  // namespace pushdown
