#include "train/records/run_folder.h"

#include <unistd.h>

#include <cmath>

#include "base/check.h"
#include "base/checksum.h"
#include "grammar/text.h"
#include "train/problems/problem_kinds.h"
#include "train/records/model_file.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "run_folder";

Path config_file(const Path& folder) { return folder / "config.json"; }
Path metrics_file(const Path& folder) { return folder / "metrics.jsonl"; }
Path data_file(const Path& folder, const std::string& name) { return folder / "data" / name; }
constexpr const char* kGrammar = "grammar.txt";
// The files of the strings, with the number of a stage before the last one, from 1; 0: the last
// one.
std::string numbered(std::string_view name, std::size_t stage) {
  return stage == 0 ? fmt::format("{}.txt", name) : fmt::format("{}-{}.txt", name, stage);
}
std::string train_name(std::size_t stage = 0) { return numbered("train", stage); }
std::string valid_name(std::size_t stage = 0) { return numbered("valid", stage); }
bool is_data_name(std::string_view name) {
  if (name == kGrammar) return true;
  if (!name.ends_with(".txt") || !(name.starts_with("train") || name.starts_with("valid")))
    return false;
  const auto stage = name.substr(5, name.size() - 9);
  return stage.empty() || (stage.size() > 1 && stage[0] == '-' &&
                           stage.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

template <class Line>
void for_each_line(std::string_view text, Line line) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    line(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

StoredText read_data(const Path& folder, const std::string& name, const Json& description) {
  const Path path = data_file(folder, name);
  std::string text = read_file(path);
  if (const auto before = description.at("checksum").get<std::string>(); checksum(text) != before)
    fail_environment(kWhere, "'{}' has changed since the run began (checksum {}, was {})",
                     path.string(), checksum(text), before);
  return {std::move(text), path.string()};
}

Json read_json(const Path& path) {
  try {
    return parse_json(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kWhere, "'{}' is not JSON: {}", path.string(), json_error(error));
  }
}

// Runs `action`, which reads a configuration; errors for missing or mistyped entries name the file.
auto understanding(const Path& path, auto action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kWhere, "'{}' is not the configuration of a run: {}", path.string(),
                     json_error(error));
  } catch (const std::invalid_argument& error) {
    fail_environment(kWhere, "'{}' is not the configuration of a run: {}", path.string(),
                     error.what());
  }
}

// The subfolders of a run folder.
constexpr const char* kSubfolders[] = {"data", "checkpoints", "definitions"};

// Recognises NAME.PROCESS.tmp, the file names of FileWriter and make_writable_folder: left by a
// killed writer.
bool is_left_behind(const Path& file, bool definition) {
  const std::string name = file.filename().string();
  if (!name.ends_with(".tmp")) return false;
  const std::string_view rest = std::string_view(name).substr(0, name.size() - 4);
  const auto dot = rest.rfind('.');
  if (dot == rest.npos || dot + 1 == rest.size() ||
      rest.find_first_not_of("0123456789", dot + 1) != rest.npos)
    return false;
  const auto written = rest.substr(0, dot);
  for (const std::string_view own : {"config.json", "metrics.jsonl", "last.safetensors",
                                     "best.safetensors", "initial.safetensors", ".write_test"})
    if (written == own) return true;
  if (is_data_name(written)) return true;
  return definition && written.ends_with(".lua");
}

void remove_temporary_files(const Path& folder) {
  const auto remove_in = [](const Path& place, bool definitions) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (is_left_behind(entry.path(), definitions)) remove_file(entry.path());
  };
  remove_in(folder, false);
  for (const Path place : kSubfolders) remove_in(folder / place, place == "definitions");
}

// Through a link, files outside the folder could be written, extended or removed.
void refuse_links(const Path& folder) {
  for (const char* name : {"data", "checkpoints", "definitions", "log.txt"})
    if (fs::is_symlink(fs::symlink_status(folder / name)))
      fail_environment(kWhere, "'{}' is a link: expected a file or folder of the run's own",
                       (folder / name).string());
}

