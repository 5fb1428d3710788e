// Code for devices, compiled at run time and kept on disk.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/notices.h"
#include "kernel/compile/device_code.h"
#include "kernel/compile/nvrtc.h"
#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::device_code_test {
namespace {

using testing_support::message;
using testing_support::Scratch;

void overwrite(const Path& path, std::size_t place, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place));
  file.put(byte);
}

TEST(CodeCache, KeepsWhatWasPut) {
  const Scratch folder;
  const CodeCache cache(folder.path() / "new" / "cache");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  const std::string code("a\0\nb", 4);
  cache.put("key", code);
  cache.put("other", "");
  EXPECT_EQ(cache.find("key"), code);
  EXPECT_EQ(cache.find("other"), "");
  EXPECT_EQ(cache.find("third"), std::nullopt);
  EXPECT_EQ(CodeCache(folder.path() / "new" / "cache").find("key"), code);
}

TEST(CodeCache, EveryDamageIsFound) {
  const Scratch folder;
  const CodeCache cache(folder.path());
  cache.put("key", "code");
  const Path path = cache.place("key");
  const auto size = std::filesystem::file_size(path);
  for (std::size_t place = 0; place < size; ++place) {
    cache.put("key", "code");
    overwrite(path, place, '\x7f');
    EXPECT_THROW(cache.find("key"), std::runtime_error) << place;
  }
  for (std::size_t left = 0; left < size; left += 7) {
    cache.put("key", "code");
    std::filesystem::resize_file(path, left);
    EXPECT_THROW(cache.find("key"), std::runtime_error) << left;
  }
  cache.put("key", "code");
  EXPECT_EQ(cache.find("key"), "code");
  // The entry of another key.
  std::filesystem::rename(path, cache.place("other"));
  EXPECT_THROW(cache.find("other"), std::runtime_error);
}

