#include "bindings/binder/unknown_name.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "bindings/binder/bind.h"

namespace pushdown {
namespace unknown_name {

// Verbs of other programs, and the documented name of what does the same here.
struct OtherVerbs {
  std::string_view of;     // a class or a module
  std::string_view verbs;  // separated by blanks
  const char* here;
};
constexpr OtherVerbs kOtherVerbs[] = {
    {"Pda", "equivalent is_equivalent equivalent_to equals equal compare", "pd.pda.difference"},
    {"Pda", "minimize minimise reduce trim", "Pda:minimal"},
    {"Pda", "to_grammar to_cfg cfg", "Pda:grammar"},
    {"Pda", "accept accepts_input recognize recognizes contains", "Pda:accepts"},
    {"Pda", "run simulate", "Pda:trace"},
    {"Pda", "is_deterministic", "Pda:deterministic"},
    {"Pda", "draw plot view visualize to_svg", "Pda:svg"},
    {"Pda", "to_dot graphviz", "Pda:dot"},
    {"Pda", "to_latex to_tikz tikz", "Pda:latex"},
    {"Pda", "export write to_jflap jflap", "Pda:save"},
    {"Grammar", "accepts accept recognizes recognize derives generates", "Grammar:contains"},
    {"Grammar", "generate generate_random random draw", "Grammar:sample"},
    {"Grammar", "enumerate words", "Grammar:strings"},
    {"Grammar", "to_pda pda to_automaton", "pd.pda.from_grammar"},
    {"Grammar", "cnf to_cnf to_normal_form chomsky_normal_form", "Grammar:normal_form"},
    {"Grammar", "gnf to_gnf greibach_normal_form", "Grammar:greibach"},
    {"Grammar", "probability logprob log_prob score", "Grammar:log_probability"},
    {"Grammar", "productions", "Grammar:rules"},
    {"Grammar", "parse_all", "Grammar:parses"},
    {"Grammar", "export write", "Grammar:save"},
    {"Derivation", "draw plot view", "Derivation:svg"},
    {"Derivation", "to_latex forest qtree tikz", "Derivation:latex"},
    {"Derivation", "pretty_print pprint", "Derivation:text"},
    {"Derivation", "logprob log_prob score", "Derivation:log_probability"},
    {"Tree", "draw plot view", "Tree:svg"},
    {"Tree", "to_latex forest qtree tikz", "Tree:latex"},
    {"Tree", "pretty_print pprint", "Tree:text"},
    {"Tree", "leaves", "Tree:words"},
    {"Trace", "draw plot view", "Trace:svg"},
    {"LanguageModel", "generate", "LanguageModel:sample"},
    {"LanguageModel", "logprob log_prob score", "LanguageModel:log_probability"},
    {"LanguageModel", "predict", "LanguageModel:next"},
    {"LanguageModel", "fit train", "pd.train.trainer"},
    {"LanguageModel", "state_dict", "LanguageModel:parameters"},
    {"LanguageModel", "load_state_dict", "LanguageModel:load_parameters"},
    {"Recognizer", "predict classify", "Recognizer:accepts"},
    {"Recognizer", "fit train", "pd.train.trainer"},
    {"Transducer", "predict generate", "Transducer:translate"},
    {"Transducer", "fit train", "pd.train.trainer"},
    {"Trainer", "fit train start", "Trainer:run"},
    {"pd.pda", "equivalent is_equivalent equal compare", "pd.pda.difference"},
    {"pd.pda", "read open", "pd.pda.load"},
    {"pd.grammar", "read open", "pd.grammar.load"},
};

// Returns "; use pd.pda.difference(first, second, {options})" for a verb of this class or module in
// other programs, or "".
std::string verb_here(lua_State* L, std::string_view of, std::string_view name) {
  for (const auto& row : kOtherVerbs) {
    const auto verbs = " " + std::string(row.verbs) + " ";
    if (row.of != of || verbs.find(" " + std::string(name) + " ") == verbs.npos) continue;
    push_docs(L);
    lua_getfield(L, -1, row.here);
    const char* doc = lua_tostring(L, -1);
    std::string usage = doc != nullptr ? doc : "";
    lua_pop(L, 2);
    if (usage.empty()) return "";
    usage.resize(std::min({usage.find(" -> "), usage.find("  "), usage.size()}));
    const std::string_view full = row.here;
    const bool method = full.find(':') != full.npos;
    return "; use " + (method ? "" : std::string(full.substr(0, full.rfind('.') + 1))) + usage;
  }
  return "";
}

// Returns ", did you mean 'sum'?" for the name at index 2, which is not a key of the table at 1, or
// "".
std::string suggestion(lua_State* L) {
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) names.emplace_back(lua_tostring(L, -2));
  const auto near = nearest_names(lua_tostring(L, 2), names);
  return near.empty() ? "" : ", did you mean " + near + "?";
}

// " ('Grammar' and 'LanguageModel' have it)", or "" if no class has a method of this name.
std::string owners(lua_State* L, const std::string& method) {
  std::vector<std::string> classes;
  push_docs(L);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const std::string name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    if (name.ends_with(":" + method)) classes.push_back(name.substr(0, name.find(':')));
  }
  lua_pop(L, 1);
  if (classes.empty() || classes.size() > 5) return "";
  std::sort(classes.begin(), classes.end());
  return " (" + quoted_list(classes) + (classes.size() == 1 ? " has it)" : " have it)");
}

std::string of_upvalue(lua_State* L) {
  const char* text = lua_tostring(L, lua_upvalueindex(1));
  return text != nullptr ? text : "";
}

}  // namespace unknown_name

std::string with_article(const std::string& name) {
  return (name.find_first_of("AEIOU") == 0 ? "an " : "a ") + name;
}

int unknown_method(lua_State* L) {
  return guarded(L, [](lua_State* L) -> int {
    using namespace unknown_name;
    const auto cls = of_upvalue(L);
    if (lua_type(L, 2) != LUA_TSTRING)
      throw std::invalid_argument(with_article(cls) + " cannot be indexed by " + type_text(L, 2));
    const std::string name = lua_tostring(L, 2);
    auto more = verb_here(L, cls, name);
    if (more.empty()) more = owners(L, name);
    if (more.empty()) more = suggestion(L);
    throw std::invalid_argument(with_article(cls) + " has no method '" + name + "'" + more);
  });
}

int unknown_field(lua_State* L) {
  return guarded(L, [](lua_State* L) -> int {
    using namespace unknown_name;
    const auto module = of_upvalue(L);
    if (lua_type(L, 2) != LUA_TSTRING)
      throw std::invalid_argument(module + " cannot be indexed by " + type_text(L, 2));
    const std::string name = lua_tostring(L, 2);
    const auto verb = verb_here(L, module, name);
    throw std::invalid_argument("there is no " + module + "." + name +
                                (verb.empty() ? suggestion(L) : verb));
  });
}

}  // namespace pushdown
