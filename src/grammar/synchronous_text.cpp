#include "grammar/synchronous_text.h"

#include <map>
#include <set>

#include "grammar/grammar_line.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.parse";

// "VT2" is nonterminal VT with index 2; without trailing digits, the index is 0.
LinkedSymbol linked(GrammarLine& line) {
  const auto text = line.bare("a symbol");
  const auto end = text.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (end == 0)
    line.stop("expected a nonterminal with an index, got {}; write terminals in quotes", text);
  const std::string name = line.name_of(text.substr(0, end)), digits = text.substr(end);
  if (digits.starts_with('0') || digits.size() > 6)
    line.stop("the index of {} must be a number from 1 to 999999 without leading zeros", text);
  return {false, name, digits.empty() ? 0 : std::stoi(digits)};
}

std::vector<LinkedSymbol> read_side(GrammarLine& line) {
  std::vector<LinkedSymbol> side;
  while (!line.at_end_of_side()) {
    if (line.at_quote()) {
      side.push_back({true, line.terminal(), 0});
      continue;
    }
    if (line.accept_arrow()) line.stop("a rule must have one arrow, got a second one");
    side.push_back(linked(line));
  }
  // A nonterminal would have an index.
  if (side.size() == 1 && !side[0].terminal && side[0].index == 0 && means_no_symbol(side[0].name))
    side.clear();
  return side;
}

NamedSynchronousRule read_rule(GrammarLine& line, bool* weighted) {
  NamedSynchronousRule rule;
  rule.origin = line.origin();
  if (line.accept("|"))
    line.stop(
        "expected a left side; the bar separates source and target, and each rule needs its own "
        "line");
  rule.left = line.nonterminal("a left side");
  if (!line.accept_arrow()) line.stop("expected -> after {}, got {}", rule.left, line.rest());
  rule.source = read_side(line);
  if (!line.accept("|"))
    line.stop("expected | and the target side after the source side, got {}", line.rest());
  rule.target = read_side(line);
  if (line.accept("|"))
    line.stop("a rule must have two sides, got a third; each rule needs its own line");
  const auto weight = line.weight();
  if (weight) rule.weight = *weight;
  if (weighted != nullptr) *weighted = weight.has_value();
  if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
  return rule;
}

class PairReader {
 public:
  explicit PairReader(std::string_view file) : file_(file) {}

  SynchronousSource read(std::string_view text) {
    read_lines(kWhere, text, file_,
               [&](std::string_view line, const std::string& origin) { read_line(line, origin); });
    check(!source_.rules.empty(), kWhere, "{}: there are no rules", file_);
    for (const auto& [left, weights] : weights_)
      check(weights.with == 0 || weights.without == 0, kWhere,
            "{}: some rules of {} have a weight and some have none", weights.origin, left);
    return source_;
  }

 private:
  struct Weights {
    std::string origin;
    int with = 0, without = 0;
  };

  void read_line(std::string_view text, const std::string& origin) {
    if (text.starts_with("#%")) return read_directive(GrammarLine(text.substr(2), origin));
    GrammarLine line(text, origin);
    if (line.done()) return;
    if (line.accept("%start")) {
      source_.start = line.nonterminal("the start symbol");
      if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
      return;
    }
    if (line.accept("%")) line.stop("unknown directive '%{}'; the only one is %start", line.rest());
    bool weighted = false;
    source_.rules.push_back(read_rule(line, &weighted));
    auto& weights = weights_.try_emplace(source_.rules.back().left, Weights{origin}).first->second;
    ++(weighted ? weights.with : weights.without);
  }

  void read_directive(GrammarLine line) {
    const auto terminals = [&](std::vector<std::string>& symbols) {
      while (line.at_quote()) symbols.push_back(line.terminal());
    };
    if (line.accept("name ")) {
      source_.name = line.nonterminal("a name");
    } else if (line.accept("source_symbols")) {
      terminals(source_.source_symbols);
    } else if (line.accept("target_symbols")) {
      terminals(source_.target_symbols);
    } else if (!line.accept("synchronous")) {
      line.stop("unknown comment directive '#% {}'", line.rest());
    }
    if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
  }

  std::string file_;
  SynchronousSource source_;
  std::map<std::string, Weights> weights_;
};

// The order is written only if it differs from the order in which the rules use the symbols.
std::string symbols_line(const char* word, const std::vector<std::string>& symbols,
                         const SynchronousSource& source,
                         std::vector<LinkedSymbol> NamedSynchronousRule::*side) {
  std::vector<std::string> first_use;
  std::set<std::string_view> used;
  for (const auto& rule : source.rules)
    for (const auto& symbol : rule.*side)
      if (symbol.terminal && used.insert(symbol.name).second) first_use.push_back(symbol.name);
  if (symbols == first_use) return "";
  std::string text = fmt::format("#% {}", word);
  for (const auto& symbol : symbols) text += " " + quoted_terminal(symbol);
  return text + "\n";
}

}  // namespace

SynchronousSource parse_synchronous(std::string_view text, std::string_view file) {
  return PairReader(file).read(text);
}

NamedSynchronousRule parse_synchronous_rule(std::string_view text, std::string_view origin,
                                            bool* weighted) {
  if (find_invalid_utf8(text)) fail(kWhere, "{}: a rule must be UTF-8 text", origin);
  GrammarLine line(text, std::string(origin));
  return read_rule(line, weighted);
}

bool says_synchronous(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    if (begin == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.starts_with("#%")) {
      line.remove_prefix(2);
      while (!line.empty() && is_white_space(line.front())) line.remove_prefix(1);
      while (!line.empty() && is_white_space(line.back())) line.remove_suffix(1);
      if (line == "synchronous") return true;
    }
    begin = end + 1;
  }
  return false;
}

std::string to_text(const SynchronousGrammar& grammar) {
  const auto source = grammar.source();
  std::string text = "#% synchronous\n";
  if (!source.name.empty() && nonterminal_name_error(source.name).empty())
    text += "#% name " + nonterminal_text(source.name) + "\n";
  text +=
      symbols_line("source_symbols", source.source_symbols, source, &NamedSynchronousRule::source);
  text +=
      symbols_line("target_symbols", source.target_symbols, source, &NamedSynchronousRule::target);
  if (source.rules.front().left != source.start)
    text += "%start " + nonterminal_text(source.start) + "\n";
  for (const auto& rule : source.rules)
    text += fmt::format("{} [{}]\n", rule_text(rule), weight_text(rule.weight));
  return text;
}

}  // namespace pushdown
