#include "bindings/grammar/classes.h"

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/library.h"
#include "bindings/grammar/unknown.h"
#include "grammar/best_parses.h"
#include "grammar/device_inside.h"
#include "grammar/inside.h"
#include "grammar/membership.h"
#include "grammar/parse_count.h"
#include "grammar/semiring.h"

namespace pushdown {
namespace grammar_queries {

// The string, or nothing if it has a symbol outside the alphabet that no string has.
std::optional<Word> asked(const Grammar& grammar, const Tokens& tokens,
                          const UnknownSymbol& options) {
  return known_word(grammar.alphabet(), tokens, options.unknown);
}

double log_probability(const Grammar& grammar, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  return word ? log_probability(grammar, *word) : kMinusInfinity;
}

struct ScoreOptions {
  std::vector<Tokens> strings;
  std::string device = "cpu";
  std::optional<std::string> unknown;
  using Self = ScoreOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"strings", &Self::strings, "the strings", required, TypeText{"list of strings"}},
         {"device", &Self::device, "all threads of the processor, or a CUDA device",
          OneOf{{"cpu", "cuda"}}},
         unknown_row<Self>()});
  }
};

std::vector<double> log_probabilities(const Grammar& grammar, const ScoreOptions& options) {
  std::vector<double> values(options.strings.size(), kMinusInfinity);
  std::vector<Word> words;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (auto word = known_word(grammar.alphabet(), options.strings[i], options.unknown)) {
      words.push_back(*std::move(word));
      places.push_back(i);
    }
  const auto found = options.device == "cpu" ? log_probabilities(grammar, words)
                                             : device_log_probabilities(grammar, words);
  for (std::size_t i = 0; i < found.size(); ++i) values[places[i]] = found[i];
  return values;
}

bool contains(const Grammar& grammar, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  return word && Membership(grammar).contains(*word);
}

bool viable_prefix(const Grammar& grammar, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  Membership membership(grammar);
  for (const int symbol : word.value_or(Word())) membership.push(symbol);
  return word && membership.viable();
}

struct ViableOptions {
  std::vector<Tokens> strings;
  static OptionRows rows() {
    return declare<ViableOptions>({{"strings", &ViableOptions::strings, "the strings", required,
                                    TypeText{"list of strings"}}});
  }
};

// A symbol outside the alphabet fits nowhere.
std::tuple<std::vector<std::int64_t>, std::vector<bool>> viable_lengths(
    const Grammar& grammar, const ViableOptions& options) {
  Membership membership(grammar);
  std::tuple<std::vector<std::int64_t>, std::vector<bool>> result;
  auto& [lengths, inside] = result;
  for (const Tokens& tokens : options.strings) {
    membership.clear();
    const auto symbols = symbols_of(tokens);
    std::size_t length = 0;
    for (bool viable = membership.viable(); viable && length < symbols.size(); length += viable) {
      const auto symbol = grammar.alphabet().find(symbols[length]);
      if (symbol) membership.push(*symbol);
      viable = symbol && membership.viable();
    }
    lengths.push_back(static_cast<std::int64_t>(length));
    inside.push_back(length == symbols.size() && membership.accepts());
  }
  return result;
}

std::optional<Derivation> parse(const Grammar& grammar, const Tokens& tokens,
                                const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  auto parse = word ? best_parse(grammar, *word) : std::nullopt;
  if (!parse) return std::nullopt;
  return Derivation{grammar, std::move(*parse)};
}

struct ParsesOptions : UnknownSymbol {
  std::int64_t best = 10;
  using Self = ParsesOptions;
  static OptionRows rows() {
    return declare<Self>({{"best", &Self::best, "maximum number of derivations", Between{1, 1e6}},
                          unknown_row<Self>()});
  }
};

std::vector<Derivation> parses(const Grammar& grammar, const Tokens& tokens,
                               const ParsesOptions& options) {
  std::vector<Derivation> list;
  if (const auto word = asked(grammar, tokens, options))
    for (auto& parse : best_parses(grammar, *word, options.best))
      list.push_back({grammar, std::move(parse)});
  return list;
}

