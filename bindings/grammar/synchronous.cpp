// pd.grammar: the methods of synchronous grammars.
#include "bindings/grammar/classes.h"

#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/state.h"
#include "grammar/synchronous_parse.h"
#include "grammar/synchronous_sampler.h"
#include "grammar/synchronous_text.h"
#include "pda/definition_files.h"
#include "task/transduction.h"

namespace pushdown {
namespace grammar_synchronous {

constexpr auto kWhere = "grammar.sample";

std::string line_of(const SynchronousGrammar& grammar) {
  const auto plural = [](std::size_t count) { return count == 1 ? "" : "s"; };
  return fmt::format(
      "SynchronousGrammar{}{}: {} rule{}, {} nonterminal{}, {} source symbol{}, {} target symbol{}",
      grammar.name().empty() ? "" : " ", grammar.name(), grammar.rules().size(),
      plural(grammar.rules().size()), grammar.nonterminals().size(),
      plural(grammar.nonterminals().size()), grammar.source_alphabet().size(),
      plural(grammar.source_alphabet().size()), grammar.target_alphabet().size(),
      plural(grammar.target_alphabet().size()));
}

std::string text_of(const SynchronousGrammar& grammar) { return to_text(grammar); }

std::string show(const SynchronousGrammar& grammar) {
  auto text = to_text(grammar);
  text.pop_back();
  return line_of(grammar) + "\n" + text;
}

Json rules_table(const SynchronousGrammar& grammar) {
  Json list = Json::array();
  const auto side_of = [](const std::vector<LinkedSymbol>& side) {
    Json symbols = Json::array();
    for (const auto& symbol : side) {
      Json entry{{"symbol", symbol.name}, {"terminal", symbol.terminal}};
      if (!symbol.terminal) entry["index"] = symbol.index;
      symbols.push_back(entry);
    }
    return symbols;
  };
  for (const auto& rule : grammar.source().rules)
    list.push_back({{"left", rule.left},
                    {"source", side_of(rule.source)},
                    {"target", side_of(rule.target)},
                    {"weight", rule.weight},
                    {"text", rule_text(rule)},
                    {"origin", rule.origin}});
  return list;
}

// A pair of strings. A symbol outside its alphabet is an error.
Pair pair_of(const SynchronousGrammar& grammar, const Tokens& source, const Tokens& target) {
  return {to_word(grammar.source_alphabet(), source), to_word(grammar.target_alphabet(), target)};
}

struct PairOptions {
  std::optional<int> length;
  std::optional<std::array<std::int64_t, 2>> lengths, target_lengths;
  PairLengths mode = PairLengths::uniform;
  std::optional<std::int64_t> count;
  std::optional<std::uint64_t> seed;
  using Self = PairOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"length", &Self::length, "length of the source"},
         {"lengths", &Self::lengths, "{lowest, highest} length of the source"},
         {"target_lengths", &Self::target_lengths, "{lowest, highest} length of the target"},
         {"mode",
          &Self::mode,
          "how the length is drawn",
          {{"uniform", PairLengths::uniform}, {"grammar", PairLengths::grammar}}},
         {"count", &Self::count, "number of pairs; a list is returned", at_least(1)},
         {"seed", &Self::seed, "random seed"}});
  }
};

Json sample(lua_State* L, const SynchronousGrammar& grammar, const PairOptions& options) {
  const auto& [length, lengths] = std::pair(options.length, options.lengths);
  check(!length || !lengths, kWhere, "length and lengths mean the same; give only one of them");
  check(length || lengths, kWhere,
        "expected length = or lengths = {{lowest, highest}} of the source");
  const auto interval = [](const char* key, const auto& given) {
    return length_interval(kWhere, key, Json(given), 0);
  };
  const auto source = length ? LengthInterval{*length, *length} : interval("lengths", *lengths);
  std::optional<LengthInterval> target;
  if (options.target_lengths) target = interval("target_lengths", *options.target_lengths);
  const SynchronousSampler sampler(grammar, source, options.mode, target);
  Random random(seed_or_next(L, options.seed), "pairs");
  const auto draw = [&]() -> Json {
    const auto pair = sampler.sample(random);
    return {{"source", grammar.source_alphabet().text(pair.source)},
            {"target", grammar.target_alphabet().text(pair.target)}};
  };
  if (!options.count) return draw();
  Json list = Json::array();
  for (std::int64_t i = 0; i < *options.count; ++i) list.push_back(draw());
  return list;
}

