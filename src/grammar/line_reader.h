// Shared by the line-oriented notations of grammars and automata: iteration over the lines of a
// text, and reading one line from left to right with errors "[where] file:line: ...".
#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"

namespace pushdown {

// Calls read(line, "file:number") for every line, without its line end and without a byte order
// mark at the start of the text. Throws std::invalid_argument for a line that is not UTF-8.
template <class Read>
void read_lines(std::string_view where, std::string_view text, std::string_view file, Read read) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  int number = 0;
  const StopCheck stop;
  for (std::size_t begin = 0; begin < text.size();) {
    stop();
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto origin = fmt::format("{}:{}", file, ++number);
    if (const auto byte = find_invalid_utf8(line))
      fail(where, "{}: byte {} (0x{:02x}) is not UTF-8", origin, *byte + 1,
           static_cast<unsigned char>(line[*byte]));
    read(line, origin);
    begin = end + 1;
  }
}

class LineReader {
 public:
  // With `comments`, a # outside quotes ends the line.
  LineReader(std::string_view where, std::string_view line, std::string origin, bool comments)
      : where_(where), line_(line), origin_(std::move(origin)), comments_(comments) {}

  template <class... Args>
  [[noreturn]] void stop(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where_, "{}: {}", origin_, fmt::format(format, std::forward<Args>(args)...));
  }

  const std::string& origin() const { return origin_; }

  // Skips blanks; true at the end of the line.
  bool done() {
    while (at_ < line_.size() && is_white_space(line_[at_])) ++at_;
    return at_ == line_.size() || (comments_ && line_[at_] == '#');
  }
  bool accept(std::string_view token) {
    if (done() || !left().starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool at_quote() { return !done() && (line_[at_] == '\'' || line_[at_] == '"'); }
  std::string rest() { return done() ? "the end of the line" : fmt::format("'{}'", left()); }

 protected:
  std::string_view left() const { return line_.substr(at_); }

  double number(std::string_view expected) {
    done();
    double value = 0;
    const auto [end, error] =
        std::from_chars(line_.data() + at_, line_.data() + line_.size(), value);
    if (error != std::errc()) stop("expected {}, got {}", expected, rest());
    at_ = end - line_.data();
    return value;
  }

  // Returns the text between quotes. Requires at_quote(). A backslash escapes a quote or a
  // backslash.
  std::string quoted(std::string_view kind) {
    const char quote = line_[at_++];
    std::string text;
    for (; at_ < line_.size(); ++at_) {
      if (line_[at_] == quote) return ++at_, text;
      if (line_[at_] == '\\') {
        if (at_ + 1 == line_.size()) break;
        const char next = line_[++at_];
        if (next != '\\' && next != '\'' && next != '"')
          stop("unknown escape \\{} in a {}; write \\\\ for a backslash", next, kind);
      }
      text += line_[at_];
    }
    stop("the {} {}{} has no closing quote", kind, quote, text);
  }

  std::string_view where_, line_;
  std::string origin_;
  std::size_t at_ = 0;
  bool comments_;
};

}  // namespace pushdown
