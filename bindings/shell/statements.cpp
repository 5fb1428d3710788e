#include "bindings/shell/statements.h"

#include <algorithm>

#include "bindings/shell/tokens.h"

namespace pushdown {
namespace {

// Reads code from left to right, one token at a time.
class OutlineReader {
 public:
  explicit OutlineReader(std::string_view code) : code_(code) {}

  Outline read() {
    for (std::size_t place = 0; place < code_.size();) {
      const auto token = token_at(code_, place);
      const auto text = code_.substr(place, token.end - place);
      if (token.kind != Token::Kind::space && token.kind != Token::Kind::comment)
        take_token(token, text);
      else if (token.kind == Token::Kind::space && text.find('\n') != text.npos)
        fresh_ = Fresh::line;
      place = token.end;
    }
    return std::move(outline_);
  }

 private:
  enum class Fresh { no, line, semicolon };            // before this token
  enum class Names { none, first, after_name, next };  // in the declaration of locals

  void take_token(const Token& token, std::string_view text) {
    if (fresh_ != Fresh::no && depth_ == 0 && seen_)
      outline_.starts.push_back({token.begin, fresh_ == Fresh::semicolon});
    fresh_ = Fresh::no;
    seen_ = true;
    if (token.kind == Token::Kind::name)
      take_name(token, text);
    else if (token.kind == Token::Kind::keyword)
      take_keyword(token, text);
    else if (token.kind == Token::Kind::sign)
      take_sign(text[0]);
    else
      names_ = Names::none;
  }

  void take_sign(char c) {
    if (c == '(' || c == '{' || c == '[') ++depth_;
    if (c == ')' || c == '}' || c == ']') close();
    if (c == ';' && depth_ == 0) fresh_ = Fresh::semicolon;
    names_ = c == ',' && names_ == Names::after_name ? Names::next : Names::none;
  }

  void take_keyword(const Token& token, std::string_view word) {
    if (word == "local" && depth_ == 0) {
      names_ = Names::first;
      outline_.declarations.push_back({token.begin, token.end, {}, false});
      return;
    }
    if (word == "return" && depth_ == 0) outline_.last_return = token.begin;
    // `for` and `while` have a `do`.
    if (word == "do" || word == "if" || word == "function" || word == "repeat") ++depth_;
    if (word == "end" || word == "until") close();
    const bool local = word == "function" && names_ == Names::first;  // local function NAME
    if (local) outline_.declarations.back().function = true;
    names_ = local ? Names::next : Names::none;
  }

  void take_name(const Token& token, std::string_view name) {
    const bool declared = names_ == Names::first || names_ == Names::next;
    names_ = declared ? Names::after_name : Names::none;
    if (!declared) return;
    outline_.declarations.back().names.emplace_back(name);
    outline_.declarations.back().end = token.end;
    auto& locals = outline_.locals;
    if (std::find(locals.begin(), locals.end(), name) == locals.end()) locals.emplace_back(name);
  }

  void close() { depth_ = std::max(depth_ - 1, 0); }

  std::string_view code_;
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
  return !code.empty() && token_at(code, 0).kind == Token::Kind::name;
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
