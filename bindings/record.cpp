// pd.registry: the record of runs.
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/modules.h"
#include "bindings/options.h"
#include "record/run_registry.h"

namespace pushdown {

template <>
struct ClassName<RunRegistry> {
  static constexpr const char* value = "Registry";
};

namespace {

struct OpenOptions {
  bool must_exist = false;
  double busy_seconds = 60;
  using Self = OpenOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"must_exist", &Self::must_exist, "a missing file is an error"},
         {"busy_seconds", &Self::busy_seconds, "seconds to wait for other processes"}});
  }
};

std::shared_ptr<RunRegistry> open_registry(const std::string& path, const OpenOptions& options) {
  check(!path.empty(), "registry.open", "the path must not be empty");
  return std::make_shared<RunRegistry>(path, options.must_exist, options.busy_seconds);
}

const std::vector<OptionSpec>& filter_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("id", nullptr, "number of a run, or a list of them"),
      text_option("experiment", nullptr, "name of the experiment"),
      text_option("grid", nullptr, "name of the grid, may hold * and ?"),
      text_option("point", nullptr, "name of the point"),
      text_option("status", nullptr, "status of the run, or a list of them"),
      text_option("folder", nullptr, "run folder"),
      number_option("since", nullptr, "seconds since 1970"),
      list_option("where", nullptr, "conditions {{key, '<', value}, ...} on options and results"),
      text_option("sort", nullptr, "column or key to sort by"),
      boolean_option("descending", false, "greatest first"),
      integer_option("limit", nullptr, "greatest number of rows")};
  return specs;
}

std::vector<Json> find_runs(RunRegistry& registry, const CoreOptions<&filter_options>& options) {
  return registry.find(options.given);
}

std::string registry_line(const RunRegistry& registry) {
  return fmt::format("Registry of runs in {}", registry.file().string());
}

std::string registry_file(const RunRegistry& registry) { return registry.file().string(); }

}  // namespace

void bind_record(lua_State* L) {
  Module module(L, "registry", "The registry of runs, an SQLite file; pd.runs is on top of it.");
  module.def<&open_registry>(
      "open",
      "open(path, {options}) -> Registry  Opens the registry, and creates it if "
      "it does not exist.");
  Class<RunRegistry>(module, "A file with one row for each run.")
      .def<&RunRegistry::add>("add",
                              "registry:add(runs) -> table  Adds runs as waiting, or fills absent "
                              "fields of those with the same folder; gives the rows.")
      .def<&RunRegistry::begin>("begin",
                                "registry:begin(run) -> integer  The run of run.folder begins, "
                                "with one attempt more; gives its id.")
      .def<&RunRegistry::update>("update",
                                 "registry:update(id, fields)  Replaces the given fields.")
      .def<&RunRegistry::finish>("finish",
                                 "registry:finish(id, fields)  The run ends now; fields: status, "
                                 "result, message, seconds.")
      .def<&RunRegistry::tag>("tag",
                              "registry:tag(ids, added, removed)  Adds and removes tags of these "
                              "runs, of all or of none.")
      .def<&RunRegistry::remove>("remove",
                                 "registry:remove(ids) -> integer  Removes the rows of these runs, "
                                 "in one step; how many were there.")
      .def<&find_runs>(
          "find", "registry:find{options} -> table  Returns the rows that match, oldest first.")
      .def<&registry_file>("file", "registry:file() -> string  The path of the file.")
      .def<&registry_line>("__tostring", "tostring(registry) -> string  One line.");
}

}  // namespace pushdown
