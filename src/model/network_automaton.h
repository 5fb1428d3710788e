// The pushdown automaton inside a network with a nondeterministic stack. While the network reads a
// string, its hidden vectors give the automaton new transition weights at every step. The resulting
// StringAutomaton (pda/) shows which runs the network considers likely.
//
// Every symbol of the string is read, including the last one, as if a further symbol were to
// follow. The weights are a softmax over the transitions out of a configuration, or unnormalised
// (RNS-RNN), as in the stack. States are called q0, q1, ..., stack symbols s0 (the bottom symbol),
// s1, ...; every run is accepted.
#pragma once
#include "model/language_model.h"
#include "pda/string_automaton.h"

namespace pushdown {

// Returns natural logarithms, n x C x W (columns: see stack/nondeterministic.h). Throws
// std::invalid_argument for a network without such a stack.
Tensor log_transition_weights(const LanguageModel& model, const Word& word);

StringAutomaton network_automaton(const LanguageModel& model, const Word& word);

}  // namespace pushdown