Json config_of(const Path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(config_file(folder), ignored)) return {};
  try {
    Json config = read_json(config_file(folder));
    return config.is_object() ? config : Json();
  } catch (const std::runtime_error&) {
    return {};  // damaged, or not written by this program
  }
}

// Returns the identity of the run that a configuration describes, or "".
std::string identity(const Json& config) {
  const Json run = config.is_object() ? config.value("run", Json()) : Json();
  return run.is_string() ? run.get<std::string>() : "";
}

// Returns whether the files in the folder are those of a run that was killed before it had a
// configuration.
bool is_begun_run(const Path& folder) {
  const auto only = [](const Path& place, auto own) {
    std::error_code ignored;
    const bool definitions = place.filename() == "definitions";
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (!own(entry.path().filename().string()) && !is_left_behind(entry.path(), definitions))
        return false;
    return true;
  };
  const auto among = [](std::initializer_list<std::string_view> names) {
    return [names = std::vector(names)](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
  };
  // The first file is not the lock, but the one that tests whether the folder is writable.
  if (only(folder, among({}))) return true;
  return fs::is_regular_file(fs::symlink_status(folder / ".lock")) &&
         only(folder, among({".lock", "data", "checkpoints", "definitions", "metrics.jsonl"})) &&
         only(folder / "data", is_data_name) &&
         only(folder / "checkpoints", among({"last.safetensors", "initial.safetensors"})) &&
         only(folder / "definitions", [](std::string_view name) { return name.ends_with(".lua"); });
}

// Returns whether an experiment, a grid search or a killed run has used the folder.
bool worked_in(const Path& folder) {
  for (const char* name : {"run.lock", "run.json", "experiment.json"})
    if (fs::is_regular_file(fs::symlink_status(folder / name))) return true;
  return is_begun_run(folder);
}

// Throws for folders that contain another run, or anything that this program did not write.
void check_free(const Path& folder, const Json& config, bool overwrite) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return;
  const Json before = config_of(folder);
  if (identity(before) == config.at("run").get<std::string>()) return;
  // A run that was killed before its first checkpoint contains nothing of value.
  const bool empty_run =
      !fs::exists(last_file(folder)) && !fs::exists(best_file(folder)) &&
      (!fs::exists(metrics_file(folder)) || fs::file_size(metrics_file(folder), ignored) == 0);
  const bool run = !empty_run && (!identity(before).empty() || fs::exists(last_file(folder)));
  check(overwrite || !run, kWhere,
        "'{}' contains another run; continue it with resume = true, choose another folder, or pass "
        "overwrite = true",
        folder.string());
  if (!identity(before).empty()) return;
  check(overwrite || fs::is_empty(folder, ignored) || worked_in(folder), kWhere,
        "'{}' is not empty and contains no run; choose another folder, or pass overwrite = true to "
        "write a run beside its files",
        folder.string());
  // It would be mistaken for this run's best epoch.
  check(!fs::exists(best_file(folder)), kWhere, "'{}' belongs to no known run; move it away first",
        best_file(folder).string());
}

// Returns the file of a definition that a configuration names, unless the name points outside the
// folder.
std::optional<Path> stored_definition(const Path& folder, const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  const Json registry = entry.value("registry", Json()), kind = entry.value("kind", Json());
  if (!registry.is_string() || !kind.is_string()) return std::nullopt;
  const Path file = definition_file(folder, {registry, kind, "", 0, ""});
  if (file.parent_path() != folder / "definitions") return std::nullopt;
  return file;
}

