#include "train/run_folder.h"

#include <unistd.h>

#include <cmath>

#include "base/check.h"
#include "base/checksum.h"
#include "grammar/text.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "model/transducer.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFolderPlace = "run_folder";

Path config_file(const Path& folder) { return folder / "config.json"; }
Path metrics_file(const Path& folder) { return folder / "metrics.jsonl"; }
Path last_file(const Path& folder) { return folder / "checkpoints" / "last.safetensors"; }
Path best_file(const Path& folder) { return folder / "checkpoints" / "best.safetensors"; }
Path data_file(const Path& folder, const char* name) { return folder / "data" / name; }
constexpr const char* kTrain = "train.txt";
constexpr const char* kValid = "valid.txt";
constexpr const char* kGrammar = "grammar.txt";

template <class Line>
void for_each_line(std::string_view text, Line line) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    line(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

StoredText read_data(const Path& folder, const char* name, const Json& description) {
  const Path path = data_file(folder, name);
  std::string text = read_file(path);
  if (const auto before = description.at("checksum").get<std::string>(); checksum(text) != before)
    fail_environment(kRunFolderPlace,
                     "'{}' is not what it was when the run began (checksum {}, was {})",
                     path.string(), checksum(text), before);
  return {std::move(text), path.string()};
}

Json read_json(const Path& path) {
  try {
    return parse_json(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kRunFolderPlace, "'{}' is not JSON: {}", path.string(), json_error(error));
  }
}

// Runs `action`, which takes a configuration apart; what is missing or mistyped names the file.
auto understanding(const Path& path, auto action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kRunFolderPlace, "'{}' is not the configuration of a run: {}", path.string(),
                     json_error(error));
  } catch (const std::invalid_argument& error) {
    fail_environment(kRunFolderPlace, "'{}' is not the configuration of a run: {}", path.string(),
                     error.what());
  }
}

// The folders of a run within its own.
constexpr const char* kSubfolders[] = {"data", "checkpoints", "definitions"};

// NAME.PROCESS.tmp, as FileWriter and make_writable_folder name files: left by a killed writer.
bool is_left_behind(const Path& file, bool definition) {
  const std::string name = file.filename().string();
  if (!name.ends_with(".tmp")) return false;
  const std::string_view rest = std::string_view(name).substr(0, name.size() - 4);
  const auto dot = rest.rfind('.');
  if (dot == rest.npos || dot + 1 == rest.size() ||
      rest.find_first_not_of("0123456789", dot + 1) != rest.npos)
    return false;
  const auto written = rest.substr(0, dot);
  for (const std::string_view own : {"config.json", "metrics.jsonl", kTrain, kValid, kGrammar,
                                     "last.safetensors", "best.safetensors", ".write_test"})
    if (written == own) return true;
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

// Links would take what is written, appended or removed to other places.
void refuse_links(const Path& folder) {
  for (const char* name : {"data", "checkpoints", "definitions", "log.txt"})
    if (fs::is_symlink(fs::symlink_status(folder / name)))
      fail_environment(kRunFolderPlace,
                       "'{}' is a link: expected a file or folder of the run's own",
                       (folder / name).string());
}

Json config_of(const Path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(config_file(folder), ignored)) return {};
  try {
    Json config = read_json(config_file(folder));
    return config.is_object() ? config : Json();
  } catch (const std::runtime_error&) {
    return {};  // damaged, or not ours
  }
}

// The identity of the run that a configuration describes, or "".
std::string identity(const Json& config) {
  const Json run = config.is_object() ? config.value("run", Json()) : Json();
  return run.is_string() ? run.get<std::string>() : "";
}

// Whether the files in the folder are those of a run that was killed before it had a
// configuration.
bool is_begun_run(const Path& folder) {
  const auto only = [](const Path& place, std::initializer_list<std::string_view> names,
                       bool definitions = false) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored)) {
      const std::string name = entry.path().filename().string();
      if (std::find(names.begin(), names.end(), name) == names.end() &&
          !is_left_behind(entry.path(), definitions) && !(definitions && name.ends_with(".lua")))
        return false;
    }
    return true;
  };
  // The first file is not the lock, but the one that tries whether the folder can be written to.
  if (only(folder, {})) return true;
  return fs::is_regular_file(fs::symlink_status(folder / ".lock")) &&
         only(folder, {".lock", "data", "checkpoints", "definitions", "metrics.jsonl"}) &&
         only(folder / "data", {kTrain, kValid, kGrammar}) &&
         only(folder / "checkpoints", {"last.safetensors"}) &&
         only(folder / "definitions", {}, true);
}

// Whether an experiment, a grid or a run that was killed has been at work in the folder.
bool worked_in(const Path& folder) {
  for (const char* name : {"run.lock", "experiment.json"})
    if (fs::is_regular_file(fs::symlink_status(folder / name))) return true;
  return is_begun_run(folder);
}

