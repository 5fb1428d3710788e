#include "record/run_registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/atomic_file.h"
#include "base/stopping.h"
#include "record/run_record.h"
#include "record/sqlite.h"
#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::run_registry_test {
namespace {

using testing_support::message, testing_support::Scratch;

using Ids = std::vector<std::int64_t>;

Ids ids(const std::vector<Json>& rows) {
  Ids list;
  for (const auto& row : rows) list.push_back(row["id"]);
  return list;
}

TEST(RunRegistry, ARunFromWaitingToDone) {
  const Scratch scratch;
  RunRegistry registry(scratch / "runs/registry.sqlite");
  const auto folder = (scratch / "runs/a").string();
  const auto added = registry.add({{{"folder", folder}, {"grid", "g"}, {"restart", 2}}});
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0]["status"], "waiting");
  EXPECT_EQ(added[0]["attempts"], 0);
  EXPECT_FALSE(added[0].contains("started"));
  EXPECT_GT(added[0]["created"].get<double>(), 1.7e9);

  const Json options{{"rate", 0.005}, {"name", "é\"x"}, {"list", {1, 2}}};
  EXPECT_EQ(registry.begin({{"folder", folder}, {"options", options}, {"pid", 7}}), 1);
  Json row = registry.find({{"id", 1}})[0];
  EXPECT_EQ(row["status"], "running");
  EXPECT_EQ(row["attempts"], 1);
  EXPECT_EQ(row["grid"], "g");
  EXPECT_EQ(row["restart"], 2);
  EXPECT_EQ(row["options"], options);

  registry.finish(1, {{"status", "failed"}, {"message", "broken"}});
  row = registry.find({{"folder", folder}})[0];
  EXPECT_EQ(row["message"], "broken");
  EXPECT_NEAR(row["seconds"], row["finished"].get<double>() - row["started"].get<double>(), 1e-6);

  registry.begin({{"folder", folder}});
  row = registry.find({{"id", 1}})[0];
  EXPECT_EQ(row["attempts"], 2);
  for (const char* gone : {"message", "finished", "seconds", "result"})
    EXPECT_FALSE(row.contains(gone)) << gone;
  registry.finish(1, {{"status", "done"}, {"result", {{"loss", 0.25}}}, {"seconds", 12.5}});
  row = registry.find({{"id", 1}})[0];
  EXPECT_EQ(row["result"]["loss"], 0.25);
  EXPECT_EQ(row["seconds"], 12.5);
}

TEST(RunRegistry, AddingAgainFillsOnlyAbsentFields) {
  const Scratch scratch;
  RunRegistry registry(scratch / "r.sqlite");
  const auto folder = (scratch / "a").string();
  registry.begin({{"folder", folder}, {"seed", 5}});
  const auto row =
      registry.add({{{"folder", folder + "/../a"}, {"seed", 6}, {"grid", "g"}}}).front();
  EXPECT_EQ(row["id"], 1);
  EXPECT_EQ(row["seed"], 5);
  EXPECT_EQ(row["grid"], "g");
  EXPECT_EQ(row["status"], "running");
  // One bad entry prevents the addition of all.
  EXPECT_THROW(registry.add({{{"folder", "b"}}, {{"folder", "c"}, {"seed", "x"}}}),
               std::invalid_argument);
  EXPECT_EQ(registry.find(Json::object()).size(), 1u);
}

