#include "pda/jflap.h"

#include <map>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "base/xml.h"
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
  explicit JflapReader(std::string_view file) : file_(file) {}

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
    general_.bottom = "Z";
    const StopCheck interrupted;
    for (const auto& part : parts)
      if (part.name == "state") add_state(part);
    for (const auto& part : parts) {
      interrupted();
      if (part.name == "transition") add_move(part, kind == "pda");
    }
    if (general_.start.empty()) stop(root, "no state is <initial/>");
    if (general_.final.empty()) stop(root, "no state is <final/>, so no string is accepted");
    return std::move(general_);
  }

 private:
  template <class... Args>
  [[noreturn]] void stop(const XmlElement& at, fmt::format_string<Args...> format,
                         Args&&... args) const {
    fail(kWhere, "{}:{}: {}", file_, at.line, fmt::format(format, std::forward<Args>(args)...));
  }

  void add_state(const XmlElement& state) {
    const auto* id = state.attribute("id");
    if (id == nullptr) stop(state, "the state has no id");
    const auto* given = state.attribute("name");
    const auto name = given != nullptr && !given->empty() ? *given : "q" + *id;
    if (const auto reason = pda_name_error(name); !reason.empty())
      stop(state, "the name of a state {}", reason);
    if (!names_.emplace(*id, name).second) stop(state, "two states have the id {}", *id);
    if (!taken_.insert(name).second) stop(state, "two states have the name {}", name);
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
  std::set<std::string> taken_;
};

}  // namespace

bool looks_like_jflap(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return false;
  text.remove_prefix(first);
  return text.starts_with("<?xml") || text.starts_with("<structure") || text.starts_with("<!--");
}

GeneralPda parse_jflap(std::string_view text, std::string_view file) {
  return JflapReader(file).read(parse_xml(kWhere, text, file));
}

}  // namespace pushdown