// Removes the files of the run that `before` describes. The checkpoint is removed first, so that a
// kill in between never leaves a run that looks intact. Files that `before` does not name stay.
void remove_run(const Path& folder, const Json& before) {
  remove_file(last_file(folder));
  if (identity(before).empty()) return;
  remove_file(initial_file(folder));
  remove_file(best_file(folder));
  for (const Json& part : {before, before.value("model", Json())}) {
    const Json definitions = part.is_object() ? part.value("definitions", Json()) : Json();
    if (definitions.is_array())
      for (const Json& entry : definitions)
        if (const auto file = stored_definition(folder, entry)) remove_file(*file);
  }
  ::rmdir((folder / "definitions").c_str());  // fails if it is not empty
  const Json data = before.value("data", Json());
  const auto remove_data = [&](const Json& of, const char* part, const std::string& file) {
    if (of.is_object() && of.contains(part)) remove_file(data_file(folder, file));
  };
  remove_data(data, "valid", valid_name());
  remove_data(data, "grammar", kGrammar);
  if (const Json earlier = data.is_object() ? data.value("earlier_stages", Json()) : Json();
      earlier.is_array())
    for (std::size_t k = 0; k < earlier.size(); ++k) {
      remove_data(earlier[k], "train", train_name(k + 1));
      remove_data(earlier[k], "valid", valid_name(k + 1));
    }
  for (const Path& file :
       {folder / "log.txt", folder / "curves.svg", config_file(folder), metrics_file(folder)})
    remove_file(file);
}

void write_strings(const Path& folder, const Problem& problem, std::size_t stage = 0) {
  write_file(data_file(folder, train_name(stage)), problem.train_text());
  if (const auto text = problem.valid_text())
    write_file(data_file(folder, valid_name(stage)), *text);
}

StoredStrings read_strings(const Path& folder, const Json& described, std::size_t stage = 0) {
  StoredStrings strings{read_data(folder, train_name(stage), described.at("train"))};
  if (described.contains("valid"))
    strings.valid = read_data(folder, valid_name(stage), described.at("valid"));
  return strings;
}

Json describe_strings(const Problem& problem) {
  Json described{{"train", problem.describe_train()}};
  described["train"]["checksum"] = checksum(problem.train_text());
  if (const auto text = problem.valid_text()) {
    described["valid"] = problem.describe_valid();
    described["valid"]["checksum"] = checksum(*text);
  }
  return described;
}

// Writes the scripts as they were when the run began.
void write_definitions(const Path& folder, const std::vector<OriginPtr>& origins) {
  if (!origins.empty()) make_writable_folder(folder / "definitions");
  for (const OriginPtr& origin : origins)
    if (!origin->source.empty()) write_file(definition_file(folder, *origin), origin->source);
}

// `stored` and `given` are descriptions of models.
void check_same_model(const Path& folder, Json stored, Json given) {
  for (Json* description : {&stored, &given}) {
    if (!description->is_object()) continue;
    description->erase("definitions");  // these may change, with a warning
    if (description->contains("options") && description->at("options").is_object())
      description->at("options").erase("seed");
  }
  // The order of keys is irrelevant.
  const nlohmann::json before(stored), now(given);
  if (before == now) return;
  const auto changes = nlohmann::json::diff(before, now);
  const auto place = changes.at(0).at("path").get<std::string>();
  fail(
      kWhere,
      "'{}' contains a run of another model, which differs in '{}'; choose another folder, or pass "
      "overwrite = true",
      folder.string(), place.empty() ? "everything" : place.substr(1));
}

// Returns the lines of single updates in an old metrics file, in order; drops a truncated line.
std::vector<Json> update_lines(const Path& path) {
  std::vector<Json> lines;
  if (!fs::exists(path)) return lines;
  for_each_line(read_file(path), [&](int, std::string_view line) {
    Json json = try_parse_json(line);
    if (json.is_object() && json.value("event", Json()) == "update" &&
        json.value("update", Json()).is_number_integer())
      lines.push_back(std::move(json));
  });
  return lines;
}

}  // namespace

