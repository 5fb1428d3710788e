// Runs that are stored in their folders, and registries that are made from them.
#include "record/run_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "record/run_registry.h"
#include "record/sqlite.h"
#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::run_record_test {
namespace {

using testing_support::message;
using testing_support::Scratch;

// The columns of version 1; those of notes and tags came with the first note or tag.
constexpr const char* kFirstVersion = R"(
CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT NOT NULL UNIQUE,
  experiment TEXT, grid TEXT, point TEXT, restart INTEGER, seed INTEGER,
  status TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, options TEXT,
  command TEXT, git TEXT, host TEXT, pid INTEGER, created REAL NOT NULL, started REAL,
  finished REAL, seconds REAL, result TEXT, message TEXT);
INSERT INTO run (folder, status, attempts, options, created, message) VALUES
  ('a', 'failed', 3, '{"rate":0.5}', 1e9, 'broken'), ('b', 'waiting', 0, NULL, 1e9, NULL),
  ('c', 'done', 1, NULL, 1e9, NULL);
PRAGMA application_id = 0x50645272; PRAGMA user_version = 1;
)";

TEST(RunRecord, TheFirstVersionMovesItsRecordsToTheFolders) {
  const Scratch scratch;
  const auto file = scratch / "runs/registry.sqlite";
  const auto in = [&](const char* folder) { return read_run_record(scratch / folder); };
  std::filesystem::create_directories(scratch / "runs/a");
  std::filesystem::create_directories(scratch / "mine");
  std::filesystem::create_directories(scratch / "foreign");
  std::ofstream(scratch / "mine/run.lock").flush();
  {
    Database database(file, 1);
    database.execute(kFirstVersion);
    database.execute("ALTER TABLE run ADD COLUMN note TEXT; ALTER TABLE run ADD COLUMN tags TEXT");
    database.execute("UPDATE run SET note = 'one', tags = '[\"x\"]'");
    for (const char* folder : {"mine", "foreign"})
      database.execute(
          fmt::format("INSERT INTO run (folder, status, created) VALUES ('{}', "
                      "'done', 1)",
                      (scratch / folder).string()));
  }
  RunRegistry registry(file);
  EXPECT_EQ(in("runs/a"), (Json{{"status", "failed"},
                                {"attempts", 3},
                                {"options", {{"rate", 0.5}}},
                                {"created", 1e9},
                                {"message", "broken"},
                                {"note", "one"},
                                {"tags", {"x"}}}));
  // Notes and tags are moved even if the run has no folder.
  EXPECT_EQ(in("runs/b")["note"], "one");
  EXPECT_EQ(in("runs/c")["tags"], Json{"x"});
  EXPECT_EQ(in("mine")["status"], "done");
  EXPECT_FALSE(std::filesystem::exists(scratch / "foreign/run.json"));
  EXPECT_EQ(registry.find({}).size(), 5u);
  std::filesystem::remove(file);
  RunRegistry again(file);
  EXPECT_EQ(again.add({{{"folder", (scratch / "runs/a").string()}}})[0]["tags"], Json{"x"});
}

TEST(RunRecord, TheFirstVersionWithoutNotes) {
  const Scratch scratch;
  const auto file = scratch / "runs/registry.sqlite";
  std::filesystem::create_directories(scratch / "runs/a");
  Database(file, 1).execute(kFirstVersion);
  RunRegistry registry(file);
  EXPECT_EQ(read_run_record(scratch / "runs/a")["attempts"], 3);
  EXPECT_FALSE(std::filesystem::exists(scratch / "runs/b"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "runs/c"));  // removed by the user
  registry.tag({2}, {"good"}, {});
  EXPECT_EQ(read_run_record(scratch / "runs/b")["tags"], Json{"good"});
  EXPECT_EQ(RunRegistry(file).find({{"id", 2}})[0]["tags"], Json{"good"});
}

// What a registry shows without the numbers of its runs, which may have gaps.
std::vector<Json> without_ids(std::vector<Json> rows) {
  for (Json& row : rows) row.erase("id");
  return rows;
}

