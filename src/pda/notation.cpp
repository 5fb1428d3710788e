#include "pda/notation.h"

#include <algorithm>

#include "base/options.h"
#include "grammar/line_reader.h"
#include "pda/names.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "pda.parse";
constexpr std::string_view kForm = "state, top --symbol/weight--> state, push y | replace y | pop";

class NotationLine : public LineReader {
 public:
  // A # may be a symbol, so comments are only recognised by at_comment() where they are allowed.
  NotationLine(std::string_view line, std::string origin)
      : LineReader(kWhere, line, std::move(origin), false) {}

  bool at_comment() { return !done() && line_[at_] == '#'; }
  // Does not skip blanks.
  bool accept_here(char c) { return at_ < line_.size() && line_[at_] == c && ++at_ != 0; }
  void expect(std::string_view token, std::string_view after) {
    if (!accept(token))
      stop("expected {} after {}, got {}; the form is {}", token, after, rest(), kForm);
  }
  // Accepts a whole word only.
  bool accept_word(std::string_view word) {
    done();
    if (!left().starts_with(word)) return false;
    if (left().size() > word.size() && !is_white_space(left()[word.size()])) return false;
    at_ += word.size();
    return true;
  }

  // A bare name ends at white space or at one of `ends`, but has at least one byte.
  std::string name(std::string_view expected, const std::vector<std::string_view>& ends) {
    if (done()) stop("expected {}, got the end of the line; the form is {}", expected, kForm);
    std::string text;
    if (at_quote()) {
      text = quoted("name");
    } else {
      const std::size_t begin = at_++;
      while (
          at_ < line_.size() && !is_white_space(line_[at_]) &&
          std::none_of(ends.begin(), ends.end(), [&](auto end) { return left().starts_with(end); }))
        ++at_;
      text = line_.substr(begin, at_ - begin);
    }
    if (const auto reason = pda_name_error(text); !reason.empty()) stop("{} {}", expected, reason);
    return text;
  }

  double strength() {
    const double value = number("a number as the strength");
    if (!(value > 0)) stop("the strength must be above 0, got {}", value);
    return value;
  }

  double weight() {
    const double numerator = number("a number as the weight");
    const double denominator = accept_here('/') ? number("a number as the weight") : 1.0;
    if (denominator == 0) stop("division by zero in a weight");
    return numerator / denominator;
  }
};

void read_action(NotationLine& line, TransitionPattern& pattern) {
  if (line.accept_word("pop")) {
    pattern.action = StackAction::pop;
  } else if (line.accept_word("push")) {
    pattern.action = StackAction::push;
    pattern.pushed = line.name("the symbol to push", {});
  } else if (line.accept_word("replace")) {
    pattern.action = StackAction::replace;
    pattern.pushed = line.name("the symbol to replace the top with", {});
  } else {
    line.stop("expected push y, replace y or pop, got {}", line.rest());
  }
}

void read_variables(NotationLine& line, TransitionPattern& pattern) {
  while (line.accept_word("for")) {
    if (line.accept_word("all")) {
      do pattern.variables.emplace_back(line.name("a variable", {","}), std::vector<std::string>());
      while (line.accept(","));
      continue;
    }
    const auto variable = line.name("a variable", {});
    if (!line.accept_word("in"))
      line.stop("expected 'for all {}' or 'for {} in ...', got {}", variable, variable,
                line.rest());
    std::vector<std::string> range;
    // Reads the words before a comment or another clause.
    for (NotationLine probe = line; !line.done() && !line.at_comment() && !probe.accept_word("for");
         probe = line)
      range.push_back(line.name("a symbol", {}));
    if (range.empty()) line.stop("the range of {} is empty", variable);
    pattern.variables.emplace_back(variable, range);
  }
}

