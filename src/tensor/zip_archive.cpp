#include "tensor/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/memory.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "zip";
// The first bytes of the parts of an archive, and the sizes of the parts without names and the
// like.
constexpr std::string_view kLocal = "PK\3\4", kCentral = "PK\1\2", kEnd = "PK\5\6";
constexpr std::string_view kEnd64 = "PK\6\6", kLocator64 = "PK\6\7";
constexpr std::uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;
constexpr std::uint64_t kEnd64Size = 56, kLocator64Size = 20;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kExtra64 = 1;              // the extra field with 64-bit numbers
constexpr std::uint32_t kSee64 = 0xFFFFFFFF;       // instead of a number that the extra field has
constexpr std::uint64_t kLargestExpansion = 1032;  // of the deflate format

template <class... Args>
[[noreturn]] void damaged(const std::string& name, fmt::format_string<Args...> format,
                          Args&&... args) {
  fail_environment(kWhere, "'{}' cannot be read: {}", name,
                   fmt::format(format, std::forward<Args>(args)...));
}

// All numbers are little-endian. The caller has compared `at` with the size.
template <class Number>
Number number_at(std::string_view bytes, std::uint64_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

bool has_at(std::string_view bytes, std::uint64_t at, std::string_view part) {
  return bytes.substr(at).starts_with(part);
}

// Replaces the numbers that are kSee64 by those of the extra field, which has them in this order.
// Returns false if it lacks one.
bool widen(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) {
  std::string_view wide;
  while (extra.size() >= 4) {
    const auto size = number_at<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    if (number_at<std::uint16_t>(extra, 0) == kExtra64) wide = extra.substr(4, size);
    extra.remove_prefix(4 + size);
  }
  for (std::uint64_t* number : numbers) {
    if (*number != kSee64) continue;
    if (wide.size() < sizeof(*number)) return false;
    *number = number_at<std::uint64_t>(wide, 0);
    wide.remove_prefix(sizeof(*number));
  }
  return true;
}

std::string extra_field(const std::vector<std::uint64_t>& numbers) {
  std::string field;
  if (numbers.empty()) return field;
  append(field, kExtra64);
  append(field, static_cast<std::uint16_t>(numbers.size() * sizeof(numbers[0])));
  for (const auto number : numbers) append(field, number);
  return field;
}

std::uint32_t checksum(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// Fills `content`. Returns false if the bytes are not exactly its deflated form.
bool inflate_into(std::string& content, std::string_view packed) {
  constexpr std::size_t kStep = 1 << 30;  // zlib counts in 32 bits
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + read;
    stream.next_out = reinterpret_cast<Bytef*>(content.data()) + written;
    const auto in = static_cast<uInt>(std::min(packed.size() - read, kStep));
    const auto out = static_cast<uInt>(std::min(content.size() - written, kStep));
    stream.avail_in = in;
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && read == packed.size() && written == content.size();
}

}  // namespace

ZipReader::ZipReader(std::string_view bytes, const std::string& file_name)
    : bytes_(bytes), file_name_(file_name) {
  const Directory directory = find_directory();
  std::string_view rest = bytes.substr(directory.begin, directory.size);
  std::uint64_t unused = directory.begin;  // entries do not overlap
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    entries_.push_back(read_entry(rest, directory.begin));
    if (entries_.back().packed > unused)
      damaged(file_name, "its entries claim more bytes than there are");
    unused -= entries_.back().packed;
  }
  if (!rest.empty()) damaged(file_name, "its list of entries has {} bytes too many", rest.size());
}

