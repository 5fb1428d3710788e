#include "grammar/text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/check.h"
#include "grammar/utf8.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.parse";
constexpr std::string_view kArrow = "\xE2\x86\x92";

// Reads one line from left to right.
class LineReader {
 public:
  LineReader(std::string_view line, std::string origin) : line_(line), origin_(std::move(origin)) {}

  template <class... Args>
  [[noreturn]] void stop(fmt::format_string<Args...> format, Args&&... args) const {
    fail(kWhere, "{}: {}", origin_, fmt::format(format, std::forward<Args>(args)...));
  }

  const std::string& origin() const { return origin_; }

  // True at the end of the line or at a comment.
  bool done() {
    while (at_ < line_.size() && is_white_space(line_[at_])) ++at_;
    return at_ == line_.size() || line_[at_] == '#';
  }

  bool accept(std::string_view token) {
    if (done() || !line_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool accept_arrow() { return accept("->") || accept(kArrow); }

  bool at_quote() { return !done() && (line_[at_] == '\'' || line_[at_] == '"'); }

  std::string quoted() {
    const char quote = line_[at_++];
    std::string text;
    for (; at_ < line_.size(); ++at_) {
      if (line_[at_] == quote) {
        ++at_;
        return checked_terminal(text);
      }
      if (line_[at_] == '\\') {
        if (at_ + 1 == line_.size()) break;
        const char next = line_[at_ + 1];
        if (next != '\\' && next != '\'' && next != '"')
          stop("unknown escape \\{} in a terminal; write \\\\ for a backslash", next);
        ++at_;
      }
      text += line_[at_];
    }
    stop("terminal {}{} has no closing quote", quote, text);
  }

  std::string nonterminal(std::string_view expected) {
    if (done()) stop("expected {}, got the end of the line", expected);
    const std::size_t begin = at_;
    while (at_ < line_.size() && !is_white_space(line_[at_]) &&
           std::string_view("|[]#").find(line_[at_]) == std::string_view::npos &&
           !line_.substr(at_).starts_with("->") && !line_.substr(at_).starts_with(kArrow))
      ++at_;
    const std::string name(line_.substr(begin, at_ - begin));
    if (name.empty()) stop("expected {}, got '{}'", expected, line_.substr(at_, 1));
    if (const auto reason = nonterminal_name_error(name); !reason.empty())
      stop("nonterminal {}", reason);
    return name;
  }

  std::optional<double> weight() {
    if (!accept("[")) return std::nullopt;
    const double numerator = number();
    const double denominator = accept("/") ? number() : 1.0;
    if (denominator == 0) stop("a weight is divided by zero");
    if (!accept("]")) stop("expected ']' after the weight, got {}", rest());
    return numerator / denominator;
  }

  std::string rest() {
    return done() ? "the end of the line" : fmt::format("'{}'", line_.substr(at_));
  }

 private:
  double number() {
    done();
    double value = 0;
    const auto [end, error] =
        std::from_chars(line_.data() + at_, line_.data() + line_.size(), value);
    if (error != std::errc()) stop("expected a number in brackets, got {}", rest());
    at_ = end - line_.data();
    return value;
  }

  std::string checked_terminal(std::string text) const {
    if (text.empty())
      stop("a terminal must not be empty; an empty right side is written as nothing");
    if (std::any_of(text.begin(), text.end(), is_white_space))
      stop("terminal '{}' holds white space; write one pair of quotes per symbol", text);
    return text;
  }

  std::string_view line_;
  std::string origin_;
  std::size_t at_ = 0;
};

std::vector<NamedSymbol> right_side(LineReader& line) {
  std::vector<NamedSymbol> symbols;
  while (!line.done()) {
    if (line.at_quote()) {
      symbols.push_back({true, line.quoted()});
      continue;
    }
    // The bracket and the bar end an alternative; nonterminal() would refuse them.
    LineReader probe = line;
    if (probe.accept("|") || probe.accept("[")) break;
    if (probe.accept_arrow()) line.stop("a rule has one arrow, got a second one");
    symbols.push_back({false, line.nonterminal("a symbol")});
  }
  return symbols;
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  GrammarSource read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      auto line = text.substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      read_line(line, fmt::format("{}:{}", file_, ++number));
      begin = end + 1;
    }
    check(!source_.rules.empty(), kWhere, "{}: there are no rules", file_);
    for (const auto& [left, side] : sides_)
      check(side.weighted == 0 || side.unweighted == 0, kWhere,
            "{}: some alternatives of {} have a weight and some have none", side.origin, left);
    return source_;
  }

 private:
  struct Side {
    std::string origin;
    int weighted = 0, unweighted = 0;
  };

