// pd.grammar: rules and probabilities from trees and from sentences.
#include "bindings/grammar/classes.h"

#include "base/check.h"
#include "bindings/binder/script_call.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/log.h"
#include "bindings/task/classes.h"
#include "bindings/tree/classes.h"
#include "grammar/inside_outside.h"
#include "task/treebank_grammar.h"

namespace pushdown {
namespace grammar_estimation {

constexpr auto kFit = "grammar.fit";

using Sentences = std::variant<std::shared_ptr<Dataset>, std::vector<Tokens>>;

std::vector<Word> words_of(const Alphabet& alphabet, const Sentences& sentences) {
  if (const auto* dataset = std::get_if<std::shared_ptr<Dataset>>(&sentences)) {
    check_same_alphabet(kFit, "the dataset and the grammar", (*dataset)->alphabet(), alphabet);
    return (*dataset)->words();
  }
  std::vector<Word> words;
  for (const auto& tokens : std::get<std::vector<Tokens>>(sentences)) try {
      words.push_back(to_word(alphabet, tokens));
    } catch (const std::invalid_argument& error) {
      std::string_view reason = error.what();
      if (const auto end = reason.find("] "); reason.starts_with('[') && end != reason.npos)
        reason.remove_prefix(end + 2);
      fail(kFit, "sentence {}: {}", words.size() + 1, reason);
    }
  return words;
}

struct FitOptions {
  std::int64_t iterations = 10;
  double tolerance = 0;
  bool print = true;
  using Self = FitOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"iterations", &Self::iterations, "maximum number of iterations", at_least(1)},
         {"tolerance", &Self::tolerance,
          "stops when the log-likelihood grows by less than this share of it", Between{0, 1}},
         {"print", &Self::print, "prints the log-likelihood after each iteration"}});
  }
};

void print_line(lua_State* L, const std::string& line) {
  lua_getglobal(L, "print");
  Value<std::string>::push(L, line);
  call_lua(L, 1, 0);
}

// The grammar and the log-likelihoods before the first and after each iteration.
std::tuple<Grammar, std::vector<double>> fit(lua_State* L, Grammar grammar,
                                             const Sentences& sentences,
                                             const FitOptions& options) {
  const SentenceCounts counts(grammar.alphabet(), words_of(grammar.alphabet(), sentences));
  std::vector<double> likelihoods;
  // Returns whether another iteration may help.
  const auto note = [&](double value) {
    if (options.print)
      print_line(L, fmt::format("iteration {}  log-likelihood {:.6f}", likelihoods.size(), value));
    const bool gains =
        likelihoods.empty() || value - likelihoods.back() > options.tolerance * std::fabs(value);
    likelihoods.push_back(value);
    return gains;
  };
  for (std::int64_t i = 0; i < options.iterations; ++i) {
    auto [next, likelihood] = reestimated(grammar, counts);
    if (!note(likelihood)) return {grammar, std::move(likelihoods)};
    grammar = std::move(next);
  }
  note(log_likelihood(grammar, counts));
  return {warned(std::move(grammar)), std::move(likelihoods)};
}

struct TreeOptions {
  std::string start, name;
  using Self = TreeOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"start", &Self::start,
          "start symbol above all trees; if absent, the label at the top of all trees, or ROOT"},
         {"name", &Self::name, "name of the grammar"}});
  }
};

Grammar from_trees(const TreeList& trees, const TreeOptions& options) {
  std::vector<const PhraseTree*> list;
  for (const auto& tree : trees) list.push_back(tree.get());
  auto source = treebank_grammar(list, options.start);
  source.name = options.name;
  return warned(Grammar(source));
}

}  // namespace grammar_estimation

void bind_grammar_estimation(Module& module, Class<Grammar>& grammar) {
  using namespace grammar_estimation;
  module.def<&from_trees>(
      "from_trees(trees, {options}) -> Grammar  Returns the grammar of the trees of a treebank: "
      "their rules, with their relative frequencies as probabilities.");
  grammar.def<&fit>(
      "grammar:fit(sentences, {options}) -> Grammar, table  Returns the grammar with probabilities "
      "estimated from sentences by the inside-outside algorithm, and the log-likelihoods of all "
      "sentences in nats, before the first and after each iteration. `sentences` is a list or a "
      "Dataset. Raises an error for a sentence outside the language.");
}

}  // namespace pushdown
