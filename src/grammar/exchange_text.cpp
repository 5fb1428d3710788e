#include "grammar/exchange_text.h"

#include <cctype>
#include <map>
#include <set>

#include "grammar/line_reader.h"
#include "grammar/text.h"

namespace pushdown {
namespace {

constexpr std::string_view kNltkPlace = "grammar.text";
constexpr std::string_view kRuleListPlace = "grammar.from_rules";

// Returns the start symbol's rules first, then the others in their order.
std::vector<const Rule*> rules_from_start(const Grammar& grammar) {
  std::vector<const Rule*> rules;
  for (const bool of_start : {true, false})
    for (int left = 0; left < static_cast<int>(grammar.nonterminals().size()); ++left)
      for (const Rule& rule : grammar.rules())
        if (rule.left == left && (left == grammar.start()) == of_start) rules.push_back(&rule);
  return rules;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/'; }

std::string nltk_name(const std::string& name) {
  const auto primes = name.size() - std::min(name.find('\''), name.size());
  std::string result;
  for (const char c : name.substr(0, name.size() - primes)) {
    const bool kept = is_word(c) || (!result.empty() &&
                                     std::string_view("^<>-").find(c) != std::string_view::npos);
    result += kept ? c : '_';
  }
  if (primes > 0) result += "_prime";
  if (primes > 1) result += std::to_string(primes);
  return result;
}

std::string nltk_terminal(const std::string& symbol) {
  const char quote = symbol.find('\'') == symbol.npos ? '\'' : '"';
  check(symbol.find(quote) == symbol.npos, kNltkPlace,
        "the terminal {} contains both kinds of quotes, which NLTK cannot read", symbol);
  return quote + symbol + quote;
}

// Splits one line of a rule list at blanks.
std::vector<std::string> blank_separated(std::string_view line) {
  std::vector<std::string> pieces;
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_white_space(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && !is_white_space(line[at])) ++at;
    pieces.emplace_back(line.substr(begin, at - begin));
  }
  return pieces;
}

bool is_arrow(const std::string& piece) {
  return piece == "-->" || piece == "->" || piece == "\xE2\x86\x92";
}

std::optional<double> whole_number(const std::string& piece) {
  double value = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
  if (error != std::errc() || end != piece.data() + piece.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string nltk_text(const Grammar& grammar) {
  std::vector<std::string> names;
  std::set<std::string> used;
  std::string text;
  for (const std::string& name : grammar.nonterminals()) {
    const std::string wanted = nltk_name(name);
    std::string unique = wanted;
    for (int i = 2; !used.insert(unique).second; ++i) unique = fmt::format("{}_{}", wanted, i);
    if (unique != name) text += fmt::format("# {} stands for {}\n", unique, name);
    names.push_back(unique);
  }
  for (const Rule* rule : rules_from_start(grammar)) {
    text += names[static_cast<std::size_t>(rule->left)] + " ->";
    for (const Symbol symbol : rule->right)
      text += " " + (symbol.terminal ? nltk_terminal(grammar.symbol_name(symbol))
                                     : names[static_cast<std::size_t>(symbol.id)]);
    text += " [" + weight_text(rule->weight) + "]\n";
  }
  return text;
}

GrammarSource parse_rule_list(std::string_view text, std::string_view file,
                              const std::string& start) {
  GrammarSource source;
  source.start = start;
  std::set<std::string> lefts;
  read_lines(kRuleListPlace, text, file, [&](std::string_view line, const std::string& origin) {
    auto pieces = blank_separated(line);
    if (pieces.empty() || pieces[0].starts_with('#')) return;
    NamedRule rule{"", {}, 1.0, origin};
    // A left side may itself be a number, but not before another symbol or an arrow.
    const auto weight = whole_number(pieces[0]);
    if (weight && pieces.size() > 1 && !is_arrow(pieces[1])) {
      rule.weight = *weight;
      pieces.erase(pieces.begin());
    }
    if (is_arrow(pieces[0]))
      fail(kRuleListPlace, "{}: expected a left side before the arrow", origin);
    check(rule.weight >= 0 && std::isfinite(rule.weight), kRuleListPlace,
          "{}: the weight {} must not be negative", origin, rule.weight);
    rule.left = pieces[0];
    const std::size_t first = pieces.size() > 1 && is_arrow(pieces[1]) ? 2 : 1;
    for (std::size_t i = first; i < pieces.size(); ++i) {
      if (is_arrow(pieces[i])) fail(kRuleListPlace, "{}: a rule must have one arrow", origin);
      rule.right.push_back({true, pieces[i]});
    }
    lefts.insert(rule.left);
    source.rules.push_back(std::move(rule));
  });
  check(!source.rules.empty(), kRuleListPlace, "{}: there are no rules", file);
  check(start.empty() || lefts.contains(start), kRuleListPlace,
        "{}: no rule has the left side '{}'", file, start);
  for (auto& rule : source.rules)
    for (auto& symbol : rule.right) symbol.terminal = !lefts.contains(symbol.name);
  return source;
}

std::string rule_list_text(const Grammar& grammar) {
  const auto checked = [&](const std::string& name) {
    check(!is_arrow(name) && !name.starts_with('#'), kNltkPlace,
          "the symbol {} cannot be written in a rule list", name);
    return name;
  };
  const std::set<std::string> lefts(grammar.nonterminals().begin(), grammar.nonterminals().end());
  for (const auto& symbol : grammar.alphabet().symbols())
    check(!lefts.contains(symbol), kNltkPlace,
          "'{}' is both a terminal and a nonterminal, which a rule list cannot distinguish",
          symbol);
  std::string text;
  for (const Rule* rule : rules_from_start(grammar)) {
    text += weight_text(rule->weight) + " " +
            checked(grammar.nonterminals()[static_cast<std::size_t>(rule->left)]) + " -->";
    for (const Symbol symbol : rule->right) text += " " + checked(grammar.symbol_name(symbol));
    text += "\n";
  }
  return text;
}

}  // namespace pushdown
