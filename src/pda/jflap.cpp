#include "pda/jflap.h"

#include <map>

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "base/xml.h"
#include "grammar/symbol_text.h"
#include "pda/names.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "pda.load";

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> list;
  if (means_no_symbol(text)) return list;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at++;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    if (!is_white_space(text[begin])) list.emplace_back(text.substr(begin, at - begin));
  }
  return list;
}

class JflapReader {
 public:
  JflapReader(std::string_view file, bool by_empty_stack) : file_(file) {
    general_.by_empty_stack = by_empty_stack;
  }

  GeneralPda read(const XmlElement& root) {
    if (root.name != "structure")
      stop(root, "expected the element <structure> of a JFLAP file, got <{}>", root.name);
    const auto* type = root.child("type");
    const auto kind = type != nullptr          ? type->text
                      : root.attribute("type") ? *root.attribute("type")
                                               : "";
    if (kind != "pda" && kind != "fa")
      stop(type != nullptr ? *type : root,
           "expected the type pda or fa, of pushdown and finite automata, got '{}'", kind);
    const auto* inner = root.child("automaton");
    const auto& parts = inner != nullptr ? inner->children : root.children;
    if (kind == "fa" && general_.by_empty_stack)
      stop(type != nullptr ? *type : root, "a finite automaton has no stack that could be empty");
    general_.bottom = "Z";
    const StopCheck interrupted;
    name_states(parts);
    for (const auto& part : parts)
      if (part.name == "state") add_state(part);
    for (const auto& part : parts) {
      interrupted();
      if (part.name == "transition") add_move(part, kind == "pda");
    }
    if (general_.start.empty()) stop(root, "no state is <initial/>");
    if (general_.final.empty() && !general_.by_empty_stack)
      stop(
          root,
          "no state is <final/>, so no string is accepted; acceptance = 'empty_stack' accepts with "
          "an empty stack");
    return std::move(general_);
  }

 private:
  template <class... Args>
  [[noreturn]] void stop(const XmlElement& at, fmt::format_string<Args...> format,
                         Args&&... args) const {
    fail(kWhere, "{}:{}: {}", file_, at.line, fmt::format(format, std::forward<Args>(args)...));
  }

  // Returns the name of a state as names are here, or an empty text.
  static std::string own_name(const XmlElement& state) {
    const auto* given = state.attribute("name");
    std::string name;
    bool blank = false;  // white space since the last character of the name
    for (const char c : given != nullptr ? *given : "") {
      if (!is_white_space(c)) {
        if (blank && !name.empty()) name += given->find('$') == given->npos ? '_' : '~';
        name += c;
      }
      blank = is_white_space(c);
    }
    return name;
  }

  void name_states(const std::vector<XmlElement>& parts) {
    std::map<std::string, int> uses;
    for (const auto& part : parts)
      if (part.name == "state") ++uses[own_name(part)];
    for (const auto& part : parts) {
      if (part.name != "state") continue;
      const auto* id = part.attribute("id");
      if (id == nullptr) stop(part, "the state has no id");
      auto name = own_name(part);
      if (name.empty() || uses[name] > 1) {
        name = "q" + *id;
        while (uses.contains(name)) name += "'";
        uses[name] = 1;
      }
      if (const auto reason = pda_name_error(name); !reason.empty())
        stop(part, "the name of a state {}", reason);
      if (!names_.emplace(*id, name).second) stop(part, "two states have the id {}", *id);
    }
  }

  void add_state(const XmlElement& state) {
    const auto& name = names_.at(*state.attribute("id"));
    if (state.child("final") != nullptr) general_.final.push_back(name);
    if (state.child("initial") == nullptr) return;
    if (!general_.start.empty())
      stop(state, "{} and {} are initial, but only one state can be", general_.start, name);
    general_.start = name;
  }

  const std::string& state_of(const XmlElement& move, const char* key) const {
    const auto* end = move.child(key);
    if (end == nullptr) stop(move, "the transition has no <{}>", key);
    const auto found = names_.find(end->text);
    if (found == names_.end())
      stop(*end, "<{}> names the state '{}', which does not exist", key, end->text);
    return found->second;
  }

  void add_move(const XmlElement& element, bool has_stack) {
    GeneralMove move{state_of(element, "from"), state_of(element, "to")};
    move.origin = fmt::format("{}:{}", file_, element.line);
    const auto symbols = [&](const char* key) {
      const auto* part = element.child(key);
      return part == nullptr ? std::vector<std::string>() : characters(part->text);
    };
    move.read = symbols("read");
    if (has_stack) {
      move.pop = symbols("pop");
      move.push = symbols("push");
    }
    general_.moves.push_back(std::move(move));
  }

  std::string_view file_;
  GeneralPda general_;
  std::map<std::string, std::string> names_;  // of states, by id
};

}  // namespace

bool looks_like_jflap(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return false;
  text.remove_prefix(first);
  return text.starts_with("<?xml") || text.starts_with("<structure") || text.starts_with("<!--");
}

GeneralPda parse_jflap(std::string_view text, std::string_view file, bool by_empty_stack) {
  return JflapReader(file, by_empty_stack).read(parse_xml(kWhere, text, file));
}

}  // namespace pushdown
