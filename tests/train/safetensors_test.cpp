#include "train/records/safetensors.h"
#include "support/message.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace pushdown::safetensors_test {
namespace {

using testing_support::message;

Path scratch(const std::string& name) {
  const Path folder = Path(testing::TempDir()) / fmt::format("pushdown_files_{}", ::getpid());
  std::filesystem::create_directories(folder);
  return folder / name;
}

TensorFile example() {
  return {{{"small", at::arange(6, at::kFloat).view({2, 3}) / 7},
           {"wide", at::arange(4, at::kDouble).view({2, 2}).t() / 3},  // not contiguous
           {"count", at::scalar_tensor(std::int64_t{1} << 60, at::kLong)},
           {"empty", at::empty({0, 5}, at::kFloat)}},
          {{"format", "pushdown"}, {"note", "quote \" and newline \n"}}};
}

TEST(Safetensors, RoundTripsBitForBit) {
  const Path path = scratch("round.safetensors");
  write_safetensors(path, example());
  const TensorFile read = read_safetensors(path);
  EXPECT_EQ(read.metadata, example().metadata);
  ASSERT_EQ(read.tensors.size(), 4u);
  for (const auto& [name, tensor] : example().tensors) {
    const Tensor* found = read.find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(at::equal(*found, tensor)) << name;
  }
  EXPECT_EQ(read.find("other"), nullptr);
}

// A reader that knows only the published format: length, JSON, offsets. It shares no code with the
// tested one.
TEST(Safetensors, AnIndependentParserReadsTheFile) {
  const Path path = scratch("independent.safetensors");
  write_safetensors(path, example());
  std::ifstream file(path, std::ios::binary);
  unsigned char length[8];
  file.read(reinterpret_cast<char*>(length), 8);
  std::size_t size = 0;
  for (int i = 7; i >= 0; --i) size = size * 256 + length[i];
  std::string header(size, 0);
  file.read(header.data(), static_cast<std::streamsize>(size));
  std::stringstream rest;
  rest << file.rdbuf();
  const std::string data = rest.str();
  const auto json = nlohmann::json::parse(header);

  EXPECT_EQ((8 + size) % 8, 0u);
  EXPECT_EQ(json["__metadata__"]["format"], "pushdown");
  const auto wide = json["wide"];
  EXPECT_EQ(wide["dtype"], "F64");
  EXPECT_EQ(wide["shape"], (std::vector<int>{2, 2}));
  double values[4];
  ASSERT_EQ(wide["data_offsets"][1].get<int>() - wide["data_offsets"][0].get<int>(), 32);
  std::memcpy(values, data.data() + wide["data_offsets"][0].get<int>(), 32);
  EXPECT_EQ(std::vector<double>(values, values + 4), (std::vector<double>{0, 2. / 3, 1. / 3, 1}));
  float last;
  std::memcpy(&last, data.data() + json["small"]["data_offsets"][1].get<int>() - 4, 4);
  EXPECT_EQ(last, 5.0f / 7);
  EXPECT_EQ(json["small"]["dtype"], "F32");
  EXPECT_EQ(json["count"]["dtype"], "I64");
  EXPECT_EQ(json["count"]["shape"].size(), 0u);
  EXPECT_EQ(json["empty"]["shape"], (std::vector<int>{0, 5}));
}

std::string with_header(const std::string& header, std::size_t data_bytes) {
  std::string bytes(8, 0);
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, 'x');
}

std::string complaint(const std::string& bytes) {
  const auto said =
      message<std::runtime_error>([&] { parse_safetensors(bytes, "model.safetensors"); });
  if (said == "no error") return "accepted";
  EXPECT_CONTAINS(said, "'model.safetensors'");
  return said;
}

#define EXPECT_COMPLAINT(bytes, word) EXPECT_CONTAINS(complaint(bytes), word)

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string bytes = safetensors_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(complaint(bytes.substr(0, size)), "accepted") << size;
  EXPECT_COMPLAINT(bytes + "x", "follow the last tensor");
}

TEST(Safetensors, AnyDamagedHeaderByteIsAnErrorOrHarmless) {
  const std::string good = safetensors_bytes(example());
  std::uint64_t length = 0;
  std::memcpy(&length, good.data(), 8);
  for (std::size_t i = 0; i < 8 + length; ++i)
    for (const int flip : {1, 0x20, 0x80}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      try {
        parse_safetensors(bytes, "model.safetensors");
      } catch (const std::runtime_error&) {
      }  // anything else, or a crash, fails the test
    }
}

