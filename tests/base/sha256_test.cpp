// The examples that NIST publishes for SHA-256, and every way to divide a text.
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace pushdown::sha256_test {
namespace {

TEST(Sha256, ThePublishedExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, ATextInPartsIsTheWholeText) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
  for (std::size_t length = 0; length <= text.size(); ++length)
    for (const std::size_t part : {1, 63, 64, 65}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += part)
        hash.add(std::string_view(text).substr(at, std::min(part, length - at)));
      ASSERT_EQ(hash.text(), sha256(std::string_view(text).substr(0, length))) << length;
    }
}

TEST(Sha256, TheDigestAsBytes) {
  Sha256 hash;
  hash.add("abc");
  const auto bytes = hash.bytes();
  ASSERT_EQ(bytes.size(), 32u);
  EXPECT_EQ(bytes.substr(0, 4), "\xba\x78\x16\xbf");
  EXPECT_EQ(bytes.substr(28), std::string("\xf2\x00\x15\xad", 4));
}

}  // namespace
}  // namespace pushdown::sha256_test
