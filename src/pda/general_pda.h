// Pushdown automata as other programs and textbooks define them, and their conversion.
//
// A move may read no symbol or several, pops a string from the stack and pushes a string. The stack
// begins with one symbol and may become empty. A run is accepted if it ends in a final state, with
// any stack, or if it ends with an empty stack, in any state. The conversion keeps the language,
// and all weights are 1:
//
// * Directly, with the states and stack symbols of the moves, if each move reads at most one
//   symbol, each move that reads does one of push, replace and pop, the symbol at the bottom stays
//   there, and moves without input leave the stack as it is, or pop the bottom and end the run.
//   Such moves are removed by their closure; if they accept only at the bottom, so does the result.
// * Otherwise through the grammar of the automaton: B[p,r] derives what leads from p to r on a
//   stack that ends as it began, E[p] what leads from p to acceptance by a final state,
//       B[p,p] ->                       E[p] ->                      p is final
//       B[p,r] -> a B[s,r]              E[p] -> a E[s]               p reads a, goes to s
//       B[p,r] -> a B[s,t] b B[u,r]     E[p] -> a B[s,t] b E[u]      p pushes x, t pops x
//                                       E[p] -> a E[s]               p pushes x, which is not
//                                       popped
//   where longer moves are divided at new states. A string accepted with an empty stack is one of
//   a B[p,r] that begins by pushing the bottom. pda_from_grammar() makes an automaton of the
//   grammar, whose states and stack symbols are others.
#pragma once
#include <string>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct GeneralMove {
  std::string state, next;
  std::vector<std::string> read = {}, pop = {}, push = {};  // of a stack: the top first
  std::string origin = {};
};

struct GeneralPda {
  std::string name = {};
  std::string start = {};
  std::string bottom = {};      // alone on the stack at the start
  bool by_empty_stack = false;  // accepts with an empty stack; the final states do not count
  std::vector<std::string> final = {};
  std::vector<GeneralMove> moves = {};
};

struct ConvertedPda {
  Pda pda;
  bool direct = true;  // false: the states and stack symbols are new
  // One line for each move that pops a symbol that is never on the stack.
  std::vector<std::string> warnings = {};
};

// Throws std::invalid_argument if the automaton accepts no string that has a symbol, if a name
// cannot be written, or if the grammar has more than 200,000 rules.
ConvertedPda converted(const GeneralPda& general);

}  // namespace pushdown
