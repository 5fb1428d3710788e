#include "grammar/text.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/stopping.h"
#include "grammar/grammar_line.h"
#include "grammar/normal_form.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.parse";

std::vector<NamedSymbol> right_side(GrammarLine& line) {
  std::vector<NamedSymbol> symbols;
  while (!line.at_end_of_side()) {
    if (line.at_quote()) {
      symbols.push_back({true, line.terminal()});
      continue;
    }
    if (line.accept_arrow()) line.stop("a rule must have one arrow, got a second one");
    symbols.push_back({false, line.nonterminal("a symbol")});
  }
  return symbols;
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  GrammarSource read(std::string_view text) {
    read_lines(kWhere, text, file_, [&](std::string_view line, const std::string& origin) {
      read_physical_line(line, origin);
    });
    if (!continued_.empty()) read_line(continued_, continued_origin_);
    check(!source_.rules.empty(), kWhere, "{}: there are no rules", file_);
    for (const auto& [left, side] : sides_) share_rest(left, side);
    return source_;
  }

 private:
  // The alternatives of one left side.
  struct Side {
    double sum = 0, largest = 0;  // of the written weights
    bool weighted = false;
    std::vector<std::size_t> without_weight = {};  // rules, by index
  };

  // Alternatives without a weight share what the weights of the others leave of 1.
  void share_rest(const std::string& left, const Side& side) {
    if (!side.weighted || side.without_weight.empty()) return;
    const auto& origin = source_.rules[side.without_weight.front()].origin;
    check(side.largest <= 1, kWhere,
          "{}: an alternative of {} has no weight, and the others have counts, of which no rest is "
          "known; write its count",
          origin, left);
    constexpr double kRounding = 1e-9;
    check(1 - side.sum > kRounding, kWhere,
          "{}: an alternative of {} has no weight, and the weights of the others sum to {:.6g}, "
          "which leaves nothing for it",
          origin, left, side.sum);
    double share = (1 - side.sum) / static_cast<double>(side.without_weight.size());
    // Rounds to the digits of a written weight, so that 1 - 0.7 is 0.3.
    const auto digits = fmt::format("{:.15g}", share);
    std::from_chars(digits.data(), digits.data() + digits.size(), share);
    for (const auto rule : side.without_weight) source_.rules[rule].weight = share;
  }

  // A backslash at the end of a line joins it with the next one.
  void read_physical_line(std::string_view line, const std::string& origin) {
    const bool comment = continued_.empty() && line.starts_with('#');
    const auto last = line.find_last_not_of(" \t");
    const bool goes_on = !comment && last != line.npos && line[last] == '\\';
    if (continued_.empty() && !goes_on) return read_line(line, origin);
    if (continued_.empty()) continued_origin_ = origin;
    continued_ += goes_on ? line.substr(0, last) : line;
    continued_ += ' ';
    if (goes_on) return;
    read_line(std::exchange(continued_, {}), continued_origin_);
  }

  void read_line(std::string_view text, std::string origin) {
    if (text.starts_with("#%")) return read_directive(GrammarLine(text.substr(2), origin));
    GrammarLine line(text, std::move(origin));
    if (line.done()) return;
    if (line.accept("%")) {
      if (!line.accept("start"))
        line.stop("unknown directive {} after %; the only one is %start", line.rest());
      source_.start = line.nonterminal("the start symbol");
      if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
      return;
    }
    if (line.accept("|")) {
      if (left_.empty()) line.stop("an alternative needs a rule before it");
    } else {
      left_ = line.nonterminal("a left side");
      if (!line.accept_arrow()) line.stop("expected -> after {}, got {}", left_, line.rest());
    }
    do read_alternative(line);
    while (line.accept("|"));
    if (!line.done()) line.stop("expected | or the end of the line, got {}", line.rest());
  }

  void read_alternative(GrammarLine& line) {
    NamedRule rule{left_, right_side(line), 1.0, line.origin()};
    auto& side = sides_[left_];
    if (const auto weight = line.weight()) {
      rule.weight = *weight;
      side.weighted = true;
      side.sum += *weight;
      side.largest = std::max(side.largest, *weight);
    } else {
      side.without_weight.push_back(source_.rules.size());
    }
    source_.rules.push_back(std::move(rule));
  }

  void read_directive(GrammarLine line) {
    if (line.accept("unambiguous")) {
      source_.unambiguous = true;
    } else if (line.accept("name ")) {
      source_.name = line.nonterminal("a name");
    } else if (line.accept("symbols")) {
      while (line.at_quote()) source_.symbols.push_back(line.terminal());
    } else {
      line.stop("unknown comment directive '#% {}'", line.rest());
    }
    if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
  }

  std::string file_;
  std::string continued_, continued_origin_;  // continued lines, and the place of the first one
  std::string left_;
  GrammarSource source_;
  std::map<std::string, Side> sides_;
};

