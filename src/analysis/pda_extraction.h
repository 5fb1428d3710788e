// The pushdown automaton that a neural state pushdown automaton has become: breadth first over its
// quantised states and readings from the start with an empty stack, merged by minimisation (Sun,
// Giles, Chen and Lee 1998).
//
// A control state is all that decides the next step beside the stack: the active neurons, what the
// reading still shows of the last action (the symbol popped, or with reading = 'action' the action
// neurons), and, with iterative refinement, the symbol whose further passes are still to come: they
// read the stack after the action, and what a pop uncovers is known only then. The network is a
// deterministic automaton over these, so nothing is approximated: where no sum lies within rounding
// of its threshold, the network and the extracted automaton accept the same strings of any length.
// Which (control state, top) pairs exist, and so what can lie under the top at a pop, comes from
// pda/reachability.h. The weights are those used in evaluation.
//
// What the network decides after the string (and its end symbol) may depend on the top. Where that
// can be said by accepting states, with or without at_bottom, it is. Else the automaton reads the
// symbol ⊣ behind every string, twice where the end symbol uncovers something that still matters.
#pragma once
#include <string>

#include "model/recognizer.h"
#include "pda/pda.h"

namespace pushdown {

struct ExtractionOptions {
  std::int64_t limit =
      10'000;                  // control states; a hundred times as many with their callers' frames
  bool keep_dead = false;      // states without hope: one dead state, else left out
  std::int64_t strings = 400;  // on which both are compared; 0: none
  std::int64_t longest = 30;   // their length
  std::uint64_t seed = 0;
};

struct Extraction {
  Pda pda;
  std::int64_t controls = 0;  // control states found, before merging
  std::int64_t pairs = 0;     // of a control state and a top
  int end_marks = 0;          // how often end_mark is read behind a string: 0, 1, 2
  std::string end_mark;       // the symbol, empty where it is not used
  std::int64_t strings = 0, accepted = 0, agreed = 0;  // compared; of the network; the same answer
  std::string disagreement;                            // the first string, "" where there is none
};

// Throws std::invalid_argument when the recognizer's network is not an 'nspda', or has more control
// states than the limit.
Extraction extract_pda(const Recognizer& recognizer, const ExtractionOptions& options = {});

}  // namespace pushdown
