// pd.registry: the record of runs.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "record/run_record.h"
#include "record/run_registry.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<RunRegistry> = "Registry";

namespace record_module {

struct OpenOptions {
  bool must_exist = false;
  double busy_seconds = 60;
  using Self = OpenOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"must_exist", &Self::must_exist, "raises an error if the file does not exist"},
         {"busy_seconds", &Self::busy_seconds, "seconds to wait for other processes"}});
  }
};

std::shared_ptr<RunRegistry> open_registry(const PathText& path, const OpenOptions& options) {
  check(!path.empty(), "registry.open", "the path must not be empty");
  return std::make_shared<RunRegistry>(path, options.must_exist, options.busy_seconds);
}

const std::vector<OptionSpec>& filter_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("id", nullptr, "number of a run, or a list of numbers"),
      text_option("experiment", nullptr, "name of the experiment"),
      text_option("grid", nullptr, "name of the grid, which may contain * and ?"),
      text_option("point", nullptr, "name of the point"),
      text_option("status", nullptr, "status of the run, or a list of statuses"),
      text_option("folder", nullptr, "run folder"),
      number_option("since", nullptr, "earliest start of a run in seconds since 1970"),
      list_option("where", nullptr, "conditions {{key, '<', value}, ...} on options and results"),
      text_option("sort", nullptr, "column or key to sort by"),
      boolean_option("descending", false, "sorts in descending order"),
      integer_option("limit", nullptr, "maximum number of rows")};
  return specs;
}

std::vector<Json> find_runs(RunRegistry& registry, const CoreOptions<&filter_options>& options) {
  return registry.find(options.given);
}

Json record_of(const PathText& folder) {
  check(!folder.empty(), "registry.record", "the folder must not be empty");
  return read_run_record(folder);
}

std::string line_of(const RunRegistry& registry) {
  return fmt::format("Registry of runs in {}", registry.file().string());
}

std::string file_of(const RunRegistry& registry) { return registry.file().string(); }

}  // namespace record_module

void bind_record(lua_State* L) {
  using namespace record_module;
  Module module(L, "registry", "The registry of runs, an SQLite file. pd.runs is built on it.");
  module.def<&record_of>(
      "record(folder) -> table  Returns the record of the run in this folder, from its run.json, "
      "or nil if it has none.");
  module.def<&open_registry>(
      "open(path, {options}) -> Registry  Opens the registry, and creates it if it does not "
      "exist.");
  Class<RunRegistry>(module, "A file with one row for each run.")
      .def<&RunRegistry::add>(
          "registry:add(runs) -> table  Adds runs, with the records in their folders. The given "
          "fields are those of runs without a record, and complete the others. Returns the rows.")
      .def<&RunRegistry::begin>(
          "registry:begin(run) -> integer  Marks the run in run.folder as running, counts one more "
          "attempt, writes run.json there, and returns its id.")
      .def<&RunRegistry::update>(
          "registry:update(id, fields)  Replaces the given fields of the row.")
      .def<&RunRegistry::finish>(
          "registry:finish(id, fields)  Marks the run as ended now. The fields are status, result, "
          "message and seconds.")
      .def<&RunRegistry::tag>(
          "registry:tag(ids, added, removed)  Adds and removes tags of all these runs, or of none "
          "if there is an error.")
      .def<&RunRegistry::remove>(
          "registry:remove(ids) -> integer  Removes the rows of these runs in one step and returns "
          "how many there were.")
      .def<&find_runs>(
          "registry:find{options} -> table  Returns the rows that match, oldest first.")
      .def<&file_of>("registry:file() -> string  Returns the path of the file.")
      .def<&line_of>("tostring(registry) -> string  Returns one line about the registry.");
}

}  // namespace pushdown
