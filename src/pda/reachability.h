// Which configurations a pushdown automaton can come into: every pair (state, top symbol) that some
// string leads to, no more and no fewer, and the states it can be in with the bottom symbol alone.
//
// What lies under the top at a pop is not known from the pair. Saturation with summaries finds it
// exactly: a frame is what begins when symbol y is pushed and the automaton goes to state r, and
// ends when that element is popped. A node (frame, state, top) is a configuration of the frame's
// own element; a frame remembers the nodes it was pushed on (callers) and the states it ends in
// (returns), and every return continues every caller's frame with the caller's own top. There are
// at most (states * symbols) frames, so at most states^2 * symbols^2 nodes.
#pragma once
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct PushdownMove {
  int state = 0;  // after it
  StackAction action = StackAction::pop;
  int pushed = -1;  // of push and replace
};

struct Reachable {
  std::set<std::pair<int, int>> pairs;  // (state, top)
  std::set<int> at_bottom;              // states, the stack being the bottom symbol alone
};

// `moves` gives what the automaton can do in a state with this top; it is asked once for each pair,
// and may number states as it goes. The bottom symbol is 0; it cannot be popped. Throws
// std::invalid_argument when there are more than `limit` nodes.
Reachable reachable(int start, const std::function<std::vector<PushdownMove>(int, int)>& moves,
                    std::int64_t limit = 10'000'000);
Reachable reachable(const Pda& pda);

}  // namespace pushdown