// Refuses folders that hold another run, or anything that this program did not write.
void check_free(const Path& folder, const Json& config, bool overwrite) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return;
  const Json before = config_of(folder);
  if (identity(before) == config.at("run").get<std::string>()) return;
  // A run that was killed before its first checkpoint has nothing to lose.
  const bool empty_run =
      !fs::exists(last_file(folder)) && !fs::exists(best_file(folder)) &&
      (!fs::exists(metrics_file(folder)) || fs::file_size(metrics_file(folder), ignored) == 0);
  const bool run = !empty_run && (!identity(before).empty() || fs::exists(last_file(folder)));
  check(overwrite || !run, kRunFolderPlace,
        "'{}' holds another run; resume it, choose another folder, or pass overwrite = true",
        folder.string());
  if (!identity(before).empty()) return;
  check(overwrite || fs::is_empty(folder, ignored) || worked_in(folder), kRunFolderPlace,
        "'{}' is not empty and holds no run; choose another folder, or pass overwrite = true to "
        "write a run between its files",
        folder.string());
  // It would be taken for this run's best epoch.
  check(!fs::exists(best_file(folder)), kRunFolderPlace,
        "'{}' is of no run that is known: move it away first", best_file(folder).string());
}

// The file of a definition that a configuration names, unless the name leads out of the folder.
std::optional<Path> stored_definition(const Path& folder, const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  const Json registry = entry.value("registry", Json()), kind = entry.value("kind", Json());
  if (!registry.is_string() || !kind.is_string()) return std::nullopt;
  const Path file = definition_file(folder, {registry, kind, "", 0, ""});
  if (file.parent_path() != folder / "definitions") return std::nullopt;
  return file;
}

// Removes the files of the run that `before` describes. The checkpoint goes first: what a kill
// leaves here is no run that could be taken for sound. What `before` does not name stays.
void remove_run(const Path& folder, const Json& before) {
  remove_file(last_file(folder));
  if (identity(before).empty()) return;
  remove_file(best_file(folder));
  for (const Json& part : {before, before.value("model", Json())}) {
    const Json definitions = part.is_object() ? part.value("definitions", Json()) : Json();
    if (definitions.is_array())
      for (const Json& entry : definitions)
        if (const auto file = stored_definition(folder, entry)) remove_file(*file);
  }
  ::rmdir((folder / "definitions").c_str());  // fails unless it is empty
  const Json data = before.value("data", Json());
  for (const auto& [part, file] : {std::pair("valid", kValid), std::pair("grammar", kGrammar)})
    if (data.is_object() && data.contains(part)) remove_file(data_file(folder, file));
  for (const Path& file :
       {folder / "log.txt", folder / "curves.svg", config_file(folder), metrics_file(folder)})
    remove_file(file);
}

// The scripts as they were when the run began.
void write_definitions(const Path& folder, const std::vector<OriginPtr>& origins) {
  if (!origins.empty()) make_writable_folder(folder / "definitions");
  for (const OriginPtr& origin : origins)
    if (!origin->source.empty()) write_file(definition_file(folder, *origin), origin->source);
}

// Refuses a description whose parts scripts have to define first. `place`: the run folder where
// their copies are, if there is one.
void check_defined(const std::string& file, const Json& definitions, const Path& place,
                   const std::vector<std::pair<std::string, std::vector<std::string>>>& known) {
  for (const Json& entry : definitions) {
    const std::string registry = entry.at("registry"), name = entry.at("kind");
    for (const auto& [of, names] : known) {
      if (of != registry || std::find(names.begin(), names.end(), name) != names.end()) continue;
      const Path copy =
          place.empty() ? Path() : definition_file(place, {registry, name, "", 0, ""});
      const std::string where = entry.value("file", "");
      fail_environment(
          "load", "'{}' needs the {} '{}', which {} defined: run that script first{}", file,
          registry, name,
          where.empty() ? "a prompt" : fmt::format("{}:{}", where, entry.value("line", 0)),
          !copy.empty() && fs::exists(copy) ? fmt::format(" (as it was then: '{}')", copy.string())
                                            : "");
    }
  }
}

Json definitions_of(const Json& description) {
  return description.is_object() ? description.value("definitions", Json::array()) : Json::array();
}

// The lines of single updates in an old metrics file, in their order; a cut line is dropped.
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

std::string command_output(const std::string& command) {
  std::string output;
  if (FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r")) {
    char buffer[4096];
    while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, count);
    if (::pclose(pipe) != 0) return "";
  }
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

}  // namespace

Path definition_file(const Path& folder, const Origin& origin) {
  return folder / "definitions" / fmt::format("{}.{}.lua", origin.registry, origin.name);
}

