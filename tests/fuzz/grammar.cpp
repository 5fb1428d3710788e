#include "grammar/grammar.h"

#include "fuzz/fuzz.h"
#include "grammar/text.h"

namespace pushdown {

FUZZ_TARGET(grammar) {
  const auto read = [](std::string_view text) { return Grammar(parse_grammar(text)); };
  fuzz::refused([&] {
    const Grammar grammar = read(bytes);
    // Weights are divided by their sums, so only the second writing must not change.
    const std::string text = to_text(grammar);
    fuzz::round_trip([&] { return to_text(read(text)); },
                     [&](const std::string& again) { return to_text(read(again)); });
  });
}

}  // namespace pushdown
