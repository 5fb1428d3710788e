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

std::shared_ptr<RunRegistry> open_registry(const std::string& path, OptionTable options) {
  const auto must_exist = options.take<bool>("must_exist").value_or(false);
  const auto busy_seconds = options.take<double>("busy_seconds").value_or(60);
  options.finish("registry.open", {"must_exist", "busy_seconds"});
  check(!path.empty(), "registry.open", "the path must not be empty");
  return std::make_shared<RunRegistry>(path, must_exist, busy_seconds);
}

std::string registry_line(const RunRegistry& registry) {
  return fmt::format("Registry of runs in {}", registry.file().string());
}

std::string registry_file(const RunRegistry& registry) { return registry.file().string(); }

}  // namespace

void bind_record(lua_State* L) {
  Module module(L, "registry", "The registry of runs, an SQLite file; pd.runs is on top of it.");
  module.def<&open_registry>("open",
                             "open(path, {must_exist=, busy_seconds=}) -> Registry  Opens the "
                             "registry, and makes it if it is not there.");
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
      .def<&RunRegistry::remove>("remove",
                                 "registry:remove(ids) -> integer  Removes the rows of these runs, "
                                 "in one step; how many were there.")
      .def<&RunRegistry::find>(
          "find",
          "registry:find(filter) -> table  Rows by id, experiment, grid, point, status, folder, "
          "since, where = {{key, '<', value}, ...}; with sort, descending, limit.")
      .def<&registry_file>("file", "registry:file() -> string  The path of the file.")
      .def<&registry_line>("__tostring", "tostring(registry) -> string  One line.");
}

}  // namespace pushdown
