// Whole training updates (forward, cross-entropy, backward, clipping by norm, Adam) of language
// models with an LSTM of 20 hidden units.
#include <cstdio>

#include "base/parallel.h"
#include "bench.h"
#include "model/language_model.h"
#include "train/gradient.h"
#include "train/optimizer.h"

namespace pushdown::bench {
namespace {

struct Row {
  std::string name;  // as printed
  Json stack;
  int length;
  int threads = 1;
};

void bench_update(const Row& row) {
  constexpr std::int64_t kBatch = 10, kVocabulary = 3;
  set_thread_count(row.threads);
  start_peak();
  {
    const LanguageModel model(
        Alphabet({"0", "1", "#"}),
        Json{{"controller", {{"kind", "lstm"}, {"hidden", 20}}}, {"stack", row.stack}});
    const auto optimizer = make_optimizer(model.parameters(), Json{{"learning_rate", 0.001}});
    Random random(1);
    const Tensor words = at::empty({kBatch, row.length}, at::kLong);
    for (std::int64_t i = 0; i < words.numel(); ++i)
      words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(kVocabulary));
    const double time = median_milliseconds(row.length > 100 ? 5 : 21, [&] {
      clear_gradients(model.parameters());
      (-model.log_probabilities(words).mean()).backward();
      clip_gradient_norm(model.parameters(), gradient_norm(model.parameters()), 5);
      optimizer->step();
    });
    std::printf("update model=%s n=%d batch=%d threads=%d median_ms=%.2f peak_mb=%.1f\n",
                row.name.c_str(), row.length, static_cast<int>(kBatch), row.threads, time,
                peak_megabytes());
    std::fflush(stdout);
  }
  set_thread_count(1);
}

Json nondeterministic(int states, int symbols) {
  return {{"kind", "nondeterministic"}, {"states", states}, {"symbols", symbols}};
}

}  // namespace

void bench_updates() {
  for (const int n : {40, 60, 80}) {
    bench_update({"none", {{"kind", "none"}}, n});
    for (const char* kind : {"superposition", "stratification"})
      bench_update({std::string(kind) + " size=20", {{"kind", kind}, {"size", 20}}, n});
    bench_update({"nondeterministic states=2 symbols=2", nondeterministic(2, 2), n});
  }
  bench_update({"vector_nondeterministic states=2 symbols=2 size=3",
                {{"kind", "vector_nondeterministic"}, {"size", 3}},
                80});
  bench_update({"nondeterministic states=3 symbols=2", nondeterministic(3, 2), 80});
  bench_update({"nondeterministic states=3 symbols=3", nondeterministic(3, 3), 80});
  bench_update({"nondeterministic states=2 symbols=2", nondeterministic(2, 2), 80, 2});
}

}  // namespace pushdown::bench