  void read_line(std::string_view text, std::string origin) {
    if (const auto byte = find_invalid_utf8(text))
      fail(kWhere, "{}: byte {} (0x{:02x}) is not UTF-8", origin, *byte + 1,
           static_cast<unsigned char>(text[*byte]));
    if (text.starts_with("#%")) return read_directive(LineReader(text.substr(2), origin));
    LineReader line(text, std::move(origin));
    if (line.done()) return;
    if (line.accept("%start")) {
      source_.start = line.nonterminal("the start symbol");
      if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
      return;
    }
    if (line.accept("%")) line.stop("unknown directive '%{}'; the only one is %start", line.rest());
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

  void read_alternative(LineReader& line) {
    NamedRule rule{left_, right_side(line), 1.0, line.origin()};
    const auto weight = line.weight();
    if (weight) rule.weight = *weight;
    auto& side = sides_.try_emplace(left_, Side{line.origin()}).first->second;
    ++(weight ? side.weighted : side.unweighted);
    source_.rules.push_back(std::move(rule));
  }

  void read_directive(LineReader line) {
    if (line.accept("unambiguous")) {
      source_.unambiguous = true;
    } else if (line.accept("name ")) {
      source_.name = line.nonterminal("a name");
    } else if (line.accept("symbols")) {
      while (line.at_quote()) source_.symbols.push_back(line.quoted());
    } else {
      line.stop("unknown comment directive '#% {}'", line.rest());
    }
    if (!line.done()) line.stop("expected the end of the line, got {}", line.rest());
  }

  std::string file_;
  std::string left_;
  GrammarSource source_;
  std::map<std::string, Side> sides_;
};

// The shortest fixed-point notation that reads back as the same number: NLTK knows no exponents.
std::string weight_text(double weight) {
  std::string text = fmt::format("{}", weight);
  for (int digits = 17; text.find('e') != std::string::npos && digits < 1080; digits += 8) {
    const auto fixed = fmt::format("{:.{}f}", weight, digits);
    double back = 0;
    std::from_chars(fixed.data(), fixed.data() + fixed.size(), back);
    if (back == weight) text = fixed;
  }
  return text;
}

std::string directives(const Grammar& grammar, const std::vector<std::string>& first_use) {
  std::string text;
  if (!grammar.name().empty() && nonterminal_name_error(grammar.name()).empty())
    text += "#% name " + grammar.name() + "\n";
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
  LineReader line(text, std::string(origin));
  NamedRule rule;
  rule.left = line.nonterminal("a left side");
  rule.origin = origin;
  if (!line.accept_arrow()) line.stop("expected -> after {}, got {}", rule.left, line.rest());
  rule.right = right_side(line);
  if (!line.done())
    line.stop("a rule is one alternative without a weight, got {} after it", line.rest());
  return rule;
}

std::string to_text(const Grammar& grammar) {
  std::vector<int> order{grammar.start()};
  for (int id = 0; id < static_cast<int>(grammar.nonterminals().size()); ++id)
    if (id != grammar.start()) order.push_back(id);
  std::string text;
  std::vector<std::string> first_use;
  for (const int left : order) {
    std::string line;
    for (const auto& rule : grammar.rules()) {
      if (rule.left != left) continue;
      const auto whole = grammar.rule_text(rule);
      const auto arrow = grammar.nonterminals()[left].size() + 3;
      line += line.empty() ? whole : " |" + whole.substr(arrow);
      line += " [" + weight_text(rule.weight) + "]";
      for (const auto symbol : rule.right)
        if (symbol.terminal && std::find(first_use.begin(), first_use.end(),
                                         grammar.symbol_name(symbol)) == first_use.end())
          first_use.push_back(grammar.symbol_name(symbol));
    }
    text += line + "\n";
  }
  return directives(grammar, first_use) + text;
}

std::string quoted_terminal(std::string_view symbol) {
  const char quote = symbol.find('\'') == std::string_view::npos ? '\'' : '"';
  std::string text(1, quote);
  for (const char c : symbol) {
    if (c == quote || c == '\\') text += '\\';
    text += c;
  }
  return text + quote;
}

std::string nonterminal_name_error(std::string_view name) {
  if (name.empty()) return "names must not be empty";
  if (find_invalid_utf8(name)) return "names must be UTF-8 text";
  const auto shown = fmt::format("name {} ", name);
  if (name.starts_with('%')) return shown + "must not begin with %";
  if (std::any_of(name.begin(), name.end(), is_white_space) ||
      name.find_first_of("|[]#\"") != std::string_view::npos ||
      name.find("->") != std::string_view::npos || name.find(kArrow) != std::string_view::npos)
    return shown + "must not hold white space, an arrow or any of | [ ] # \"";
  const auto quote = name.find('\'');
  if (quote == 0) return shown + "must not begin with a quote";
  if (quote != std::string_view::npos &&
      name.find_first_not_of('\'', quote) != std::string_view::npos)
    return shown + "may end in primes but not hold a quote; put a space before a terminal";
  return "";
}

}  // namespace pushdown
