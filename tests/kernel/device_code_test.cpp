// Code for devices, compiled at run time and kept on disk.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/notices.h"
#include "kernel/compile/compiled_code.h"
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

// Collects warnings while it exists.
class Notices {
 public:
  Notices() {
    set_notice_receiver([this](NoticeLevel level, const std::string& message) {
      if (level == NoticeLevel::warning) all_.push_back(message);
    });
  }
  ~Notices() { set_notice_receiver(nullptr); }
  std::size_t count() const { return all_.size(); }
  const std::string& last() const { return all_.back(); }

 private:
  std::vector<std::string> all_;
};

TEST(CompiledCode, CompilesOnceAndFindsItOnDisk) {
  const Scratch folder;
  const CodeCache cache(folder.path());
  const Notices notices;
  int calls = 0;
  {
    CompiledCode all([&] { return turning(&calls); }, cache);
    EXPECT_EQ(*all.wait_for("abc"), "cba");
    EXPECT_EQ(*all.find("abc"), "cba");
    EXPECT_EQ(*all.wait_for("de"), "ed");
    EXPECT_EQ(all.counts().compiled, 2);
    EXPECT_EQ(all.counts().pending, 0);
  }
  EXPECT_EQ(calls, 2);
  CompiledCode next([&] { return turning(&calls); }, cache);
  EXPECT_EQ(*next.find("abc"), "cba");  // at once
  EXPECT_EQ(next.counts().from_cache, 1);
  EXPECT_EQ(calls, 2);
  CompiledCode newer([&] { return turning(&calls, "turning 2"); }, cache);
  EXPECT_EQ(*newer.wait_for("abc"), "cba");
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(notices.count(), 0u);
  // A damaged entry is compiled again and replaced.
  overwrite(cache.place("turning 2\nabc"), 30, 'X');
  CompiledCode after([&] { return turning(&calls, "turning 2"); }, cache);
  EXPECT_EQ(*after.wait_for("abc"), "cba");
  EXPECT_EQ(calls, 4);
  ASSERT_EQ(notices.count(), 1u);
  EXPECT_NE(notices.last().find("damaged"), std::string::npos);
  EXPECT_EQ(cache.find("turning 2\nabc"), "cba");
}

TEST(CompiledCode, GoesOnWithoutCode) {
  const Notices notices;
  int calls = 0;
  {
    CompiledCode all([&] { return turning(&calls); }, std::nullopt);
    EXPECT_EQ(all.wait_for("wrong"), nullptr);
    EXPECT_EQ(all.wait_for("wrong"), nullptr);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(*all.wait_for("ab"), "ba");
    EXPECT_EQ(all.counts().failed, 1);
    EXPECT_EQ(notices.count(), 1u);
    EXPECT_NE(notices.last().find("line 1: wrong"), std::string::npos);
  }
  CompiledCode none([]() -> CodeCompiler { throw std::runtime_error("no compiler"); },
                    std::nullopt);
  EXPECT_EQ(none.wait_for("ab"), nullptr);
  EXPECT_EQ(none.wait_for("cd"), nullptr);
  EXPECT_EQ(notices.count(), 2u);  // once
  EXPECT_NE(notices.last().find("no compiler"), std::string::npos);
}

// A folder that cannot be written costs a warning, not the code.
TEST(CompiledCode, WithoutAPlaceOnDisk) {
  const Scratch folder;
  std::ofstream(folder / "file") << "no folder";
  const Notices notices;
  int calls = 0;
  CompiledCode all([&] { return turning(&calls); }, CodeCache(folder / "file"));
  EXPECT_EQ(*all.wait_for("ab"), "ba");
  EXPECT_EQ(notices.count(), 1u);
}

// The end does not wait for sources that nobody has begun to compile.
TEST(CompiledCode, EndsWhileSourcesWait) {
  std::atomic<int> calls = 0;
  {
    CompiledCode all(
        [&] {
          return CodeCompiler{"slow", [&](const std::string& source) {
                                ++calls;
                                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                return source;
                              }};
        },
        std::nullopt);
    for (int k = 0; k < 50; ++k) EXPECT_EQ(all.find(std::to_string(k)), nullptr);
  }
  EXPECT_LT(calls, 50);
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
