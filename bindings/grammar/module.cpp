// pd.grammar: the methods of grammars. loading.cpp loads grammars, and queries.cpp has what they
// say about given strings.
#include "bindings/grammar/classes.h"

#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/state.h"
#include "grammar/exchange_text.h"
#include "grammar/greibach.h"
#include "grammar/hardest_homomorphism.h"
#include "grammar/inside.h"
#include "grammar/membership.h"
#include "grammar/normal_form.h"
#include "grammar/text.h"
#include "pda/definition_files.h"

namespace pushdown {

namespace grammar_module {

std::string line_of(const Grammar& grammar) {
  const auto& symbols = grammar.alphabet().symbols();
  std::string shown;
  for (std::size_t i = 0; i < symbols.size() && i < 12; ++i) shown += " " + symbols[i];
  if (symbols.size() > 12) shown += " ...";
  return fmt::format("Grammar{}: {} rule{}, {} nonterminal{}, {} symbol{}{}",
                     grammar.name().empty() ? "" : " " + grammar.name(), grammar.rules().size(),
                     grammar.rules().size() == 1 ? "" : "s", grammar.nonterminals().size(),
                     grammar.nonterminals().size() == 1 ? "" : "s", symbols.size(),
                     symbols.size() == 1 ? "" : "s", shown);
}

double log_length_probability(const Grammar& grammar, int length) {
  return LengthTable(grammar, length).log_mass(length);
}

struct SampleOptions : DrawOptions {
  std::optional<int> length;
  using Self = SampleOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"length", &Self::length, "length of each string; any length if absent", at_least(0)},
         {"count", &Self::count, "number of strings; a list is returned", at_least(1)},
         {"seed", &Self::seed, "random seed"}});
  }
};

Texts sample(lua_State* L, const Grammar& grammar, const SampleOptions& options) {
  const auto& [length, count] = std::pair(options.length, options.count);
  Random random(seed_or_next(L, options.seed), "strings");
  if (!length) {
    const FreeSampler sampler(grammar);
    return drawn(grammar.alphabet(), count, [&] { return sampler.sample(random); });
  }
  const Sampler sampler(grammar, *length, *length);
  return drawn(grammar.alphabet(), count,
               [&] { return sampler.sample_of_length(*options.length, random); });
}

struct SamplerOptions {
  std::array<int, 2> lengths{};
  static OptionRows rows() {
    return declare<SamplerOptions>(
        {{"lengths", &SamplerOptions::lengths, "{lowest, highest} length", required}});
  }
};

Sampler make_sampler(const Grammar& grammar, const SamplerOptions& options) {
  return Sampler(grammar, options.lengths[0], options.lengths[1]);
}

struct StringsOptions {
  int up_to = 0;
  std::int64_t limit = 10'000;
  using Self = StringsOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"up_to", &Self::up_to, "length of the longest strings", required, Between{0, 1000}},
         {"limit", &Self::limit, "an error if there are more strings", Between{1, 1e7}}});
  }
};

std::tuple<std::vector<std::string>, std::vector<double>> strings(const Grammar& grammar,
                                                                  const StringsOptions& options) {
  const auto words = strings_up_to(grammar, options.up_to, options.limit);
  std::vector<std::string> texts;
  for (const auto& word : words) texts.push_back(grammar.alphabet().text(word));
  auto probabilities = log_probabilities(grammar, words);
  for (auto& value : probabilities) value = std::exp(value);
  return {std::move(texts), std::move(probabilities)};
}

Json rules_table(const Grammar& grammar) {
  Json list = Json::array();
  for (const auto& rule : grammar.rules()) {
    Json right = Json::array();
    for (const auto symbol : rule.right)
      right.push_back({{"symbol", grammar.symbol_name(symbol)}, {"terminal", symbol.terminal}});
    list.push_back({{"left", grammar.nonterminals()[rule.left]},
                    {"right", right},
                    {"weight", rule.weight},
                    {"text", grammar.rule_text(rule)},
                    {"origin", rule.origin}});
  }
  return list;
}

