#include "pda/hint_parts.h"

#include <algorithm>

namespace pushdown {

const std::vector<HintPart>& hint_parts() {
  static const std::vector<HintPart> parts{
      {"dead_states", "only the transitions into the dead state"},
      {"hint_1", "only the transitions that push"},
      {"hint_2", "all transitions, but no behaviour at the end of the string"},
      {"whole", "the complete automaton"}};
  return parts;
}

const HintPart* hint_part(std::string_view name) {
  for (const auto& part : hint_parts())
    if (name.ends_with("/" + std::string(part.name))) return &part;
  return nullptr;
}

PdaSource part_of(PdaSource source, const HintPart& part) {
  const std::string_view name = part.name;
  const bool dead_part = name == "dead_states";
  const auto is_dead = [dead = source.dead](const std::string& state) {
    return std::find(dead.begin(), dead.end(), state) != dead.end();
  };
  std::erase_if(source.transitions, [&](const TransitionPattern& transition) {
    return is_dead(transition.next) != dead_part ||
           (name == "hint_1" && transition.action != StackAction::push);
  });
  if (!dead_part) {
    std::erase_if(source.states, is_dead);
    source.dead.clear();
  }
  if (name != "whole") {
    source.accepting.clear();
    source.at_bottom = false;
  }
  source.name += "_" + std::string(name);
  return source;
}

}  // namespace pushdown