RunFolder::RunFolder(const Path& folder, const Json& config, const Problem& problem, bool overwrite,
                     const std::vector<EpochMetrics>& history, std::int64_t updates)
    : folder_(folder) {
  check_free(folder, config, overwrite);
  make_writable_folder(folder);
  refuse_links(folder);
  lock_ = ProcessLock(folder);
  const Json before = config_of(folder);
  const bool ours = identity(before) == config.at("run").get<std::string>();
  // Another process may have made a run there since.
  if (!before.is_null()) check_free(folder, config, overwrite);
  lock_.claim();
  make_writable_folder(folder / "data");
  make_writable_folder(folder / "checkpoints");
  remove_temporary_files(folder);
  if (!ours) {
    remove_run(folder, before);
    write_definitions(folder, problem.origins());
    write_file(data_file(folder, kTrain), problem.train_text());
    if (const auto text = problem.valid_text()) write_file(data_file(folder, kValid), *text);
    if (problem.grammar()) write_file(data_file(folder, kGrammar), to_text(*problem.grammar()));
  }
  // Last: a configuration is only there with its data.
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
    fail_environment(kRunFolderPlace,
                     "a later trainer of this session goes on with the run in '{}'; this one does "
                     "not write there any more",
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

void RunFolder::write_best(const TensorFile& weights) const {
  check_owned();
  write_safetensors(best_file(folder_), weights);
}

StoredRun read_run(const Path& folder, const TrainingKinds& kinds) {
  if (!fs::is_directory(folder))
    fail_environment(kRunFolderPlace, "there is no run folder '{}'", folder.string());
  const Path file = config_file(folder);
  if (!fs::exists(file))
    fail_environment(kRunFolderPlace, "'{}' is not a run folder: it has no config.json",
                     folder.string());
  if (!fs::exists(last_file(folder)))
    fail_environment(kRunFolderPlace,
                     "the run in '{}' has no checkpoint ('{}' is missing); start it again",
                     folder.string(), last_file(folder).string());
  StoredRun run;
  run.config = read_json(file);
  understanding(file, [&] {
    const Json& model = run.config.at("model");
    for (const Json& definitions : {definitions_of(model), definitions_of(run.config)})
      check_defined(folder.string(), definitions, folder,
                    {{"stack", row_names(kinds.stacks)},
                     {"controller", row_names(kinds.controllers)},
                     {"objective", row_names(kinds.objectives)}});
    // From before the data and the checkpoint are read: no other process writes newer ones.
    run.lock = ProcessLock(folder);
    const Json& data = run.config.at("data");
    const StoredText train = read_data(folder, kTrain, data.at("train"));
    std::optional<StoredText> valid;
    if (data.contains("valid")) valid = read_data(folder, kValid, data.at("valid"));
    std::optional<StoredText> grammar;
    if (data.contains("grammar")) grammar = read_data(folder, kGrammar, data.at("grammar"));
    run.problem = stored_problem(model_from_description(model, "", kinds), train, valid, grammar,
                                 kinds.objectives);
  });
  run.checkpoint = read_safetensors(last_file(folder));
  return run;
}

Json describe_data(const Problem& problem) {
  Json data{{"train", problem.describe_train()}};
  data["train"]["checksum"] = checksum(problem.train_text());
  if (const auto text = problem.valid_text()) {
    data["valid"] = problem.describe_valid();
    data["valid"]["checksum"] = checksum(*text);
  }
  if (problem.grammar())
    data["grammar"] = {{"name", problem.grammar()->name()},
                       {"checksum", checksum(to_text(*problem.grammar()))}};
  return data;
}

Json describe_model(const SequenceModel& model) {
  Json description{{"kind", model.kind()}, {"alphabet", model.alphabet().symbols()}};
  if (const auto* transducer = dynamic_cast<const Transducer*>(&model))
    description["target_alphabet"] = transducer->target_alphabet().symbols();
  description["options"] = model.options();
  if (const Json origins = describe_origins(model.network().origins()); !origins.empty())
    description["definitions"] = origins;
  return description;
}

Json describe_origins(const std::vector<OriginPtr>& origins) {
  Json list = Json::array();
  for (const OriginPtr& origin : origins)
    list.push_back({{"registry", origin->registry},
                    {"kind", origin->name},
                    {"file", origin->file},
                    {"line", origin->line}});
  return list;
}

namespace {

// Models of version 0.1 and before have the same passes in training and in evaluation, and in them
// only the stack of an 'nspda' rests; its option `carry` was the network's. Their `kernels` were
// called `fused`.
void complete_options(const std::string& kind, Json& options) {
  if (options.contains("fused")) {
    options["kernels"] = options["fused"];
    options.erase("fused");
  }
  const bool nspda = options.value("architecture", Json()) == "nspda";
  if (kind != "recognizer" && nspda) options.erase("carry");
  if (kind != "recognizer" || options.contains("evaluation_passes")) return;
  const Json passes = options.value("passes", Json(1));
  options["evaluation_passes"] = passes;
  if (passes != 1 && !nspda) options["memory_in_passes"] = "moves";
}

}  // namespace

SequenceModelPtr model_from_description(const Json& description, const std::string& device,
                                        const Kinds& kinds) {
  Json options = description.at("options");
  if (!device.empty()) options["device"] = device;
  const std::string kind = description.value("kind", "language_model");
  complete_options(kind, options);
  Alphabet alphabet(description.at("alphabet").get<std::vector<std::string>>());
  if (kind == "language_model")
    return std::make_shared<LanguageModel>(std::move(alphabet), options, kinds);
  if (kind == "recognizer")
    return std::make_shared<Recognizer>(std::move(alphabet), options, kinds);
  if (kind == "transducer") {
    Alphabet target(description.at("target_alphabet").get<std::vector<std::string>>());
    return std::make_shared<Transducer>(std::move(alphabet), std::move(target), options, kinds);
  }
  fail(kRunFolderPlace, "unknown kind of model '{}'", kind);
}

void set_parameters(SequenceModel& model, const TensorFile& file, const std::string& file_name) {
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const auto& [name, parameter] : model.parameters()) {
    const Tensor* stored = file.find(name);
    if (stored == nullptr)
      fail_environment(kRunFolderPlace, "'{}' has no tensor '{}'", file_name, name);
    if (stored->sizes() != parameter.sizes() || stored->scalar_type() != parameter.scalar_type())
      fail_environment(kRunFolderPlace, "'{}': tensor '{}' is {} of {}, the model's is {} of {}",
                       file_name, name, shape_text(*stored), dtype_name(stored->scalar_type()),
                       shape_text(parameter), dtype_name(parameter.scalar_type()));
    copies.emplace_back(parameter, *stored);
  }
  at::NoGradGuard no_grad;
  for (auto& [parameter, stored] : copies) parameter.copy_(stored);
  for (const auto& [name, tensor] : file.tensors)
    if (model.is_buffer(name)) model.set_buffer(name, tensor);
}

SequenceModelPtr load_model(const Path& file_or_folder, const std::string& which,
                            const std::string& device, const Kinds& kinds) {
  check(which == "best" || which == "last", "load", "which must be 'best' or 'last', got '{}'",
        which);
  Path path = file_or_folder;
  if (fs::is_directory(path)) {
    // Before the first epoch ends there is no best one.
    path = which == "best" && fs::exists(best_file(path)) ? best_file(path) : last_file(path);
    if (!fs::exists(path))
      fail_environment("load", "'{}' is not a run folder with a checkpoint ('{}' is missing)",
                       file_or_folder.string(), path.string());
  }
  const TensorFile file = read_safetensors(path);
  const auto description = file.metadata.find("model");
  if (description == file.metadata.end())
    fail_environment("load", "'{}' holds tensors but does not describe a model", path.string());
  SequenceModelPtr model;
  try {
    const Json described = parse_json(description->second);
    check_defined(
        path.string(), definitions_of(described),
        fs::is_directory(file_or_folder) ? file_or_folder : Path(),
        {{"stack", row_names(kinds.stacks)}, {"controller", row_names(kinds.controllers)}});
    model = model_from_description(described, device, kinds);
  } catch (const nlohmann::json::exception& error) {
    fail_environment("load", "'{}' describes no model: {}", path.string(), json_error(error));
  }
  set_parameters(*model, file, path.string());
  return model;
}

Json git_state(const Path& folder) {
  const auto quoted = [](std::string_view text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
  };
  // A repository's configuration can name programs that `git status` runs: a monitor of the file
  // system, filters of contents, and the transport that fetches missing objects.
  const std::string safe =
      "GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none GIT_OPTIONAL_LOCKS=0 git -C " +
      quoted(folder.string()) + " -c core.fsmonitor=false";
  const std::string commit = command_output(safe + " rev-parse HEAD");
  if (commit.empty()) return nullptr;
  std::string status = safe;
  const std::string filters = command_output(
      safe + " config --name-only --get-regexp '^filter\\..*\\.(clean|smudge|process|required)$'");
  for_each_line(filters, [&](int, std::string_view name) {
    status += " -c " + quoted(std::string(name) + (name.ends_with(".required") ? "=false" : "="));
  });
  status += " status --porcelain --untracked-files=no --ignore-submodules=all";
  return {{"commit", commit},
          {"branch", command_output(safe + " rev-parse --abbrev-ref HEAD")},
          {"dirty", !command_output(status).empty()}};
}

}  // namespace pushdown
