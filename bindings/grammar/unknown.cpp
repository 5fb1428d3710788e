#include "bindings/grammar/unknown.h"

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {

OptionRows UnknownSymbol::rows() { return declare<UnknownSymbol>({unknown_row<UnknownSymbol>()}); }

std::vector<std::string> symbols_of(const Tokens& tokens) {
  const auto* text = std::get_if<std::string>(&tokens);
  if (text == nullptr) return std::get<std::vector<std::string>>(tokens);
  const auto symbols = words_between_blanks(*text);
  return {symbols.begin(), symbols.end()};
}

std::optional<Word> known_word(const Alphabet& alphabet, const Tokens& tokens,
                               const std::optional<std::string>& unknown) {
  if (!unknown) return to_word(alphabet, tokens);
  const bool reject = *unknown == "reject";
  check(reject || alphabet.find(*unknown), "alphabet",
        "unknown must be 'reject' or a symbol of the alphabet, got '{}'", *unknown);
  auto symbols = symbols_of(tokens);
  for (auto& symbol : symbols) {
    if (alphabet.find(symbol)) continue;
    if (reject) return std::nullopt;
    symbol = *unknown;
  }
  return alphabet.encode(symbols);
}

}  // namespace pushdown
