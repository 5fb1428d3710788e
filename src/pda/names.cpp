#include "pda/names.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "grammar/symbol_text.h"

namespace pushdown {

std::string pda_name_text(std::string_view name) {
  const bool bare = name.find_first_of("'\"/,%\\") == std::string_view::npos &&
                    name.find("--") == std::string_view::npos && !name.ends_with('-') &&
                    !name.starts_with('#');
  // A single byte is unambiguous, except a quote; # and % would begin a comment or directive.
  const bool single = name.size() == 1 && std::string_view("'\"#%").find(name) == name.npos;
  return bare || single ? std::string(name) : quoted_terminal(name);
}

std::string pda_name_error(std::string_view name) {
  if (name.empty()) return "must not be empty";
  if (find_invalid_utf8(name)) return "must be UTF-8 text";
  if (std::any_of(name.begin(), name.end(), is_white_space))
    return fmt::format("must not contain white space, got '{}'", name);
  return "";
}

bool looks_like_several(const std::string& pushed, const std::string& top,
                        const std::set<std::string>& known) {
  if (pushed.size() > top.size() && (pushed.starts_with(top) || pushed.ends_with(top))) return true;
  for (std::string_view rest = pushed; !rest.empty();) {
    const auto next = std::find_if(known.begin(), known.end(),
                                   [&](const auto& symbol) { return rest.starts_with(symbol); });
    if (next == known.end()) return false;
    rest.remove_prefix(next->size());
  }
  return true;
}

}  // namespace pushdown
