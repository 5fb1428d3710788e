#include "train/records/model_file.h"

#include <set>

#include "base/check.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "model/transducer.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "model";

// Converts options of version 0.1 and before: models have the same passes in training and in
// evaluation, the stack stays fixed in further passes only for an 'nspda', `carry` was an option of
// its network, and `kernels` was called `fused`.
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

namespace {

Path exported_file(const Path& folder) { return folder / "model.safetensors"; }
Path exported_description(const Path& folder) { return folder / "model.json"; }

constexpr const char* kModelFormat = "pushdown model 1";

// model.json is a copy of the description in model.safetensors for people and other programs. A
// copy that was changed, or that another export left, would be obeyed by some readers alone.
void check_exported_description(const Path& folder, const Json& described) {
  const Path path = exported_description(folder);
  if (!fs::exists(path)) return;
  Json written = parse_json(read_file(path));
  if (written.is_object()) written.erase("format");
  const Json changes = Json::diff(described, written);
  if (!changes.empty())
    fail_environment("load",
                     "'{}' and '{}' describe different models ('{}' differs): change neither, or "
                     "export the model again",
                     path.string(), exported_file(folder).string(),
                     changes[0]["path"].get<std::string>());
}

}  // namespace

Path last_file(const Path& folder) { return folder / "checkpoints" / "last.safetensors"; }
Path best_file(const Path& folder) { return folder / "checkpoints" / "best.safetensors"; }
Path initial_file(const Path& folder) { return folder / "checkpoints" / "initial.safetensors"; }

Path definition_file(const Path& folder, const Origin& origin) {
  return folder / "definitions" / fmt::format("{}.{}.lua", origin.registry, origin.name);
}

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

Json describe_model(const SequenceModel& model) {
  Json description{{"kind", model.kind()}, {"alphabet", model.alphabet().symbols()}};
  if (const auto* transducer = dynamic_cast<const Transducer*>(&model))
    description["target_alphabet"] = transducer->target_alphabet().symbols();
  if (const auto& reading = model.alphabet().reading())
    description["reading"] = {{"words", name_of(reading->words)},
                              {"lower", reading->lower},
                              {"unknown", reading->unknown}};
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

SequenceModelPtr model_from_description(const Json& description, const std::string& device,
                                        const Kinds& kinds) {
  Json options = description.at("options");
  if (!device.empty()) options["device"] = device;
  const std::string kind = description.value("kind", "language_model");
  complete_options(kind, options);
  Alphabet alphabet(description.at("alphabet").get<std::vector<std::string>>());
  if (description.contains("reading")) {
    const Json& reading = description["reading"];
    alphabet.set_reading({word_borders(reading.at("words").get<std::string>()),
                          reading.at("lower").get<bool>(),
                          reading.at("unknown").get<std::string>()});
  }
  if (kind == "language_model")
    return std::make_shared<LanguageModel>(std::move(alphabet), options, kinds);
  if (kind == "recognizer")
    return std::make_shared<Recognizer>(std::move(alphabet), options, kinds);
  if (kind == "transducer") {
    Alphabet target(description.at("target_alphabet").get<std::vector<std::string>>());
    return std::make_shared<Transducer>(std::move(alphabet), std::move(target), options, kinds);
  }
  fail(kWhere, "unknown kind of model '{}'", kind);
}

std::map<std::string, std::string> model_metadata(const SequenceModel& model,
                                                  const std::string& format) {
  Json names = Json::array();
  for (const auto& [name, parameter] : model.parameters())
    if (!parameter.requires_grad()) names.push_back(name);
  return {
      {"format", format}, {"model", describe_model(model).dump()}, {"not_trained", names.dump()}};
}

void set_parameters(SequenceModel& model, const TensorFile& file, const std::string& file_name) {
  std::optional<std::set<std::string>> not_trained;
  if (const auto text = file.metadata.find("not_trained"); text != file.metadata.end()) try {
      not_trained = parse_json(text->second).get<std::set<std::string>>();
    } catch (const std::exception&) {
      fail_environment(kWhere, "'{}': 'not_trained' is not a list of names", file_name);
    }
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const auto& [name, parameter] : model.parameters()) {
    const Tensor* stored = file.find(name);
    if (stored == nullptr) fail_environment(kWhere, "'{}' has no tensor '{}'", file_name, name);
    if (stored->sizes() != parameter.sizes() || !stored->is_floating_point())
      fail_environment(kWhere, "'{}': tensor '{}' is {} of {}, the model's is {} of {}", file_name,
                       name, shape_text(*stored), dtype_name(stored->scalar_type()),
                       shape_text(parameter), dtype_name(parameter.scalar_type()));
    if (!at::isfinite(*stored).all().item<bool>())
      fail_environment(kWhere, "'{}': tensor '{}' has numbers that are not finite", file_name,
                       name);
    copies.emplace_back(parameter, *stored);
  }
  at::NoGradGuard no_grad;
  for (auto& [parameter, stored] : copies) parameter.copy_(stored);
  if (not_trained)
    for (auto [name, parameter] : model.parameters())
      parameter.set_requires_grad(!not_trained->contains(name));
  for (const auto& [name, tensor] : file.tensors)
    if (model.is_buffer(name)) model.set_buffer(name, tensor);
}

