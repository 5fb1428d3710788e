#include "train/run_folder.h"

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
    fail_environment(kRunFolderPlace, "'{}' is not JSON: {}", path.string(), error.what());
  }
}

// Runs `action`, which takes a configuration apart; what is missing or mistyped names the file.
auto understanding(const Path& path, auto action) {
  try {
    return action();
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kRunFolderPlace, "'{}' is not the configuration of a run: {}", path.string(),
                     error.what());
  } catch (const std::invalid_argument& error) {
    fail_environment(kRunFolderPlace, "'{}' is not the configuration of a run: {}", path.string(),
                     error.what());
  }
}

// What writers that were killed left behind.
void remove_temporary_files(const Path& folder) {
  for (const Path& place :
       {folder, folder / "data", folder / "checkpoints", folder / "definitions"})
    for (const auto& entry :
         fs::exists(place) ? fs::directory_iterator(place) : fs::directory_iterator())
      if (entry.path().extension() == ".tmp") remove_file(entry.path());
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

std::string identity(const Path& folder) {
  if (!fs::exists(config_file(folder))) return "";
  try {
    return read_json(config_file(folder)).value("run", "");
  } catch (const std::exception&) {
    return "";  // damaged: certainly not ours
  }
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

bool holds_run(const Path& folder) {
  return fs::exists(config_file(folder)) || fs::exists(last_file(folder));
}

RunFolder::RunFolder(const Path& folder, const Json& config, const Problem& problem, bool overwrite,
                     const std::vector<EpochMetrics>& history, std::int64_t updates)
    : folder_(folder) {
  const bool ours = identity(folder) == config.at("run").get<std::string>();
  check(ours || overwrite || !holds_run(folder), kRunFolderPlace,
        "'{}' holds another run; resume it, choose another folder, or pass overwrite = true",
        folder.string());
  make_writable_folder(folder);
  lock_ = ProcessLock(folder);
  make_writable_folder(folder / "data");
  make_writable_folder(folder / "checkpoints");
  remove_temporary_files(folder);
  if (!ours) {
    // The checkpoint goes first: what a kill leaves here is no run that could be taken for sound.
    for (const Path& path :
         {last_file(folder), best_file(folder), config_file(folder), metrics_file(folder),
          data_file(folder, kValid), data_file(folder, kGrammar), folder / "log.txt",
          folder / "curves.svg"})
      remove_file(path);
    std::error_code ignored;
    fs::remove_all(folder / "definitions", ignored);
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

void RunFolder::write_last(const TensorFile& checkpoint) const {
  write_safetensors(last_file(folder_), checkpoint);
}

void RunFolder::write_best(const TensorFile& weights) const {
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
    fail_environment("load", "'{}' describes no model: {}", path.string(), error.what());
  }
  set_parameters(*model, file, path.string());
  return model;
}

Json git_state(const Path& folder) {
  std::string quoted = "'";
  for (const char c : folder.string())
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string git = "git -C " + quoted + "' ";
  const std::string commit = command_output(git + "rev-parse HEAD");
  if (commit.empty()) return nullptr;
  return {{"commit", commit},
          {"branch", command_output(git + "rev-parse --abbrev-ref HEAD")},
          {"dirty", !command_output(git + "status --porcelain --untracked-files=no").empty()}};
}

}  // namespace pushdown