std::vector<double> rule_counts(const Grammar& grammar, const Tokens& tokens) {
  return expected_rule_counts(grammar, to_word(grammar.alphabet(), tokens));
}

std::vector<std::pair<std::string, std::string>> homomorphism(const Grammar& grammar) {
  std::vector<std::pair<std::string, std::string>> images;
  const auto h = hardest_homomorphism(grammar);
  for (std::size_t id = 0; id < h.size(); ++id)
    images.emplace_back(grammar.alphabet().symbols()[id], fmt::format("{}", fmt::join(h[id], " ")));
  return images;
}

std::string hardest_image(const Grammar& grammar, const Tokens& tokens) {
  const auto h = hardest_homomorphism(grammar);
  std::vector<std::string> image;
  for (const int id : to_word(grammar.alphabet(), tokens))
    image.push_back(fmt::format("{}", fmt::join(h[id], " ")));
  return fmt::format("{}", fmt::join(image, " "));
}

std::string start_name(const Grammar& grammar) { return grammar.nonterminals()[grammar.start()]; }

std::string text_of(const Grammar& grammar, std::optional<std::string> notation) {
  const std::string name = notation.value_or("own");
  if (name == "nltk") return nltk_text(grammar);
  if (name == "rules") return rule_list_text(grammar);
  check(name == "own", "grammar.text", "notation must be 'own', 'nltk' or 'rules', got '{}'", name);
  return to_text(grammar);
}

void save(const Grammar& grammar, const PathText& path) {
  notation_to_write("grammar.save", DefinitionKind::grammar, {Notation::rules}, path);
  write_file(path, to_text(grammar));
}

std::string show(const Grammar& grammar) {
  auto text = to_text(grammar);
  if (text.ends_with('\n')) text.pop_back();
  return line_of(grammar) + "\n" + text;
}

// A string of symbols as text, from either notation.
std::string tokens_text(const Tokens& tokens) {
  if (const auto* text = std::get_if<std::string>(&tokens)) return *text;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(tokens), " "));
}

std::string alphabet_line(const Alphabet& alphabet) {
  return fmt::format("Alphabet: {}", fmt::join(alphabet.symbols(), " "));
}

struct ReadingOptions {
  std::optional<std::string> words;
  bool lower = false;
  std::string unknown;
  using Self = ReadingOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"words", &Self::words,
          "how texts were read as these symbols: 'blanks' between words, the words of the Unicode "
          "standard, or all characters; if absent, it is not known",
          OneOf{{"blanks", "unicode", "characters"}}},
         {"lower", &Self::lower, "all words were converted to lower case"},
         {"unknown", &Self::unknown, "the symbol for every word outside the alphabet"}});
  }
};

Alphabet new_alphabet(std::vector<std::string> symbols, const ReadingOptions& options) {
  Alphabet alphabet(std::move(symbols));
  if (options.words)
    alphabet.set_reading({word_borders(*options.words), options.lower, options.unknown});
  return alphabet;
}

// {words =, lower =, unknown =}
Json reading_of(const Alphabet& alphabet) {
  const auto& reading = alphabet.reading();
  if (!reading) return {};
  Json table{{"words", name_of(reading->words)}, {"lower", reading->lower}};
  if (!reading->unknown.empty()) table["unknown"] = reading->unknown;
  return table;
}

void bind_alphabet(Module& module) {
  module.def<&new_alphabet>(
      "alphabet(symbols, {options}) -> Alphabet  Returns an alphabet of these symbols. With "
      "`words` it knows how texts are read as its symbols, and so does a model with this "
      "alphabet.");
  Class<Alphabet>(module, "The terminal symbols of a language, in a fixed order.")
      .def<&Alphabet::size>("alphabet:size() -> integer  Returns the number of symbols.")
      .def<&Alphabet::symbols>("alphabet:symbols() -> table  Returns the symbols in order.")
      .def<&reading_of>(
          "alphabet:reading() -> table  Returns how texts were read as these symbols, {words, "
          "lower, unknown}, or nil if it is not known.")
      .def<&alphabet_line>("tostring(alphabet) -> string  Returns the symbols as text.");
}

