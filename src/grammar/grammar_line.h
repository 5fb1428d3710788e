// Reads one line of a grammar in NLTK's notation or of a synchronous grammar from left to right:
// terminals in quotes, bare names, arrows and weights in brackets.
#pragma once
#include <algorithm>
#include <optional>

#include "grammar/line_reader.h"
#include "grammar/symbol_text.h"

namespace pushdown {

class GrammarLine : public LineReader {
 public:
  GrammarLine(std::string_view line, std::string origin, std::string_view where = "grammar.parse")
      : LineReader(where, line, std::move(origin), true) {}

  bool accept_arrow() { return accept("->") || accept(kArrow); }

  std::string terminal() {
    std::string text = quoted("terminal");
    if (text.empty())
      stop("a terminal must not be empty; an empty right side is written as nothing");
    if (std::any_of(text.begin(), text.end(), is_white_space))
      stop("terminal '{}' contains white space; write one pair of quotes per symbol", text);
    return text;
  }

  // Reads the name of a nonterminal.
  std::string nonterminal(std::string_view expected) { return name_of(bare(expected)); }

  // Returns the name of a nonterminal that is written so.
  std::string name_of(std::string_view text) const {
    if (const auto reason = nonterminal_text_error(text); !reason.empty())
      stop("nonterminal {}", reason);
    return nonterminal_from_text(text);
  }

  // Reads a run of characters without quotes. A backslash keeps the next character in the run.
  std::string bare(std::string_view expected) {
    if (done()) stop("expected {}, got the end of the line", expected);
    const std::size_t begin = at_;
    while (at_ < line_.size() && !is_white_space(line_[at_]) &&
           std::string_view("|[]#").find(line_[at_]) == std::string_view::npos &&
           !left().starts_with("->") && !left().starts_with(kArrow))
      at_ += is_escape(at_) ? 2 : 1;
    const std::string name(line_.substr(begin, at_ - begin));
    if (name.empty()) stop("expected {}, got '{}'", expected, line_.substr(at_, 1));
    return name;
  }

  bool is_escape(std::size_t at) const {
    return line_[at] == '\\' && at + 1 < line_.size() &&
           kEscapedInNames.find(line_[at + 1]) != kEscapedInNames.npos;
  }

  // Returns whether an alternative ends here.
  bool at_end_of_side() { return done() || left().starts_with("|") || left().starts_with("["); }

  // Reads [0.25] or [1/3].
  std::optional<double> weight() {
    if (!accept("[")) return std::nullopt;
    const double numerator = number("a number in brackets");
    const double denominator = accept("/") ? number("a number in brackets") : 1.0;
    if (denominator == 0) stop("a weight is divided by zero");
    if (!accept("]")) stop("expected ']' after the weight, got {}", rest());
    return numerator / denominator;
  }
};

}  // namespace pushdown
