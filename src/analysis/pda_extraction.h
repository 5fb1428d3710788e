// Extracts the pushdown automaton that a neural state pushdown automaton implements: a
// breadth-first search over its quantised states and readings from the start with an empty stack,
// followed by minimisation (Sun, Giles, Chen and Lee 1998).
//
// A control state is everything, besides the stack, that determines the next step: the active
// neurons; what the reading still shows of the last action (the symbol popped, or with reading =
// 'action' the action neurons); and, with iterative refinement, the symbol whose further passes are
// still to come, because they read the stack after the action, and only then is the symbol known
// that a pop uncovers. The network is a deterministic automaton over these control states, so the
// extraction is not an approximation: if no sum is within rounding of its threshold, the network
// and the extracted automaton accept the same strings of any length. pda/reachability.h computes
// the pairs (control state, top) that exist, and so the symbols that can be under the top at a pop.
// The weights are those used in evaluation.
//
// The network's decision after the string (and its end symbol) may depend on the top. If accepting
// states, with or without at_bottom, can express this, they are used. Otherwise the automaton reads
// the symbol ⊣ after every string, twice if the end symbol uncovers a symbol that still matters.
#pragma once
#include <string>

#include "model/recognizer.h"
#include "pda/pda.h"

namespace pushdown {

struct ExtractionOptions {
  std::int64_t limit =
      10'000;                  // control states; a hundred times as many with their callers' frames
  bool keep_dead = false;      // merge states without acceptance into one dead state, else remove
  std::int64_t strings = 400;  // number of strings for comparing both; 0: none
  std::int64_t longest = 30;   // their maximum length
  std::uint64_t seed = 0;
};

struct Extraction {
  Pda pda;
  std::int64_t controls = 0;  // number of control states before merging
  std::int64_t pairs = 0;     // number of pairs of a control state and a top
  int end_marks = 0;          // number of end_marks read after a string: 0, 1, 2
  std::string end_mark;       // the symbol, empty if not used
  std::int64_t strings = 0, accepted = 0, agreed = 0;  // compared; accepted by network; same answer
  std::string disagreement;                            // first string with different answers, or ""
};

// Throws std::invalid_argument if the recognizer's network is not an 'nspda', or has more control
// states than the limit.
Extraction extract_pda(const Recognizer& recognizer, const ExtractionOptions& options = {});

}  // namespace pushdown