void bind_grammar_class(Module& module) {
  Class<Grammar> grammar(module, "A probabilistic context-free grammar.");
  grammar
      .def<&log_length_probability>(
          "grammar:log_length_probability(length) -> number  Returns the natural logarithm of the "
          "total probability of the strings of this length, or -inf if there are none.")
      .def<&sample>(
          "grammar:sample{options} -> string or table  Returns a random string, or a list of "
          "`count` strings.")
      .def<&make_sampler>(
          "grammar:sampler{options} -> Sampler  Returns a sampler that draws a length uniformly "
          "among those that have strings, then a string of that length.")
      .def<&rule_counts>(
          "grammar:rule_counts(tokens) -> table  Returns how often the derivations of a string use "
          "each rule on average, in the order of rules().")
      .def<&strings>(
          "grammar:strings{options} -> table, table  Returns all strings of at most `up_to` "
          "symbols and their probabilities: the shortest first, and those of the same length in "
          "the order of the alphabet.")
      .def<&rules_table>(
          "grammar:rules() -> table  Returns the rules, each {left, right, weight, text, origin}, "
          "with normalized weights.")
      .def<&text_of>(
          "grammar:text(notation='own') -> string  Returns the grammar as text: in the notation "
          "that pd.grammar.parse reads ('own'), in that of NLTK ('nltk'), which requires other "
          "names for some symbols, or as a list of rules without quotes ('rules').")
      .def<&save>(
          "grammar:save(path)  Writes the grammar as text that pd.grammar.load reads, to a file "
          "named .pcfg, .cfg or .txt.")
      .def<&closed_rules_text>(
          "grammar:normal_form() -> string  Returns the binary rules that remain after the removal "
          "of epsilon and unary rules, with their exact weights.")
      .def<&greibach_grammar>(
          "grammar:greibach() -> Grammar  Returns a grammar of the same strings in Greibach normal "
          "form. Their probabilities are divided by the probability that a derivation terminates.")
      .def<&homomorphism>(
          "grammar:homomorphism() -> table  Returns the image of each symbol under the "
          "homomorphism into Greibach's hardest context-free language.")
      .def<&hardest_image>(
          "grammar:hardest_image(tokens) -> string  Returns the image of a string under "
          "homomorphism(). It is in the hardest language if and only if the string is in this "
          "language.")
      .def<&Grammar::alphabet>("grammar:alphabet() -> Alphabet  Returns the terminal symbols.")
      .def<&Grammar::name>("grammar:name() -> string  Returns the name, or an empty string.")
      .def<&start_name>("grammar:start() -> string  Returns the start symbol.")
      .def<&Grammar::nonterminals>(
          "grammar:nonterminals() -> table  Returns the names of the nonterminals.")
      .def<&Grammar::unambiguous>(
          "grammar:unambiguous() -> boolean  Returns whether every string is declared to have "
          "exactly one derivation.")
      .def<&Grammar::termination_probability>(
          "grammar:termination_probability() -> number  Returns the total probability of all "
          "strings. It is below 1 for a supercritical grammar.")
      .def<&Grammar::warnings>("grammar:warnings() -> table  Returns warnings about the grammar.")
      .def<&show>("__show", "show(grammar) -> string  Returns all rules as text.")
      .def<&line_of>("tostring(grammar) -> string  Returns one line about the grammar.");
  bind_grammar_queries(grammar);
  bind_grammar_estimation(module, grammar);
}

}  // namespace grammar_module

OptionRows DrawOptions::rows() {
  return declare<DrawOptions>(
      {{"count", &DrawOptions::count, "number of strings; a list is returned", at_least(1)},
       {"seed", &DrawOptions::seed, "random seed"}});
}

void bind_grammar(lua_State* L) {
  using namespace grammar_module;
  Module module(L, "grammar", "Probabilistic context-free grammars and synchronous grammars.");
  bind_grammar_loading(module);
  module.def<&tokens_text>(
      "text(tokens) -> string  Returns a string of symbols as text with blanks between them.");
  bind_alphabet(module);
  bind_grammar_class(module);
  bind_derivation(module);
  bind_synchronous(module);
}

}  // namespace pushdown