struct TranslationOptions {
  std::int64_t limit = 1000;
  static OptionRows rows() {
    return declare<TranslationOptions>({{"limit", &TranslationOptions::limit,
                                         "maximum number of targets returned", Between{1, 1e6}}});
  }
};

std::tuple<std::vector<std::string>, bool> targets(const SynchronousGrammar& grammar,
                                                   const Tokens& source,
                                                   const TranslationOptions& options) {
  const auto found =
      translations(grammar, to_word(grammar.source_alphabet(), source), options.limit);
  std::vector<std::string> texts;
  for (const auto& target : found.targets) texts.push_back(grammar.target_alphabet().text(target));
  return {texts, found.complete};
}

}  // namespace grammar_synchronous

void bind_synchronous(Module& module) {
  using namespace grammar_synchronous;
  Class<SynchronousGrammar>(module, "A grammar that rewrites a source and a target string at once.")
      .def<&SynchronousGrammar::name>(
          "grammar:name() -> string  Returns the name, or an empty string.")
      .def<&SynchronousGrammar::source_alphabet>(
          "grammar:source_alphabet() -> Alphabet  Returns the symbols of the sources.")
      .def<&SynchronousGrammar::target_alphabet>(
          "grammar:target_alphabet() -> Alphabet  Returns the symbols of the targets.")
      .def<&SynchronousGrammar::nonterminals>(
          "grammar:nonterminals() -> table  Returns the names of the nonterminals.")
      .def<[](const SynchronousGrammar& grammar) {
        return grammar.nonterminals()[grammar.start()];
      }>("grammar:start() -> string  Returns the start symbol.")
      .def<&rules_table>(
          "grammar:rules() -> table  Returns the rules, each {left, source, target, weight, text, "
          "origin}, with normalized weights.")
      .def<&SynchronousGrammar::source_side>(
          "grammar:source_grammar() -> Grammar  Returns the grammar of the source sides.")
      .def<&SynchronousGrammar::target_side>(
          "grammar:target_grammar() -> Grammar  Returns the grammar of the target sides.")
      .def<&SynchronousGrammar::termination_probability>(
          "grammar:termination_probability() -> number  Returns the total probability of all "
          "pairs. It is below 1 for a supercritical grammar.")
      .def<&SynchronousGrammar::warnings>(
          "grammar:warnings() -> table  Returns warnings about the grammar.")
      .def<&sample>(
          "grammar:sample{options} -> table  Returns a random pair {source=, target=}, or a list "
          "of `count` pairs.")
      .def<[](const SynchronousGrammar& grammar, const Tokens& source, const Tokens& target) {
        return contains(grammar, pair_of(grammar, source, target));
      }>("grammar:contains(source, target) -> boolean  Returns whether the pair has a derivation.")
      .def<[](const SynchronousGrammar& grammar, const Tokens& source, const Tokens& target) {
        return log_probability(grammar, pair_of(grammar, source, target));
      }>("grammar:log_probability(source, target) -> number  Returns the natural logarithm of the "
         "probability of the pair, or -inf if it has no derivation.")
      .def<&targets>(
          "grammar:translations(source, {options}) -> table, boolean  Returns the targets of a "
          "source, the shortest first, and whether these are all.")
      .def<&text_of>(
          "grammar:text() -> string  Returns the grammar as text that pd.grammar.parse reads.")
      .def<[](const SynchronousGrammar& grammar, const PathText& path) {
        notation_to_write("grammar.save", DefinitionKind::grammar, {Notation::synchronous_rules},
                          path);
        write_file(path, to_text(grammar));
      }>("grammar:save(path)  Writes the grammar as text that pd.grammar.load reads, to a file "
         "named .scfg or .itg.")
      .def<&show>("__show", "show(grammar) -> string  Returns all rules as text.")
      .def<&line_of>("tostring(grammar) -> string  Returns one line about the grammar.");
}

}  // namespace pushdown
