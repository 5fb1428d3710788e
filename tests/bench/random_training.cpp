#include "random_training.h"

namespace pushdown::bench {

Alphabet numbered_alphabet(std::int64_t size) {
  std::vector<std::string> symbols;
  for (std::int64_t k = 0; k < size; ++k) symbols.push_back(std::to_string(k));
  return Alphabet(symbols);
}

std::unique_ptr<Trainer> random_training(const Json& model, const Sizes& sizes) {
  constexpr std::int64_t kUpdates = 64;
  Json options = model;
  options.update({{"end_symbol", false}, {"seed", 1}});
  const Alphabet alphabet = numbered_alphabet(sizes.vocabulary);
  Random random(1);
  std::vector<Word> words(static_cast<std::size_t>(kUpdates * sizes.batch));
  for (Word& word : words)
    for (std::int64_t t = 0; t < sizes.length; ++t)
      word.push_back(static_cast<int>(random.below(sizes.vocabulary)));
  return std::make_unique<Trainer>(std::make_shared<LanguageModel>(alphabet, options),
                                   std::make_shared<Dataset>(alphabet, words), nullptr,
                                   Json{{"batch", sizes.batch}, {"seed", 1}});
}

}  // namespace pushdown::bench
