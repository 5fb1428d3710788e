// The list of networks, and the kinds of stacks and controllers that they can use.
#include "model/kinds.h"
#include "model/network.h"

namespace pushdown {

PUSHDOWN_REGISTRY(NetworkKind, network_kinds, recurrent_network(), transformer_network(),
                  state_pushdown_network(), analog_pushdown_network())

const Kinds& registered_kinds() {
  static const Kinds kinds;
  return kinds;
}

}  // namespace pushdown