TEST(RunRecord, TheFoldersMakeAllOfItAgain) {
  const Scratch scratch;
  const auto file = scratch / "r.sqlite";
  const auto folder = [&](const char* name) { return (scratch / name).string(); };
  std::vector<Json> before;
  {
    RunRegistry registry(file);
    for (const char* name : {"a", "b", "c"})
      registry.begin({{"folder", folder(name)},
                      {"experiment", "e"},
                      {"grid", "g"},
                      {"point", "p=\"1\""},
                      {"restart", 2},
                      {"seed", 5},
                      {"options", {{"rate", 0.1}, {"list", {1, "two"}}, {"on", true}}},
                      {"command", {"pushdown", "é"}},
                      {"git", "abc"},
                      {"host", "h"},
                      {"pid", 7}});
    registry.finish(1, {{"status", "done"}, {"result", {{"loss", 0.1}}}, {"seconds", 0.3}});
    registry.begin({{"folder", folder("b")}});
    registry.finish(2, {{"status", "failed"}, {"message", "line\n2"}});
    registry.update(2, {{"note", "look"}});
    registry.tag({1, 3}, {"x", "y"}, {});
    before = registry.find({});
  }
  std::filesystem::remove(file);
  RunRegistry registry(file);
  EXPECT_TRUE(registry.find({}).empty());
  registry.add({{{"folder", folder("a")}}, {{"folder", folder("b")}}, {{"folder", folder("c")}}});
  EXPECT_EQ(without_ids(registry.find({})), without_ids(before));
  // What the caller knows does not replace what the folder has.
  registry.add({{{"folder", folder("a")}, {"seed", 9}, {"note", "new"}}});
  EXPECT_EQ(registry.find({{"id", 1}})[0]["seed"], 5);
  EXPECT_EQ(read_run_record(scratch / "a")["note"], "new");
}

TEST(RunRecord, AResultIsStoredOnlyInItsOwnFile) {
  const Scratch scratch;
  const auto folder = (scratch / "a").string();
  RunRegistry registry(scratch / "r.sqlite");
  registry.begin({{"folder", folder}});
  std::ofstream(scratch / "a/result.json") << R"({"loss": 0.25, "none": null})";
  registry.finish(1, {{"status", "done"}, {"result", {{"loss", 0.25}}}});
  EXPECT_EQ(read_file(scratch / "a/run.json").find("loss"), std::string::npos);
  EXPECT_EQ(read_run_record(scratch / "a")["result"], (Json{{"loss", 0.25}}));
  // A run that has begun again has none yet.
  registry.begin({{"folder", folder}});
  EXPECT_FALSE(read_run_record(scratch / "a").contains("result"));
}

TEST(RunRecord, ADamagedRecordIsReportedAndKept) {
  const Scratch scratch;
  const auto folder = (scratch / "a").string();
  const auto file = scratch / "a/run.json";
  RunRegistry registry(scratch / "r.sqlite");
  registry.begin({{"folder", folder}});
  registry.begin({{"folder", (scratch / "b").string()}});
  const auto refused = [&](const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
    const auto said = message([&] { registry.tag({2, 1}, {"x"}, {}); });
    EXPECT_CONTAINS(said, "a/run.json' is not the record of a run: ");
    EXPECT_EQ(read_file(file), text);
    EXPECT_FALSE(read_run_record(scratch / "b").contains("tags"));  // all or none
    return said;
  };
  EXPECT_CONTAINS(refused("{"), "parse error at line 1");
  EXPECT_CONTAINS(refused("[1]"), "expected a table, got [1]");
  EXPECT_CONTAINS(refused(R"({"seed": "x"})"), "seed must be an integer, got \"x\"");
  EXPECT_CONTAINS(refused(R"({"status": "perhaps"})"), "status must be one of");
  EXPECT_CONTAINS(refused(R"({"tags": ["a,b"]})"), "a tag must be a text");
  std::filesystem::remove(file);
  std::filesystem::create_symlink(scratch / "b/run.json", file);
  EXPECT_CONTAINS(message([&] { registry.begin({{"folder", folder}}); }), "it is a link");
  // Fields of later versions are left out.
  std::filesystem::remove(file);
  std::ofstream(file) << R"({"status": "done", "colour": 1, "folder": "/etc", "id": 99})";
  EXPECT_EQ(registry.add({{{"folder", folder}}})[0]["status"], "done");
  EXPECT_EQ(registry.find({{"folder", folder}})[0]["id"], 1);
}

TEST(RunRecord, AFileInThePlaceOfTheFolder) {
  const Scratch scratch;
  std::ofstream(scratch / "a") << "text";
  RunRegistry registry(scratch / "r.sqlite");
  const auto folder = (scratch / "a").string();
  EXPECT_CONTAINS(message([&] {
                    registry.begin({{"folder", folder}});
                  }),
                  "a/run.json': Not a directory");
  EXPECT_TRUE(registry.find({}).empty());
  EXPECT_EQ(registry.add({{{"folder", folder}}})[0]["status"], "waiting");
}

}  // namespace
}  // namespace pushdown::run_record_test
