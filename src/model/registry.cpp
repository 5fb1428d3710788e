// The list of networks, and the kinds of stacks and controllers that they can use.
#include "model/analog_pushdown.h"
#include "model/kinds.h"
#include "model/network.h"
#include "model/recurrent_network.h"
#include "model/state_pushdown.h"
#include "model/transformer.h"

namespace pushdown {

const std::vector<NetworkKind>& network_kinds() {
  static const std::vector<NetworkKind> kinds{recurrent_network(), transformer_network(),
                                              state_pushdown_network(), analog_pushdown_network()};
  return kinds;
}

const Kinds& registered_kinds() {
  static const Kinds kinds;
  return kinds;
}

}  // namespace pushdown
