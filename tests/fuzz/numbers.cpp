#include "task/number_prediction.h"

#include "fuzz/fuzz.h"

namespace pushdown {

FUZZ_TARGET(numbers) {
  const auto lower = [](std::string_view word) { return std::string(word) + "x"; };
  fuzz::refused([&] { parse_number_table(bytes, "file"); });
  fuzz::refused([&] { parse_number_table(bytes, "file", "orig_sentence", lower); });
  fuzz::refused([&] { parse_number_lines(bytes, "file", lower); });
  attractors_in_name(bytes);
  fuzz::refused([&] {
    const auto read = [](std::string_view text) {
      return number_lines(parse_number_lines(text, "file"));
    };
    fuzz::round_trip([&, first = read(bytes)] { return first; }, read);
  });
}

}  // namespace pushdown
