#include "bindings/shell/editor/style.h"

#include <algorithm>
#include <utility>

#include "bindings/shell/tokens.h"

namespace pushdown {
namespace {

// In the order of Token::Kind.
constexpr Style kStyles[] = {Style::plain,  Style::comment, Style::plain, Style::keyword,
                             Style::number, Style::text,    Style::plain};
// In the order of Style.
constexpr const char* kSequences[] = {"",         "\033[1;32m", "\033[35m", "\033[32m", "\033[36m",
                                      "\033[90m", "\033[1;4m",  "\033[7m",  "\033[90m"};

constexpr std::string_view kOpening = "([{", kClosing = ")]}";

}  // namespace

std::vector<Style> styles_of(std::string_view entry, std::size_t cursor) {
  std::vector<Style> styles(entry.size(), Style::plain);
  const auto first = entry.find_first_not_of(" \t\n");
  if (first == entry.npos || std::string_view(":?!").find(entry[first]) != entry.npos)
    return styles;
  std::vector<std::size_t> open;
  std::pair<std::size_t, std::size_t> pair{entry.npos, entry.npos};
  for (std::size_t place = 0; place < entry.size();) {
    const auto token = token_at(entry, place);
    std::fill(styles.begin() + place, styles.begin() + token.end,
              kStyles[static_cast<int>(token.kind)]);
    if (token.kind == Token::Kind::sign && kOpening.find(entry[place]) != entry.npos) {
      open.push_back(place);
    } else if (token.kind == Token::Kind::sign && kClosing.find(entry[place]) != entry.npos &&
               !open.empty()) {
      const bool fits = kOpening.find(entry[open.back()]) == kClosing.find(entry[place]);
      // The bracket at the cursor comes before the one to its left.
      for (const auto near : {open.back(), place})
        if (fits && (near == cursor || (near + 1 == cursor && pair.first == entry.npos)))
          pair = {open.back(), place};
      open.pop_back();
    }
    place = token.end;
  }
  if (pair.first != entry.npos) styles[pair.first] = styles[pair.second] = Style::bracket;
  return styles;
}

const char* sequence_of(Style style) { return kSequences[static_cast<int>(style)]; }

}  // namespace pushdown
