// The body of a language model: a network that reads a string symbol by symbol and has a hidden
// vector before each symbol. Networks are made by name through the list in registry.cpp.
//
// Dimension letters: B batch, n length, c length of a piece, H hidden, V vocabulary, K passes of
// iterative refinement.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/origin.h"
#include "base/registry.h"
#include "recurrence/direct_pass.h"
#include "recurrence/higher_order.h"
#include "recurrence/step_plan.h"
#include "tensor/module_context.h"

namespace pushdown {

class StackRnn;
struct Kinds;

// Where a network stands in a batch of strings; immutable for its user.
class NetworkState {
 public:
  virtual ~NetworkState() = default;
  // The same numbers, through which no gradient flows back.
  virtual std::shared_ptr<const NetworkState> detached() const = 0;
  // The size of its tensors.
  virtual std::size_t bytes() const = 0;
  // The tensors through which gradients flow from step to step, B x ... each, in a fixed order, and
  // the same state with others in their places. std::invalid_argument where a state has none.
  virtual std::vector<Tensor> tensors() const;
  virtual std::shared_ptr<const NetworkState> with_tensors(const std::vector<Tensor>&) const;
};
using NetworkStatePtr = std::shared_ptr<const NetworkState>;

// Iterative refinement (Mali et al. 2019, equation 9): K passes over every symbol. The first pass
// is the network's step. The others read the same symbol and make the state anew, while a memory
// rests as the first pass has left it. The next symbol goes on from the state of the last pass, or
// with carry_first from that of the first one, so that the others only add losses.
struct Refinement {
  Refinement(std::int64_t passes = 1, bool carry_first = false)
      : passes(passes), carry_first(carry_first) {}

  std::int64_t passes;  // K
  bool carry_first;
};

struct Passes {
  Tensor hiddens;  // the hidden vector after each pass: B x cK x H
  Tensor weights;  // B x cK, 1 where a pass was made and 0 where it was left out; undefined: all 1
  NetworkStatePtr state;  // where that leads; null after run_passes()
};

// Strings with their labels, for networks that differentiate the loss of a recognizer themselves:
//   loss_b = sum over the passes (every_step) or the last pass alone of
//            -y log s - (1 - y) log(1 - s),   s = logistic(W h + b), y the label.
struct ValidityBatch {
  Tensor words;   // B x n, the end symbol included where there is one
  Tensor labels;  // B: 1 valid, 0 not
  Refinement refinement;
  bool every_step = true;
  double scale = 1;                   // of the gradient
  Tensor output_weight, output_bias;  // W : 1 x H, b : 1
};
struct ValidityLosses {
  std::vector<double> losses;  // B
  std::vector<double> scores;  // B: W h + b after the last pass
};

// words : B x n -> B x (n times), every symbol so many times in a row.
Tensor repeated_words(const Tensor& words, std::int64_t times);

class Network {
 public:
  virtual ~Network() = default;

  virtual std::int64_t hidden_size() const = 0;
  // words : B x n symbol ids (int64, valid) -> h_0 .. h_n : B x (n+1) x H, where h_t depends on the
  // first t symbols alone. `noise` gives the random numbers of a training pass (dropout); without
  // it nothing is random, and the pass is an evaluation.
  virtual Tensor run(const Tensor& words, Random* noise) const = 0;
  // The sum of log softmax(W h_t + b)[targets_t] over t, B, in one go where the network has a way;
  // an undefined tensor where it has none. targets : B x (n+1).
  virtual Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                                   const Tensor& output_bias, Random* noise) const {
    return {};
  }
  // The network over `batch` times `steps` symbols as a recorded program, where it is that alone,
  // in training passes, too; else null.
  virtual StepPlanPtr plan(std::int64_t batch, std::int64_t steps) const { return nullptr; }
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
  // The state with which a text without end goes on once what grows with its length is given up:
  // a network with a controller keeps that and empties its stack, any other one begins anew.
  virtual NetworkStatePtr restarted(const NetworkStatePtr& state, std::int64_t batch) const {
    return initial(batch, 0);
  }
  // The hidden vectors of whole strings with K passes for each symbol, before the first one too:
  // hiddens : B x (nK + 1) x H. By default, for networks without a memory that could rest, the
  // passes are K symbols of the same kind; carry_first is then an error.
  virtual Passes run_passes(const Tensor& words, const Refinement& refinement, Random* noise) const;
  // The hidden vectors of run_passes() through which gradients flow back no further than to the
  // last border, borders being after every `window` symbols: as advance() would give them from
  // detached states. An undefined tensor where the network has no way to do so at once.
  virtual Tensor run_windows(const Tensor& words, const Refinement& refinement, std::int64_t window,
                             Random* noise) const {
    return {};
  }
  // The hidden vectors after each pass of the next symbols, words : B x c; nothing is held back,
  // the next state has read all of them.
  virtual Passes advance(const Tensor& words, const Refinement& refinement,
                         const NetworkStatePtr& state, Random* noise) const;
  // Adds `scale` times the gradient of the sum of the losses to the gradients of the parameters, of
  // W and of b, by a learning algorithm (train/learning.h) that the network has a kernel for;
  // nothing where it has none.
  virtual std::optional<ValidityLosses> differentiate(const ValidityBatch& batch,
                                                      std::string_view algorithm,
                                                      Random& random) const {
    return std::nullopt;
  }
  // A training pass over words : B x n that differentiates itself, without a graph: the hidden
  // vectors of the passes of each symbol, B x n x KH, with gradients that end behind every `window`
  // symbols, 0: nowhere. The random numbers are those of run_passes(). Null where the network has
  // no such way.
  virtual DirectPassPtr direct_pass(const Tensor& words, const Refinement& refinement,
                                    std::int64_t window, Random& noise) const {
    return nullptr;
  }
  // The network with these passes, in training, where it is of higher order and on the processor.
  virtual std::optional<HigherOrderNetwork> higher_order(const Refinement& refinement) const {
    return std::nullopt;
  }
  // A network's own measure of validity, B x ... of hidden vectors B x ... x H: valid where it is
  // above 1/2. Undefined where it has none.
  virtual Tensor validity(const Tensor& hiddens) const { return {}; }
  // What reading words : B x n does to a memory of sections with strengths, in an evaluation: the
  // tensors of Stack::strengths; none where the network has no such memory.
  virtual std::map<std::string, Tensor> strengths(const Tensor& words) const { return {}; }
  // One line without the size of the alphabet: "lstm controller, nondeterministic stack".
  virtual std::string line() const = 0;
  // The controller and the stack, where there are such.
  virtual const StackRnn* stack_rnn() const { return nullptr; }

  // Trainable tensors by name, shared, not copied.
  const ParameterList& parameters() const { return parameters_; }
  // Tensors that belong to the network and are not trained, shared, not copied.
  const ParameterList& buffers() const { return buffers_; }
  // Where scripts defined parts of the network; none for most. A network with such parts runs on
  // the thread of these scripts alone.
  const std::vector<OriginPtr>& origins() const { return origins_; }

 protected:
  ParameterList parameters_, buffers_;
  std::vector<OriginPtr> origins_;
};
using NetworkPtr = std::shared_ptr<const Network>;

// `make` takes the number of symbols as the context's input, and what stacks and controllers there
// are.
struct NetworkKind
    : RegistryRow<NetworkPtr (*)(const Json& options, const ModuleContext&, const Kinds&)> {
  // Fills in the defaults of nested tables.
  Json (*complete)(Json options, const Kinds&) = nullptr;
};

const std::vector<NetworkKind>& network_kinds();

}  // namespace pushdown
