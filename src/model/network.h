// The body of a language model: a network that reads a string symbol by symbol and has a hidden
// vector before each symbol. Networks are made by name through the list in registry.cpp.
//
// Dimension letters: B batch, n length, c length of a piece, H hidden, V vocabulary.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/module_context.h"
#include "base/registry.h"

namespace pushdown {

class StackRnn;

// Where a network stands in a batch of strings; immutable for its user.
class NetworkState {
 public:
  virtual ~NetworkState() = default;
  // The same numbers, through which no gradient flows back.
  virtual std::shared_ptr<const NetworkState> detached() const = 0;
  // The size of its tensors.
  virtual std::size_t bytes() const = 0;
};
using NetworkStatePtr = std::shared_ptr<const NetworkState>;

class Network {
 public:
  virtual ~Network() = default;

  virtual std::int64_t hidden_size() const = 0;
  // words : B x n symbol ids (int64, valid) -> h_0 .. h_n : B x (n+1) x H, where h_t depends on the
  // first t symbols alone. `noise` gives the random numbers of a training pass (dropout); without
  // it nothing is random, and the pass is an evaluation.
  virtual Tensor run(const Tensor& words, Random* noise) const = 0;
  // The sum of log softmax(W h_t + b)[targets_t] over t, B, in one go where the network has a way
  // without `noise` (model/fused.h); an undefined tensor where it has none. targets : B x (n+1).
  virtual Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                                   const Tensor& output_bias) const {
    return {};
  }
  // The same in pieces. A state has been given t symbols and has read t - 1 of them: reading c more
  // gives the hidden vectors that predict these, h_t .. h_{t+c-1} : B x c x H, and the next state.
  // `length`: how many symbols are expected, 0 where that is not known.
  virtual NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const = 0;
  virtual std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& state,
                                                  Random* noise) const = 0;
  // The hidden vector h_t that predicts what follows, B x H, and a state that need not make it
  // again.
  virtual std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state,
                                                  Random* noise) const = 0;
  // One line without the size of the alphabet: "lstm controller, nondeterministic stack".
  virtual std::string line() const = 0;
  // The controller and the stack, where there are such.
  virtual const StackRnn* stack_rnn() const { return nullptr; }

  // Trainable tensors by name, shared, not copied.
  const ParameterList& parameters() const { return parameters_; }

 protected:
  ParameterList parameters_;
};
using NetworkPtr = std::shared_ptr<const Network>;

// `make` takes the number of symbols as the context's input.
struct NetworkKind : RegistryRow<NetworkPtr (*)(const Json& options, const ModuleContext&)> {
  // Fills in the defaults of nested tables.
  Json (*complete)(Json options) = nullptr;
};

const std::vector<NetworkKind>& network_kinds();

}  // namespace pushdown
