#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "grammar/symbol_text.h"
#include "pda/jflap.h"

namespace pushdown {
namespace jflap_text {

constexpr std::string_view kWhere = "pda.save";
constexpr auto kBottom = "Z";

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    check(static_cast<unsigned char>(c) >= 0x20, kWhere,
          "a name has the control character 0x{:02x}, which XML does not have",
          static_cast<unsigned char>(c));
    escaped += c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
  }
  return escaped;
}

// Returns whether JFLAP, whose texts are UTF-16, reads a name as one symbol.
bool is_character(const std::string& name) {
  const auto characters =
      std::count_if(name.begin(), name.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return characters == 1 && name.size() < 4 && !means_no_symbol(name);
}

class Writer {
 public:
  explicit Writer(const Pda& pda) : pda_(pda), states_(pda.states()) {}

  JflapText run() {
    for (const auto& symbol : pda_.alphabet().symbols())
      check(
          is_character(symbol), kWhere,
          "JFLAP reads each character as a symbol, and the input symbol '{}' is not one character",
          symbol);
    is_plain_ = bottom_stays();
    name_stack_symbols();
    final_.assign(states_.size(), false);
    if (is_plain_ && !pda_.at_bottom())
      for (std::size_t q = 0; q < states_.size(); ++q) final_[q] = pda_.accepting()[q] > 0;
    else
      add_ends();
    if (!is_plain_) {
      start_ = add_state("begin");
      add_move(start_, 0, "", kBottom, symbols_[0] + kBottom);
    }
    add_transitions();
    return {document(), losses()};
  }

 private:
  // Returns whether the bottom symbol is at the bottom all the time, and nowhere else.
  bool bottom_stays() const {
    return std::all_of(pda_.transitions().begin(), pda_.transitions().end(),
                       [](const Transition& t) {
                         if (t.action == StackAction::pop) return true;
                         if (t.action == StackAction::push) return t.pushed != 0;
                         return (t.pushed == 0) == (t.top == 0);
                       });
  }

  void name_stack_symbols() {
    symbols_ = pda_.stack_symbols();
    std::set<std::string> taken{kBottom};
    for (std::size_t x = is_plain_ ? 1 : 0; x < symbols_.size(); ++x)
      if (is_character(symbols_[x])) taken.insert(symbols_[x]);
    int next = 'A';
    for (std::size_t x = 0; x < symbols_.size(); ++x) {
      if (x == 0 && is_plain_) {
        symbols_[x] = kBottom;
        continue;
      }
      if (is_character(symbols_[x]) && symbols_[x] != kBottom) continue;
      std::string name;
      do {
        check(
            next < 0x250, kWhere,
            "JFLAP's stack symbols are single characters, of which {} stack symbols need too many",
            symbols_.size());
        name = next < 0x80 ? std::string(1, static_cast<char>(next))
                           : std::string{static_cast<char>(0xC0 | (next >> 6)),
                                         static_cast<char>(0x80 | (next & 0x3F))};
        next = next == 'Z'   ? 'a'
               : next == 'z' ? 0x100
                             : next + 1;  // to the end of Latin Extended-B
      } while (means_no_symbol(name) || !taken.insert(name).second);
      renamed_ += fmt::format("{}{} is {}", renamed_.empty() ? "" : ", ", symbols_[x], name);
      symbols_[x] = name;
    }
  }

  int add_state(std::string name) {
    while (std::find(states_.begin(), states_.end(), name) != states_.end()) name += "'";
    states_.push_back(std::move(name));
    final_.push_back(false);
    return static_cast<int>(states_.size()) - 1;
  }

  // Adds a final state, and moves to it from where runs may end.
  void add_ends() {
    const int end = add_state("end");
    final_[end] = true;
    // Pops the automaton's bottom symbol to see that it is alone.
    const int below = is_plain_ || !pda_.at_bottom() ? end : add_state("below");
    for (std::size_t q = 0; q < pda_.states().size(); ++q) {
      if (pda_.accepting()[q] == 0) continue;
      const int from = static_cast<int>(q);
      if (pda_.at_bottom())
        add_move(from, below, "", symbols_[0], is_plain_ ? kBottom : "");
      else
        for (const auto& symbol : symbols_) add_move(from, end, "", symbol, symbol);
    }
    if (below != end) add_move(below, end, "", kBottom, kBottom);
  }

  void add_transitions() {
    const StopCheck stop;
    for (const auto& t : pda_.transitions()) {
      stop();
      const bool never = t.weight == 0 || (is_plain_ && t.top == 0 && t.action == StackAction::pop);
      if (never) continue;
      has_weights_ = has_weights_ || t.weight != 1;
      const auto& top = symbols_[t.top];
      add_move(t.state, t.next, pda_.alphabet().symbol(t.symbol), top,
               t.action == StackAction::pop    ? ""
               : t.action == StackAction::push ? symbols_[t.pushed] + top
                                               : symbols_[t.pushed]);
    }
  }

  void add_move(int from, int to, const std::string& read, const std::string& pop,
                const std::string& push) {
    moves_ += fmt::format("\t\t<transition>\n\t\t\t<from>{}</from>\n\t\t\t<to>{}</to>\n", from, to);
    for (const auto& [key, text] : {std::pair{"read", read}, {"pop", pop}, {"push", push}})
      moves_ += text.empty() ? fmt::format("\t\t\t<{}/>\n", key)
                             : fmt::format("\t\t\t<{0}>{1}</{0}>\n", key, xml_text(text));
    moves_ += "\t\t</transition>\n";
  }

  std::string document() const {
    std::string text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><!--Created with Pushdown.-->"
        "<structure>\n\t<type>pda</type>\n\t<automaton>\n";
    constexpr int kColumns = 5, kDistance = 150;
    for (int q = 0; q < static_cast<int>(states_.size()); ++q)
      text += fmt::format(
          "\t\t<state id=\"{}\" name=\"{}\">\n\t\t\t<x>{}.0</x>\n\t\t\t<y>{}.0</y>\n{}{}"
          "\t\t</state>\n",
          q, xml_text(states_[q]), kDistance * (q % kColumns) + 100,
          kDistance * (q / kColumns) + 100, q == start_ ? "\t\t\t<initial/>\n" : "",
          final_[q] ? "\t\t\t<final/>\n" : "");
    return text + moves_ + "\t</automaton>\n</structure>\n";
  }

  std::vector<std::string> losses() const {
    std::vector<std::string> lines;
    const bool ends = std::any_of(pda_.accepting().begin(), pda_.accepting().end(),
                                  [](double weight) { return weight != 0 && weight != 1; });
    if (has_weights_ || ends)
      lines.emplace_back("JFLAP has no weights; the file accepts the strings of any weight but 0");
    if (!renamed_.empty())
      lines.push_back("JFLAP's stack symbols are single characters, without its own Z: " +
                      renamed_);
    return lines;
  }

  const Pda& pda_;
  bool is_plain_ = true, has_weights_ = false;
  int start_ = 0;
  std::vector<std::string> states_, symbols_;
  std::vector<bool> final_;
  std::string moves_, renamed_;
};

}  // namespace jflap_text

JflapText to_jflap(const Pda& pda) { return jflap_text::Writer(pda).run(); }

}  // namespace pushdown
