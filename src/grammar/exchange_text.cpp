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

bool is_arrow(std::string_view piece) {
  return piece == "-->" || piece == "->" || piece == "\xE2\x86\x92";
}

std::optional<double> whole_number(std::string_view piece) {
  double value = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
  if (error != std::errc() || end != piece.data() + piece.size()) return std::nullopt;
  return value;
}

// The rules of one left side of a rule list.
struct LeftSide {
  bool single = true;                         // each rule has one symbol on its right side ...
  bool has_word = false;                      // ... of which one is no left side,
  bool has_self = false;                      // one is the left side itself,
  std::vector<const NamedRule*> others = {};  // and these are other left sides
};

using LeftSides = std::map<std::string, LeftSide>;

LeftSides sides_of(const std::vector<NamedRule>& rules) {
  LeftSides sides;
  for (const auto& rule : rules) sides[rule.left];
  for (const auto& rule : rules) {
    auto& side = sides[rule.left];
    if (rule.right.size() != 1)
      side.single = false;
    else if (rule.right[0].name == rule.left)
      side.has_self = true;
    else if (sides.contains(rule.right[0].name))
      side.others.push_back(&rule);
    else
      side.has_word = true;
  }
  return sides;
}

// Returns whether words are only below left sides that have nothing else, as in a treebank.
bool has_words_only_below_tags(const std::vector<NamedRule>& rules, const LeftSides& sides) {
  return std::all_of(rules.begin(), rules.end(), [&](const NamedRule& rule) {
    return sides.at(rule.left).single ||
           std::all_of(rule.right.begin(), rule.right.end(),
                       [&](const auto& symbol) { return sides.contains(symbol.name); });
  });
}

// Returns the tags of a rule list: the left sides whose right sides are words, even if a word is
// spelt like a left side. Throws for rules that can be read in two ways.
std::set<std::string> find_tags(const std::vector<NamedRule>& rules) {
  const LeftSides sides = sides_of(rules);
  const bool treelike = has_words_only_below_tags(rules, sides);
  const auto ambiguous = [](const NamedRule& rule) {
    fail(kRuleListPlace,
         "{}: '{}' on the right side of {} is a left side, too, and may also be a word: name the "
         "left sides above words in the option tags, or pass tags = {{}} if there are none",
         rule.origin, rule.right[0].name, rule.left);
  };
  std::set<std::string> sure;  // A -> A, which would be a loop
  for (const auto& [name, side] : sides)
    if (side.single && side.has_self && (side.others.empty() || (side.has_word && treelike)))
      sure.insert(name);
  std::set<std::string> tags = sure;
  for (const auto& [name, side] : sides) {
    if (!side.single || side.others.empty() || sure.contains(name)) continue;
    const bool above_sure =
        std::all_of(side.others.begin(), side.others.end(),
                    [&](const NamedRule* rule) { return sure.contains(rule->right[0].name); });
    if (side.has_word && treelike && !sure.empty())
      tags.insert(name);
    else if (side.has_self || (side.has_word ? treelike || !sure.empty() : above_sure))
      ambiguous(*side.others.front());
  }
  return tags;
}

std::set<std::string> checked_tags(const std::vector<std::string>& given,
                                   const std::vector<NamedRule>& rules, std::string_view file) {
  const std::set<std::string> tags(given.begin(), given.end());
  std::set<std::string> used;
  for (const auto& rule : rules) {
    if (!tags.contains(rule.left)) continue;
    check(rule.right.size() == 1, kRuleListPlace,
          "{}: {} is named in tags, so its right side must be one word, got {} symbols",
          rule.origin, rule.left, rule.right.size());
    used.insert(rule.left);
  }
  for (const auto& tag : tags)
    check(used.contains(tag), kRuleListPlace,
          "{}: no rule has the left side '{}' of the option tags", file, tag);
  return tags;
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
    text += names[rule->left] + " ->";
    for (const Symbol symbol : rule->right)
      text +=
          " " + (symbol.terminal ? nltk_terminal(grammar.symbol_name(symbol)) : names[symbol.id]);
    text += " [" + weight_text(rule->weight) + "]\n";
  }
  return text;
}

GrammarSource parse_rule_list(std::string_view text, std::string_view file,
                              const std::string& start,
                              const std::optional<std::vector<std::string>>& tags) {
  GrammarSource source;
  source.start = start;
  std::set<std::string> lefts;
  read_lines(kRuleListPlace, text, file, [&](std::string_view line, const std::string& origin) {
    auto pieces = words_between_blanks(line);
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
      rule.right.push_back({true, std::string(pieces[i])});
    }
    lefts.insert(rule.left);
    source.rules.push_back(std::move(rule));
  });
  check(!source.rules.empty(), kRuleListPlace, "{}: there are no rules", file);
  check(start.empty() || lefts.contains(start), kRuleListPlace,
        "{}: no rule has the left side '{}'", file, start);
  const auto above_words = tags ? checked_tags(*tags, source.rules, file) : find_tags(source.rules);
  for (auto& rule : source.rules)
    for (auto& symbol : rule.right)
      symbol.terminal = above_words.contains(rule.left) || !lefts.contains(symbol.name);
  return source;
}

std::string rule_list_text(const Grammar& grammar) {
  const auto checked = [](const std::string& name) {
    check(!is_arrow(name), kNltkPlace, "the symbol {} cannot be written in a rule list", name);
    return name;
  };
  const auto rules = rules_from_start(grammar);
  std::string text;
  for (const Rule* rule : rules) {
    text += weight_text(rule->weight) + " " + checked(grammar.nonterminals()[rule->left]) + " -->";
    for (const Symbol symbol : rule->right) text += " " + checked(grammar.symbol_name(symbol));
    text += "\n";
  }
  // A list does not tell words from nonterminals, so it may mean another grammar or none.
  const auto refuse = [&](const std::string& reason) {
    fail(kNltkPlace, "this grammar cannot be written as a rule list: {}", reason);
  };
  try {
    const auto again = parse_rule_list(text);
    for (std::size_t r = 0; r < rules.size(); ++r)
      for (std::size_t k = 0; k < rules[r]->right.size(); ++k)
        if (again.rules[r].right[k].terminal != rules[r]->right[k].terminal)
          refuse(fmt::format("'{}' in {} would be a {}", again.rules[r].right[k].name,
                             grammar.rule_text(*rules[r]),
                             again.rules[r].right[k].terminal ? "terminal" : "nonterminal"));
  } catch (const std::invalid_argument& error) {
    const std::string_view what = error.what();
    if (!what.starts_with(fmt::format("[{}]", kRuleListPlace))) throw;
    refuse(std::string(what.substr(kRuleListPlace.size() + 3)));
  }
  return text;
}

}  // namespace pushdown
