// The rules that an automaton (or a part of one) requires of a neural state pushdown automaton, and
// the weights that implement them: orthogonal state encoding (Mali et al. 2019, section 5; Omlin
// and Giles 1996), with one active neuron for every state.
//
// A rule gives, for one triple (state, top, input), the next state, or the trap, and the stack
// operation. All weights below are multiples of the strength H; r is near 1 at the top symbol's
// neuron and near 0 elsewhere.
//
//   third order   bias -H/2; W[i,j,k,l] = H from the state's neuron j to the next state's neuron i,
//                 0 to all others. Action neurons: A[l,j,k,l] = H pushes l, A[k,j,k,l] = -H pops k,
//                 0 does nothing.
//   second order  top and input add up, so a neuron can only distinguish products of a set of tops
//                 and a set of inputs: bias -3H/2; W[i,j,k] = H for the tops k and
//                 W[i,j,R+l] = H for the inputs l of one such rectangle. The transitions from
//                 another state into a state are covered by rectangles; the state has as many
//                 neurons as the largest number of rectangles needed. Action neuron y is used for a
//                 push only if y is read and for a pop only if y is the top: one column and one row
//                 of the table (top, input), for which weights always exist.
//
// The trap is the state without an active neuron, which the biases preserve. Neurons that represent
// no state get the same bias and no weight from a programmed triple, so they stay silent. The rules
// of the end symbol follow from the accepting states and at_bottom: they lead to one accepting
// neuron or into the trap.
//
// The encodable operations are: push y if y is the symbol read, pop, and replace x by x (no
// change).
#pragma once
#include <string>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct EncodedRule {
  enum class Action { nothing, push, pop, any };
  static constexpr int kTrap = -1;

  int state = 0;   // index into RuleSet::states
  int top = 0;     // a read neuron: the symbol's id, or V for the empty stack
  int symbol = 0;  // an input: the symbol's id, or V for the end symbol
  int next = kTrap;
  Action action = Action::any;
  int transition = -1;  // index in the automaton; -1: derived
};

struct RuleSet {
  std::vector<std::string>
      states;                      // the start state first; those of the automaton that are not
                                   // dead, then "(accepted)" and the dead one where they are needed
  int accepted = -1, dead = -1;    // indices of the last two, -1: not needed
  std::vector<EncodedRule> rules;  // at most one for a triple
  // For each transition of the automaton, why it has no rule; empty if it has one.
  std::vector<std::string> refusals;
  // States whose neurons mean "valid" to the output layer. `output`: whether the output layer is
  // programmed; if not, the reason.
  std::vector<int> valid;
  bool output = false;
  std::string output_refusal;
};

struct RuleChoices {
  bool end_symbol = true;    // the network reads one
  bool missing_trap = true;  // lead triples without a transition into the trap, or leave them
  bool dead_neuron = false;  // dead states have their own neuron; otherwise they are the trap
};

// Throws std::invalid_argument on a symbol that is not in `alphabet`, on contradictory transitions
// and if no transition can be encoded.
RuleSet rules_of(const Pda& pda, const Alphabet& alphabet, const RuleChoices& choices);

// One programmed number: times * H + plus at this index of the flattened tensor.
struct Programmed {
  enum Tensor { state_weight, state_bias, action_weight, action_bias, output_weight, output_bias };
  static constexpr int kTensors = 6;

  Tensor tensor;
  std::int64_t index;
  double times, plus = 0;
};

struct NetworkShape {
  bool third = true;
  std::int64_t states = 0, symbols = 0, inputs = 0;  // J, V, I

  std::int64_t readings() const { return symbols + 1; }  // R
  // Indices in the weight tensors; in the second order, for the read neuron and for the input.
  std::int64_t third_order(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
    return ((i * states + j) * readings() + k) * inputs + l;
  }
  std::int64_t read(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (i * states + j) * (readings() + inputs) + k;
  }
  std::int64_t input(std::int64_t i, std::int64_t j, std::int64_t l) const {
    return read(i, j, readings() + l);
  }
};

struct Encoding {
  std::vector<std::vector<int>> neurons;  // for each state of the rules
  std::vector<int> targets;               // for each rule: the neuron that fires, -1 for none
  int needed = 0;                         // number of neurons
  std::vector<Programmed> numbers;        // no index occurs twice
};

// `action_bias`: bias of the action neurons in use, at the middle of the range in which nothing
// happens. `inhibition`: makes weights that are otherwise 0 negative where the paper asks for it
// (section 5, "large negative"): -H from a state's neuron to itself if the transition leaves the
// state, and to the accepting neuron if the string is not accepted; -8 from the neurons of
// non-accepting states to the output, if these decide. Throws std::invalid_argument if the network
// has too few state neurons.
Encoding encode(const RuleSet& rules, const NetworkShape& shape, double action_bias,
                bool inhibition = false);

}  // namespace pushdown
