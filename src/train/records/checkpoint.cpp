// The content of a trainer's checkpoint, and resuming from one.
//
// Tensors: the weights under their own names, best.* (those of the best epoch, once there is one),
// optimizer.*, carried.1 and so on (the state from which the next batch continues, if any).
// Metadata: those of model_metadata(), "run" (identity), "state" (JSON: counters, learning rate,
// schedule, generator and position, sums over the current epoch, history).
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "train/trainer.h"

namespace pushdown {
namespace {

constexpr const char* kFormat = "pushdown checkpoint 1";

// Options that a resumed run may change: they affect only the rest of the run.
const std::vector<std::string>& changeable() {
  static const std::vector<std::string> names{"epochs",
                                              "stop_patience",
                                              "decay_patience",
                                              "decay_factor",
                                              "minimum_learning_rate",
                                              "minimum_improvement",
                                              "clip_norm",
                                              "clip_value",
                                              "checkpoint_every",
                                              "checkpoint_seconds",
                                              "log_every",
                                              "max_seconds"};
  return names;
}

// Options that affected the past; a checkpoint only fits a trainer that has the same values.
std::vector<const char*> fixed_names(const Problem& problem) {
  std::vector<const char*> names{"batch", "average",   "accumulate", "optimizer",
                                 "seed",  "annealing", "noise"};
  names.insert(names.end(), problem.fixed_options().begin(), problem.fixed_options().end());
  return names;
}

ParameterList with_prefix(const TensorFile& file, const std::string& prefix) {
  ParameterList found;
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) found.emplace_back(name.substr(prefix.size()), tensor);
  return found;
}

}  // namespace

Json Trainer::config() const {
  Json config{{"run", run_}, {"seed", options_["seed"]}};
  if (about_.is_object()) config.update(about_);
  config["model"] = describe_model(*model_);
  config["trainer"] = options_;
  if (const Json origins = describe_origins(problem_->origins()); !origins.empty())
    config["definitions"] = origins;
  config["data"] = describe_data(*problem_);
  config["threads"] = thread_count();
  return config;
}

TensorFile Trainer::best_file() const {
  TensorFile file;
  const auto& parameters = model_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    file.tensors.emplace_back(parameters[i].first, best_[i]);
  for (const auto& [name, buffer] : model_->buffers()) file.tensors.emplace_back(name, buffer);
  const auto& best = history_[history_.back().best_epoch - 1];
  file.metadata = model_metadata(*model_, "pushdown model 1");
  file.metadata.insert({{"run", run_}, {"epoch", to_json(best).dump()}});
  return file;
}

TensorFile Trainer::state() const {
  TensorFile file;
  const auto& parameters = model_->parameters();
  const bool set_aside = uses_best();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    file.tensors.emplace_back(parameters[i].first,
                              set_aside ? last_[i] : parameters[i].second.detach());
  for (const auto& [name, buffer] : model_->buffers()) file.tensors.emplace_back(name, buffer);
  for (std::size_t i = 0; i < best_.size(); ++i)
    file.tensors.emplace_back("best." + parameters[i].first, best_[i]);
  for (const auto& [name, tensor] : optimizer_->state())
    file.tensors.emplace_back("optimizer." + name, tensor);
  const auto carried = problem_->carried(order_->position());
  for (std::size_t i = 0; i < carried.size(); ++i)
    file.tensors.emplace_back(fmt::format("carried.{}", i + 1), carried[i]);
  Json history = Json::array();
  for (const auto& epoch : history_) history.push_back(to_json(epoch));
  Json fixed = Json::object();
  for (const char* name : fixed_names(*problem_)) fixed[name] = options_[name];
  const Json state{{"options", fixed},
                   {"updates", updates_},
                   {"position", order_->position()},
                   {"generator", order_->generator()},
                   {"batches", order_->count()},
                   {"learning_rate", learning_rate()},
                   {"schedule", schedule_->state()},
                   {"phase", phase_},
                   {"phase_epochs", phase_epochs_},
                   {"converged", converged_},
                   {"epoch_loss", epoch_sum_.loss},
                   {"epoch_symbols", epoch_sum_.units},
                   {"epoch_correct", epoch_sum_.correct},
                   {"epoch_strings", epoch_strings_},
                   {"epoch_norms", epoch_norms_},
                   {"epoch_seconds", epoch_seconds_},
                   {"last_loss", last_loss_},
                   {"history", history}};
  file.metadata = model_metadata(*model_, kFormat);
  file.metadata.insert({{"run", run_}, {"state", state.dump()}});
  return file;
}

