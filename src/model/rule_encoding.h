// What an automaton (or a part of one) asks of a neural state pushdown automaton, and the weights
// that give it: orthogonal state encoding (Mali et al. 2019, section 5; Omlin and Giles 1996), one
// active neuron for every state.
//
// A rule says what happens in one triple (state, top, input): the next state, or the trap, and what
// the stack does. All weights below are multiples of the strength H; r is near 1 at the top
// symbol's neuron and near 0 elsewhere.
//
//   third order   bias -H/2; W[i,j,k,l] = H from the state's neuron j to the next state's neuron i,
//                 0 to all others. Action neurons: A[l,j,k,l] = H pushes l, A[k,j,k,l] = -H pops k,
//                 0 does nothing.
//   second order  top and input add up, so a neuron can only tell sets of tops times sets of
//   inputs:
//                 bias -3H/2; W[i,j,k] = H for the tops k and W[i,j,R+l] = H for the inputs l of
//                 one such rectangle. A state has as many neurons as the most rectangles with which
//                 another state's transitions into it can be covered. Action neuron y is asked for
//                 a push only where y is read and for a pop only where y is the top: one column and
//                 one row of the table (top, input), for which weights always exist.
//
// The trap is the state without an active neuron: the biases keep it so for ever. Neurons that
// stand for no state get the same bias and no weight from a programmed triple, so they stay silent.
// The end symbol's rules follow from the accepting states and at_bottom: to one accepting neuron,
// or into the trap.
//
// Encodable are: push y where y is what is read, pop, and replace x by x (nothing happens).
#pragma once
#include <string>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct EncodedRule {
  enum class Action { nothing, push, pop, any };
  static constexpr int kTrap = -1;

  int state = 0;   // of RuleSet::states
  int top = 0;     // a read neuron: the symbol's id, or V for the empty stack
  int symbol = 0;  // an input: the symbol's id, or V for the end symbol
  int next = kTrap;
  Action action = Action::any;
  int transition = -1;  // of the automaton; -1: derived
};

struct RuleSet {
  std::vector<std::string>
      states;                      // the start state first; those of the automaton that are not
                                   // dead, then "(accepted)" and the dead one where they are needed
  int accepted = -1, dead = -1;    // these two
  std::vector<EncodedRule> rules;  // one for a triple at most
  // Of each transition of the automaton: why it has no rule, or empty.
  std::vector<std::string> refusals;
  // States whose neurons mean "valid" to the output layer; `output`: it is programmed at all, else
  // why not.
  std::vector<int> valid;
  bool output = false;
  std::string output_refusal;
};

struct RuleChoices {
  bool end_symbol = true;    // the network reads one
  bool missing_trap = true;  // triples without a transition lead into the trap; else they are left
  bool dead_neuron = false;  // dead states are a neuron of their own; else the trap
};

// Throws std::invalid_argument on a symbol that is not in `alphabet`, on contradictory transitions
// and when no transition can be encoded.
RuleSet rules_of(const Pda& pda, const Alphabet& alphabet, const RuleChoices& choices);

// One programmed number: times * H + plus at this place of the flattened tensor.
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
  // Places in the weight tensors; for the second order of the read neuron and of the input.
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
  std::vector<std::vector<int>> neurons;  // of each state of the rules
  std::vector<int> targets;               // of each rule: the neuron that fires, -1 for none
  int needed = 0;                         // neurons
  std::vector<Programmed> numbers;        // each place once
};

// `action_bias`: that of the action neurons that are asked, the middle of "nothing happens".
// `inhibition`: weights that are 0 otherwise become negative where the paper wants them so (section
// 5, "large negative"): -H from a state's neuron to itself where the transition leaves the state,
// and to the accepting neuron where the string is not accepted; -8 from the neurons of states that
// do not accept to the output, where these decide.
// Throws std::invalid_argument when the network has too few state neurons.
Encoding encode(const RuleSet& rules, const NetworkShape& shape, double action_bias,
                bool inhibition = false);

}  // namespace pushdown
