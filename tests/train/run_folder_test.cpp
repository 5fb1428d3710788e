// How a run treats the files in its folder, and failures to write there.
#include "train/records/run_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <map>
#include <set>
#include <sstream>

#include "train/toy.h"

namespace pushdown::run_folder_test {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

std::unique_ptr<Trainer> trainer_in(const Path& folder, const Json& more = Json::object()) {
  Json options{{"batch", 8}, {"epochs", 3}, {"checkpoint_seconds", 0}};
  if (!folder.empty()) options["run_folder"] = folder.string();
  options.update(more);
  return std::make_unique<Trainer>(small_model(), reversal_strings(40, 1), reversal_strings(16, 2),
                                   options);
}

// Returns every file and link below the folder with its text.
std::map<std::string, std::string> contents(const Path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory())
      files[fs::relative(entry.path(), folder).string()] =
          entry.is_symlink() ? fs::read_symlink(entry.path()).string() : read_file(entry.path());
  return files;
}

// A folder of another owner, which also has the names of a run's files.
std::map<std::string, std::string> make_foreign(const Path& folder) {
  for (const char* name : {"data", "definitions", "checkpoints"})
    fs::create_directories(folder / name);
  for (const char* file :
       {"data/train.txt", "data/valid.txt", "data/grammar.txt", "definitions/mine.lua",
        "definitions/stack.mine.lua", "log.txt", "curves.svg", "notes.tmp", "config.json.bak.tmp",
        "data/x.5.tmp", "checkpoints/old.safetensors", "config.json"})
    write_file(folder / file, std::string("my own ") + file);
  return contents(folder);
}

TEST(RunFolder, FoldersWithoutARunAreRefusedAndNotChanged) {
  const Scratch scratch;
  const auto before = make_foreign(scratch.path());
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { trainer_in(scratch.path()); }),
                  "is not empty and contains no run");
  EXPECT_EQ(contents(scratch.path()), before);
  auto trainer = trainer_in("");
  EXPECT_THROW(trainer->save(scratch.path()), std::invalid_argument);
  EXPECT_EQ(contents(scratch.path()), before);
  // One foreign file is enough, even next to a lock of that name.
  const Scratch other;
  write_file(other / "notes.txt", "mine");
  write_file(other / ".lock", "");
  EXPECT_THROW(trainer_in(other.path()), std::invalid_argument);
  EXPECT_EQ(contents(other.path()).size(), 2u);
}

TEST(RunFolder, OverwritingRemovesOnlyWhatTheRunWrote) {
  const Scratch scratch;
  auto kept = make_foreign(scratch.path());
  trainer_in(scratch.path(), {{"overwrite", true}})->run_epoch();
  trainer_in(scratch.path(), {{"overwrite", true}})->run_epoch();
  // These have the names of files that the run itself needs or is asked to replace.
  for (const char* replaced :
       {"data/train.txt", "data/valid.txt", "config.json", "log.txt", "curves.svg"})
    kept.erase(replaced);
  const auto after = contents(scratch.path());
  for (const auto& [file, text] : kept)
    EXPECT_EQ(after.count(file) > 0 ? after.at(file) : "removed", text) << file;
}

TEST(RunFolder, ABestEpochOfAnUnknownRunIsNotTakenOver) {
  const Scratch scratch;
  fs::create_directories(scratch / "checkpoints");
  write_file(scratch / "checkpoints" / "best.safetensors", "whose?");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    trainer_in(scratch.path(), {{"overwrite", true}});
                  }),
                  "move it away first");
  EXPECT_EQ(contents(scratch.path()).size(), 1u);
}

TEST(RunFolder, LinksAreNotFollowed) {
  for (const char* name : {"definitions", "data", "checkpoints", "log.txt"}) {
    const Scratch scratch;
    const auto run = scratch / "run";
    trainer_in(run);
    fs::create_directories(scratch / "elsewhere");
    write_file(scratch / "elsewhere" / "last.safetensors.1.tmp", "mine");
    write_file(scratch / "elsewhere" / "stack.a.lua", "mine");
    const auto before = contents(scratch / "elsewhere");
    fs::remove_all(run / name);
    fs::create_symlink("../elsewhere", run / name);
    EXPECT_CONTAINS(message<std::runtime_error>([&] {
                      trainer_in(run, {{"overwrite", true}});
                    }),
                    "is a link")
        << name;
    EXPECT_EQ(contents(scratch / "elsewhere"), before) << name;
  }
}

TEST(RunFolder, NamesInAStoredConfigurationLeadNowhereElse) {
  const Scratch scratch;
  const auto run = scratch / "run";
  trainer_in(run);
  write_file(scratch / "precious.lua", "mine");
  Json config = parse_json(read_file(run / "config.json"));
  config["definitions"] = Json::array({{{"registry", "../../precious"}, {"kind", "x"}},
                                       {{"registry", "/.."}, {"kind", "../../y"}},
                                       {{"registry", 3}},
                                       7});
  config["definitions"].push_back({{"registry", ".."}, {"kind", "/../../precious"}});
  write_file(run / "config.json", config.dump());
  trainer_in(run, {{"overwrite", true}});
  EXPECT_EQ(read_file(scratch / "precious.lua"), "mine");
}

