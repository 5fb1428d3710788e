// What language models predict: drawn strings, the next symbol, and surprisals.
#include "bindings/model/classes.h"

#include "bindings/binder/bind.h"
#include "bindings/binder/library.h"
#include "bindings/grammar/unknown.h"
#include "bindings/model/sequence.h"
#include "bindings/session/state.h"
#include "bindings/tree/classes.h"
#include "model/attachment_search.h"
#include "model/sampling.h"
#include "task/tree_attachments.h"

namespace pushdown {
namespace model_predictions {

constexpr double kMostStrings = 1e7;

struct SampleOptions {
  std::optional<std::int64_t> count, length;
  std::int64_t longest = 1000;
  double temperature = 1;
  Tokens prefix;
  std::optional<std::uint64_t> seed;
  using Self = SampleOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"count", &Self::count, "number of strings; a list is returned", Between{1, kMostStrings}},
         {"length", &Self::length,
          "number of symbols of each string, those of the prefix included; each is drawn given "
          "that the string goes on; if absent, the model ends the strings",
          Between{0, kLongestString}},
         {"longest", &Self::longest, "without a length: number of symbols after which to cut",
          Between{0, kLongestString}},
         {"temperature", &Self::temperature,
          "above 0: below 1 probable symbols become more probable, above 1 less"},
         {"prefix", &Self::prefix, "the first symbols of every string, a text or a list",
          TypeText{"text or list of texts"}},
         {"seed", &Self::seed, "random seed; if absent, the session's next seed"}});
  }
};

using Texts = std::variant<std::string, std::vector<std::string>>;
Texts drawn_texts(lua_State* L, const LanguageModel& model, const SampleOptions& options) {
  SampleRequest request;
  request.count = options.count.value_or(1);
  request.prefix = to_word(model.alphabet(), options.prefix);
  request.length = options.length;
  request.longest = options.longest;
  request.temperature = options.temperature;
  request.seed = seed_or_next(L, options.seed);
  std::vector<std::string> texts;
  for (const auto& [word, ended] : sample(model, request))
    texts.push_back(ended ? model.alphabet().text(word)
                          : model.alphabet().text(word) + (word.empty() ? "..." : " ..."));
  if (!options.count) return texts[0];
  return texts;
}

// The names of the outcomes. A symbol has no blanks, so the end has a name of its own.
std::vector<std::string> outcomes(const LanguageModel& model) {
  std::vector<std::string> names = model.alphabet().symbols();
  if (model.end_symbol())
    names.push_back(model.alphabet().find("<end>") ? "<end of string>" : "<end>");
  return names;
}

// Pushes the value that the function of pushdown.plot.predictions makes of these lists.
Results made(lua_State* L, const char* function, const std::vector<std::string>& names,
             const std::vector<double>& numbers, const std::string& title) {
  call_library(L, "pushdown.plot.predictions", function, 1, names, numbers, title);
  return {1};
}

// The option `unknown` of what has no answer for a string that no model has seen.
template <class X>
OptionRow<X> symbol_row() {
  return {"unknown", &X::unknown,
          "the symbol of the alphabet that stands for every symbol outside it; if absent, such a "
          "symbol is an error"};
}

Word word_of(const char* where, const LanguageModel& model, const Tokens& tokens,
             const UnknownSymbol& options) {
  auto word = known_word(model.alphabet(), tokens, options.unknown);
  check(word.has_value(), where,
        "unknown = 'reject': there is no answer for a string with a symbol outside the alphabet");
  return *std::move(word);
}

struct SurprisalOptions : UnknownSymbol {
  static OptionRows rows() { return declare<SurprisalOptions>({symbol_row<SurprisalOptions>()}); }
};

struct NextOptions : UnknownSymbol {
  double temperature = 1;
  using Self = NextOptions;
  static OptionRows rows() {
    return declare<Self>({{"temperature", &Self::temperature,
                           "above 0: below 1 probable symbols become more probable, above 1 less"},
                          symbol_row<Self>()});
  }
};