std::string directives(const Grammar& grammar, const std::vector<std::string>& first_use) {
  std::string text;
  if (!grammar.name().empty() && nonterminal_name_error(grammar.name()).empty())
    text += "#% name " + nonterminal_text(grammar.name()) + "\n";
  if (grammar.alphabet().symbols() != first_use) {
    text += "#% symbols";
    for (const auto& symbol : grammar.alphabet().symbols())
      text.append(1, ' ').append(quoted_terminal(symbol));
    text += "\n";
  }
  if (grammar.unambiguous()) text += "#% unambiguous\n";
  return text;
}

}  // namespace

GrammarSource parse_grammar(std::string_view text, std::string_view file) {
  return Reader(file).read(text);
}

NamedRule parse_rule(std::string_view text, std::string_view origin) {
  if (find_invalid_utf8(text)) fail(kWhere, "{}: a rule must be UTF-8 text", origin);
  GrammarLine line(text, std::string(origin));
  NamedRule rule;
  rule.left = line.nonterminal("a left side");
  rule.origin = origin;
  if (!line.accept_arrow()) line.stop("expected -> after {}, got {}", rule.left, line.rest());
  rule.right = right_side(line);
  if (!line.done())
    line.stop("a single rule must be one alternative without a weight, got {} after it",
              line.rest());
  return rule;
}

GrammarSource with_empty_right_sides(GrammarSource source) {
  std::set<std::string> lefts;
  for (const auto& rule : source.rules) lefts.insert(rule.left);
  for (auto& rule : source.rules)
    for (const auto& symbol : rule.right) {
      if (symbol.terminal || !means_no_symbol(symbol.name) || lefts.contains(symbol.name)) continue;
      check(
          rule.right.size() == 1, kWhere,
          "{}: {} means the empty right side, which has no other symbols; a terminal is in quotes",
          rule.origin.empty() ? rule.left : rule.origin, symbol.name);
      rule.right.clear();
      break;
    }
  return source;
}

std::string to_text(const Grammar& grammar) {
  const auto& names = grammar.nonterminals();
  std::vector<std::vector<const Rule*>> of_left(names.size());
  for (const auto& rule : grammar.rules()) of_left[rule.left].push_back(&rule);
  std::vector<int> order{grammar.start()};
  for (int id = 0; id < static_cast<int>(names.size()); ++id)
    if (id != grammar.start()) order.push_back(id);
  std::string text;
  std::vector<std::string> first_use;
  std::vector<bool> used(grammar.alphabet().size());
  const StopCheck stop;
  for (const int left : order) {
    std::string line;
    for (const Rule* rule : of_left[left]) {
      stop();
      const auto whole = grammar.rule_text(*rule);
      line += line.empty() ? whole : " |" + whole.substr(nonterminal_text(names[left]).size() + 3);
      line += " [" + weight_text(rule->weight) + "]";
      for (const auto symbol : rule->right) {
        if (!symbol.terminal || used[symbol.id]) continue;
        used[symbol.id] = true;
        first_use.push_back(grammar.symbol_name(symbol));
      }
    }
    text += line + "\n";
  }
  return directives(grammar, first_use) + text;
}

std::string closed_rules_text(const Grammar& grammar) {
  const auto& form = grammar.normal_form();
  std::string text;
  for (const auto& rule : closed_rules(form)) {
    text += form.names[rule.left] + " ->";
    for (const auto symbol : rule.right)
      text += " " + (symbol.terminal ? quoted_terminal(grammar.alphabet().symbol(symbol.id))
                                     : form.names[symbol.id]);
    text += fmt::format(" [{}]\n", rule.weight);
  }
  return text;
}

}  // namespace pushdown