double count_parses(const Grammar& grammar, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  return word ? parse_count(grammar, *word) : 0;
}

double log_count_parses(const Grammar& grammar, const Tokens& tokens,
                        const UnknownSymbol& options) {
  const auto word = asked(grammar, tokens, options);
  return word ? log_parse_count(grammar, *word) : kMinusInfinity;
}

struct CoverageOptions {
  std::optional<std::string> text, format, words, unknown;
  std::optional<bool> header, lower;
  using Self = CoverageOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"text", &Self::text, "column of the sentences in a file: 'text' if absent"},
         {"header", &Self::header,
          "the file has a line with the names of its columns; false: text is a number"},
         {"format", &Self::format,
          "the format, if the name of the file does not end so: txt (a sentence a line), jsonl, "
          "csv "
          "or tsv"},
         {"words", &Self::words,
          "how the words of a sentence are separated, as in pd.task.sentences: 'blanks' if absent",
          OneOf{{"blanks", "unicode", "characters"}}},
         {"lower", &Self::lower, "converts all words to lower case"},
         {"unknown", &Self::unknown,
          "a symbol of the alphabet that stands for every word outside it; if absent, no string "
          "has such a word"}});
  }
};

// The options are checked here and read there.
Results coverage(lua_State* L, Any grammar, Any, const CoverageOptions&) {
  Value<Grammar>::get(L, grammar.index);
  lua_settop(L, 3);
  push_library(L, "pushdown.analysis.coverage");
  lua_insert(L, 1);
  call_lua(L, 3, 1);
  return {1};
}

}  // namespace grammar_queries

void bind_grammar_queries(Class<Grammar>& grammar) {
  grammar
      .def<&grammar_queries::log_probability>(
          "grammar:log_probability(tokens, {options}) -> number  Returns the natural logarithm of "
          "the probability of a string, which is a text with blanks between symbols or a list; "
          "-inf outside the language.")
      .def<&grammar_queries::log_probabilities>(
          "grammar:log_probabilities{options} -> table  Returns the log_probability of each "
          "string.")
      .def<&grammar_queries::contains>(
          "grammar:contains(tokens, {options}) -> boolean  Returns whether a string is in the "
          "language. The answer is exact, because no probabilities are computed.")
      .def<&grammar_queries::viable_prefix>(
          "grammar:viable_prefix(tokens, {options}) -> boolean  Returns whether a string is a "
          "prefix of a string of the language.")
      .def<&grammar_queries::viable_lengths>(
          "grammar:viable_lengths{options} -> table, table  Returns for each string the number of "
          "its first symbols that are a prefix of a string of the language, and whether the whole "
          "string is in the language. A symbol outside the alphabet is in no prefix.")
      .def<&grammar_queries::coverage>(
          "grammar:coverage(sentences, {options}) -> table  Returns a table, as of report.table, "
          "of the sentences of a file, a dataset or a list: whether each is in the language, the "
          "place and the symbol at which no string of the language can go on, '<end>' if it only "
          "cannot end there, and the log-probability. `covered` is the number of those in the "
          "language and `count` that of all.")
      .def<&grammar_queries::parse>(
          "grammar:parse(tokens, {options}) -> Derivation  Returns the most probable derivation of "
          "a string, or nil outside the language.")
      .def<&grammar_queries::parses>(
          "grammar:parses(tokens, {options}) -> table  Returns the most probable derivations of a "
          "string, best first: all if there are fewer than `best`.")
      .def<&grammar_queries::count_parses>(
          "grammar:parse_count(tokens, {options}) -> number  Returns the number of derivations of "
          "a string: 0 outside the language, math.huge if there are infinitely many. A finite "
          "number above 1.8e308 is an error.")
      .def<&grammar_queries::log_count_parses>(
          "grammar:log_parse_count(tokens, {options}) -> number  Returns the natural logarithm of "
          "the number of derivations of a string, however large.");
}

}  // namespace pushdown
