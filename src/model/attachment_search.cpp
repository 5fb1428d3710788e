#include "model/attachment_search.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "model/attaching_network.h"

namespace pushdown {
namespace {

struct Kept {
  FoundTree tree;
  ReadingState state;
};

// A kept tree with the next symbol attached.
struct Longer {
  std::size_t from;
  int attachment;
  double log_probability;
};

}  // namespace

std::vector<FoundTree> best_trees(const LanguageModel& model, const Word& word, std::int64_t beam) {
  constexpr auto kWhere = "model.trees";
  const auto* network = attaching(model.network());
  check(network != nullptr, kWhere,
        "trees need a transformer with a layer 'pushdown_attention', got a {}",
        model.network().line());
  check(beam >= 1, kWhere, "beam must be at least 1, got {}", beam);
  check_word(kWhere, model.alphabet(), word);
  const at::NoGradGuard guard;
  const StopCheck stop;
  std::vector<Kept> kept{{{}, model.begin(1, static_cast<std::int64_t>(word.size()))}};
  for (const int symbol : word) {
    const Tensor given = at::full({1, 1}, symbol, at::kLong);
    std::vector<Longer> longer;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      stop();
      const auto [logits, state] = model.next(kept[k].state);
      kept[k].state = state;
      const double before =
          kept[k].tree.log_probability + logits.log_softmax(1)[0][symbol].item<double>();
      const Tensor places =
          network->next_attachments(given, state.state).to(at::kCPU, at::kDouble).contiguous();
      for (std::int64_t place = 0; place < places.numel(); ++place) {
        const double value = places.data_ptr<double>()[place];
        if (std::isfinite(value)) longer.push_back({k, static_cast<int>(place), before + value});
      }
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Longer& a, const Longer& b) {
      return a.log_probability > b.log_probability;
    });
    if (std::ssize(longer) > beam) longer.resize(beam);
    std::vector<Kept> next;
    for (const Longer& choice : longer) {
      Kept& made = next.emplace_back(kept[choice.from]);
      made.tree.attachments.push_back(choice.attachment);
      made.tree.log_probability = choice.log_probability;
      made.state.state = network->attach(given, {choice.attachment}, made.state.state);
      ++made.state.symbols;
    }
    kept = std::move(next);
  }
  std::vector<FoundTree> trees;
  for (Kept& of : kept) {
    if (model.end_symbol())
      of.tree.log_probability +=
          model.next(of.state).first.log_softmax(1)[0][model.alphabet().size()].item<double>();
    trees.push_back(std::move(of.tree));
  }
  std::stable_sort(trees.begin(), trees.end(), [](const FoundTree& a, const FoundTree& b) {
    return a.log_probability > b.log_probability;
  });
  return trees;
}

}  // namespace pushdown