TEST(RunRegistry, FiltersAndOrder) {
  const Scratch scratch;
  RunRegistry registry(scratch / "r.sqlite");
  const auto make = [&](const char* name, const char* grid, Json options, Json result) {
    const auto id = registry.begin({{"folder", (scratch / name).string()},
                                    {"grid", grid},
                                    {"point", name},
                                    {"options", options}});
    if (!result.is_null()) registry.finish(id, {{"status", "done"}, {"result", result}});
  };
  make("a", "x/one", {{"rate", 0.01}, {"size", 2}, {"kind", "lstm"}}, {{"loss", 0.5}});
  make("b", "x/two", {{"rate", 0.005}, {"size", 20}, {"on", true}}, {{"loss", 0.1}});
  make("c", "y/one", {{"rate", 0.02}, {"kind", "gru"}, {"on", false}}, nullptr);
  const auto found = [&](const Json& filter) { return ids(registry.find(filter)); };
  const auto where = [&](const char* key, const char* comparison, const Json& value) {
    return found({{"where", Json::array({Json::array({key, comparison, value})})}});
  };
  EXPECT_EQ(found(nullptr), (Ids{1, 2, 3}));
  EXPECT_EQ(found({{"grid", "x/*"}}), (Ids{1, 2}));
  EXPECT_EQ(found({{"grid", "x"}}), (Ids{}));
  EXPECT_EQ(found({{"status", "running"}}), (Ids{3}));
  EXPECT_EQ(found({{"status", {"running", "done"}}, {"grid", "*one"}}), (Ids{1, 3}));
  EXPECT_EQ(found({{"id", {3, 1, 9}}}), (Ids{1, 3}));
  EXPECT_EQ(found({{"point", "b"}}), (Ids{2}));
  EXPECT_EQ(found({{"since", 4e9}}), (Ids{}));
  EXPECT_EQ(where("rate", "=", 0.005), (Ids{2}));
  EXPECT_EQ(where("rate", ">=", 0.01), (Ids{1, 3}));
  EXPECT_EQ(where("size", "<", 10), (Ids{1}));
  EXPECT_EQ(where("size", "=", 20.0), (Ids{2}));
  EXPECT_EQ(where("kind", "!=", "lstm"), (Ids{3}));
  EXPECT_EQ(where("on", "=", true), (Ids{2}));
  EXPECT_EQ(where("result.loss", "<=", 0.5), (Ids{1, 2}));
  EXPECT_EQ(where("options.kind", "=", "gru"), (Ids{3}));
  EXPECT_EQ(where("loss", "<", 0.2), (Ids{2}));
  EXPECT_EQ(where("kind' OR 1=1 --", "=", "x"), (Ids{}));
  EXPECT_EQ(found({{"sort", "rate"}}), (Ids{2, 1, 3}));
  EXPECT_EQ(found({{"sort", "result.loss"}}), (Ids{2, 1, 3}));
  EXPECT_EQ(found({{"sort", "result.loss"}, {"descending", true}}), (Ids{1, 2, 3}));
  EXPECT_EQ(found({{"sort", "point"}, {"descending", true}, {"limit", 2}}), (Ids{3, 2}));
}

TEST(RunRegistry, WrongCallsGiveClearMessages) {
  const Scratch scratch;
  RunRegistry registry(scratch / "r.sqlite");
  const auto wrong = [](auto action) { return message<std::invalid_argument>(action); };
  EXPECT_CONTAINS(wrong([&] { registry.begin(Json{{"seed", 1}}); }), "must have a folder");
  EXPECT_CONTAINS(wrong([&] {
                    registry.begin({{"folder", "a"}, {"sead", 1}});
                  }),
                  "unknown field 'sead', did you mean 'seed'");
  EXPECT_CONTAINS(wrong([&] {
                    registry.begin({{"folder", "a"}, {"seed", 1.5}});
                  }),
                  "seed must be an integer, got 1.5");
  EXPECT_CONTAINS(wrong([&] {
                    registry.begin({{"folder", "a"}, {"id", 3}});
                  }),
                  "unknown field 'id'");
  EXPECT_CONTAINS(wrong([&] { registry.update(9, {{"seed", 1}}); }), "there is no run 9");
  EXPECT_CONTAINS(wrong([&] {
                    registry.find({{"grit", "x"}});
                  }),
                  "unknown filter 'grit', did you mean 'grid'");
  EXPECT_CONTAINS(wrong([&] {
                    registry.find({{"where", {{"a", "~", 1}}}});
                  }),
                  "a comparison must be one of");
  EXPECT_CONTAINS(wrong([&] { registry.find({{"where", {{"a\"b", "=", 1}}}}); }), "without quotes");
  EXPECT_CONTAINS(wrong([&] { registry.find({{"limit", -1}}); }), "limit must be");
  EXPECT_CONTAINS(wrong([&] {
                    registry.begin({{"folder", "a"}, {"status", "perhaps"}});
                  }),
                  "status must be one of 'waiting'");
  EXPECT_TRUE(registry.find(nullptr).empty());
}

TEST(RunRegistry, FilesThatAreNotARegistry) {
  const Scratch scratch;
  const auto refused = [&](const char* name) {
    return message<std::runtime_error>([&] { RunRegistry registry(scratch / name); });
  };
  std::ofstream(scratch / "text") << std::string(5000, 'x');
  EXPECT_CONTAINS(refused("text"), "it is not an SQLite file");
  Database(scratch / "other", 1).execute("CREATE TABLE t (x)");
  EXPECT_CONTAINS(refused("other"), "an SQLite file but not a registry");
  { RunRegistry registry(scratch / "newer"); }
  Database(scratch / "newer", 1).execute("PRAGMA user_version = 7");
  EXPECT_CONTAINS(refused("newer"), "version 7, but this program reads version 2");
  EXPECT_CONTAINS(
      message<std::runtime_error>([&] { RunRegistry registry(scratch / "absent", true); }),
      "there is no registry");
  EXPECT_FALSE(std::filesystem::exists(scratch / "absent"));
  std::filesystem::create_directory(scratch / "folder");
  EXPECT_CONTAINS(refused("folder"), "cannot open");
  // An empty file is a registry without its tables.
  std::ofstream(scratch / "empty").flush();
  RunRegistry registry(scratch / "empty");
  EXPECT_TRUE(registry.find(nullptr).empty());
}