ZipReader::Directory ZipReader::find_directory() const {
  // A comment may follow the end, and contain what looks like an end.
  auto at = bytes_.size() < kEndSize ? bytes_.npos : bytes_.rfind(kEnd, bytes_.size() - kEndSize);
  while (at != bytes_.npos &&
         number_at<std::uint16_t>(bytes_, at + 20) != bytes_.size() - kEndSize - at)
    at = at == 0 ? bytes_.npos : bytes_.rfind(kEnd, at - 1);
  if (at == bytes_.npos) damaged(file_name_, "expected the end of a zip archive, which is missing");
  if (number_at<std::uint32_t>(bytes_, at + 4) != 0)
    damaged(file_name_, "expected one file, got a part of a zip archive of several");
  Directory directory{number_at<std::uint32_t>(bytes_, at + 16),
                      number_at<std::uint32_t>(bytes_, at + 12),
                      number_at<std::uint16_t>(bytes_, at + 10)};
  std::uint64_t end = at;
  if (at >= kLocator64Size && has_at(bytes_, at - kLocator64Size, kLocator64)) {
    end = number_at<std::uint64_t>(bytes_, at - kLocator64Size + 8);
    if (end > at || at - end < kEnd64Size + kLocator64Size || !has_at(bytes_, end, kEnd64))
      damaged(file_name_, "its zip64 end is not at byte {}", end);
    directory = {number_at<std::uint64_t>(bytes_, end + 48),
                 number_at<std::uint64_t>(bytes_, end + 40),
                 number_at<std::uint64_t>(bytes_, end + 32)};
  }
  if (directory.size > end || directory.begin > end - directory.size)
    damaged(file_name_, "expected a list of entries before byte {}, got {} bytes at byte {}", end,
            directory.size, directory.begin);
  return directory;
}

// Removes the entry from the front of `rest`. Its content must end before `limit`.
ZipEntry ZipReader::read_entry(std::string_view& rest, std::uint64_t limit) const {
  const auto number = [&](std::uint64_t at) { return number_at<std::uint16_t>(rest, at); };
  if (rest.size() < kCentralSize || !rest.starts_with(kCentral) ||
      rest.size() - kCentralSize < std::uint64_t{number(28)} + number(30) + number(32))
    damaged(file_name_, "entry {} of its list is damaged", entries_.size() + 1);
  ZipEntry entry{std::string(rest.substr(kCentralSize, number(28))),
                 number_at<std::uint32_t>(rest, 24),
                 number_at<std::uint32_t>(rest, 20),
                 number_at<std::uint32_t>(rest, 42),
                 number_at<std::uint32_t>(rest, 16),
                 number(10) == kDeflated};
  const std::string name = file_name_ + "/" + entry.name;
  if (!widen(rest.substr(kCentralSize + number(28), number(30)),
             {&entry.size, &entry.packed, &entry.place}))
    damaged(name, "its zip64 field is damaged");
  constexpr std::uint16_t kEncrypted = 1;
  if ((number(8) & kEncrypted) != 0) damaged(name, "it is encrypted");
  if (number(10) != kStored && number(10) != kDeflated)
    damaged(name, "expected stored or deflated content, got compression method {}", number(10));
  rest.remove_prefix(kCentralSize + number(28) + number(30) + number(32));

  // Before the content are another header, with fields of other sizes, and the name.
  const std::uint64_t room = limit - std::min(entry.place, limit);
  if (room < kLocalSize || !has_at(bytes_, entry.place, kLocal))
    damaged(name, "its content is not at byte {}", entry.place);
  const std::uint64_t name_size = number_at<std::uint16_t>(bytes_, entry.place + 26);
  const std::uint64_t head =
      kLocalSize + name_size + number_at<std::uint16_t>(bytes_, entry.place + 28);
  if (bytes_.substr(entry.place + kLocalSize, name_size) != entry.name)
    damaged(name, "the content at byte {} has another name", entry.place);
  if (head > room || entry.packed > room - head)
    damaged(name, "its {} bytes at byte {} are not in the file", entry.packed, entry.place);
  if (entry.deflated ? entry.size > entry.packed * kLargestExpansion : entry.size != entry.packed)
    damaged(name, "{} bytes cannot contain {} bytes", entry.packed, entry.size);
  entry.place += head;
  return entry;
}

