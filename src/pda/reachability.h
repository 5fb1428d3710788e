// The exact set of configurations that a pushdown automaton can reach: every pair (state, top
// symbol) that some string leads to, and the states reachable with the bottom symbol alone.
//
// A pair does not determine the symbol below the top, which a pop exposes. Saturation with
// summaries finds it exactly. A frame begins when symbol y is pushed and the automaton goes to
// state r, and ends when that element is popped. A node (frame, state, top) is a configuration of
// the frame's own element. A frame remembers the nodes that pushed it (callers) and the states it
// ends in (returns); every return continues every caller's frame with the caller's own top. There
// are at most (states * symbols) frames, so at most states^2 * symbols^2 nodes.
#pragma once
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct PushdownMove {
  int state = 0;  // after the move
  StackAction action = StackAction::pop;
  int pushed = -1;  // of push and replace
};

struct Reachable {
  std::set<std::pair<int, int>> pairs;  // (state, top)
  std::set<int> at_bottom;              // states with the bottom symbol alone on the stack
};

// `moves` returns the possible moves in a state with this top. It is called once for each pair and
// may number new states as it goes. The bottom symbol is 0; it cannot be popped. Throws
// std::invalid_argument if there are more than `limit` nodes.
Reachable reachable(int start, const std::function<std::vector<PushdownMove>(int, int)>& moves,
                    std::int64_t limit = 10'000'000);
Reachable reachable(const Pda& pda);

}  // namespace pushdown
