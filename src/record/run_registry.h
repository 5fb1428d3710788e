// The registry of runs: one SQLite file with a row for every experiment and every point of a grid.
// Many processes may write to it at once: every change is one short transaction, and a process
// waits while another one writes. It uses the rollback journal, because write-ahead logging needs
// memory shared between the writers, which the machines of a cluster do not have.
//
// A run is identified by its folder, stored relative to the registry's own folder if it is inside
// it, so that both can be moved together. The record of a run is in its folder (run_record.h), and
// every change of a run is written there first. The registry is an index for finding runs, which
// add() makes again from the folders. Only runs that were never begun, and runs in folders that
// this program may not write, have no record; add() receives their fields from the caller.
//
// A row as Json has the fields of the record, id and folder (absolute).
#pragma once
#include "base/json.h"
#include "record/sqlite.h"

namespace pushdown {

class RunRegistry {
 public:
  using Path = std::filesystem::path;

  // Opens the registry, or creates it and its folder unless `must_exist`. Throws std::runtime_error
  // for a file that is not a registry, is damaged, or comes from a newer version.
  explicit RunRegistry(const Path& file, bool must_exist = false, double busy_seconds = 60);

  const Path& file() const { return database_.file(); }

  // Reads the records of the runs in their folders, and fills fields that are absent, in one
  // transaction. A run without a record is waiting unless it has a status. Every run must have a
  // folder. Returns the rows.
  std::vector<Json> add(const std::vector<Json>& runs);
  // Marks the run of this folder as running, adding it if necessary. Increments the number of
  // attempts and clears the message, the result and the times of the previous attempt.
  std::int64_t begin(const Json& run);
  // Replaces the given fields; null, an empty note and no tags remove the old value. Throws
  // std::invalid_argument for an unknown id.
  void update(std::int64_t id, const Json& fields);
  // Ends the run now with these fields (status, result, seconds, message). Default for seconds: the
  // time since it began.
  void finish(std::int64_t id, const Json& fields);

  // Adds and removes tags of all these runs, or of none. Throws std::invalid_argument for an
  // unknown id, and std::runtime_error if the record of a run cannot be written.
  void tag(const std::vector<std::int64_t>& ids, const std::vector<std::string>& added,
           const std::vector<std::string>& removed);

  // Removes the rows of these runs, all or none; rows that no longer exist are skipped. Returns how
  // many were removed. Ids are never reused.
  std::int64_t remove(const std::vector<std::int64_t>& ids);

  // Returns the matching rows, oldest first. filter: {id or list of ids, experiment, grid, point,
  // status (text or list), folder, since, where = list of [key, comparison, value], sort,
  // descending, limit}. Grid and experiment may contain * and ?. A key of `where` is options.NAME,
  // result.NAME, or NAME: the option or, if there is none, the result; comparisons: = != < <= > >=.
  // The keys note (with * and ?) and tag take only = and !=.
  // `sort` is a column or such a key; rows without it come last.
  std::vector<Json> find(const Json& filter);

 private:
  void prepare_schema();
  void take_over_first_version();
  void keep(const Json& row);
  Json change(const std::string& folder, bool store, const std::function<void(Json&)>& action);
  Json row_of(std::int64_t id);
  std::string stored_folder(const std::string& folder) const;
  Json row(const Statement& statement) const;

  Database database_;
  Path folder_;  // of the registry, absolute
};

}  // namespace pushdown
