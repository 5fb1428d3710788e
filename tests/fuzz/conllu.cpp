#include "task/conllu.h"

#include <sstream>

#include "fuzz/fuzz.h"
#include "task/number_treebank.h"

namespace pushdown {

FUZZ_TARGET(conllu) {
  NumberTreebankOptions options;
  options.proper_nouns = bytes.size() % 2 == 0;
  options.surface = bytes.size() % 3 == 0;
  NumberTreebank numbers(options);
  fuzz::refused([&] {
    std::istringstream input{std::string(bytes)};
    ConlluReader reader(input, "file");
    for (ConlluSentence sentence; reader.next(sentence);) {
      fuzz::require(!sentence.words.empty(), "a sentence without words");
      fuzz::require(forms(sentence).size() == sentence.words.size(), "as many forms as words");
      fuzz::require(forms(sentence, true).size() <= sentence.words.size(), "too many forms");
      for (const auto& word : sentence.words) {
        fuzz::require(word.head >= -1 && word.head <= static_cast<int>(sentence.words.size()),
                      "a head outside of the sentence");
        feature(word, "Number");
      }
      numbers.add(sentence);
    }
  });
  fuzz::refused([&] {
    const NumberExamples examples = numbers.finish();
    if (!examples.empty())
      fuzz::round_trip(
          [&] { return number_lines(examples); },
          [](const std::string& text) { return number_lines(parse_number_lines(text, "file")); });
  });
}

}  // namespace pushdown