void check_finite(const char* place, const std::string& name, const Tensor& values) {
  check(at::isfinite(values).all().item<bool>(), place,
        "'{}' has numbers that are not finite in {}", name, dtype_name(values.scalar_type()));
}

TensorFile model_file(const SequenceModel& model, const char* place) {
  TensorFile file;
  for (const auto& [name, parameter] : model.parameters()) {
    check_finite(place, name, parameter);
    file.tensors.emplace_back(name, parameter.detach());
  }
  for (const auto& [name, buffer] : model.buffers()) file.tensors.emplace_back(name, buffer);
  file.metadata = model_metadata(model, kModelFormat);
  return file;
}

void export_model(const SequenceModel& model, const Path& folder) {
  constexpr auto kWhere = "model.export";
  const TensorFile file = model_file(model, kWhere);
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::exists(exported_file(folder), ignored))
    check(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored), kWhere,
          "'{}' is neither an empty folder nor a folder with an exported model", folder.string());
  make_writable_folder(folder);
  Json description{{"format", kModelFormat}};
  description.update(describe_model(model));
  // The parameters are written last because a folder counts as a model only if it has them.
  write_file(exported_description(folder), description.dump(2) + "\n");
  write_safetensors(exported_file(folder), file);
}

ParameterReport load_parameters(const SequenceModel& model, const ParameterList& tensors,
                                const std::string& source, bool strict) {
  constexpr auto kWhere = "model.load_parameters";
  std::map<std::string, Tensor> left;
  for (const auto& [name, tensor] : tensors)
    if (!left.emplace(name, tensor).second)
      fail_environment(kWhere, "'{}': two tensors are called '{}'", source, name);
  ParameterReport report;
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const auto& [name, parameter] : model.parameters()) {
    const auto found = left.extract(name);
    if (found.empty()) {
      report.missing.push_back(name);
      continue;
    }
    const Tensor& stored = found.mapped();
    if (stored.sizes() != parameter.sizes() || stored.scalar_type() == at::kBool) {
      const bool no_end = model.kind() == "language_model" && model.end_symbol() &&
                          name.starts_with("output.") && stored.dim() > 0 &&
                          stored.size(0) + 1 == parameter.size(0);
      fail_environment(kWhere, "'{}': tensor '{}' is {} of {}, the model's is {} of {}{}", source,
                       name, shape_text(stored), dtype_name(stored.scalar_type()),
                       shape_text(parameter), dtype_name(parameter.scalar_type()),
                       no_end ? "; for outputs without an end symbol, make the model with "
                                "end_symbol = false"
                              : "");
    }
    const Tensor converted = stored.to(parameter.scalar_type());
    if (!at::isfinite(converted).all().item<bool>())
      fail_environment(kWhere, "'{}': tensor '{}' has numbers that are not finite in {}", source,
                       name, dtype_name(parameter.scalar_type()));
    report.matched.push_back(name);
    copies.emplace_back(parameter, converted);
  }
  for (const auto& [name, tensor] : left) report.left_over.push_back(name);
  if (report.matched.empty() || (strict && !(report.missing.empty() && report.left_over.empty())))
    fail_environment(kWhere, "'{}' does not fit the model: missing {}; left over {}", source,
                     report.missing.empty() ? "none" : quoted_list(report.missing),
                     report.left_over.empty() ? "none" : quoted_list(report.left_over));
  at::NoGradGuard no_grad;
  for (auto& [parameter, stored] : copies) parameter.copy_(stored);
  return report;
}

SequenceModelPtr load_model(const Path& file_or_folder, const std::string& which,
                            const std::string& device, const Kinds& kinds) {
  check(which == "best" || which == "last", "load", "which must be 'best' or 'last', got '{}'",
        which);
  Path path = file_or_folder;
  if (fs::is_directory(path)) {
    // Until the first epoch ends, there is no best one.
    path = which == "best" && fs::exists(best_file(path)) ? best_file(path) : last_file(path);
    if (!fs::exists(path) && fs::exists(exported_file(file_or_folder)))
      path = exported_file(file_or_folder);
    if (!fs::exists(path))
      fail_environment("load", "'{}' is not a run folder with a checkpoint ('{}' is missing)",
                       file_or_folder.string(), path.string());
  }
  const TensorFile file = read_safetensors(path);
  const auto description = file.metadata.find("model");
  if (description == file.metadata.end())
    fail_environment("load", "'{}' contains tensors but no description of a model", path.string());
  SequenceModelPtr model;
  try {
    const Json described = parse_json(description->second);
    if (path == exported_file(file_or_folder))
      check_exported_description(file_or_folder, described);
    check_defined(
        path.string(), definitions_of(described),
        fs::is_directory(file_or_folder) ? file_or_folder : Path(),
        {{"stack", row_names(kinds.stacks)}, {"controller", row_names(kinds.controllers)}});
    model = model_from_description(described, device, kinds);
  } catch (const nlohmann::json::exception& error) {
    fail_environment("load", "'{}' does not describe a model: {}", path.string(),
                     json_error(error));
  } catch (const std::invalid_argument& error) {
    fail_environment("load", "'{}' does not describe a model: {}", path.string(), error.what());
  }
  set_parameters(*model, file, path.string());
  return model;
}

}  // namespace pushdown
