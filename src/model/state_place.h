// Where the hidden vector of a stack network is within its controller's state.
#pragma once
#include <algorithm>

#include "model/stack_rnn.h"

namespace pushdown {

// Returns the index of the hidden vector in a controller's state, or the size of the state if it is
// not there.
template <class Vector>
std::size_t place_of(const Vector& hidden, const std::vector<Vector>& state) {
  const auto found = std::find_if(state.begin(), state.end(),
                                  [&](const Vector& own) { return own.is_same(hidden); });
  return found - state.begin();
}

}  // namespace pushdown