// Whoever can write the folder decides which code runs on the device.
TEST(CodeCache, UsesOnlyAFolderThatNobodyElseCanWrite) {
  const Scratch folder;
  const Path own = folder.path() / "device";
  const CodeCache cache(own);
  const auto mask = ::umask(0);
  cache.put("key", "code");
  ::umask(mask);
  EXPECT_EQ(std::filesystem::status(own).permissions(), std::filesystem::perms::owner_all);
  EXPECT_EQ(cache.find("key"), "code");
  for (const auto writer :
       {std::filesystem::perms::group_write, std::filesystem::perms::others_write}) {
    std::filesystem::permissions(own, std::filesystem::perms::owner_all | writer);
    for (const auto& text :
         {message([&] { cache.find("key"); }), message([&] { cache.put("key", "x"); })})
      EXPECT_NE(text.find("that only its owner can write, got mode 7"), text.npos) << text;
  }
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  EXPECT_EQ(cache.find("key"), "code");
  if (::geteuid() != 0) return;  // only root can give a folder away
  ASSERT_EQ(::chown(own.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  for (const auto& text :
       {message([&] { cache.find("key"); }), message([&] { cache.put("key", "x"); })})
    EXPECT_NE(text.find("expected a folder of user 0, got one of user 12345"), text.npos) << text;
}

TEST(CodeCache, RemovesWhatWasNotUsedForLongest) {
  const Scratch folder;
  const CodeCache cache(folder.path(), 5000);
  const std::string code(2000, 'x');
  const auto set_age = [&](const char* key, int hours) {
    std::filesystem::last_write_time(
        cache.place(key),
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  cache.put("first", code);
  cache.put("second", code);
  std::ofstream(folder.path() / "notes.txt") << std::string(9000, 'n');  // not an entry
  set_age("first", 2);
  set_age("second", 1);
  EXPECT_EQ(cache.find("first"), code);  // is now the younger one
  cache.put("third", code);
  EXPECT_EQ(cache.find("second"), std::nullopt);
  EXPECT_EQ(cache.find("first"), code);
  EXPECT_EQ(cache.find("third"), code);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "notes.txt"));
}

// A compiler that turns a source around; "wrong" is an error.
CodeCompiler turning(int* calls, const std::string& name = "turning 1") {
  return {name, [=](const std::string& source) {
            ++*calls;
            if (source == "wrong") throw std::runtime_error("line 1: wrong");
            return std::string(source.rbegin(), source.rend());
          }};
}

// Collects notices while it exists.
class Notices {
 public:
  Notices() {
    set_notice_receiver([this](NoticeLevel level, const std::string& message) {
      (level == NoticeLevel::warning ? warnings : infos).push_back(message);
    });
  }
  ~Notices() { set_notice_receiver(nullptr); }
  std::vector<std::string> warnings, infos;
};

TEST(DeviceCode, CompilesOnceAndFindsItOnDisk) {
  const Scratch folder;
  const CodeCache cache(folder.path());
  const Notices notices;
  int calls = 0;
  const auto code = [&](const char* name) { return DeviceCode(turning(&calls, name), cache); };
  EXPECT_EQ(code("turning 1").machine_code("abc"), "cba");
  EXPECT_EQ(code("turning 1").machine_code("de"), "ed");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(code("turning 1").machine_code("abc"), "cba");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(code("turning 2").machine_code("abc"), "cba");
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(notices.warnings.size(), 0u);
  // A damaged entry is compiled again and replaced.
  overwrite(cache.place("turning 2\nabc"), 30, 'X');
  EXPECT_EQ(code("turning 2").machine_code("abc"), "cba");
  EXPECT_EQ(calls, 4);
  ASSERT_EQ(notices.warnings.size(), 1u);
  EXPECT_NE(notices.warnings[0].find("damaged"), std::string::npos);
  EXPECT_EQ(cache.find("turning 2\nabc"), "cba");
}

// The run waits for the compiler, and says so before.
TEST(DeviceCode, SaysThatItCompiles) {
  const Scratch folder;
  const Notices notices;
  std::size_t said_before = 0;
  const DeviceCode code({"none",
                         [&](const std::string& source) {
                           said_before = notices.infos.size();
                           return source;
                         }},
                        CodeCache(folder.path()));
  code.machine_code("abc");
  EXPECT_EQ(said_before, 1u);
  ASSERT_EQ(notices.infos.size(), 2u);
  EXPECT_EQ(notices.infos[0], "compiling the code of a network for the device");
  code.machine_code("abc");
  EXPECT_EQ(notices.infos.size(), 2u);  // from the disk
}

// Whoever asks again gets the error again.
TEST(DeviceCode, CannotBeCompiledOrLoaded) {
  int calls = 0;
  DeviceCode code(turning(&calls), std::nullopt);
  EXPECT_NE(message([&] { code.module("wrong"); }).find("line 1: wrong"), std::string::npos);
  EXPECT_THROW(code.module("wrong"), std::runtime_error);
  EXPECT_EQ(calls, 2);
  if (!built_with_cuda()) {
    EXPECT_THROW(code.module("ab"), std::runtime_error);
  }
}

// A folder that cannot be written costs a warning, not the code.
TEST(DeviceCode, WithoutAPlaceOnDisk) {
  const Scratch folder;
  std::ofstream(folder / "file") << "no folder";
  const Notices notices;
  int calls = 0;
  EXPECT_EQ(DeviceCode(turning(&calls), CodeCache(folder / "file")).machine_code("ab"), "ba");
  EXPECT_EQ(notices.warnings.size(), 1u);
}

TEST(Nvrtc, LooksBesideLibTorchAndWhereItIsTold) {
  const auto found = nvrtc_candidates(nullptr, {"/lib/libc.so.6", "/p/torch/lib/libtorch_cpu.so"});
  const auto has = [&](const char* file) {
    return std::find(found.begin(), found.end(), file) != found.end();
  };
  EXPECT_TRUE(has("libnvrtc.so.13"));
  EXPECT_TRUE(has("/p/nvidia/cu13/lib/libnvrtc.so.13"));
  EXPECT_TRUE(has("/p/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
  EXPECT_EQ(nvrtc_candidates("/x/mine.so", {}), std::vector<std::string>{"/x/mine.so"});
}

// Needs the library, but no device.
TEST(Nvrtc, CompilesAndNamesTheLineOfAnError) {
  std::unique_ptr<Nvrtc> nvrtc;
  try {
    nvrtc = std::make_unique<Nvrtc>();
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_GE(std::stod(nvrtc->version()), 12);
  const std::string code = nvrtc->compile(
      "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }", "sm_90");
  EXPECT_EQ(code.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_NE(code.find("twice"), std::string::npos);
  try {
    nvrtc->compile("__global__ void f() {\n  wrong;\n}", "sm_90");
    ADD_FAILURE() << "compiled";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("steps.cu(2)"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pushdown::device_code_test
