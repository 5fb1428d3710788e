// Runs every target of this folder on the inputs that are kept with it, unchanged, cut and mutated,
// without libFuzzer.
#include <gtest/gtest.h>

#include <algorithm>
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

void run_mutations(int count, std::uint64_t seed) {
  for (const auto& target : fuzz::targets()) {
    std::vector<std::string> inputs;
    for (const auto& file : inputs_of(target.name)) inputs.push_back(read_file(file));
    Random random(seed, target.name);
    for (int i = 0; i < count; ++i) {
      const std::string bytes = mutated(inputs, random);
      const std::string what = failure(target, bytes);
      if (what.empty()) continue;
      const fs::path kept = fs::temp_directory_path() / ("fuzz-" + target.name);
      write_file(kept, bytes);
      ADD_FAILURE() << target.name << ": " << what << "\nthe input is in " << kept;
      break;
    }
  }
}

TEST(Fuzz, MutationsPass) { run_mutations(100, 1); }

TEST(FuzzSlow, ManyMutationsPass) { run_mutations(20000, 2); }

}  // namespace
}  // namespace pushdown::fuzz_driver_test
