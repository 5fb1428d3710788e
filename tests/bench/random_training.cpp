#include "random_training.h"

namespace pushdown::bench {

std::string Network::name() const {
  const std::string layers = of.layers == 1 ? "" : std::to_string(of.layers) + " x ";
  return fmt::format("{} {}{} batch {} vocabulary {} n {}", attention ? "transformer" : "lstm",
                     layers, of.hidden, of.batch, of.vocabulary, of.length);
}

Json Network::model() const {
  if (attention)
    return {{"architecture", "transformer"},
            {"hidden", of.hidden},
            {"layers", std::vector<std::string>(of.layers, "attention")},
            {"heads", 4},
            {"feedforward", 2 * of.hidden}};
  return {{"controller", {{"kind", "lstm"}, {"hidden", of.hidden}, {"layers", of.layers}}},
          {"embedding", of.hidden}};
}

double Network::multiply_adds() const {
  const auto n = static_cast<double>(of.length), h = static_cast<double>(of.hidden),
             layers = static_cast<double>(of.layers), v = static_cast<double>(of.vocabulary);
  const double of_layers = attention ? n * (8 * h * h + (n + 1) * h) : (n - 1) * 8 * h * h;
  return 3 * static_cast<double>(of.batch) * (layers * of_layers + n * v * h);
}

std::unique_ptr<Trainer> random_training(const Json& model, const Sizes& sizes) {
  constexpr std::int64_t kUpdates = 64;
  Json options = model;
  options.update({{"end_symbol", false}, {"seed", 1}});
  std::vector<std::string> symbols;
  for (std::int64_t k = 0; k < sizes.vocabulary; ++k) symbols.push_back(std::to_string(k));
  const Alphabet alphabet(symbols);
  Random random(1);
  std::vector<Word> words(kUpdates * sizes.batch);
  for (Word& word : words)
    for (std::int64_t t = 0; t < sizes.length; ++t)
      word.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(sizes.vocabulary))));
  return std::make_unique<Trainer>(std::make_shared<LanguageModel>(alphabet, options),
                                   std::make_shared<Dataset>(alphabet, words), nullptr,
                                   Json{{"batch", sizes.batch}, {"seed", 1}});
}

}  // namespace pushdown::bench
