#include "pda/pda.h"

#include "fuzz/fuzz.h"
#include "pda/minimisation.h"
#include "pda/notation.h"

namespace pushdown {

FUZZ_TARGET(pda) {
  fuzz::refused([&] { parse_transition(bytes.substr(0, bytes.find('\n')), "line"); });
  fuzz::refused([&] {
    // Lines with variables stand for as many transitions as there are symbols and states.
    if (bytes.size() > 2000) return;
    const Pda pda(parse_pda(bytes));
    fuzz::round_trip([&] { return to_text(pda); },
                     [&](const std::string& text) { return to_text(Pda(parse_pda(text))); });
    if (pda.states().size() > 20 || pda.transitions().size() > 200) return;
    const Pda small = minimal(pda, bytes.size() % 2 == 0);
    fuzz::require(isomorphic(small, minimal(small, bytes.size() % 2 == 0)),
                  "a minimal automaton has a smaller one");
  });
}

}  // namespace pushdown
