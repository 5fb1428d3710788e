// Runs every target of this folder on the inputs that are kept with it, unchanged, cut and mutated,
// without libFuzzer. A search with many inputs of one target:
//   PUSHDOWN_FUZZ_INPUTS=10000000 PUSHDOWN_FUZZ_SEED=3 test_fuzz --gtest_filter='*Slow*/grammar'
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/random.h"
#include "fuzz/fuzz.h"

namespace pushdown::fuzz_driver_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs_of(const std::string& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(PUSHDOWN_FUZZ_FOLDER) / name))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Returns "" or the error.
std::string failure(const fuzz::NamedTarget& target, std::string_view bytes) {
  try {
    target.run(bytes);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// The inputs with a few mutations each: bytes that are replaced, removed, doubled, or taken from
// other inputs.
std::string mutated(const std::vector<std::string>& inputs, Random& random) {
  std::string bytes = inputs[random.below(inputs.size())];
  for (std::uint64_t changes = 1 + random.below(4); changes-- > 0;) {
    const auto place = random.below(bytes.size() + 1);
    const auto count = std::min<std::uint64_t>(1 + random.below(8), bytes.size() - place);
    const std::string& other = inputs[random.below(inputs.size())];
    const auto from = random.below(other.size() + 1);
    switch (random.below(6)) {
      case 0: bytes.erase(place, count); break;
      case 1: bytes.insert(place, bytes.substr(place, count)); break;
      case 2: bytes.insert(place, other.substr(from, 1 + random.below(30))); break;
      case 3: bytes.insert(place, 1, static_cast<char>(random.below(256))); break;
      case 4: bytes.resize(place); break;
      default:
        if (place < bytes.size()) bytes[place] = "\0\xff\x80 \n\t'\"()[]{}0-/|%"[random.below(20)];
    }
  }
  return bytes;
}

TEST(Fuzz, EveryTargetHasInputs) {
  EXPECT_GE(fuzz::targets().size(), 16u);
  for (const auto& target : fuzz::targets()) EXPECT_FALSE(inputs_of(target.name).empty());
}

TEST(Fuzz, InputsThatAreKeptPass) {
  for (const auto& target : fuzz::targets())
    for (const auto& file : inputs_of(target.name))
      EXPECT_EQ(failure(target, read_file(file)), "") << file;
}

// The input that runs and the file for it if it fails. A signal handler reads both.
std::string_view running;
std::string failed_file;

void keep_input() {
  const int file = ::open(failed_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  if (::write(file, running.data(), running.size()) < 0) failed_file.clear();
  ::close(file);
}

// Keeps an input that ends the program or takes 20 seconds of processor time.
void on_signal(int number) {
  keep_input();
  constexpr std::string_view text = "the input that ended the program is in ";
  for (const std::string_view part : {text, std::string_view(failed_file), std::string_view("\n")})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void catch_signals() {
  static std::array<char, 65536> stack;  // the usual one may be exhausted
  const stack_t alternative{stack.data(), 0, stack.size()};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPROF})
    ::sigaction(number, &action, nullptr);
}

// Sends SIGPROF after this processor time; 0: never.
void limit_processor_time(time_t seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

std::uint64_t setting(const char* name, std::uint64_t usual) {
  const char* given = std::getenv(name);
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

void run_mutations(const fuzz::NamedTarget& target, std::uint64_t count, std::uint64_t seed) {
  catch_signals();
  failed_file = (fs::temp_directory_path() / ("fuzz-" + target.name)).string();
  std::vector<std::string> inputs;
  for (const auto& file : inputs_of(target.name)) inputs.push_back(read_file(file));
  Random random(seed, target.name);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string bytes = mutated(inputs, random);
    running = bytes;
    limit_processor_time(20);
    const std::string what = failure(target, bytes);
    limit_processor_time(0);
    if (what.empty()) continue;
    keep_input();
    FAIL() << target.name << ": " << what << "\nthe input is in " << failed_file;
  }
}

TEST(Fuzz, MutationsPass) {
  for (const auto& target : fuzz::targets()) run_mutations(target, 100, 1);
}

struct FuzzSlow : testing::TestWithParam<fuzz::NamedTarget> {};

TEST_P(FuzzSlow, ManyMutationsPass) {
  run_mutations(GetParam(), setting("PUSHDOWN_FUZZ_INPUTS", 20000),
                setting("PUSHDOWN_FUZZ_SEED", 2));
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzSlow, testing::ValuesIn(fuzz::targets()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace pushdown::fuzz_driver_test
