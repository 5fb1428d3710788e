// What a network does while it reads a string: the moves of its memories (stack/stack_trace.h) and
// the hidden vectors of its layers.
#pragma once
#include "model/network.h"
#include "stack/stack_trace.h"

namespace pushdown {

struct NetworkTrace {
  std::int64_t layer;  // of a transformer, from 1; 1 for any other network
  std::string stack;   // the kind: "superposition", "digital"
  StackTrace trace;
};

class TraceableNetwork {
 public:
  // Returns the trace of each memory while the network reads request.words : 1 x n in an
  // evaluation. It has n steps, or n + 1 if the network reads a begin symbol before them.
  virtual std::vector<NetworkTrace> traces(const PassRequest& request) const = 0;

 protected:
  ~TraceableNetwork() = default;
};

// Throws std::invalid_argument if the network has no memory with a trace.
std::vector<NetworkTrace> traces_of(const Network& network, const PassRequest& request);

class LayeredNetwork {
 public:
  // Returns the vectors of each layer before the first symbol and after each of request.words :
  // B x n in an evaluation, B x (n+1) x H each. Those of the last layer are the hidden vectors. Of
  // the passes of a symbol, they are from the one from which the next symbol continues.
  virtual std::vector<Tensor> layers(const PassRequest& request) const = 0;

 protected:
  ~LayeredNetwork() = default;
};

// Returns the vectors of each layer; of a network without layers, the hidden vectors alone.
std::vector<Tensor> layers_of(const Network& network, const PassRequest& request);
// hiddens : B x (nK + 1) x H of run() -> B x (n+1) x H, as in LayeredNetwork.
Tensor carried_passes(const Tensor& hiddens, const Refinement& refinement);

}  // namespace pushdown