TEST(Safetensors, NamesTheError) {
  EXPECT_COMPLAINT("abc", "3 bytes");
  EXPECT_COMPLAINT(std::string(8, '\xff'), "allowed");
  EXPECT_COMPLAINT(with_header("not json", 0), "does not start with");
  EXPECT_COMPLAINT(with_header("{\"a\":", 0), "not JSON");
  EXPECT_COMPLAINT(with_header("{\"\xff\":1}", 0), "not JSON");
  EXPECT_COMPLAINT(with_header("", 0), "does not start with");
  EXPECT_COMPLAINT(with_header(R"({"a":1})", 0), "has no dtype");
  const auto one = [](const char* dtype, const char* shape, const char* offsets) {
    return fmt::format(R"("dtype":"{}","shape":{},"data_offsets":{})", dtype, shape, offsets);
  };
  const auto file = [&](const char* dtype, const char* shape, const char* offsets, int bytes) {
    return with_header(R"({"a":{)" + one(dtype, shape, offsets) + "}}", bytes);
  };
  EXPECT_EQ(complaint(file("F32", "[2]", "[0,8]", 8)), "accepted");
  EXPECT_EQ(complaint(file("F16", "[4]", "[0,8]", 8)), "accepted");
  EXPECT_COMPLAINT(file("F8_E4M3", "[8]", "[0,8]", 8), "F8_E4M3");
  EXPECT_COMPLAINT(file("F32", "[0,1099511627776,1099511627776]", "[0,0]", 0), "too large");
  EXPECT_COMPLAINT(file("U64", "[1]", "[0,8]", 0) + std::string(8, '\xff'), "2^63");
  EXPECT_COMPLAINT(file("F32", "[3]", "[0,8]", 8), "does not fill");
  EXPECT_COMPLAINT(file("F32", "[2]", "[0,7]", 7), "does not fill");
  EXPECT_COMPLAINT(file("F32", "[2]", "[0,8]", 7), "do not lie within");
  EXPECT_COMPLAINT(file("F32", "[2]", "[8,0]", 8), "do not lie within");
  EXPECT_COMPLAINT(file("F32", "[2]", "[-8,0]", 8), "must be a number 0, 1, 2");
  EXPECT_COMPLAINT(file("F32", "[-2]", "[0,8]", 8), "must be a number 0, 1, 2");
  EXPECT_COMPLAINT(file("F32", "[2.5]", "[0,8]", 8), "must be a number 0, 1, 2");
  EXPECT_COMPLAINT(file("F32", "2", "[0,8]", 8), "not a list");
  EXPECT_COMPLAINT(file("F32", "[2]", "[8]", 8), "two numbers");
  EXPECT_COMPLAINT(file("F32", "[1099511627776,1099511627776]", "[0,8]", 8), "too large");
  EXPECT_COMPLAINT(file("F32", "[2]", "[4,12]", 12), "gap");
  const auto two = [&](const char* first, const char* second, int bytes) {
    return with_header(
        R"({"a":{)" + one("F32", "[2]", first) + R"(},"b":{)" + one("F32", "[2]", second) + "}}",
        bytes);
  };
  EXPECT_EQ(complaint(two("[8,16]", "[0,8]", 16)), "accepted");
  EXPECT_COMPLAINT(two("[0,8]", "[4,12]", 12), "overlaps");
  EXPECT_COMPLAINT(two("[0,8]", "[12,20]", 20), "gap");
  EXPECT_COMPLAINT(with_header(R"({"a":{)" + one("F32", "[2]", "[0,8]") + R"(},"a":{)" +
                                   one("F32", "[2]", "[0,8]") + "}}",
                               8),
                   "twice");
  EXPECT_COMPLAINT(with_header(R"({"__metadata__":{"a":1}})", 0), "not a text");
  EXPECT_COMPLAINT(with_header(R"({"__metadata__":[]})", 0), "not an object");
}

TEST(Safetensors, RefusesToWriteUnreadableTensors) {
  EXPECT_THROW(safetensors_bytes({{{"a", at::zeros({2}, at::kInt)}}, {}}), std::invalid_argument);
  EXPECT_THROW(safetensors_bytes({{{"a", at::zeros({2})}, {"a", at::zeros({2})}}, {}}),
               std::invalid_argument);
  EXPECT_THROW(safetensors_bytes({{{"__metadata__", at::zeros({2})}}, {}}), std::invalid_argument);
}

TEST(AtomicFile, ReplacesWithoutLeavingAnythingBehind) {
  const Path path = scratch("folder") / "file.txt";
  make_writable_folder(path.parent_path());
  write_file(path, "one");
  write_file(path, std::string("t\0o", 3));
  EXPECT_EQ(read_file(path), std::string("t\0o", 3));
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    ++files;
  EXPECT_EQ(files, 1);
  remove_file(path);
  remove_file(path);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(AtomicFile, ErrorsNameThePath) {
  EXPECT_CONTAINS(message<std::runtime_error>([] { read_file("/nowhere/x"); }),
                  "'/nowhere/x': No such file");
  EXPECT_CONTAINS(message<std::runtime_error>([] { write_file("/proc/x/y", ""); }), "/proc/x/y");
  EXPECT_CONTAINS(message<std::runtime_error>([] { read_file("/"); }), "directory");
  EXPECT_CONTAINS(message<std::runtime_error>([] { make_writable_folder("/proc/run"); }),
                  "/proc/run");
  const Path file = scratch("plain");
  write_file(file, "");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { make_writable_folder(file); }),
                  "a file of that name exists");
}

TEST(LineFile, StartsFromGivenLinesAndAppends) {
  const Path path = scratch("lines.jsonl");
  write_file(path, "old\n");
  LineFile lines(path, "one\n");
  lines.append("two");
  EXPECT_EQ(read_file(path), "one\ntwo\n");
  LineFile other = std::move(lines);
  EXPECT_FALSE(lines.open());
  other.append("three");
  EXPECT_EQ(read_file(path), "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace pushdown::safetensors_test