TEST(RunRegistry, ADamagedFileIsReportedAndNotChanged) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  {
    RunRegistry registry(file);
    std::vector<Json> runs;
    for (int i = 0; i < 200; ++i)
      runs.push_back({{"folder", fmt::format("f{}", i)}, {"message", std::string(200, 'm')}});
    registry.add(runs);
  }
  const auto size = std::filesystem::file_size(file);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096);
    bytes << std::string(size - 4096, '\xA5');
  }
  const auto text = message<std::runtime_error>([&] {
    RunRegistry registry(file);
    registry.find(nullptr);
  });
  EXPECT_CONTAINS(text, "is damaged");
  EXPECT_CONTAINS(text, file.string());
  EXPECT_EQ(std::filesystem::file_size(file), size);
}

// A registry is a file that may come from somebody else.
TEST(RunRegistry, NothingThatASchemaDefinesRuns) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  const auto folder = (scratch / "a").string();
  RunRegistry(file).begin({{"folder", folder}});
  Database(file, 1).execute(
      "CREATE TRIGGER spread AFTER UPDATE ON run BEGIN UPDATE run SET message = 'ran'; END;");
  RunRegistry registry(file);
  registry.begin({{"folder", folder}});
  EXPECT_FALSE(registry.find({})[0].contains("message"));
  Database(file, 1).execute(
      "ALTER TABLE run RENAME TO hidden;"
      "CREATE VIEW run AS SELECT id, folder FROM hidden");
  EXPECT_CONTAINS(message<std::runtime_error>([&] { RunRegistry(file).find({}); }), "view");
}

TEST(RunRegistry, ValuesOfAnotherTypeAreLeftOut) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  const auto folder = (scratch / "a").string();
  RunRegistry registry(file);
  registry.add({{{"folder", folder}, {"grid", "g"}}});
  Database(file, 1).execute(
      "UPDATE run SET attempts = 'many', seed = 'x', started = 'now', tags = '[1]', options = '1'");
  EXPECT_EQ(registry.find({})[0].size(), 5u);  // id, folder, grid, status, created
  registry.tag({1}, {"good"}, {});
  registry.begin({{"folder", folder}});
  const Json record = read_run_record(folder);
  EXPECT_EQ(record["attempts"], 1);
  EXPECT_EQ(record["tags"], Json{"good"});
}

TEST(RunRegistry, InterruptsEndQueriesAndWaits) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  RunRegistry registry(file, false, 3600);
  Database other(file, 1);
  const StopFlag pressed{1};
  const StopScope scope(&pressed);
  // A short statement ends: an interrupted script records its own end.
  registry.begin({{"folder", (scratch / "a").string()}});
  // This one would never end.
  EXPECT_THROW(other.integer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                             "SELECT max(i) FROM n"),
               Stopped);
  other.execute("BEGIN IMMEDIATE");
  EXPECT_THROW(registry.begin({{"folder", (scratch / "b").string()}}), Stopped);
}

TEST(RunRegistry, MovesTogetherWithItsFolders) {
  const Scratch scratch;
  {
    RunRegistry registry(scratch / "old/registry.sqlite");
    registry.add({{{"folder", (scratch / "old/grid/a").string()}},
                  {{"folder", (scratch / "elsewhere/b").string()}}});
  }
  std::filesystem::rename(scratch / "old", scratch / "new");
  RunRegistry registry(scratch / "new/registry.sqlite");
  const auto rows = registry.find(nullptr);
  EXPECT_EQ(rows[0]["folder"], (scratch / "new/grid/a").string());
  EXPECT_EQ(rows[1]["folder"], (scratch / "elsewhere/b").string());
}

TEST(RunRegistry, RemovedRunsAreGoneAndTheirNumbersToo) {
  const Scratch scratch;
  RunRegistry registry(scratch / "r.sqlite");
  for (const char* name : {"a", "b", "c"}) registry.begin({{"folder", (scratch / name).string()}});
  EXPECT_EQ(registry.remove({1, 3, 99}), 2);
  EXPECT_EQ(ids(registry.find({})), Ids{2});
  EXPECT_EQ(registry.remove({1}), 0);
  EXPECT_EQ(registry.remove({}), 0);
  EXPECT_EQ(registry.begin({{"folder", (scratch / "c").string()}}), 4);
  EXPECT_EQ(registry.find({{"id", 4}})[0]["attempts"], 2);  // its folder has the record
}

