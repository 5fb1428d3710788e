#include "grammar/ambiguity.h"

#include "base/random.h"
#include "grammar/best_parses.h"
#include "grammar/inside.h"
#include "grammar/length_table.h"

namespace pushdown {

std::optional<AmbiguousString> find_ambiguous_string(const Grammar& grammar, int longest,
                                                     int strings, std::uint64_t seed) {
  // Both logarithms are sums of rounded numbers.
  constexpr double kTolerance = 1e-6;
  const LengthTable table(grammar, longest);
  Random random(seed, "ambiguity");
  for (int length = 0; length <= longest; ++length) {
    if (!table.has_strings(length)) continue;
    for (int i = 0; i < strings; ++i) {
      Word word = table.sample(length, random);
      const auto best = best_parse(grammar, word);
      const double total = log_probability(grammar, word);
      if (best && total - best->log_probability > kTolerance)
        return AmbiguousString{std::move(word), total, best->log_probability};
    }
  }
  return std::nullopt;
}

}  // namespace pushdown
