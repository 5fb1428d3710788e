// label: long
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/stopping.h"
#include "task/dataset_text.h"
#include "train/toy.h"

extern char** environ;

namespace pushdown::resume_test {
namespace {

using namespace testing_support;

const Json kStack{{"kind", "superposition"}, {"size", 2}};
const Json kOptions{{"batch", 8}, {"epochs", 5}, {"optimizer", {{"learning_rate", 0.01}}}};

std::unique_ptr<Trainer> fresh(const Json& more = Json::object()) {
  Json options = kOptions;
  options.update(more);
  return std::make_unique<Trainer>(small_model(kStack), reversal_strings(60, 1),
                                   reversal_strings(20, 2), options, Json{{"version", "1.2.3"}});
}

std::vector<Json> metrics_lines(const Path& folder) {
  std::vector<Json> lines;
  std::ifstream file(folder / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line));
  return lines;
}

TEST(Resume, ABrokenRunContinuesFromItsLastCheckpoint) {
  auto whole = fresh();
  run_to_end(*whole);
  const Scratch scratch;
  const std::string folder = (scratch / "run").string();
  {
    auto first = fresh({{"run_folder", folder}, {"checkpoint_every", 3}, {"log_every", 1}});
    for (int i = 0; i < 15; ++i) first->step();
  }  // no final checkpoint: updates after the last checkpoint are repeated
  for (int round = 0; round < 40; ++round) {
    auto next = resume_trainer(folder);
    if (!next->finished().empty()) break;
    for (int i = 0; i < 7 && next->finished().empty(); ++i) next->step();
  }
  auto last = resume_trainer(folder);
  run_to_end(*last);
  EXPECT_EQ(timeless(last->history()), timeless(whole->history()));
  EXPECT_TRUE(same(weights(*last->model()), weights(*whole->model())));
  // Every update and epoch has exactly one line, in order.
  std::int64_t updates = 0, epochs = 0;
  for (const auto& line : metrics_lines(folder)) {
    if (line["event"] == "update") {
      EXPECT_EQ(line["update"].get<std::int64_t>(), ++updates);
    } else {
      EXPECT_EQ(line["epoch"].get<std::int64_t>(), ++epochs);
      EXPECT_EQ(line["updates"].get<std::int64_t>(), updates);
    }
  }
  EXPECT_EQ(epochs, 5);
  EXPECT_EQ(updates, 5 * whole->updates_per_epoch());
}

TEST(Resume, AnInterruptLeavesACheckpoint) {
  const Scratch scratch;
  auto trainer = fresh({{"run_folder", (scratch / "run").string()}});
  int questions = 0;
  trainer->callbacks.should_stop = [&] { return ++questions > 4; };
  EXPECT_FALSE(trainer->run_epoch());
  EXPECT_EQ(trainer->updates_done(), 4);
  EXPECT_EQ(resume_trainer(scratch / "run")->updates_done(), 4);
}

TEST(Resume, AnInterruptedLastValidationIsFollowedByNoUpdate) {
  auto trainer = fresh({{"epochs", 1}});
  const auto updates = trainer->updates_per_epoch();
  // Every update asks once, then the validation asks.
  std::int64_t questions = 0;
  trainer->callbacks.should_stop = [&] { return ++questions == updates + 1; };
  for (std::int64_t k = 0; k < updates; ++k) ASSERT_TRUE(trainer->step());
  EXPECT_TRUE(trainer->history().empty());
  const auto before = weights(*trainer->model());
  EXPECT_FALSE(trainer->step());
  EXPECT_EQ(trainer->history().size(), 1u);
  EXPECT_EQ(trainer->updates_done(), updates);
  EXPECT_TRUE(same(weights(*trainer->model()), before));
  EXPECT_FALSE(trainer->finished().empty());
}

TEST(Resume, AnInterruptWithinAnUpdateChangesNoBit) {
  auto whole = fresh();
  run_to_end(*whole);
  int within = 0, microseconds = 5;
  // Until enough interrupts have arrived during an update.
  for (int round = 0; round < 100 && within < 10; ++round) {
    const Scratch scratch;
    auto trainer = fresh({{"run_folder", (scratch / "run").string()}});
    while (trainer->finished().empty()) {
      StopFlag flag{0};
      const auto before = trainer->updates_done();
      std::thread press([&flag, microseconds] {
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        flag = 1;
      });
      microseconds = microseconds % 400 + 7;
      bool stopped = false;
      {
        const StopScope scope(&flag);
        while (flag == 0 && !stopped && trainer->finished().empty()) stopped = !trainer->step();
      }
      press.join();
      // should_stop is no longer asked: the update or the validation ended.
      within += stopped;
      ASSERT_GE(trainer->updates_done(), before);
      if (stopped && within % 3 == 1) trainer = resume_trainer(scratch / "run");
    }
    ASSERT_EQ(timeless(trainer->history()), timeless(whole->history()));
    ASSERT_TRUE(same(weights(*trainer->model()), weights(*whole->model())));
  }
  EXPECT_GE(within, 3);  // on a busy machine, most arrive between two updates
}

TEST(Resume, SavingIntoTheOwnRunFolderIsACheckpoint) {
  const Scratch scratch;
  auto trainer = fresh({{"run_folder", (scratch / "run").string()}, {"epochs", 2}});
  trainer->run_epoch();
  trainer->step();
  trainer->save(scratch.path() / "." / "run");
  EXPECT_EQ(resume_trainer(scratch / "run")->updates_done(), trainer->updates_done());
  auto again = resume_trainer(scratch / "run");
  again->save(scratch / "run");
  run_to_end(*again);
  EXPECT_EQ(metrics_lines(scratch / "run").size(), 2u);
}

TEST(Resume, AcceptsChangesThatDoNotAffectThePast) {
  const Scratch scratch;
  auto trainer = fresh({{"epochs", 2}});
  run_to_end(*trainer);
  trainer->save(scratch / "run");
  auto more = resume_trainer(scratch / "run", {{"epochs", 5}});
  EXPECT_EQ(more->finished(), "");
  run_to_end(*more);
  auto whole = fresh();
  run_to_end(*whole);
  EXPECT_TRUE(same(weights(*more->model()), weights(*whole->model())));
  const Json config = parse_json(read_file(scratch / "run" / "config.json"));
  EXPECT_EQ(config["trainer"]["epochs"], 5);
  EXPECT_EQ(config["resumed"][0]["changes"]["epochs"], 5);
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    resume_trainer(scratch / "run", {{"batch", 3}});
                  }),
                  "unknown option 'batch'");
}