std::string_view ZipReader::content(const ZipEntry& entry, std::string& buffer) const {
  const std::string name = file_name_ + "/" + entry.name;
  std::string_view content = bytes_.substr(entry.place, entry.packed);
  if (entry.deflated) {
    check_memory(kWhere, fmt::format("'{}'", name), static_cast<double>(entry.size));
    buffer.assign(entry.size, '\0');
    if (!inflate_into(buffer, content)) damaged(name, "its compressed content is damaged");
    content = buffer;
  }
  if (checksum(content) != entry.checksum)
    damaged(name, "its content does not have the checksum of its entry");
  return content;
}

void ZipWriter::add(const std::string& name, std::string_view content) {
  check(name.size() <= 0xFFFF, kWhere, "the name of an entry has {} bytes, more than 65535",
        name.size());
  const std::uint64_t size = content.size(), place = bytes_.size();
  const bool large = size > limit_, far = place > limit_;
  const auto sum = checksum(content);
  // The fields that both headers of an entry have, from the version needed to the size of `extra`.
  const auto append_common = [&](std::string& bytes, const std::string& extra) {
    constexpr std::uint16_t kUtf8Name = 0x800, kFirstDay = 0x21;  // 1 January 1980
    const auto short_size = large ? kSee64 : static_cast<std::uint32_t>(size);
    append<std::uint16_t>(bytes, large || far ? 45 : 20);
    append(bytes, kUtf8Name);
    append(bytes, kStored);
    append<std::uint16_t>(bytes, 0);  // midnight
    append(bytes, kFirstDay);
    append(bytes, sum);
    append(bytes, short_size);
    append(bytes, short_size);
    append(bytes, static_cast<std::uint16_t>(name.size()));
    append(bytes, static_cast<std::uint16_t>(extra.size()));
  };

  std::vector<std::uint64_t> wide;
  if (large) wide = {size, size};
  std::string extra = extra_field(wide);
  bytes_ += kLocal;
  append_common(bytes_, extra);
  ((bytes_ += name) += extra) += content;

  if (far) wide.push_back(place);
  extra = extra_field(wide);
  directory_ += kCentral;
  append<std::uint16_t>(directory_, 45);  // the version of the format that this writer knows
  append_common(directory_, extra);
  append<std::uint16_t>(directory_, 0);  // no comment
  append<std::uint32_t>(directory_, 0);  // disk 0, a binary file
  append<std::uint32_t>(directory_, 0);  // no attributes
  append(directory_, far ? kSee64 : static_cast<std::uint32_t>(place));
  (directory_ += name) += extra;
  ++count_;
}

std::string ZipWriter::finish() && {
  const std::uint64_t begin = bytes_.size(), size = directory_.size();
  bytes_ += directory_;
  const bool far = begin > limit_ || size > limit_ || count_ >= 0xFFFF;
  if (far) {
    const std::uint64_t place = bytes_.size();
    bytes_ += kEnd64;
    append<std::uint64_t>(bytes_, kEnd64Size - 12);  // without this number and the one before
    append<std::uint32_t>(bytes_, 45 | 45 << 16);    // the versions that made and that read it
    append<std::uint64_t>(bytes_, 0);                // disk 0
    for (const auto number : {count_, count_, size, begin}) append(bytes_, number);
    bytes_ += kLocator64;
    append<std::uint32_t>(bytes_, 0);
    append(bytes_, place);
    append<std::uint32_t>(bytes_, 1);  // one disk
  }
  bytes_ += kEnd;
  append<std::uint32_t>(bytes_, 0);  // disk 0
  for (int i = 0; i < 2; ++i) append(bytes_, static_cast<std::uint16_t>(far ? 0xFFFF : count_));
  append(bytes_, far ? kSee64 : static_cast<std::uint32_t>(size));
  append(bytes_, far ? kSee64 : static_cast<std::uint32_t>(begin));
  append<std::uint16_t>(bytes_, 0);  // no comment
  return std::move(bytes_);
}

}  // namespace pushdown