TransitionPattern read_transition(NotationLine& line) {
  TransitionPattern pattern;
  pattern.origin = line.origin();
  pattern.state = line.name("a state", {","});
  line.expect(",", "the state " + pattern.state);
  pattern.top = line.name("the top of the stack", {",", "--"});
  line.expect("--", "the top of the stack");
  pattern.symbol = line.name("an input symbol", {"/", "-->"});
  if (line.accept("/")) pattern.weight = line.weight();
  line.expect("-->", "the symbol that is read");
  pattern.next = line.name("the next state", {","});
  line.expect(",", "the next state " + pattern.next);
  read_action(line, pattern);
  read_variables(line, pattern);
  if (!line.done() && !line.at_comment())
    line.stop("expected the end of the line, got {}", line.rest());
  return pattern;
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  PdaSource read(std::string_view text) {
    read_lines(kWhere, text, file_,
               [&](std::string_view line, const std::string& origin) { read_line(line, origin); });
    check(!source_.transitions.empty(), kWhere, "{}: the text contains no transitions", file_);
    check(!source_.bottom.empty(), kWhere,
          "{}: the bottom symbol is missing; name it in a line %bottom SYMBOL", file_);
    return source_;
  }

 private:
  void read_line(std::string_view text, std::string origin) {
    NotationLine line(text, std::move(origin));
    if (line.done() || line.at_comment()) return;
    if (line.accept("%")) return read_directive(line);
    source_.transitions.push_back(read_transition(line));
  }

  void read_directive(NotationLine& line) {
    static const std::vector<std::string> known{
        "name",          "start",     "bottom",    "states", "symbols",
        "stack_symbols", "accepting", "at_bottom", "dead",   "strength"};
    const auto word = line.name("a word after %", {});
    if (word == "name") {
      source_.name = single(line, word, source_.name);
    } else if (word == "start") {
      source_.start = single(line, word, source_.start);
    } else if (word == "bottom") {
      source_.bottom = single(line, word, source_.bottom);
    } else if (word == "states") {
      list(line, word, source_.states);
    } else if (word == "symbols") {
      list(line, word, source_.symbols);
    } else if (word == "stack_symbols") {
      list(line, word, source_.stack_symbols);
    } else if (word == "dead") {
      list(line, word, source_.dead);
    } else if (word == "strength") {
      if (source_.strength) line.stop("%strength is given twice");
      source_.strength = line.strength();
      if (!line.done()) line.stop("%strength takes one number, got {} after it", line.rest());
    } else if (word == "accepting") {
      if (line.done()) line.stop("%accepting needs at least one state");
      while (!line.done()) {
        auto state = line.name("an accepting state", {"/"});
        const double weight = line.accept_here('/') ? line.weight() : 1.0;
        source_.accepting.emplace_back(std::move(state), weight);
      }
    } else if (word == "at_bottom") {
      source_.at_bottom = true;
      if (!line.done()) line.stop("%at_bottom takes no argument, got {}", line.rest());
    } else {
      const auto near = nearest_names(word, known);
      line.stop("unknown word %{}{}; the words are {}", word,
                near.empty() ? "" : ", did you mean " + near + "?", quoted_list(known));
    }
  }

  std::string single(NotationLine& line, const std::string& word, const std::string& before) {
    if (!before.empty()) line.stop("%{} is given twice", word);
    auto name = line.name("a name after %" + word, {});
    if (!line.done()) line.stop("%{} takes one name, got {} after it", word, line.rest());
    return name;
  }

  void list(NotationLine& line, const std::string& word, std::vector<std::string>& names) {
    if (!names.empty()) line.stop("%{} is given twice", word);
    if (line.done()) line.stop("%{} needs at least one name", word);
    while (!line.done()) names.push_back(line.name("a name", {}));
  }

  std::string file_;
  PdaSource source_;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += " " + pda_name_text(name);
  return text + "\n";
}

}  // namespace

PdaSource parse_pda(std::string_view text, std::string_view file) {
  return Reader(file).read(text);
}

TransitionPattern parse_transition(std::string_view text, std::string_view origin) {
  if (find_invalid_utf8(text)) fail(kWhere, "{}: a transition must be UTF-8 text", origin);
  NotationLine line(text, std::string(origin));
  return read_transition(line);
}

std::string to_text(const Pda& pda) {
  const auto source = pda.source();
  std::string text;
  if (!source.name.empty() && pda_name_error(source.name).empty())
    text += "%name " + pda_name_text(source.name) + "\n";
  text += "%start " + pda_name_text(source.start) + "\n";
  text += "%bottom " + pda_name_text(source.bottom) + "\n";
  text += "%states" + listed(source.states);
  text += "%symbols" + listed(source.symbols);
  text += "%stack_symbols" + listed(source.stack_symbols);
  if (!source.accepting.empty()) {
    text += "%accepting";
    for (const auto& [state, weight] : source.accepting)
      text += " " + pda_name_text(state) + (weight == 1 ? "" : fmt::format("/{}", weight));
    text += "\n";
  }
  if (source.at_bottom) text += "%at_bottom\n";
  if (!source.dead.empty()) text += "%dead" + listed(source.dead);
  if (source.strength) text += fmt::format("%strength {}\n", *source.strength);
  for (const auto& transition : pda.transitions()) text += pda.transition_text(transition) + "\n";
  return text;
}

}  // namespace pushdown