Results next(lua_State* L, const LanguageModel& model, const std::optional<Tokens>& prefix,
             const NextOptions& options) {
  const Word word = word_of("model.next", model, prefix.value_or(std::string()), options);
  const auto names = outcomes(model);
  check(!names.empty(), "model.next", "the model has neither symbols nor an end");
  return made(L, "next", names, next_probabilities(model, word, options.temperature),
              word.empty() ? "first symbol" : "next symbol after " + model.alphabet().text(word));
}

Results surprisal(lua_State* L, const LanguageModel& model, const Tokens& tokens,
                  const SurprisalOptions& options) {
  const Word word = word_of("model.surprisal", model, tokens, options);
  std::vector<std::string> names;
  for (const int symbol : word) names.push_back(model.alphabet().symbol(symbol));
  if (model.end_symbol()) names.push_back(outcomes(model).back());
  return made(L, "surprisal", names, surprisals(model, word), "surprisal in nats");
}

struct BeamOption {
  std::int64_t beam = 1;
  static OptionRows rows() {
    return declare<BeamOption>(
        {{"beam", &BeamOption::beam, "number of trees that the search keeps after every symbol",
          at_least(1)}});
  }
};

std::tuple<std::vector<PhraseTree>, std::vector<double>> trees(const LanguageModel& model,
                                                               const Tokens& tokens,
                                                               const BeamOption& options) {
  const Word word = to_word(model.alphabet(), tokens);
  check(!word.empty(), "model.trees", "the empty string has no tree");
  std::vector<std::string> symbols;
  for (const int symbol : word) symbols.push_back(model.alphabet().symbol(symbol));
  std::tuple<std::vector<PhraseTree>, std::vector<double>> result;
  for (const FoundTree& found : best_trees(model, word, options.beam)) {
    std::get<0>(result).push_back(tree_of(symbols, found.attachments));
    std::get<1>(result).push_back(found.log_probability);
  }
  return result;
}

struct BranchingOption {
  std::string branching = "right";
  static OptionRows rows() {
    return declare<BranchingOption>(
        {{"branching", &BranchingOption::branching,
          "where the binarized tree puts more than two daughters", OneOf{{"right", "left"}}}});
  }
};

std::tuple<double, double> tree_log_probability(const LanguageModel& model, const PhraseTree& tree,
                                                const BranchingOption& options) {
  const at::NoGradGuard guard;
  const auto row = [](const Word& word) {
    return at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
  };
  const auto found = model.tree_log_probabilities(
      row(to_word(model.alphabet(), tree.words())),
      row(attachments_of(tree, options.branching == "left" ? Branching::left : Branching::right)));
  return {found.symbols.item<double>(), found.attachments.item<double>()};
}

}  // namespace model_predictions

void bind_predictions(Class<LanguageModel>& type) {
  using namespace model_predictions;
  type.def<&drawn_texts>(
          "model:sample{options} -> string or table  Returns a string that the model draws, symbol "
          "by symbol from its own predictions, or a list of `count` strings. A string that has not "
          "ended after `longest` symbols ends with ' ...'.")
      .def<&next>(
          "model:next(prefix, {options}) -> table  Returns the probabilities of the next symbol "
          "after a prefix by symbol, that of the end under '<end>'. The value prints itself, the "
          "most probable first.")
      .def<&surprisal>(
          "model:surprisal(tokens, {options}) -> table  Returns the surprisals of a string, -log p "
          "in nats: a row {symbol, surprisal} for each symbol given those before it and for the "
          "end '<end>', and their sum as `total`. The value prints itself.")
      .def<&trees>(
          "model:trees(tokens, {options}) -> table, table  Returns the most probable trees over a "
          "string that a beam search finds, and their log-probabilities together with the string, "
          "the most probable first, for a transformer with layers pushdown_attention. The trees "
          "are binary; a string that the model leaves in several trees has no phrase over all of "
          "it. With `beam = 1` it is the tree that the model builds when it reads the string.")
      .def<&tree_log_probability>(
          "model:tree_log_probability(tree, {options}) -> number, number  Returns the natural "
          "logarithms of the probability of the symbols of a tree, and of the end, given the part "
          "of the tree before each, and of that of the tree given its symbols. Their sum is that "
          "of the string with its tree.");
}

}  // namespace pushdown
