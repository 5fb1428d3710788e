#include "tensor/zip_archive.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "support/message.h"

namespace pushdown::zip_archive_test {
namespace {

using Contents = std::vector<std::pair<std::string, std::string>>;

Contents read(std::string_view bytes) {
  const ZipReader reader(bytes, "file.npz");
  Contents contents;
  std::string buffer;
  for (const auto& entry : reader.entries())
    contents.emplace_back(entry.name, reader.content(entry, buffer));
  return contents;
}

std::string write(const Contents& contents, ZipWriter writer = ZipWriter()) {
  for (const auto& [name, content] : contents) writer.add(name, content);
  return std::move(writer).finish();
}

void expect_refused(std::string_view bytes, const std::string& expected) {
  EXPECT_CONTAINS(testing_support::message([&] { read(bytes); }), expected);
}

const Contents kSome{{"a.npy", std::string(1000, 'x')}, {"\u00e4.npy", "PK\5\6"}, {"empty", ""}};

TEST(ZipArchive, ReadsWhatItWrites) {
  EXPECT_EQ(read(write(kSome)), kSome);
  EXPECT_EQ(read(write({})), Contents());
}

TEST(ZipArchive, LargeSizesAndPlacesAreInTheFieldsOfZip64) {
  for (const int limit : {0, 3, 1100}) {
    const std::string bytes = write(kSome, ZipWriter(limit));
    EXPECT_CONTAINS(bytes, "PK\6\6");
    EXPECT_EQ(read(bytes), kSome);
  }
  const Contents many(70000, {"n", "1"});
  EXPECT_EQ(read(write(many)).size(), many.size());
}

TEST(ZipArchive, ACommentMayFollow) {
  const std::string comment = "PK\5\6, a comment that looks like an end";
  std::string bytes = write(kSome);
  bytes[bytes.size() - 2] = static_cast<char>(comment.size());
  bytes += comment;
  EXPECT_EQ(read(bytes), kSome);
}

// An archive of one entry `name` whose content is deflated.
std::string deflated(const std::string& content) {
  std::string packed(compressBound(content.size()), '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::string bytes = write({{"name", packed}});
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const auto size = static_cast<std::uint32_t>(content.size());
  const auto entry = bytes.find("PK\1\2");
  for (const auto& [header, method] : {std::pair(0, 8), std::pair(static_cast<int>(entry), 10)}) {
    bytes[header + method] = 8;
    std::memcpy(bytes.data() + header + method + 6, &sum, 4);
    std::memcpy(bytes.data() + header + method + 14, &size, 4);
  }
  return bytes;
}

TEST(ZipArchive, ReadsDeflatedEntries) {
  for (const auto& content : {std::string(), std::string("abc"), std::string(3000000, 'x')})
    EXPECT_EQ(read(deflated(content)), (Contents{{"name", content}}));
}

TEST(ZipArchive, ErrorsNameTheFileTheEntryAndTheProblem) {
  const std::string bytes = write({{"name", "content"}});
  const auto changed = [](std::string from, std::size_t at, int value) {
    from[at] = static_cast<char>(value);
    return from;
  };
  const auto list = bytes.find("PK\1\2"), end = bytes.find("PK\5\6");
  expect_refused("", "[zip] 'file.npz' cannot be read: expected the end of a zip archive");
  expect_refused(bytes.substr(0, 40), "expected the end");
  expect_refused(bytes + "x", "expected the end");
  expect_refused(bytes.substr(1), "expected a list of entries before byte");
  expect_refused(changed(bytes, end + 4, 1), "a part of a zip archive of several");
  expect_refused(changed(bytes, end + 10, 2), "entry 2 of its list is damaged");
  expect_refused(changed(bytes, end + 10, 0), "its list of entries has 50 bytes too many");
  expect_refused(changed(bytes, list + 8, 1), "'file.npz/name' cannot be read: it is encrypted");
  expect_refused(changed(bytes, list + 10, 12), "got compression method 12");
  expect_refused(changed(bytes, list + 20, 100), "its 100 bytes at byte 0 are not in the file");
  expect_refused(changed(bytes, list + 24, 100), "7 bytes cannot contain 100 bytes");
  expect_refused(changed(bytes, list + 42, 1), "its content is not at byte 1");
  expect_refused(changed(bytes, list + 46, 'N'), "'file.npz/Name' cannot be read: the content");
  expect_refused(changed(bytes, 36, 'X'), "checksum");
  const std::string packed = deflated(std::string(1000, 'x'));
  expect_refused(changed(packed, 35, 0xff), "its compressed content is damaged");
  expect_refused(changed(packed, packed.find("PK\1\2") + 27, 1), "bytes cannot contain");
}

TEST(ZipArchive, EntriesCannotShareBytes) {
  std::string bytes = write({{"a", std::string(500, 'x')}, {"a", ""}});
  const auto list = bytes.find("PK\1\2");
  const auto second = bytes.find("PK\1\2", list + 4);
  bytes.replace(second, 47, bytes.substr(list, 47));
  expect_refused(bytes, "claim more bytes than there are");
}

// A damaged archive is refused, or the damage is in a field that does not matter.
TEST(ZipArchive, AnyDamageIsRefusedOrHarmless) {
  for (const auto& bytes : {write(kSome), write(kSome, ZipWriter(0)), deflated("some content")}) {
    const Contents whole = read(bytes);
    const auto try_reading = [&](std::string_view damaged) {
      try {
        const Contents contents = read(damaged);
        for (std::size_t i = 0; i < contents.size(); ++i)
          EXPECT_EQ(contents[i].second, whole[i].second);
      } catch (const std::runtime_error&) {
      }
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      expect_refused(std::string_view(bytes).substr(0, i), "cannot be read");
      for (const int flip : {1, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        try_reading(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace pushdown::zip_archive_test
