// Times of growing sizes beside what their arithmetic or the caches predict. A row's prediction is
// the greater of two times: its work at the best rate of a smaller size, and the bytes that it must
// read at the rate at which a loop reads as large a memory again and again. The bar is 1.5 times
// the prediction.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "arithmetic.h"
#include "base/buffer_pool.h"
#include "bench.h"
#include "grammar/inside.h"
#include "grammar/sampler.h"
#include "grammar/text.h"
#include "random_training.h"
#include "record/run_registry.h"

namespace pushdown::bench {
namespace {

constexpr double kBar = 1.5;

using Work = std::function<void()>;

struct Row {
  std::string name;
  double work;  // multiply-adds, or another number that the time should be proportional to
  std::function<Work()> make;
  // Numbers of bytes to be read, and of how large a memory.
  std::vector<std::pair<double, double>> reads = {};
};

struct Series {
  std::string name;
  std::vector<Row> rows;  // smallest first
};

// Returns an exclusive or of all lines but the last ones, so that the compiler leaves nothing out.
__attribute__((target_clones("avx512f", "avx2", "default"))) std::uint64_t read_all(
    const std::byte* memory, std::size_t bytes) {
  using Line = std::uint64_t __attribute__((vector_size(64)));
  constexpr std::size_t kLines = 4;
  Line all[kLines] = {};
  const auto* lines = reinterpret_cast<const Line*>(memory);
  for (std::size_t i = 0; i + kLines <= bytes / sizeof(Line); i += kLines)
    for (std::size_t k = 0; k < kLines; ++k) all[k] ^= lines[i + k];
  const Line one = all[0] ^ all[1] ^ all[2] ^ all[3];
  return one[0] ^ one[1] ^ one[2] ^ one[3] ^ one[4] ^ one[5] ^ one[6] ^ one[7];
}

// Returns the bytes per second of reading this many bytes again and again.
double streaming_rate(double bytes) {
  const auto pool = std::make_shared<BufferPool>();
  const auto size = std::max<std::size_t>(static_cast<std::size_t>(bytes), 16384);
  const Buffer buffer(pool, size);
  std::memset(buffer.as<std::byte>(), 1, size);
  const std::size_t times = 1 + (std::size_t{1} << 25) / size;
  volatile std::uint64_t sink = 0;
  const auto read = [&] {
    for (std::size_t k = 0; k < times; ++k) sink = sink + read_all(buffer.as<std::byte>(), size);
  };
  return static_cast<double>(times * size) / measure(20, read, 0.3).best_ms * 1e3;
}

std::function<Work()> updates(const Json& model, const Sizes& sizes) {
  return [=] {
    const std::shared_ptr<Trainer> trainer = random_training(model, sizes);
    return [trainer] { trainer->step(); };
  };
}

Row network(const std::string& name, bool attention, const Sizes& of) {
  const Network network{attention, of};
  return {name, network.multiply_adds(), updates(network.model(), of)};
}

// An LSTM with a stack and without an embedding.
struct WithStack {
  Workload work;
  Json stack;
  std::int64_t length = 80;
};

WithStack automaton(int states, int symbols, std::int64_t channels = 0) {
  WithStack made;
  made.work.stack = "nondeterministic";
  made.work.states = states;
  made.work.symbols = symbols;
  made.work.channels = channels;
  made.stack = {{"kind", channels > 0 ? "vector_nondeterministic" : "nondeterministic"},
                {"states", states},
                {"symbols", symbols}};
  if (channels > 0) made.stack["size"] = channels;
  return made;
}

WithStack superposition(std::int64_t size) {
  WithStack made;
  made.work.stack = "superposition";
  made.work.size = size;
  made.stack = {{"kind", "superposition"}, {"size", size}};
  return made;
}

Row with_stack(const std::string& name, const WithStack& given) {
  const Workload& work = given.work;
  Row row{
      name, multiply_adds(work, static_cast<int>(given.length)),
      updates({{"controller", {{"kind", "lstm"}, {"hidden", work.hidden}}}, {"stack", given.stack}},
              {.hidden = work.hidden,
               .batch = work.batch,
               .vocabulary = work.vocabulary,
               .length = given.length})};
  if (work.stack == "superposition") {
    // Cells that a later step can pop: written once, which reads the line first, and read backward.
    const double n = static_cast<double>(given.length),
                 cells = 4.0 * static_cast<double>(work.size) * n * n / 4;
    row.reads = {{3 * static_cast<double>(work.batch) * cells, cells}};
  }
  if (work.stack != "nondeterministic") return row;
  // A step reads all columns before it: once forward, and backward once for the gradient of the pop
  // factors. Four steps together read the gradients of the columns.
  const double c = work.states * work.symbols, n = static_cast<double>(given.length),
               number = 4 * (1 + static_cast<double>(work.channels)) * c * c,
               columns = number * n * n / 2,
               once = static_cast<double>(work.batch) * number * n * n * n / 6;
  row.reads = {{once, columns}, {1.25 * once, 2 * columns}};
  return row;
}

// Nonterminals A0 .. that produce each other in pairs, all of which are different.
Grammar large_grammar(int nonterminals) {
  std::string text;
  for (int k = 0; k < nonterminals; ++k) {
    text += fmt::format("A{} -> 'a' [2] | 'b' [2]", k);
    for (const int step : {1, 3, 5, 7})
      text += fmt::format(" | A{} A{} [1]", (k + step) % nonterminals,
                          (3 * k + 2 * step + 1) % nonterminals);
    text += '\n';
  }
  return Grammar(parse_grammar(text));
}

Grammar marked_reversal() {
  return Grammar(parse_grammar("S -> '0' S '0' [30] | '1' S '1' [30] | '#' [1]"));
}

// A registry in a folder of its own, which ends with it.
class TemporaryRegistry {
 public:
  explicit TemporaryRegistry(int runs)
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("pushdown_bench_{}_{}", getpid(), runs)) {
    std::filesystem::remove_all(folder_);
    registry_.emplace(folder_ / "registry.sqlite");
    add(0, runs);
  }
  ~TemporaryRegistry() {
    registry_.reset();
    std::filesystem::remove_all(folder_);
  }
  void add(int first, int count) {
    std::vector<Json> all;
    for (int k = first; k < first + count; ++k)
      all.push_back({{"experiment", "bench"},
                     {"folder", (folder_ / std::to_string(k)).string()},
                     {"options", {{"hidden", 20}, {"rate", 0.01 * (k % 7)}}},
                     {"seed", k}});
    registry_->add(all);
  }
  RunRegistry& operator*() { return *registry_; }