TEST(RunFolder, RecordsTheWholeConfiguration) {
  const Scratch scratch;
  auto trainer = fresh({{"run_folder", (scratch / "a" / "b").string()}});
  trainer->run_epoch();
  const Path folder = scratch / "a" / "b";
  const Json config = parse_json(read_file(folder / "config.json"));
  EXPECT_EQ(config["version"], "1.2.3");
  EXPECT_EQ(config["seed"], 0);
  EXPECT_EQ(config["trainer"]["decay_factor"], 0.9);
  EXPECT_EQ(config["trainer"]["optimizer"]["beta2"], 0.999);
  EXPECT_EQ(config["model"]["options"]["stack"]["size"], 2);
  EXPECT_EQ(config["model"]["alphabet"], Json({"0", "1", "#"}));
  EXPECT_EQ(config["data"]["train"]["strings"], 60);
  EXPECT_NEAR(config["data"]["valid"]["lower_bound"].get<double>(),
              reversal_strings(20, 2)->lower_bound(), 1e-15);
  const auto lines = metrics_lines(folder);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], to_json(trainer->history()[0]));
  const auto read = [&](const char* name) {
    return parse_dataset(read_file(folder / "data" / name), name);
  };
  EXPECT_EQ(to_text(read("train.txt")), trainer->problem().train_text());
  EXPECT_FALSE(read("train.txt").has_log_probabilities());
  EXPECT_EQ(read("valid.txt").log_probabilities(), reversal_strings(20, 2)->log_probabilities());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
}

TEST(RunFolder, DoesNotOverwriteAnotherRun) {
  const Scratch scratch;
  const std::string folder = (scratch / "run").string();
  auto first = fresh({{"run_folder", folder}});
  first->run_epoch();
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    fresh({{"run_folder", folder}});
                  }),
                  "contains another run");
  auto second = fresh();
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { second->save(folder); }), "overwrite");
  first->save(folder);  // its own run
  second->save(folder, true);
  second->save(folder);  // now its own run
  EXPECT_EQ(resume_trainer(folder)->updates_done(), 0);
  EXPECT_TRUE(metrics_lines(folder).empty());
  fresh({{"run_folder", folder}, {"overwrite", true}});
}

