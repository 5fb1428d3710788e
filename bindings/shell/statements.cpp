#include "bindings/shell/statements.h"

#include <algorithm>
#include <cctype>

namespace pushdown {
namespace {

constexpr std::string_view kKeywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                          "false", "for",   "function", "goto", "if",     "in",
                                          "local", "nil",   "not",      "or",   "repeat", "return",
                                          "then",  "true",  "until",    "while"};

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::string_view name_at(std::string_view code, std::size_t place) {
  std::size_t end = place;
  while (end < code.size() && in_name(code[end])) ++end;
  return code.substr(place, end - place);
}

bool is_keyword(std::string_view word) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

// Returns the position after the long bracket `[==[ ... ]==]` that begins at `place`, or npos if
// none begins there.
std::size_t long_bracket_end(std::string_view code, std::size_t place) {
  std::size_t open = place + 1;
  while (open < code.size() && code[open] == '=') ++open;
  if (open >= code.size() || code[place] != '[' || code[open] != '[') return code.npos;
  const std::string close = "]" + std::string(open - place - 1, '=') + "]";
  const auto end = code.find(close, open + 1);
  return end == code.npos ? code.size() : end + close.size();
}

std::size_t string_end(std::string_view code, std::size_t place) {
  const char quote = code[place];
  for (std::size_t i = place + 1; i < code.size(); ++i) {
    if (code[i] == '\\')
      ++i;
    else if (code[i] == quote || code[i] == '\n')
      return i + 1;
  }
  return code.size();
}

// Reads code from left to right, one token at a time.
class OutlineReader {
 public:
  explicit OutlineReader(std::string_view code) : code_(code) {}

  Outline read() {
    while (place_ < code_.size()) {
      const char c = code_[place_];
      if (c == '\n') fresh_ = Fresh::line;
      if (std::isspace(static_cast<unsigned char>(c)))
        ++place_;
      else if (code_.substr(place_).starts_with("--"))
        skip_comment();
      else
        take_token();
    }
    return std::move(outline_);
  }

 private:
  enum class Fresh { no, line, semicolon };            // before this token
  enum class Names { none, first, after_name, next };  // in the declaration of locals

  void skip_comment() {
    const auto end = place_ + 2 < code_.size() ? long_bracket_end(code_, place_ + 2) : code_.npos;
    place_ = end != code_.npos ? end : std::min(code_.find('\n', place_), code_.size());
  }

  void take_token() {
    if (fresh_ != Fresh::no && depth_ == 0 && seen_)
      outline_.starts.push_back({place_, fresh_ == Fresh::semicolon});
    fresh_ = Fresh::no;
    seen_ = true;
    const char c = code_[place_];
    if (starts_name(c)) return take_word();
    if (std::isdigit(static_cast<unsigned char>(c))) {
      while (place_ < code_.size() && (in_name(code_[place_]) || code_[place_] == '.')) ++place_;
    } else if (c == '"' || c == '\'') {
      place_ = string_end(code_, place_);
    } else if (const auto end = long_bracket_end(code_, place_); end != code_.npos) {
      place_ = end;
    } else {
      take_sign(c);
      return;
    }
    names_ = Names::none;
  }

  void take_sign(char c) {
    ++place_;
    if (c == '(' || c == '{' || c == '[') ++depth_;
    if (c == ')' || c == '}' || c == ']') close();
    if (c == ';' && depth_ == 0) fresh_ = Fresh::semicolon;
    names_ = c == ',' && names_ == Names::after_name ? Names::next : Names::none;
  }

  void take_word() {
    const auto word = name_at(code_, place_);
    place_ += word.size();
    if (word == "local" && depth_ == 0) {
      names_ = Names::first;
      outline_.declarations.push_back({place_ - word.size(), place_, {}, false});
      return;
    }
    if (word == "return" && depth_ == 0) outline_.last_return = place_ - word.size();
    // `for` and `while` have a `do`.
    if (word == "do" || word == "if" || word == "function" || word == "repeat") ++depth_;
    if (word == "end" || word == "until") close();
    if (word == "function" && names_ == Names::first) {  // local function NAME
      names_ = Names::next;
      outline_.declarations.back().function = true;
      return;
    }
    const bool declared = names_ == Names::first || names_ == Names::next;
    names_ = Names::none;
    if (!declared || is_keyword(word)) return;
    names_ = Names::after_name;
    outline_.declarations.back().names.emplace_back(word);
    outline_.declarations.back().end = place_;
    auto& locals = outline_.locals;
    if (std::find(locals.begin(), locals.end(), word) == locals.end()) locals.emplace_back(word);
  }

  void close() { depth_ = std::max(depth_ - 1, 0); }

  std::string_view code_;
  std::size_t place_ = 0;
  int depth_ = 0;
  bool seen_ = false;
  Fresh fresh_ = Fresh::no;
  Names names_ = Names::none;
  Outline outline_;
};

// Returns the text after the prompt at the beginning of a line, if there is a prompt.
bool take_prompt(std::string_view& line, std::string_view prompt) {
  const auto first = std::min(line.find_first_not_of(" \t"), line.size());
  if (!line.substr(first).starts_with(prompt)) return false;
  const auto rest = line.substr(first + prompt.size());
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\r') return false;
  line = rest.empty() ? rest : rest.substr(1);
  return true;
}

}  // namespace

Outline outline_of(std::string_view code) { return OutlineReader(code).read(); }

std::string without_locals(std::string_view code, const std::vector<std::string>& kept) {
  const auto is_kept = [&](const std::string& name) {
    return std::find(kept.begin(), kept.end(), name) != kept.end();
  };
  std::string result;
  std::size_t copied = 0;
  for (const auto& [place, end, names, function] : outline_of(code).declarations) {
    if (names.empty() || std::any_of(names.begin(), names.end(), is_kept)) continue;
    const auto first = code.find_first_not_of(" \t\r\n", place + std::string_view("local").size());
    result += code.substr(copied, place - copied);
    result += code.substr(first, end - first);
    copied = end;
    const auto next = std::min(code.find_first_not_of(" \t\r\n", end), code.size());
    if (!function && !code.substr(next).starts_with('=')) result += " = nil";
  }
  return result.append(code.substr(copied));
}

bool begins_with_name(std::string_view code) {
  return !code.empty() && starts_name(code[0]) && !is_keyword(name_at(code, 0));
}

bool is_session(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return false;
  auto line = text.substr(first, std::min(text.find('\n', first), text.size()) - first);
  return take_prompt(line, "pd>");
}

std::vector<SessionLine> session_lines(std::string_view text) {
  using Kind = SessionLine::Kind;
  std::vector<SessionLine> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    const Kind kind = take_prompt(line, "pd>")   ? Kind::entry
                      : take_prompt(line, "...") ? Kind::continuation
                                                 : Kind::other;
    lines.push_back({kind, line});
    begin = end + 1;
  }
  return lines;
}

}  // namespace pushdown