 private:
  std::filesystem::path folder_;
  std::optional<RunRegistry> registry_;
};

Series of_length(const std::string& name, WithStack stack, const std::vector<int>& lengths) {
  Series series{name, {}};
  for (const int n : lengths) {
    stack.length = n;
    series.rows.push_back(with_stack(fmt::format("n {}", n), stack));
  }
  return series;
}

Series of_networks(const std::string& name, bool attention, const std::vector<Sizes>& all,
                   std::int64_t Sizes::*grows) {
  Series series{name, {}};
  for (const Sizes& of : all)
    series.rows.push_back(network(std::to_string(of.*grows), attention, of));
  return series;
}

std::vector<Series> all_series() {
  std::vector<Series> all{
      of_length("length, nondeterministic 2x2", automaton(2, 2), {80, 160, 320, 640, 1280}),
      of_length("length, vector nondeterministic 2x2 m 3", automaton(2, 2, 3), {80, 160, 320}),
      of_length("length, superposition 20", superposition(20), {80, 320, 1280}),
      of_networks("length, lstm 64 batch 10", false,
                  {{.hidden = 64, .length = 80}, {.hidden = 64, .length = 320}}, &Sizes::length),
      of_networks("length, transformer 64 batch 10", true,
                  {{.hidden = 64, .layers = 2, .length = 64},
                   {.hidden = 64, .layers = 2, .length = 256},
                   {.hidden = 64, .layers = 2, .length = 512}},
                  &Sizes::length)};
  const auto lstms = [&](const std::string& name, std::int64_t Sizes::*grows, Sizes of,
                         const std::vector<std::int64_t>& values) {
    std::vector<Sizes> sizes;
    for (const auto value : values) {
      of.*grows = value;
      sizes.push_back(of);
    }
    all.push_back(of_networks(name, false, sizes, grows));
  };
  lstms("batch, lstm 256", &Sizes::batch, {.hidden = 256, .length = 40}, {10, 32, 128});
  lstms("hidden, lstm batch 32", &Sizes::hidden, {.batch = 32, .length = 40},
        {20, 64, 256, 512, 1024});
  lstms("vocabulary, lstm 64 batch 32", &Sizes::vocabulary,
        {.hidden = 64, .batch = 32, .length = 40}, {100, 1000, 10000, 50000});
  lstms("layers, lstm 64 batch 32", &Sizes::layers, {.hidden = 64, .batch = 32, .length = 40},
        {1, 2, 4, 8});
  Series batches{"batch, nondeterministic 2x2", {}}, hidden{"hidden, nondeterministic 2x2", {}},
      sizes{"Q x S, nondeterministic n 40", {}}, words{"vocabulary without embedding, lstm 64", {}};
  for (const int batch : {10, 40, 160}) {
    WithStack stack = automaton(2, 2);
    stack.work.batch = batch;
    batches.rows.push_back(with_stack(std::to_string(batch), stack));
  }
  for (const int size : {20, 100, 256, 512, 1024}) {
    WithStack stack = automaton(2, 2);
    stack.work.hidden = size;
    hidden.rows.push_back(with_stack(std::to_string(size), stack));
  }
  for (const auto& [q, s] : {std::pair{1, 2}, {2, 2}, {2, 3}, {3, 3}, {4, 4}, {5, 5}}) {
    WithStack stack = automaton(q, s);
    stack.length = 40;
    sizes.rows.push_back(with_stack(fmt::format("{} x {}", q, s), stack));
  }
  for (const int vocabulary : {100, 1000, 10000}) {
    WithStack none;
    none.stack = {{"kind", "none"}};
    none.work.hidden = 64;
    none.work.vocabulary = vocabulary;
    words.rows.push_back(with_stack(std::to_string(vocabulary), none));
  }
  all.insert(all.end(), {batches, hidden, sizes, words});

  Series inside{"nonterminals, inside n 40", {}}, tables{"nonterminals, tables n 200", {}},
      sampled{"strings, sampled", {}}, batched{"strings, dataset and batches", {}},
      added{"runs, added", {}}, found{"runs, found", {}},
      one{"runs, one more in a registry of", {}};
  // Each pair of nonterminals reads two masses for each division of each part of a string, or of
  // each length.
  for (const int count : {8, 32, 128}) {
    const Grammar grammar = large_grammar(count);
    const double pairs = 4.0 * count, numbers = 16.0 * count;  // bytes for a part, read both ways
    inside.rows.push_back({std::to_string(count),
                           pairs,
                           [grammar] {
                             Random random(1);
                             const Word word = LengthTable(grammar, 40).sample(40, random);
                             return [grammar, word] { (void)log_probability(grammar, word); };
                           },
                           {{16 * pairs * 40 * 40 * 40 / 6, numbers * 40 * 40 / 2}}});
    tables.rows.push_back({std::to_string(count),
                           pairs,
                           [grammar] { return [grammar] { (void)LengthTable(grammar, 200); }; },
                           {{16 * pairs * 200 * 200 / 2, numbers * 200}}});
  }
  for (const int count : {1000, 10000, 100000}) {
    sampled.rows.push_back(
        {std::to_string(count), static_cast<double>(count), [count] {
           const auto sampler = std::make_shared<Sampler>(marked_reversal(), 40, 80);
           return [sampler, count] { (void)sampler->sample_batches(count, 10, 1); };
         }});
    batched.rows.push_back(
        {std::to_string(count), static_cast<double>(count), [count] {
           const Grammar grammar = marked_reversal();
           const auto strings = Sampler(grammar, 40, 80).sample_batches(count, 10, 1);
           return [grammar, strings] {
             (void)equal_length_batches(Dataset(grammar.alphabet(), strings), 10);
           };
         }});
  }
  for (const int count : {100, 1000, 10000}) {
    added.rows.push_back({std::to_string(count), static_cast<double>(count),
                          [count] { return [count] { TemporaryRegistry registry(count); }; }});
    found.rows.push_back({std::to_string(count), static_cast<double>(count), [count] {
                            const auto registry = std::make_shared<TemporaryRegistry>(count);
                            return [registry] { (void)(**registry).find(Json::object()); };
                          }});
    one.rows.push_back({std::to_string(count), 1, [count] {
                          const auto registry = std::make_shared<TemporaryRegistry>(count);
                          return [registry, next = count]() mutable { registry->add(next++, 1); };
                        }});
  }
  all.insert(all.end(), {inside, tables, sampled, batched, added, found, one});
  return all;
}

}  // namespace

