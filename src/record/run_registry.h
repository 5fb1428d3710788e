// The registry of runs: one SQLite file in which every experiment and every point of a grid has a
// row. Many processes may write to it at once: every change is one short transaction, with the
// rollback journal (write-ahead logging needs memory that is shared between the writers, which
// machines of a cluster do not have) and a wait for whoever writes at the moment.
//
// A run is identified by its folder, stored relative to the registry's own folder where it lies in
// it, so that both can be moved together. What a folder says (result.json) is the truth; the
// registry is its index and can be made anew from the folders.
//
// A row as Json, absent where not known:
//   id, experiment, grid, point, restart, seed, status, folder (absolute), options (table),
//   command (list), git, host, pid, attempts, created, started, finished (seconds since 1970),
//   seconds, result (table), message
// Status: waiting, running, done, failed or interrupted. Whether a run that is "running" still has
// its process is known by the lock of its folder (folder_lock.h).
#pragma once
#include "base/options.h"
#include "record/sqlite.h"

namespace pushdown {

class RunRegistry {
 public:
  using Path = std::filesystem::path;

  // Opens the registry, or makes it and its folder unless `must_exist`. A file that is none, is
  // damaged, or comes from a newer version is a std::runtime_error.
  explicit RunRegistry(const Path& file, bool must_exist = false, double busy_seconds = 60);

  const Path& file() const { return database_.file(); }

  // Adds the runs that are not there yet, as waiting, and fills those fields of the others that are
  // absent. All in one transaction. Every run has a folder. Returns the rows.
  std::vector<Json> add(const std::vector<Json>& runs);
  // The run of this folder begins: it is added if need be, running, with one attempt more and
  // without the message, the result and the times of the attempt before.
  std::int64_t begin(const Json& run);
  // Replaces the given fields. An unknown id is a std::invalid_argument.
  void update(std::int64_t id, const Json& fields);
  // The run ends now, as `fields` say (status, result, seconds, message). Without seconds: the time
  // since it began.
  void finish(std::int64_t id, const Json& fields);

  // Removes the rows of these runs, all or none; those that are not there any more are passed over.
  // Returns how many were there. Numbers are never used again.
  std::int64_t remove(const std::vector<std::int64_t>& ids);

  // Rows that match, oldest first. filter: {id or list of ids, experiment, grid, point, status
  // (text or list), folder, since, where = list of [key, comparison, value], sort, descending,
  // limit}. Grid and experiment may hold * and ?. A key of `where` is options.NAME, result.NAME, or
  // NAME: the option, else the result; comparisons: = != < <= > >=. `sort` is a column or such a
  // key; rows without it come last.
  std::vector<Json> find(const Json& filter);

 private:
  void prepare_schema();
  Json put(const Json& run);
  Json row_of(std::int64_t id);
  void set(std::int64_t id, const Json& fields);
  std::string stored_folder(const std::string& folder) const;
  Json row(const Statement& statement) const;

  Database database_;
  Path folder_;  // of the registry, absolute
};

}  // namespace pushdown
