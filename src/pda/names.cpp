#include "pda/names.h"

#include <algorithm>

#include "base/check.h"
#include "grammar/symbol_text.h"
#include "grammar/utf8.h"

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

}  // namespace pushdown
