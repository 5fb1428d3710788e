// Complete training updates (forward, cross-entropy, backward, clipping by norm, Adam) of language
// models with an LSTM of 20 hidden units and batch 10. They are compared with the published
// implementations, with bars, and with the multiply-add peak of the core.
#include <algorithm>
#include <cstdio>
#include <map>

#include "arithmetic.h"
#include "base/parallel.h"
#include "bench.h"
#include "grammar/sampler.h"
#include "grammar/text.h"
#include "model/language_model.h"
#include "published.h"
#include "train/learning/gradient.h"
#include "train/optimizing/optimizer.h"
#include "train/trainer.h"

namespace pushdown::bench {
namespace {

struct Model {
  std::string name;  // as printed and in published.h
  Json stack;
  Workload work;
};

Model plain(const char* kind, int size) {
  Model model{kind, {{"kind", kind}}, {}};
  model.work.stack = kind;
  if (size == 0) return model;
  model.name += " size=" + std::to_string(size);
  model.stack["size"] = model.work.size = size;
  return model;
}

Model automaton(int states, int symbols, bool normalized = true) {
  Model model{"nondeterministic " + std::to_string(states) + "x" + std::to_string(symbols),
              {{"kind", "nondeterministic"}, {"states", states}, {"symbols", symbols}},
              {}};
  model.work.stack = "nondeterministic";
  model.work.states = states;
  model.work.symbols = symbols;
  if (states == 3 && symbols == 3) model.work.vocabulary = 7;
  if (normalized) return model;
  model.name += " unnormalized";
  model.stack.update(
      Json{{"normalized", false}, {"reading", "state_symbol"}, {"bottom", "reexposed"}});
  model.work.state_symbol = true;
  return model;
}

Model vector_automaton(int size) {
  Model model = automaton(2, 2);
  model.name = "vector_" + model.name + " size=" + std::to_string(size);
  model.stack = {{"kind", "vector_nondeterministic"}, {"size", size}};
  model.work.channels = size;
  return model;
}

Model limited(Model model, int window) {
  model.name += " window=" + std::to_string(window);
  model.stack["window"] = window;
  model.work.window = window;
  return model;
}

LanguageModelPtr make_model(const Model& model) {
  std::vector<std::string> symbols;
  for (std::int64_t k = 0; k < model.work.vocabulary; ++k) symbols.push_back(std::to_string(k));
  return std::make_shared<LanguageModel>(
      Alphabet(symbols), Json{{"controller", {{"kind", "lstm"}, {"hidden", model.work.hidden}}},
                              {"stack", model.stack},
                              {"end_symbol", false}});
}

Tensor random_words(std::int64_t batch, std::int64_t length, std::int64_t vocabulary) {
  Random random(1);
  Tensor words = at::empty({batch, length}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(vocabulary));
  return words;
}

struct Result {
  Timing time;
  double peak_mb;
};

Result bench_update(const Model& model, int length, int threads = 1, int repeats = 41) {
  set_thread_count(threads);
  start_peak();
  Result result{};
  {
    const auto network = make_model(model);
    const auto optimizer = make_optimizer(network->parameters(), Json{{"learning_rate", 0.001}});
    const Tensor words = random_words(model.work.batch, length, model.work.vocabulary);
    result.time = measure(repeats, [&] {
      clear_gradients(network->parameters());
      // As the trainer does it (train/problems/language_problem.h).
      network->differentiate(words, -1.0 / static_cast<double>(words.size(0)), nullptr);
      clip_gradient_norm(network->parameters(), gradient_norm(network->parameters()), 5);
      optimizer->step();
    });
    result.peak_mb = peak_megabytes();
  }
  std::printf(
      "update model=\"%s\" n=%d batch=%d threads=%d median_ms=%.3f least_ms=%.3f best_cpu_ms=%.3f "
      "peak_mb=%.1f\n",
      model.name.c_str(), length, static_cast<int>(model.work.batch), threads,
      result.time.median_ms, result.time.least_ms, result.time.best_ms, result.peak_mb);
  std::fflush(stdout);
  set_thread_count(1);
  return result;
}

// Returns the seconds of the forward and backward pass of one long string.
Timing bench_long(int length) {
  const auto network = make_model(automaton(2, 2));
  const Tensor words = random_words(1, length, 3);
  const Timing time = measure(3, [&] { network->log_probabilities(words).sum().backward(); });
  std::printf("long model=\"nondeterministic 2x2\" n=%d batch=1 median_ms=%.0f best_cpu_ms=%.0f\n",
              length, time.median_ms, time.best_ms);
  std::fflush(stdout);
  return time;
}

// One epoch of the trainer on the paper's marked reversal: 10,000 strings of 40 to 80 symbols.
Timing bench_epoch() {
  const Grammar grammar(parse_grammar("S -> '0' S '0' [30] | '1' S '1' [30] | '#' [1]"));
  auto model = automaton(2, 2);
  const auto strings = Sampler(grammar, 40, 80).sample_batches(10000, 10, 1);
  const auto data = std::make_shared<Dataset>(grammar.alphabet(), strings);
  const auto network = std::make_shared<LanguageModel>(
      grammar.alphabet(), Json{{"controller", {{"kind", "lstm"}, {"hidden", 20}}},
                               {"stack", model.stack},
                               {"end_symbol", false}});
  Trainer trainer(network, data, nullptr, Json{{"batch", 10}});
  const Timing time = measure(2, [&] { trainer.run_epoch(); });
  std::printf(
      "epoch task=marked_reversal strings=10000 lengths=40-80 updates=%d median_ms=%.0f "
      "best_cpu_ms=%.0f\n",
      static_cast<int>(trainer.updates_per_epoch()), time.median_ms, time.best_ms);
  std::fflush(stdout);
  return time;
}

struct Bar {
  const char* model;
  int length;
  double most_ms;
};
constexpr Bar kBars[] = {{"nondeterministic 2x2", 80, 6},
                         {"nondeterministic 2x2", 40, 1.5},
                         {"nondeterministic 3x3", 80, 35},
                         {"vector_nondeterministic 2x2 size=3", 80, 24},
                         {"stratification size=20", 80, 3},
                         {"superposition size=20", 80, 3},
                         {"none", 80, 1.2}};

std::vector<Model> models() {
  return {plain("none", 0),
          plain("superposition", 20),
          plain("stratification", 20),
          automaton(2, 2),
          automaton(2, 2, false),
          vector_automaton(3),
          automaton(3, 2),
          automaton(3, 3),
          limited(automaton(2, 2), 10),
          limited(vector_automaton(3), 10),
          limited(automaton(3, 3), 10)};
}

std::string published_text(double ms) { return ms == 0 ? "-" : fmt::format("{:.4g}", ms); }
std::string ratio_text(double ms, double ours) {
  return ms == 0 ? "-" : fmt::format("{:.0f}", ms / ours);
}

}  // namespace

void bench_model(const std::string& name, int length, int repeats, int threads) {
  for (const Model& model : models())
    if (model.name == name) {
      bench_update(model, length, threads, repeats);
      return;
    }
  std::printf("no model \"%s\"\n", name.c_str());
}

void bench_updates() {
  const auto all = models();
  const double peak = multiply_add_peak();
  std::printf("peak isa=%s multiply_adds_per_s=%.3g gflops=%.1f\n", isa_name(current_isa()).c_str(),
              peak, 2 * peak / 1e9);
  std::map<std::pair<std::string, int>, Result> results;
  double most_memory = 0;
  for (const auto& published : kPublished)
    for (const Model& model : all)
      if (model.name == published.model) {
        const Result result = bench_update(model, published.length);
        most_memory = std::max(most_memory, result.peak_mb);
        results[{model.name, published.length}] = result;
      }
  const Model& main_model = all[3];
  const Timing two = bench_update(main_model, 80, 2, 401).time;
  const Timing one = bench_update(main_model, 80, 1, 401).time;
  const Timing longest = bench_long(1000);
  const Timing epoch = bench_epoch();

  std::printf(
      "\nTraining update, batch 10, LSTM with 20 hidden units, float32, one thread, ms (wall)\n");
  std::printf("%-36s %3s | %9s %6s %9s %6s | %8s %8s | %7s %7s %6s\n", "model", "n", "conll2020",
              "ratio", "newest", "ratio", "ours", "cpu", "M m-add", "GFLOP/s", "% peak");
  for (const auto& published : kPublished)
    for (const Model& model : all) {
      if (model.name != published.model) continue;
      const Timing& ours = results[{model.name, published.length}].time;
      const double count = multiply_adds(model.work, published.length);
      std::printf(
          "%-36s %3d | %9s %6s %9s %6s | %8.3f %8.3f | %7.2f %7.1f %6.1f\n", model.name.c_str(),
          published.length, published_text(published.conll2020_ms).c_str(),
          ratio_text(published.conll2020_ms, ours.median_ms).c_str(),
          published_text(published.newest_ms).c_str(),
          ratio_text(published.newest_ms, ours.median_ms).c_str(), ours.median_ms, ours.best_ms,
          count / 1e6, 2 * count / ours.best_ms / 1e6, 100 * count / (ours.best_ms * 1e-3) / peak);
    }
  std::printf(
      "conll2020, newest: the published codes on one core (tests/bench/published.h). cpu: least\n"
      "processor time of an update; GFLOP/s and share of the multiply-add peak (%.1f GFLOP/s)\n"
      "are taken from it. M m-add: millions of multiply-adds (tests/bench/arithmetic.h).\n",
      2 * peak / 1e9);

  std::printf("\nLimited memory, n = 80, the same update, ms of processor time\n");
  std::printf("%-46s | %8s | %10s %6s | %9s %6s | %7s\n", "model", "ours", "definition", "ratio",
              "unlimited", "ratio", "M m-add");
  for (const Model& model : all) {
    if (model.work.window == 0) continue;
    const auto unlimited = std::find_if(all.begin(), all.end(), [&](const Model& other) {
      return other.work.window == 0 && model.name.starts_with(other.name + " window=");
    });
    Model plain = model;
    plain.name += " by tensor operations";
    plain.stack["fast"] = false;
    const double ours = bench_update(model, 80).time.best_ms;
    const double definition = bench_update(plain, 80, 1, 3).time.best_ms;
    const double whole = results[{unlimited->name, 80}].time.best_ms;
    std::printf("%-46s | %8.3f | %10.1f %6.0f | %9.3f %6.2f | %7.2f\n", model.name.c_str(), ours,
                definition, definition / ours, whole, whole / ours,
                multiply_adds(model.work, 80) / 1e6);
  }

  std::printf("\n%-52s %9s %9s %9s\n", "bar", "at most", "wall", "cpu");
  const auto line = [](const std::string& name, double most, double wall, double processor) {
    std::printf("%-52s %9.4g %9.4g %9.4g  %s\n", name.c_str(), most, wall, processor,
                wall <= most        ? "met"
                : processor <= most ? "MISSED by wall time: the cores are shared with other work"
                                    : "MISSED");
  };
  for (const Bar& bar : kBars) {
    const Timing& time = results[{bar.model, bar.length}].time;
    line(fmt::format("{} n={}, update, ms", bar.model, bar.length), bar.most_ms, time.median_ms,
         time.best_ms);
  }
  line(fmt::format("epoch of marked reversal, s (published {:.0f}, {:.0f})", kEpochConll2020,
                   kEpochNewest),
       3.5, epoch.median_ms / 1e3, epoch.best_ms / 1e3);
  line("nondeterministic 2x2 n=1000 batch 1, s", 2, longest.median_ms / 1e3, longest.best_ms / 1e3);
  line("memory above the start, MB", 50, most_memory, most_memory);
  const double speedup = one.median_ms / two.median_ms, undisturbed = one.least_ms / two.least_ms;
  std::printf("%-52s %9s %9.4g %9s  %s (least wall times: %.4g)\n",
              "two threads, times as fast as one", ">= 1.9", speedup, "",
              speedup >= 1.9       ? "met"
              : undisturbed >= 1.9 ? "MISSED by medians: the cores are shared with other work"
                                   : "MISSED",
              undisturbed);
}

}  // namespace pushdown::bench