void bench_growth(const std::vector<std::string>& texts) {
  const double peak = multiply_add_peak();
  std::printf("\nGrowth, one thread, ms of processor time; peak %.1f GFLOP/s\n", 2 * peak * 1e-9);
  std::printf("%-44s %-8s %11s %11s %11s %6s %s\n", "what grows", "to", "measured", "arithmetic",
              "bandwidth", "ratio", fmt::format("<= {}", kBar).c_str());
  for (const Series& series : all_series()) {
    if (!among(series.name, texts)) continue;
    double best_rate = 0;  // of the smaller sizes
    for (const Row& row : series.rows) {
      const double ms = measure(20, row.make(), 0.5).best_ms;
      double reading = 0;
      for (const auto& [bytes, memory] : row.reads) reading += bytes / streaming_rate(memory) * 1e3;
      std::printf("%-44s %-8s %11.3f", series.name.c_str(), row.name.c_str(), ms);
      if (best_rate == 0) {
        std::printf(" %11s %11s %6s\n", "-", "-", "-");
      } else {
        const double growing = row.work / best_rate, ratio = ms / std::max(growing, reading);
        std::printf(" %11.3f %11s %6.2f %s\n", growing,
                    reading == 0 ? "-" : fmt::format("{:.3f}", reading).c_str(), ratio,
                    ratio <= kBar ? "met" : "MISSED");
      }
      std::fflush(stdout);
      best_rate = std::max(best_rate, row.work / ms);
    }
  }
}

}  // namespace pushdown::bench