TEST(RunFolder, RemovesTheFilesOfAKilledWriter) {
  const Scratch scratch;
  fresh({{"run_folder", (scratch / "run").string()}});
  const Path stale = (scratch / "run") / "checkpoints" / "last.safetensors.123.tmp";
  std::filesystem::copy(scratch / "run" / "config.json", stale);
  resume_trainer(scratch / "run");
  EXPECT_FALSE(std::filesystem::exists(stale));
}

TEST(RunFolder, UnwritableFoldersAreErrorsBeforeAnyWork) {
  for (const char* folder : {"/proc/run", "/dev/null/run"})
    EXPECT_CONTAINS(message<std::runtime_error>([&] { fresh({{"run_folder", folder}}); }), folder);
}

TEST(RunFolder, DamageIsNamed) {
  const Scratch scratch;
  const Path folder = scratch / "run";
  const auto problem = [&] { return message<std::runtime_error>([&] { resume_trainer(folder); }); };
  EXPECT_CONTAINS(problem(), "there is no run folder");
  std::filesystem::create_directory(folder);
  EXPECT_CONTAINS(problem(), "no config.json");
  auto trainer = fresh();
  trainer->run_epoch();
  trainer->save(folder, true);
  const auto damage = [&](const char* file, auto change, const char* part,
                          const char* named = nullptr) {
    const std::string good = read_file(folder / file);
    std::string bad = good;
    change(bad);
    write_file(folder / file, bad);
    EXPECT_CONTAINS(problem(), part);
    EXPECT_CONTAINS(problem(), named != nullptr ? named : Path(file).filename().string());
    write_file(folder / file, good);
  };
  const auto cut = [](std::string& text) { text.resize(text.size() / 2); };
  const auto empty = [](std::string& text) { text.clear(); };
  const auto replace = [](std::string from, std::string to) {
    return [=](std::string& text) { text.replace(text.find(from), from.size(), to); };
  };
  damage("config.json", cut, "not JSON");
  damage("config.json", empty, "not JSON");
  damage("config.json", replace("\"alphabet\"", "\"alphabets\""), "not the configuration");
  damage("config.json", replace("\"#\"", "\"0\""), "not the configuration");
  damage("checkpoints/last.safetensors", replace("\\\"best_epoch\\\":1", "\\\"best_epoch\\\":9"),
         "history");
  damage("config.json", replace("\"batch\": 8", "\"batch\": 7"),
         "option 'batch' is 8 in the checkpoint, but 7 in");
  damage("config.json", replace("\"hidden\": 5", "\"hidden\": 6"), "does not fit",
         "last.safetensors");
  damage("checkpoints/last.safetensors", cut, "not a valid safetensors file");
  damage("checkpoints/last.safetensors", empty, "not a valid safetensors file");
  damage("checkpoints/last.safetensors", replace("pushdown checkpoint 1", "pushdown checkpoint 2"),
         "not a checkpoint of this run");
  damage("checkpoints/last.safetensors", replace("\\\"position\\\"", "\\\"positiom\\\""),
         "position");
  damage("checkpoints/last.safetensors", replace("optimizer.steps", "optimizer.stepz"), "steps");
  damage("data/train.txt", cut, "has changed since the run began");
  damage("data/valid.txt", empty, "has changed since the run began");
  std::filesystem::remove(folder / "checkpoints" / "last.safetensors");
  EXPECT_CONTAINS(problem(), "has no checkpoint");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { load_model(folder, "last"); }), "missing");
  EXPECT_EQ(weights(*load_model(folder)).size(), weights(*trainer->model()).size());
  EXPECT_CONTAINS(message<std::runtime_error>([&] { load_model(folder / "config.json"); }),
                  "safetensors");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { load_model("/nowhere"); }), "/nowhere");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { load_model(folder, "worst"); }), "worst");
}

TEST(RunFolder, DivergenceKeepsTheLastGoodCheckpoint) {
  const Scratch scratch;
  const Path folder = scratch / "run";
  auto trainer = fresh({{"run_folder", folder.string()}, {"checkpoint_every", 1}});
  for (int i = 0; i < 12; ++i) trainer->step();
  trainer->save(scratch / "copy");
  trainer.reset();
  auto wild = fresh({{"run_folder", folder.string()},
                     {"overwrite", true},
                     {"checkpoint_every", 1},
                     {"optimizer", {{"learning_rate", 1e38}}}});
  EXPECT_CONTAINS(message<std::runtime_error>([&] { run_to_end(*wild); }),
                  "the last good checkpoint is in '" + folder.string());
  auto kept = resume_trainer(folder);
  const auto loss = kept->step();
  ASSERT_TRUE(loss);
  EXPECT_TRUE(std::isfinite(loss->loss));
  EXPECT_EQ(resume_trainer(scratch / "copy")->updates_done(), 12);
}

