#include "fuzz/fuzz.h"
#include "task/pair_list.h"
#include "task/pair_text.h"

namespace pushdown {

FUZZ_TARGET(pairs) {
  fuzz::refused([&] {
    const auto pairs = parse_pairs(bytes, "file");
    fuzz::round_trip([&] { return pairs_text(*pairs, pairs->pairs()); },
                     [](const std::string& text) {
                       const auto again = parse_pairs(text, "file");
                       return pairs_text(*again, again->pairs());
                     });
  });
  fuzz::refused([&] {
    const auto source = parse_pair_source(bytes, "file");
    fuzz::round_trip(
        [&] { return to_text(*source); },
        [](const std::string& text) { return to_text(*parse_pair_source(text, "file")); });
  });
}

}  // namespace pushdown