TEST(RunRegistry, NotesAndTags) {
  const Scratch scratch;
  RunRegistry registry(scratch.path() / "r.sqlite");
  for (const char* folder : {"a", "b", "c"})
    registry.begin({{"folder", (scratch.path() / folder).string()}, {"options", {{"tag", "o"}}}});
  const auto where = [&](const char* key, const char* comparison, const char* value) {
    return ids(registry.find({{"where", {{key, comparison, value}}}}));
  };
  EXPECT_EQ(where("tag", "=", "good"), Ids{});
  EXPECT_EQ(where("tag", "!=", "good"), (Ids{1, 2, 3}));
  EXPECT_EQ(where("note", "=", "?*"), Ids{});
  EXPECT_EQ(ids(registry.find({{"sort", "note"}})), (Ids{1, 2, 3}));
  registry.tag({1, 2}, {"good", "käse", "good"}, {});
  registry.tag({2}, {"007"}, {"good", "absent"});
  EXPECT_EQ(registry.find({{"id", 1}})[0]["tags"], (Json{"good", "käse"}));
  EXPECT_EQ(registry.find({{"id", 2}})[0]["tags"], (Json{"007", "käse"}));
  EXPECT_FALSE(registry.find({{"id", 3}})[0].contains("tags"));
  EXPECT_EQ(where("tag", "=", "käse"), (Ids{1, 2}));
  EXPECT_EQ(where("tag", "!=", "good"), (Ids{2, 3}));
  EXPECT_EQ(where("tag", "=", "go"), Ids{});
  EXPECT_EQ(where("options.tag", "=", "o"), (Ids{1, 2, 3}));
  const std::string hostile = "'); DROP TABLE run; -- <script>\nsecond line";
  registry.update(3, {{"note", hostile}});
  EXPECT_EQ(registry.find({{"id", 3}})[0]["note"], hostile);
  EXPECT_EQ(where("note", "=", "*script*"), (Ids{3}));
  EXPECT_EQ(where("note", "!=", "*script*"), (Ids{1, 2}));
  EXPECT_EQ(ids(registry.find({{"sort", "note"}})), (Ids{3, 1, 2}));
  // A run that is started again keeps both. Empty values count as none.
  registry.begin({{"folder", (scratch.path() / "c").string()}});
  EXPECT_EQ(registry.find({{"id", 3}})[0]["note"], hostile);
  registry.update(3, {{"note", ""}});
  registry.tag({1}, {}, {"good", "käse"});
  EXPECT_FALSE(registry.find({{"id", 3}})[0].contains("note"));
  EXPECT_FALSE(registry.find({{"id", 1}})[0].contains("tags"));
  for (const auto& wrong : {std::string(""), std::string("a b"), std::string("a,b"),
                            std::string("a\x1b"), std::string(65, 'a')})
    EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                      registry.tag({1}, {"fine", wrong}, {});
                    }),
                    "a tag must be a text of 1 to 64 bytes");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    registry.tag({2, 99}, {"new"}, {});
                  }),
                  "there is no run 99");
  EXPECT_EQ(where("tag", "=", "new"), Ids{});  // all or none
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { where("tag", "<", "a"); }),
                  "tag supports only the comparisons = and !=, got <");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    registry.update(1, {{"tags", {1}}});
                  }),
                  "tags must be a list of texts");
}

TEST(RunRegistry, ManyRemoveAtOnce) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  constexpr int kRuns = 24;
  std::vector<std::int64_t> all;
  {
    RunRegistry registry(file);
    for (int i = 0; i < kRuns; ++i)
      all.push_back(registry.begin({{"folder", (scratch / std::to_string(i)).string()}}));
  }
  std::atomic<std::int64_t> removed = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&, i] {
      RunRegistry registry(file);
      for (const auto id : all) removed += registry.remove({id});
      registry.begin({{"folder", (scratch / fmt::format("new-{}", i)).string()}});
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(removed, kRuns);  // every row is removed once
  EXPECT_EQ(RunRegistry(file).find({}).size(), 4u);
}

TEST(RunRegistry, ManyWritersLoseNothing) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  constexpr int kWriters = 6, kRounds = 4;
  std::vector<std::thread> writers;
  // They also compete for making the registry.
  for (int i = 0; i < kWriters; ++i)
    writers.emplace_back([&, i] {
      RunRegistry registry(file);
      for (int k = 0; k < kRounds; ++k) {
        registry.begin({{"folder", (scratch / "shared").string()}});
        const auto id =
            registry.begin({{"folder", (scratch / fmt::format("{}-{}", i, k)).string()}});
        registry.finish(id, {{"status", "done"}, {"result", {{"writer", i}}}});
      }
    });
  for (auto& writer : writers) writer.join();
  RunRegistry registry(file);
  EXPECT_EQ(registry.find({{"folder", (scratch / "shared").string()}})[0]["attempts"],
            kWriters * kRounds);
  EXPECT_EQ(registry.find({{"status", "done"}}).size(), std::size_t{kWriters * kRounds});
}

}  // namespace
}  // namespace pushdown::run_registry_test
