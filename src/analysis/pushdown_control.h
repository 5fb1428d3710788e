// One step of a neural state pushdown automaton, seen as an automaton with finitely many control
// states and a separate stack (pda_extraction.h).
#pragma once
#include <cstdint>
#include <vector>

#include "model/recognizer.h"
#include "model/state_pushdown.h"

namespace pushdown {

enum class PushdownAction { push, pop, none };

class PushdownControl {
 public:
  struct State {
    std::vector<std::uint8_t> neurons;  // z
    // The content of the reading besides the top: {symbol popped, or -1}, or the action neurons.
    std::vector<std::int8_t> shown;
    int refined = -1;    // the symbol over which passes 2 .. K must still be made
    bool ended = false;  // after the end symbol

    friend bool operator<(const State& a, const State& b) {
      return std::tie(a.neurons, a.shown, a.refined, a.ended) <
             std::tie(b.neurons, b.shown, b.refined, b.ended);
    }
  };
  struct Step {
    PushdownAction action = PushdownAction::none;
    State state;
  };

  // Uses the weights of evaluation. Throws std::invalid_argument for a network of another kind.
  explicit PushdownControl(const Recognizer& recognizer);

  State start() const;
  // `top`: the symbol's id, or V for the empty stack; input: V is the end symbol.
  Step step(State state, int top, int input) const;
  // Returns the recognizer's answer for a string that ends here.
  bool accepts(State state, int top) const;

 private:
  std::vector<double> reading(const State& state, int top) const;
  // Returns b + W z r x at neuron i, in double precision.
  double sum(const std::vector<double>& weight, const std::vector<double>& bias, std::int64_t i,
             const State& state, const std::vector<double>& reading, int input) const;
  std::vector<std::uint8_t> next_neurons(const State& state, const std::vector<double>& reading,
                                         int input) const;
  void refine(State& state, int top) const;
  bool hinted(const State& state, int top, int input) const;

  const Recognizer& recognizer_;
  const StatePushdown& network_;
  bool third_, by_action_, carry_first_;
  std::int64_t states_, symbols_, inputs_, passes_;
  std::vector<double> state_weight_, state_bias_, action_weight_, action_bias_, output_weight_;
  double output_bias_ = 0;
  std::vector<std::uint8_t> hints_;
};

}  // namespace pushdown
