#include "grammar/synchronous.h"

#include "fuzz/fuzz.h"
#include "grammar/synchronous_text.h"

namespace pushdown {

FUZZ_TARGET(synchronous) {
  const auto read = [](std::string_view text) {
    return SynchronousGrammar(parse_synchronous(text));
  };
  says_synchronous(bytes);
  fuzz::refused([&] {
    const std::string text = to_text(read(bytes));
    fuzz::round_trip([&] { return to_text(read(text)); },
                     [&](const std::string& again) { return to_text(read(again)); });
  });
}

}  // namespace pushdown
