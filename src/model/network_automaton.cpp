#include "model/network_automaton.h"

#include "base/check.h"
#include "grammar/inside.h"
#include "model/stack_rnn.h"

namespace pushdown {

Tensor log_transition_weights(const LanguageModel& model, const Word& word) {
  constexpr auto kWhere = "model.transition_weights";
  check_word(kWhere, model.alphabet(), word);
  const StackRnn* rnn = model.network().stack_rnn();
  at::NoGradGuard guard;
  const Tensor words =
      at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
  const auto length = words.size(1);
  const Tensor hiddens = model.network().run(words, nullptr);  // 1 x (n+1) x H
  // h_t drives step t.
  const Tensor weights = rnn ? rnn->stack().log_transition_weights(
                                   hiddens[0].narrow(0, 1, length).narrow(1, 0, rnn->hidden_size()))
                             : Tensor();
  check(weights.defined(), kWhere,
        "the model must have a nondeterministic stack of its own, got {}", model.network().line());
  return weights;
}

StringAutomaton network_automaton(const LanguageModel& model, const Word& word) {
  const Tensor weights = log_transition_weights(model, word).to(at::kCPU, at::kDouble).contiguous();
  const auto& options = model.options()["stack"];
  const int states = options["states"], symbols = options["symbols"], size = states * symbols;
  StringAutomaton automaton;
  for (int q = 0; q < states; ++q) automaton.states.push_back("q" + std::to_string(q));
  for (int x = 0; x < symbols; ++x) automaton.stack_symbols.push_back("s" + std::to_string(x));
  automaton.accepting.assign(states, 1.0);
  automaton.reexposed = options["bottom"] == "reexposed";
  automaton.window = options["window"];
  const double* w = weights.data_ptr<double>();
  for (const int symbol : word) {
    automaton.input.push_back(model.alphabet().symbol(symbol));
    auto& moves = automaton.moves.emplace_back();
    for (int c = 0; c < size; ++c) {
      for (const auto action : {StackAction::push, StackAction::replace})
        for (int b = 0; b < size; ++b) moves.push_back({c, b / symbols, action, b % symbols, *w++});
      for (int r = 0; r < states; ++r) moves.push_back({c, r, StackAction::pop, -1, *w++});
    }
  }
  return automaton;
}

}  // namespace pushdown
