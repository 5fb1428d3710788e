// What the steps of a string do to the memories of a network (stack/stack_trace.h).
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

}  // namespace pushdown