TEST(RunFolder, ARunThatWasKilledAtItsStartBeginsAgain) {
  const Scratch scratch;
  trainer_in(scratch / "run");
  // The state after a kill before there is a configuration.
  for (const char* file : {"config.json", "metrics.jsonl", "checkpoints/last.safetensors"})
    fs::remove(scratch / "run" / file);
  write_file(scratch / "run" / "data" / "valid.txt.77.tmp", "half");
  EXPECT_TRUE(trainer_in(scratch / "run")->run_epoch());
  EXPECT_FALSE(fs::exists(scratch / "run" / "data" / "valid.txt.77.tmp"));
  // Before its first checkpoint, and before its lock.
  trainer_in(scratch / "second");
  fs::remove(scratch / "second" / "checkpoints" / "last.safetensors");
  EXPECT_TRUE(trainer_in(scratch / "second")->run_epoch());
  fs::create_directories(scratch / "third");
  write_file(scratch / "third" / ".write_test.77.tmp", "");
  EXPECT_TRUE(trainer_in(scratch / "third")->run_epoch());
  // A folder without a checkpoint is not a run.
  fs::remove(scratch / "second" / "checkpoints" / "last.safetensors");
  EXPECT_THROW(trainer_in(scratch / "second"), std::invalid_argument);
  // Also in the folder of an experiment.
  fs::create_directories(scratch / "other");
  write_file(scratch / "other" / "experiment.json", "{}");
  write_file(scratch / "other" / "table.csv", "a\n1\n");
  EXPECT_TRUE(trainer_in(scratch / "other")->run_epoch());
  EXPECT_EQ(read_file(scratch / "other" / "table.csv"), "a\n1\n");
}

TEST(RunFolder, OnlyOneOfTwoTrainersOfARunWrites) {
  const Scratch scratch;
  auto first = trainer_in(scratch / "run");
  first->run_epoch();
  auto second = resume_trainer(scratch / "run");
  const auto before = contents(scratch / "run");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { first->run_epoch(); }),
                  "a later trainer of this process");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { first->checkpoint(); }),
                  "no longer writes there");
  EXPECT_EQ(contents(scratch / "run"), before);
  EXPECT_TRUE(second->run_epoch());
  // A failed resume removes nothing.
  EXPECT_THROW(resume_trainer(scratch / "run", {{"batch", 3}}), std::invalid_argument);
  EXPECT_TRUE(second->run_epoch());
}

// During its lifetime no file may grow beyond `bytes`, as on a full disk.
class LittleSpace {
 public:
  explicit LittleSpace(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~LittleSpace() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit old_{};
};

TEST(RunFolder, AnEpochWhoseFilesCannotBeWrittenIsGivenLater) {
  // 10 bytes: not even its line; 2000: the line but no checkpoint.
  for (const rlim_t bytes : {10, 2000}) {
    const Scratch scratch;
    auto whole = trainer_in("");
    while (whole->finished().empty()) whole->run_epoch();
    auto trainer = trainer_in(scratch / "run");
    std::vector<EpochMetrics> seen;
    while (trainer->finished().empty()) {
      {
        const LittleSpace full(bytes);
        EXPECT_CONTAINS(message<std::runtime_error>([&] { trainer->run_epoch(); }),
                        "File too large");
        EXPECT_EQ(trainer->finished(), "");
        EXPECT_THROW(trainer->run_epoch(), std::runtime_error);
      }
      const auto epoch = trainer->run_epoch();
      ASSERT_TRUE(epoch);
      seen.push_back(*epoch);
    }
    EXPECT_EQ(timeless(seen), timeless(whole->history()));
    EXPECT_TRUE(same(weights(*trainer->model()), weights(*whole->model())));
    std::set<std::int64_t> epochs;
    std::size_t lines = 0;
    std::istringstream metrics(read_file(scratch / "run" / "metrics.jsonl"));
    for (std::string line; std::getline(metrics, line); ++lines)
      epochs.insert(parse_json(line)["epoch"].get<std::int64_t>());
    EXPECT_EQ(lines, 3u);
    EXPECT_EQ(epochs.size(), 3u);
  }
}

// Descriptions of models from before these options existed.
TEST(StoredModels, WithoutOptionsOfTheRecurrenceHaveThePlainOne) {
  const auto model = small_model(Json{{"kind", "superposition"}, {"size", 3}});
  Json description = describe_model(*model);
  for (const char* key : {"coupling", "noise", "noise_mean", "carry_forward"})
    ASSERT_EQ(description["options"].erase(key), 1u) << key;
  ASSERT_EQ(description["options"]["stack"].erase("temperature"), 1u);
  const auto loaded = model_from_description(description);
  EXPECT_EQ(loaded->options(), model->options());
  ASSERT_EQ(loaded->parameters().size(), model->parameters().size());
  EXPECT_TRUE(same(weights(*loaded), weights(*model)));
}

TEST(StoredModels, DescriptionsWithoutArchitectureAreRecurrent) {
  Json description = describe_model(*small_model());
  description["options"].erase("architecture");
  EXPECT_EQ(model_from_description(description)->options()["architecture"], "recurrent");
}

}  // namespace
}  // namespace pushdown::run_folder_test
