// Samplers of grammars, and datasets of pd.task. labelled.cpp has labelled strings,
// text.cpp running texts and corpora, and numbers.cpp number prediction.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/grammar/classes.h"
#include "bindings/grammar/unknown.h"
#include "bindings/session/state.h"
#include "bindings/task/classes.h"
#include "bindings/tree/classes.h"
#include "grammar/semiring.h"
#include "task/dataset_text.h"
#include "task/sampled_dataset.h"
#include "task/tree_attachments.h"

namespace pushdown {
namespace task_module {

const OneOf kBranchings{{"right", "left"}};
Branching branching_of(const std::string& name) {
  return name == "left" ? Branching::left : Branching::right;
}

struct OwnDataset {
  GivenAlphabet alphabet;
  std::vector<Tokens> strings;
  TreeList trees;
  std::string branching = "right";
  std::optional<std::vector<double>> log_probabilities;
  using Self = OwnDataset;
  static OptionRows rows() {
    return declare<Self>(
        {{"alphabet", &Self::alphabet, "symbols of the strings", required},
         {"strings", &Self::strings, "the strings; required without trees",
          TypeText{"list of strings"}},
         {"trees", &Self::trees,
          "trees over the strings, in place of strings; they are binarized, and models that read "
          "trees learn from them"},
         {"branching", &Self::branching, "with trees: where more than two daughters go",
          kBranchings},
         {"log_probabilities", &Self::log_probabilities,
          "natural logarithm of the probability of each string"}});
  }
};

Dataset make_dataset(const OwnDataset& own) {
  constexpr auto kWhere = "task.dataset";
  Alphabet alphabet = alphabet_of(own.alphabet);
  check(own.strings.empty() || own.trees.empty(), kWhere, "give strings or trees, not both");
  auto words = to_words(alphabet, own.strings);
  std::vector<Attachments> attachments;
  for (const auto& tree : own.trees) {
    words.push_back(to_word(alphabet, tree->words()));
    attachments.push_back(attachments_of(*tree, branching_of(own.branching)));
  }
  const Dataset dataset =
      own.log_probabilities ? Dataset(std::move(alphabet), std::move(words), *own.log_probabilities)
                            : Dataset(std::move(alphabet), std::move(words));
  return attachments.empty() ? dataset : dataset.with_attachments(std::move(attachments));
}

std::vector<PhraseTree> trees_of(const Dataset& dataset) {
  check(dataset.has_attachments(), "dataset.trees", "the strings have no trees");
  std::vector<PhraseTree> trees;
  for (std::size_t i = 0; i < dataset.words().size(); ++i) {
    std::vector<std::string> symbols;
    for (const int symbol : dataset.words()[i])
      symbols.push_back(dataset.alphabet().symbol(symbol));
    check(!symbols.empty(), "dataset.trees", "string {} is empty and has no tree", i + 1);
    trees.push_back(tree_of(symbols, dataset.attachments()[i]));
  }
  return trees;
}

std::string line_of(const Dataset& dataset) {
  auto lengths = lengths_of(dataset);
  const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
  return fmt::format("Dataset: {} string{} of {}, {} symbols in all{}", dataset.size(),
                     dataset.size() == 1 ? "" : "s", length_text(*low, *high),
                     dataset.symbol_count(), dataset.has_attachments() ? ", with trees" : "");
}

struct DatasetOptions {
  std::optional<std::uint64_t> seed;
  std::int64_t batch = 10;
  std::optional<std::string> trees;
  using Self = DatasetOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"seed", &Self::seed, "random seed"},
         {"batch", &Self::batch, "number of consecutive strings of one length", at_least(1)},
         {"trees", &Self::trees,
          "keeps the trees of the strings, binarized to the right or left, for models that read "
          "trees; the strings are then others than without trees",
          kBranchings}});
  }
};

Dataset sampler_dataset(lua_State* L, const Sampler& sampler, std::int64_t count,
                        const DatasetOptions& options) {
  const auto seed = seed_or_next(L, options.seed);
  return options.trees ? sample_tree_dataset(sampler, count, options.batch, seed,
                                             branching_of(*options.trees))
                       : sample_dataset(sampler, count, options.batch, seed);
}

using TaskStrings = std::variant<std::shared_ptr<Dataset>, std::vector<Tokens>>;

struct EventOptions {
  bool end_symbol = true;
  static OptionRows rows() {
    return declare<EventOptions>(
        {{"end_symbol", &EventOptions::end_symbol,
          "of whole strings; false: of each symbol given those before it and that the string goes "
          "on, which a model with end_symbol = false predicts"}});
  }
};

double sampler_lower_bound(const Sampler& sampler, const TaskStrings& strings,
                           const EventOptions& options) {
  const auto& alphabet = sampler.grammar().alphabet();
  if (const auto* dataset = std::get_if<std::shared_ptr<Dataset>>(&strings)) {
    check_same_alphabet("sampler.lower_bound", "the dataset and the sampler",
                        (*dataset)->alphabet(), alphabet);
    return sampler.lower_bound((*dataset)->words(), options.end_symbol);
  }
  return sampler.lower_bound(to_words(alphabet, std::get<std::vector<Tokens>>(strings)),
                             options.end_symbol);
}

// ---- Samplers ----

std::string sampler_line(const Sampler& sampler) {
  return fmt::format("Sampler{}: lengths {} to {}, of which {} ha{} strings",
                     sampler.grammar().name().empty() ? "" : " of " + sampler.grammar().name(),
                     sampler.shortest(), sampler.longest(), sampler.lengths().size(),
                     sampler.lengths().size() == 1 ? "s" : "ve");
}

