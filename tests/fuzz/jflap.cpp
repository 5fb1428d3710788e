#include "pda/jflap.h"

#include "fuzz/fuzz.h"
#include "pda/notation.h"

namespace pushdown {

FUZZ_TARGET(jflap) {
  fuzz::refused([&] {
    // The grammar of an automaton may be larger than its file by far.
    if (bytes.size() > 4000) return;
    const auto general = parse_jflap(bytes);
    if (general.moves.size() > 8) return;
    for (const auto& move : general.moves)
      if (move.read.size() + move.pop.size() + move.push.size() > 8) return;
    const auto text = to_text(converted(general).pda);
    fuzz::require(to_text(Pda(parse_pda(text))) == text, "the text is another automaton");
  });
}

}  // namespace pushdown