RunFolder::RunFolder(const Path& folder, const Json& config, const Problem& problem, bool overwrite,
                     const std::vector<EpochMetrics>& history, std::int64_t updates)
    : folder_(folder) {
  check_free(folder, config, overwrite);
  make_writable_folder(folder);
  refuse_links(folder);
  lock_ = ProcessLock(folder);
  const Json before = config_of(folder);
  const bool ours = identity(before) == config.at("run").get<std::string>();
  // Another process may have created a run there in the meantime.
  if (!before.is_null()) check_free(folder, config, overwrite);
  lock_.claim();
  make_writable_folder(folder / "data");
  make_writable_folder(folder / "checkpoints");
  remove_temporary_files(folder);
  if (!ours) {
    remove_run(folder, before);
    write_definitions(folder, problem.origins());
    write_strings(folder, problem);
    for (std::size_t stage = 0; const ProblemPtr& earlier : problem.earlier_stages())
      write_strings(folder, *earlier, ++stage);
    if (problem.grammar()) write_file(data_file(folder, kGrammar), to_text(*problem.grammar()));
  }
  // Written last: a configuration exists only together with its data.
  write_file(config_file(folder),
             config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");

  std::string lines;
  const auto old = update_lines(metrics_file(folder));
  auto line = old.begin();
  const auto keep_until = [&](std::int64_t last) {
    for (; line != old.end() && line->at("update").get<std::int64_t>() <= last; ++line)
      lines += line->dump() + "\n";
  };
  for (const auto& epoch : history) {
    keep_until(epoch.updates);
    lines += to_json(epoch).dump() + "\n";
  }
  keep_until(updates);
  metrics_ = LineFile(metrics_file(folder), lines);
}

void RunFolder::check_owned() const {
  if (!lock_.owned())
    fail_environment(kWhere,
                     "a later trainer of this process has taken over the run in '{}'; this trainer "
                     "no longer writes there",
                     folder_.string());
}

void RunFolder::append(const Json& metrics) {
  check_owned();
  metrics_.append(metrics.dump());
}

void RunFolder::write_last(const TensorFile& checkpoint) const {
  check_owned();
  write_safetensors(last_file(folder_), checkpoint);
}

void RunFolder::write_initial(const TensorFile& checkpoint) const {
  check_owned();
  write_safetensors(initial_file(folder_), checkpoint);
}

void RunFolder::write_best(const TensorFile& weights) const {
  check_owned();
  write_safetensors(best_file(folder_), weights);
}

bool contains_run(const Path& folder) {
  return !identity(config_of(folder)).empty() && fs::exists(last_file(folder));
}

StoredRun read_run(const Path& folder, const TrainingKinds& kinds, SequenceModelPtr model) {
  if (!fs::is_directory(folder))
    fail_environment(kWhere, "there is no run folder '{}'", folder.string());
  const Path file = config_file(folder);
  if (!fs::exists(file))
    fail_environment(kWhere, "'{}' is not a run folder: it has no config.json", folder.string());
  if (!fs::exists(last_file(folder)))
    fail_environment(kWhere, "the run in '{}' has no checkpoint ('{}' is missing); start it again",
                     folder.string(), last_file(folder).string());
  StoredRun run;
  run.config = read_json(file);
  if (model) check_same_model(folder, run.config.value("model", Json()), describe_model(*model));
  understanding(file, [&] {
    const Json& description = run.config.at("model");
    for (const Json& definitions : {definitions_of(description), definitions_of(run.config)})
      check_defined(folder.string(), definitions, folder,
                    {{"stack", row_names(kinds.stacks)},
                     {"controller", row_names(kinds.controllers)},
                     {"objective", row_names(kinds.objectives)}});
    // Locked before the data and the checkpoint are read, so that no other process writes newer
    // ones.
    run.lock = ProcessLock(folder);
    const Json& data = run.config.at("data");
    std::vector<StoredStrings> stages;
    if (data.contains("earlier_stages"))
      for (const Json& earlier : data.at("earlier_stages"))
        stages.push_back(read_strings(folder, earlier, stages.size() + 1));
    stages.push_back(read_strings(folder, data));
    std::optional<StoredText> grammar;
    if (data.contains("grammar")) grammar = read_data(folder, kGrammar, data.at("grammar"));
    if (!model) model = model_from_description(description, "", kinds);
    run.problem = stored_problem(model, stages, run.config.at("trainer").contains("stages"),
                                 grammar, kinds.objectives);
  });
  run.checkpoint = read_safetensors(last_file(folder));
  return run;
}

Json describe_data(const Problem& problem) {
  Json data = describe_strings(problem);
  for (const ProblemPtr& earlier : problem.earlier_stages())
    data["earlier_stages"].push_back(describe_strings(*earlier));
  if (problem.grammar())
    data["grammar"] = {{"name", problem.grammar()->name()},
                       {"checksum", checksum(to_text(*problem.grammar()))}};
  return data;
}

}  // namespace pushdown