void Trainer::restore(const TensorFile& file, const std::string& file_name) {
  const auto refuse = [&](const std::string& why) {
    fail_environment("train.restore", "'{}' is not a checkpoint of this run: {}", file_name, why);
  };
  const auto format = file.metadata.find("format"), text = file.metadata.find("state");
  if (format == file.metadata.end() || format->second != kFormat || text == file.metadata.end())
    refuse(fmt::format("it is not marked as '{}'", kFormat));
  try {
    const Json state = parse_json(text->second);
    // Checks everything that can be wrong on copies first.
    for (const char* name : fixed_names(*problem_)) {
      const Json& mine = options_[name];
      // Older checkpoints lack newer options, which then have their defaults.
      Json stored = state.at("options").value(name, mine);
      if (stored.is_object() && mine.is_object())
        for (const auto& [key, value] : mine.items())
          if (!stored.contains(key)) stored[key] = value;
      // The order of keys is irrelevant.
      if (nlohmann::json(stored) != nlohmann::json(mine))
        refuse(fmt::format("option '{}' is {} in the checkpoint, but {} in config.json", name,
                           stored.dump(), mine.dump()));
    }
    std::vector<EpochMetrics> history;
    for (const auto& epoch : state.at("history")) history.push_back(epoch_metrics_from_json(epoch));
    for (const auto& epoch : history)
      if (epoch.best_epoch < 1 || epoch.best_epoch > epoch.epoch ||
          epoch.epoch != &epoch - history.data() + 1)
        refuse("its history does not list consecutive epochs");
    Schedule schedule = *schedule_;
    schedule.set_state(state.at("schedule"));
    // The best epoch is one of the history.
    if (schedule.since_best() < 0 ||
        schedule.since_best() >= std::ssize(history) + (schedule.best() ? 0 : 1))
      refuse(fmt::format("it has {} epochs, but the best one is {} epochs before the last",
                         history.size(), schedule.since_best()));
    // The first checkpoint format had no phases.
    const std::int64_t phase = state.value("phase", 0),
                       phase_epochs = state.value("phase_epochs", 0),
                       correct = state.value("epoch_correct", 0),
                       strings = state.value("epoch_strings", 0);
    const bool converged = state.value("converged", false);
    if (phase < 0 || phase >= static_cast<std::int64_t>(phases_.size()))
      refuse(fmt::format("its phase is {}, but there are {} phases", phase + 1, phases_.size()));
    BatchOrder order = order_of(phase);
    if (state.at("batches") != order.count())
      refuse(fmt::format("it has {} batches per epoch, but the data give {}",
                         state.at("batches").dump(), order.count()));
    order.restore(state.at("generator"), state.at("position"));
    const double learning_rate = state.at("learning_rate"), loss = state.at("epoch_loss"),
                 symbols = state.at("epoch_symbols"), norms = state.at("epoch_norms"),
                 seconds = state.at("epoch_seconds"), last_loss = state.at("last_loss");
    const std::int64_t updates = state.at("updates");
    ParameterList best = with_prefix(file, "best.");
    const auto& parameters = model_->parameters();
    if (best.empty() != history.empty() || (!best.empty() && best.size() != parameters.size()))
      refuse("the weights of the best epoch are not complete");
    std::vector<Tensor> best_tensors;
    for (const auto& [name, parameter] : parameters) {
      const Tensor* stored = file.find("best." + name);
      if (best.empty()) break;
      if (stored == nullptr || stored->sizes() != parameter.sizes() ||
          stored->scalar_type() != parameter.scalar_type())
        refuse(fmt::format("tensor 'best.{}' does not fit the model", name));
      best_tensors.push_back(stored->to(parameter.device()).clone());
    }
    auto optimizer = make_optimizer(parameters, options_["optimizer"]);
    optimizer->set_state(with_prefix(file, "optimizer."));
    optimizer->set_learning_rate(learning_rate);
    // Back to the phase that is current in the end, also after an error.
    const std::shared_ptr<void> current(nullptr, [this](void*) { problem_->enter(running()); });
    problem_->enter(phases_[phase]);
    std::vector<Tensor> carried;
    while (const Tensor* tensor = file.find(fmt::format("carried.{}", carried.size() + 1)))
      carried.push_back(*tensor);
    problem_->carry_on(order.position(), carried);
    set_parameters(*model_, file, file_name);

    history_ = std::move(history);
    schedule_ = schedule;
    order_ = order;
    optimizer_ = std::move(optimizer);
    best_ = std::move(best_tensors);
    last_.clear();
    updates_ = updates;
    phase_ = phase;
    phase_epochs_ = phase_epochs;
    converged_ = converged;
    epoch_sum_ = {loss, symbols, correct};
    epoch_strings_ = strings;
    epoch_norms_ = norms;
    epoch_seconds_ = seconds;
    last_loss_ = last_loss;
  } catch (const nlohmann::json::exception& error) {
    refuse(json_error(error));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

std::vector<OptionSpec> resume_options() {
  std::vector<OptionSpec> specs;
  for (OptionSpec spec : trainer_options({}))
    if (std::find(changeable().begin(), changeable().end(), spec.name) != changeable().end()) {
      spec.default_value = nullptr;
      specs.push_back(spec);
    }
  return specs;
}

// The trainer of a stored run. `given`: the values of resume_options(), null for those that stay.
std::unique_ptr<Trainer> resumed(const Path& folder, const StoredRun& run, const Json& given,
                                 const Json& about) {
  constexpr const char* kWhere = "train.resume";
  const std::string file_name = (folder / "config.json").string();
  std::unique_ptr<Trainer> trainer;
  try {
    Json options = run.config.at("trainer");
    // Before this option, every batch had the same weight, and only transducers had a choice.
    if (!options.contains("average"))
      options["average"] = options.value("loss_per", "") == "pair" ? "strings" : "batches";
    options.erase("loss_per");
    options["run_folder"] = nullptr;  // the folder may have been moved
    options["overwrite"] = false;
    for (const auto& [key, value] : given.items())
      if (!value.is_null()) options[key] = value;
    Json history = run.config;
    for (const char* key : {"run", "seed", "model", "trainer", "definitions", "data", "threads"})
      history.erase(key);
    Json again{{"changes", Json::object()}};
    for (const auto& [key, value] : given.items())
      if (!value.is_null()) again["changes"][key] = value;
    if (about.is_object()) again.update(about);
    history["resumed"].push_back(again);
    trainer = std::make_unique<Trainer>(run.problem, options, history);
    trainer->run_ = run.config.at("run").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    fail_environment(kWhere, "'{}' is not the configuration of a run: {}", file_name,
                     json_error(error));
  } catch (const std::invalid_argument& error) {
    fail_environment(kWhere, "'{}' does not describe a run: {}", file_name, error.what());
  }
  trainer->restore(run.checkpoint, (folder / "checkpoints" / "last.safetensors").string());
  trainer->options_["run_folder"] = folder.string();
  trainer->open_run_folder(folder, false);
  return trainer;
}

std::unique_ptr<Trainer> resume_trainer(const Path& folder, const Json& changes, const Json& about,
                                        const TrainingKinds& kinds) {
  const StoredRun run = read_run(folder, kinds);
  return resumed(folder, run, resolve_options("train.resume", resume_options(), changes), about);
}

std::unique_ptr<Trainer> continue_trainer(const SequenceModelPtr& model, const Json& options,
                                          const Json& about, const TrainingKinds& kinds) {
  const Path folder = options.at("run_folder").get<std::string>();
  const StoredRun run = read_run(folder, kinds, model);
  Json wanted = options, changes = Json::object();
  wanted["run_folder"] = nullptr;
  wanted = Trainer(run.problem, wanted).options();
  for (const auto& name : changeable()) {
    if (options.contains(name)) changes[name] = options[name];
    wanted.erase(name);
  }
  for (const char* name : {"run_folder", "overwrite"}) wanted.erase(name);
  if (!options.contains("seed")) wanted.erase("seed");
  for (const auto& [name, now] : wanted.items()) {
    const Json before = run.config.at("trainer").value(name, now);
    check(
        nlohmann::json(before) == nlohmann::json(now), "train.trainer",
        "'{}' contains a run with another {}: expected {}, got {}; choose another folder, or pass "
        "overwrite = true",
        folder.string(), name, before.dump(), now.dump());
  }
  return resumed(folder, run, changes, about);
}

}  // namespace pushdown
