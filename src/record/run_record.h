// The record of a run: the file run.json in its folder, with all that the registry shows of the run
// except for its number. The folder is the store; the registry is an index of such records.
//
// The fields, absent where not known:
//   experiment, grid, point, restart, seed, status, attempts, options (table), command (list), git,
//   host, pid, created, started, finished (seconds since 1970), seconds, result (table), message,
//   note, tags (list of texts, sorted)
// Status: waiting, running, done, failed or interrupted. The lock of the folder (folder_lock.h)
// tells whether the process of a "running" run still exists.
//
// If the folder has a result.json, the result of the run is stored there only.
#pragma once
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/json.h"

namespace pushdown {

struct RecordField {
  enum class Type { text, integer, number, json };

  const char* name;
  Type type;
};

// All fields, in the order of the file.
const std::vector<RecordField>& record_fields();
const RecordField* find_record_field(std::string_view name);

// Replaces the given fields; null, an empty note and no tags remove the old value. Throws
// std::invalid_argument for an unknown field or a value of another type.
void set_record_fields(Json& record, const Json& fields);

// A tag is a UTF-8 text of 1 to 64 bytes without white space, commas and control characters. Throws
// std::invalid_argument for another text.
void check_tag(const std::string& tag);

// Returns the record of the run in this folder, or null if it has none. Throws std::runtime_error
// that names the file if it is not a record.
Json read_run_record(const Path& folder);
// Replaces the record, and makes the folder if necessary.
void write_run_record(const Path& folder, const Json& record);
// Throws std::runtime_error if the record in this folder cannot be read or replaced.
void check_record_writable(const Path& folder);

}  // namespace pushdown