// ---- Killing a process that trains. The worker is this program itself. ----

Json killed_options(const std::string& folder, int epochs) {
  return {{"epochs", epochs},
          {"stop_patience", 0},
          {"run_folder", folder},
          {"checkpoint_every", 4},
          {"log_every", 1}};
}

TEST(KillWorker, DISABLED_Trains) {
  const char* folder = std::getenv("PUSHDOWN_KILL_FOLDER");
  const char* epochs = std::getenv("PUSHDOWN_KILL_EPOCHS");
  ASSERT_TRUE(folder != nullptr && epochs != nullptr);
  std::unique_ptr<Trainer> trainer;
  if (std::filesystem::exists(Path(folder) / "checkpoints" / "last.safetensors")) {
    trainer = resume_trainer(folder);
  } else {
    Json options = killed_options(folder, std::atoi(epochs));
    options["overwrite"] = true;  // the process may have been killed before the first checkpoint
    trainer = fresh(options);
  }
  trainer->callbacks.progress = [](const Progress&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  run_to_end(*trainer);
}

// Returns true if the worker ended within `patience`.
bool work_then_kill(const std::string& folder, int epochs, std::chrono::milliseconds patience) {
  std::string variables[] = {"PUSHDOWN_KILL_FOLDER=" + folder,
                             fmt::format("PUSHDOWN_KILL_EPOCHS={}", epochs)};
  std::vector<char*> environment{variables[0].data(), variables[1].data()};
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  const char* arguments[] = {"test_train", "--gtest_also_run_disabled_tests",
                             "--gtest_filter=KillWorker.*", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                                 const_cast<char**>(arguments), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start the worker");
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (::waitpid(child, &status, WNOHANG) == child) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return false;
}

void killed_training_equals_an_uninterrupted_one(int kills, int epochs, std::uint64_t seed) {
  const Scratch scratch;
  const std::string folder = (scratch / "killed").string();
  Random random(seed);
  int killed = 0, starts = 0, missed = 0;
  std::int64_t resumed_within = 0;
  bool done = false;
  while (!done) {
    ASSERT_LT(++starts, 200) << "no progress";
    // On a busy machine a worker takes seconds to start. The patience doubles with every ten kills
    // that came before there was a checkpoint.
    const bool let_live = killed >= kills && resumed_within > 0;
    const auto patience =
        let_live ? 3600000 : 20 + (static_cast<int>(random.below(900)) << std::min(missed / 10, 6));
    done = work_then_kill(folder, epochs, std::chrono::milliseconds(patience));
    killed += !done;
    if (done) break;
    const bool hit = std::filesystem::exists(Path(folder) / "checkpoints" / "last.safetensors") &&
                     resume_trainer(folder)->updates_done() > 0;
    resumed_within += hit;
    missed = hit ? 0 : missed + 1;
  }
  auto whole = fresh(killed_options((scratch / "whole").string(), epochs));
  run_to_end(*whole);
  const auto last = resume_trainer(folder);
  EXPECT_EQ(timeless(last->history()), timeless(whole->history()));
  EXPECT_TRUE(same(weights(*last->model()), weights(*whole->model())));
  EXPECT_TRUE(same(weights(*load_model(folder)), weights(*load_model(scratch / "whole"))));
  EXPECT_GT(killed, 0);
  EXPECT_GT(resumed_within, 0) << "no kill hit the training";
  const auto a = metrics_lines(folder), b = metrics_lines(scratch / "whole");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i]["event"], b[i]["event"]);
    if (a[i]["event"] == "update") {
      EXPECT_EQ(a[i], b[i]);
    }
  }
}

TEST(Kill, FiveTimesAtRandomMoments) { killed_training_equals_an_uninterrupted_one(5, 15, 1); }

TEST(KillSlow, FortyTimesAtRandomMoments) {
  killed_training_equals_an_uninterrupted_one(40, 250, 2);
}

}  // namespace
}  // namespace pushdown::resume_test