Texts sampler_sample(lua_State* L, const Sampler& sampler, const DrawOptions& options) {
  Random random(seed_or_next(L, options.seed), "strings");
  return drawn(sampler.grammar().alphabet(), options.count, [&] { return sampler.sample(random); });
}

struct StringOptions : EventOptions, UnknownSymbol {
  static OptionRows rows() {
    return OptionRows().with<StringOptions, EventOptions>().with<StringOptions, UnknownSymbol>();
  }
};

double sampler_log_probability(const Sampler& sampler, const Tokens& tokens,
                               const StringOptions& options) {
  const auto word = known_word(sampler.grammar().alphabet(), tokens, options.unknown);
  return word ? sampler.log_probability(*word, options.end_symbol) : kMinusInfinity;
}

struct EntropyOptions {
  std::int64_t strings = 1000;
  std::optional<std::uint64_t> seed;
  using Self = EntropyOptions;
  static OptionRows rows() {
    return declare<Self>({{"strings", &Self::strings, "number of strings to draw", at_least(2)},
                          {"seed", &Self::seed, "random seed"}});
  }
};

std::tuple<double, double> estimate_entropy(lua_State* L, const Sampler& sampler,
                                            const EntropyOptions& options) {
  const auto estimate = sampler.estimate_entropy(options.strings, seed_or_next(L, options.seed));
  return {estimate.value, estimate.standard_error};
}

void bind_sampler(Module& module) {
  Class<Sampler>(module, "Draws strings whose lengths lie in an interval.")
      .def<&sampler_log_probability>(
          "sampler:log_probability(tokens, {options}) -> number  Returns the natural logarithm of "
          "the probability that the sampler draws this string.")
      .def<&sampler_sample>(
          "sampler:sample{options} -> string or table  Returns a random string, or a list of "
          "`count` strings.")
      .def<&sampler_dataset>(
          "sampler:dataset(count, {options}) -> Dataset  Returns a dataset of random strings, with "
          "`trees` also of their trees.")
      .def<&sampler_lower_bound>(
          "sampler:lower_bound(dataset, {options}) -> number  Returns the cross-entropy of the "
          "sampler itself on the strings in nats per symbol.")
      .def<&Sampler::entropy>(
          "sampler:entropy() -> number  Returns the exact entropy in nats per string. The grammar "
          "must be declared unambiguous.")
      .def<&Sampler::expected_lower_bound>(
          "sampler:expected_lower_bound() -> number  Returns the exact entropy divided by the mean "
          "length, in nats per symbol. It is the limit of the lower bound for ever larger "
          "datasets.")
      .def<&estimate_entropy>(
          "sampler:estimate_entropy{options} -> number, number  Returns an estimate of the entropy "
          "in nats per string from random strings, and its standard error.")
      .def<&Sampler::lengths>("sampler:lengths() -> table  Returns the lengths that have strings.")
      .def<&Sampler::grammar>(
          "sampler:grammar() -> Grammar  Returns the grammar that it draws from.")
      .def<&sampler_line>("tostring(sampler) -> string  Returns one line about the sampler.");
}

}  // namespace task_module

void bind_task(lua_State* L) {
  using namespace task_module;
  Module module(L, "task",
                "Datasets: strings with probabilities, strings with labels, pairs and text.");
  module
      .def<&make_dataset>(
          "dataset{options} -> Dataset  Returns a dataset of given strings or trees.")
      .def<&load_data<&parse_dataset>>(
          "load_dataset(path) -> Dataset  Returns the dataset in a file that dataset:save wrote.");
  Class<Dataset>(module, "Strings over one alphabet, with their probabilities if they are known.")
      .def<&Dataset::size>("dataset:size() -> integer  Returns the number of strings.")
      .def<&strings_of<Dataset>>(
          "dataset:strings() -> table  Returns the strings as texts with blanks between symbols.")
      .def<&lengths_of<Dataset>>("dataset:lengths() -> table  Returns the length of every string.")
      .def<&Dataset::symbol_count>(
          "dataset:symbol_count() -> integer  Returns the total number of symbols.")
      .def<&Dataset::alphabet>(
          "dataset:alphabet() -> Alphabet  Returns the symbols of the language.")
      .def<[](const Dataset& dataset, const EventOptions& options) {
        return dataset.log_probabilities(options.end_symbol);
      }>("dataset:log_probabilities{options} -> table  Returns the natural logarithms of the "
         "probabilities of the strings in the distribution that they were drawn from.")
      .def<[](const Dataset& dataset, const EventOptions& options) {
        return dataset.lower_bound(options.end_symbol);
      }>("dataset:lower_bound{options} -> number  Returns the cross-entropy of that distribution "
         "itself in nats per symbol.")
      .def<&trees_of>(
          "dataset:trees() -> table  Returns the binary trees over the strings, without labels. An "
          "error if the strings have none, or one is empty.")
      .def<&Dataset::without_attachments>(
          "dataset:without_trees() -> Dataset  Returns the same strings without their trees.")
      .def<&save_data<Dataset>>("dataset:save(path)  Writes a text file with one string per line.")
      .def<&line_of>("tostring(dataset) -> string  Returns one line about the dataset.");
  bind_labelled(module);
  bind_running_text(module);
  bind_sentences(module);
  bind_pairs(module);
  bind_number(module);
  bind_sampler(module);
}

}  // namespace pushdown
