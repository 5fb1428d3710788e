// Running texts, datasets and labelled lists: texts that begin with their alphabet.
#include "fuzz/fuzz.h"
#include "task/dataset_text.h"
#include "task/labelled_dataset.h"
#include "task/running_text.h"

namespace pushdown {

FUZZ_TARGET(text) {
  const auto running = [](std::string_view text) {
    return to_text(parse_running_text(text, "file"));
  };
  const auto dataset = [](std::string_view text) { return to_text(parse_dataset(text, "file")); };
  const auto labelled = [](std::string_view text) { return to_text(parse_labelled(text, "file")); };
  fuzz::refused([&] { fuzz::round_trip([text = running(bytes)] { return text; }, running); });
  fuzz::refused([&] { fuzz::round_trip([text = dataset(bytes)] { return text; }, dataset); });
  fuzz::refused([&] { fuzz::round_trip([text = labelled(bytes)] { return text; }, labelled); });
}

}  // namespace pushdown
