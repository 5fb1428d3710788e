#include "grammar/alphabet.h"

#include <algorithm>

#include "base/check.h"
#include "base/options.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

void check_symbol(const std::string& symbol) {
  check(!symbol.empty(), "alphabet", "a symbol must not be empty");
  const auto invalid = find_invalid_utf8(symbol);
  check(!invalid, "alphabet", "a symbol must be UTF-8 text, byte {} of a symbol is 0x{:02x}",
        invalid.value_or(0) + 1, static_cast<unsigned char>(symbol[invalid.value_or(0)]));
  check(std::none_of(symbol.begin(), symbol.end(), is_white_space), "alphabet",
        "a symbol must not contain white space, got '{}'", symbol);
}

// Returns whether a text consists of symbols without blanks between them.
bool run_together(std::string_view text, const std::vector<std::string>& symbols) {
  while (!text.empty()) {
    const auto next = std::find_if(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      return text.starts_with(symbol);
    });
    if (next == symbols.end()) return false;
    text.remove_prefix(next->size());
  }
  return true;
}

}  // namespace

Alphabet::Alphabet(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  for (int id = 0; id < size(); ++id) {
    check_symbol(symbols_[id]);
    check(ids_.emplace(symbols_[id], id).second, "alphabet", "symbol '{}' is listed twice",
          symbols_[id]);
  }
}

WordBorders word_borders(std::string_view name) {
  const auto found = std::find(kWordBorders.begin(), kWordBorders.end(), name);
  check(found != kWordBorders.end(), "alphabet", "words must be {}, got '{}'",
        quoted_list({kWordBorders.begin(), kWordBorders.end()}), name);
  return static_cast<WordBorders>(found - kWordBorders.begin());
}

void Alphabet::set_reading(Reading reading) {
  check(reading.unknown.empty() || find(reading.unknown), "alphabet",
        "the symbol '{}' for unknown words is not in the alphabet", reading.unknown);
  reading_ = std::move(reading);
}

const std::string& Alphabet::symbol(int id) const {
  check(id >= 0 && id < size(), "alphabet", "symbol ids are 0 to {}, got {}", size() - 1, id);
  return symbols_[id];
}

std::optional<int> Alphabet::find(std::string_view symbol) const {
  const auto found = ids_.find(std::string(symbol));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

int Alphabet::id(std::string_view symbol) const {
  if (const auto found = find(symbol)) return *found;
  const auto invalid = find_invalid_utf8(symbol);
  check(!invalid, "alphabet", "a symbol must be UTF-8 text, got the byte 0x{:02x}",
        static_cast<unsigned char>(symbol[invalid.value_or(0)]));
  const auto near = nearest_names(symbol, symbols_);
  // Long alphabets are not printed; the nearest symbols are enough.
  const auto all = size() <= 24 ? "; the symbols are " + quoted_list(symbols_) : std::string();
  fail("alphabet", "symbol '{}' is not in the alphabet{}{}{}", symbol,
       near.empty() ? "" : ", did you mean " + near + "?", all,
       !symbol.empty() && run_together(symbol, symbols_) ? "; separate symbols with blanks" : "");
}

Word Alphabet::parse(std::string_view text) const {
  Word word;
  for (std::size_t i = 0; i < text.size();) {
    if (is_white_space(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && !is_white_space(text[end])) ++end;
    word.push_back(id(text.substr(i, end - i)));
    i = end;
  }
  return word;
}

Word Alphabet::encode(const std::vector<std::string>& symbols) const {
  Word word;
  word.reserve(symbols.size());
  for (const auto& symbol : symbols) word.push_back(id(symbol));
  return word;
}

void check_same_alphabet(std::string_view where, std::string_view both, const Alphabet& a,
                         const Alphabet& b) {
  if (a == b) return;
  const bool reordered =
      a.size() == b.size() && std::all_of(a.symbols().begin(), a.symbols().end(),
                                          [&](const auto& symbol) { return b.find(symbol); });
  fail(where, "{} have {}: {}; {}", both,
       reordered ? "the same symbols in another order, and both must have one order"
                 : "different symbols",
       quoted_list(a.symbols()), quoted_list(b.symbols()));
}

std::string Alphabet::text(const Word& word) const {
  std::string text;
  for (const int id : word) {
    if (!text.empty()) text += ' ';
    text += symbol(id);
  }
  return text;
}

}  // namespace pushdown
