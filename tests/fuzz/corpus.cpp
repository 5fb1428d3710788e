#include "task/corpus.h"

#include "fuzz/fuzz.h"
#include "task/running_text.h"

namespace pushdown {

FUZZ_TARGET(corpus) {
  CorpusOptions options;
  options.vocabulary = bytes.empty() ? 0 : bytes.front() % 8;
  options.empty_lines = static_cast<EmptyLines>(bytes.size() % 3);
  fuzz::refused([&] {
    const Corpus corpus = split_corpus({std::string(bytes), "file"}, {0.5, 0.25, 0.25}, options);
    fuzz::round_trip(
        [&] { return to_text(*corpus.train); },
        [](const std::string& text) { return to_text(parse_running_text(text, "file")); });
    unigram_perplexity(*corpus.train, *corpus.test);
  });
}

}  // namespace pushdown
