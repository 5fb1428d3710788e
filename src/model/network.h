// The body of a model: a network that reads a string symbol by symbol and has a hidden vector
// before each symbol. Networks are created by name through the list in registry.cpp.
//
// Dimension letters: B batch, n length, c length of a piece, H hidden, V vocabulary, K passes of
// iterative refinement.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/origin.h"
#include "base/registry.h"
#include "recurrence/execute/planned_batch.h"
#include "recurrence/higher_order.h"
#include "tensor/module_context.h"

namespace pushdown {

class StackRnn;
struct Kinds;

// The state of a network within a batch of strings; immutable for its user.
class NetworkState {
 public:
  virtual ~NetworkState() = default;
  // Returns the same numbers without a gradient.
  virtual std::shared_ptr<const NetworkState> detached() const = 0;
  // Returns the size of its tensors.
  virtual std::size_t bytes() const = 0;
  // Return the tensors through which gradients flow from step to step, B x ... each, in a fixed
  // order, and the same state with other tensors in their places. Throw std::invalid_argument if a
  // state has no such form.
  virtual std::vector<Tensor> tensors() const;
  virtual std::shared_ptr<const NetworkState> with_tensors(const std::vector<Tensor>&) const;
};
using NetworkStatePtr = std::shared_ptr<const NetworkState>;

// Iterative refinement (Mali et al. 2019, equation 9): K passes over every symbol. The first pass
// is the network's step. The other passes read the same symbol and recompute the state, while a
// memory keeps the content that the first pass left. The next symbol continues from the state of
// the last pass, or with carry_first from that of the first one, so that the other passes only add
// losses.
struct Refinement {
  Refinement(std::int64_t passes = 1, bool carry_first = false)
      : passes(passes), carry_first(carry_first) {}

  std::int64_t passes;  // K
  bool carry_first;
};

struct Passes {
  Tensor hiddens;  // the hidden vector after each pass: B x cK x H
  Tensor weights;  // B x cK, 1 for passes that were made, 0 for skipped ones; undefined: all 1
  NetworkStatePtr state;  // the next state; null after run()
};

// The loss of a recognizer, for networks that differentiate it themselves:
//   loss_b = share times the sum over the passes (every_step) or the last pass alone of
//            -y log s - (1 - y) log(1 - s),   s = logistic(W h + b), y the label.
struct ValidityHead {
  Tensor labels;  // B: 1 valid, 0 not
  bool every_step = true;
  double share = 1;
  double scale = 1;                   // of the gradient
  Tensor output_weight, output_bias;  // W : 1 x H, b : 1
};
struct ValidityLosses {
  std::vector<double> losses;  // B
  std::vector<double> scores;  // B: W h + b after the last pass
};

// What a network is asked to do with whole strings.
struct PassRequest {
  Tensor words;  // B x n symbol ids (int64, valid)
  Refinement refinement = {};
  // Provides the random numbers of a training pass (dropout). Without it nothing is random, and the
  // pass is an evaluation.
  Random* noise = nullptr;
  // Gradients flow back only to the last border. Borders are after every `window` symbols; the
  // result is that of advance() from detached states. 0: no borders.
  std::int64_t window = 0;
  // B, 1 to n each, in descending order: the strings end before n. Hidden vectors after the end of
  // a string have any value, and a network may do without them. Empty: all have n symbols.
  std::vector<std::int64_t> lengths = {};
  // B: if the strings are pairs, the lengths of their sources, for memories that use them. Else
  // empty.
  std::vector<std::int64_t> sources = {};
  // What follows the hidden vectors, for Network::route(): the number of outcomes of a softmax, and
  // whether its results belong to LibTorch's graph; or the answers of a recognizer, differentiated
  // by this learning algorithm (train/learning/learning.h).
  std::int64_t outcomes = 0;
  bool graph = false;
  std::optional<ValidityHead> answers = {};
  std::string_view algorithm = "bptt";
  // The pass is one of those of several models in common launches, perhaps on a device
  // (model/likelihoods_together.h).
  bool together = false;
};

// How a network computes the gradients of a request:
struct ByTensors {};  // by LibTorch's graph of Network::run()
struct ByPieces {};   // by the graphs of Network::advance() over pieces of the strings
struct ByKernel {     // by a kernel of its own, which adds the gradients of the answers
  std::function<ValidityLosses()> differentiate;
};
// or by a recorded plan (recurrence/execute/planned_batch.h), or by steps whose derivatives are
// loops over numbers, for the algorithm uoro.
using Route = std::variant<ByTensors, ByPieces, ByKernel, PlannedBatch, HigherOrderNetwork>;

// words : B x n -> B x (n times), with every symbol repeated this many times.
Tensor repeated_words(const Tensor& words, std::int64_t times);

class Network {
 public:
  virtual ~Network() = default;

  // Returns the size of the vectors that the output layer reads, which are called hidden vectors.
  // They include a stack's reading if the network is so made.
  virtual std::int64_t hidden_size() const = 0;
  // Returns the hidden vectors of the passes over each symbol, preceded by h_0: B x (nK + 1) x H;
  // h_t depends only on the first t symbols. A window is possible only if route() returns ByTensors
  // for it.
  virtual Passes run(const PassRequest& request) const = 0;
  // words : B x n -> h_0 .. h_n : B x (n+1) x H
  Tensor run(const Tensor& words, Random* noise) const {
    return run(PassRequest{.words = words, .noise = noise}).hiddens;
  }
  // Returns how the gradients of a request are computed. The random numbers of a plan are drawn
  // now.
  virtual Route route(const PassRequest& request) const;
  // Runs the request by its route, or by the plan or tensors of a route that it has.
  Pass pass(const PassRequest& request) const { return pass(request, route(request)); }
  Pass pass(const PassRequest& request, const Route& route) const;
  // Returns the recorded program of evaluations over `batch` times `steps` symbols if it is the
  // whole network, also in training passes and on a device; otherwise null.
  StepPlanPtr plan(std::int64_t batch, std::int64_t steps) const;
  // The same in pieces. A state has been given t symbols and has read t - 1 of them. Reading c more
  // gives the hidden vectors that predict these, h_t .. h_{t+c-1} : B x c x H, and the next state.
  // `length`: the expected number of symbols, 0 if unknown.
  virtual NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const = 0;
  // The same for pairs whose sources have these lengths.
  virtual NetworkStatePtr initial_of_pairs(const std::vector<std::int64_t>& sources,
                                           std::int64_t length) const {
    return initial(static_cast<std::int64_t>(sources.size()), length);
  }
  virtual std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& state,
                                                  Random* noise) const = 0;
  // Returns the hidden vector h_t that predicts the next symbol, B x H, and a state that need not
  // compute it again.
  virtual std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state,
                                                  Random* noise) const = 0;
  // Returns the state for continuing an endless text after the part that grows with its length is
  // discarded. A network with a controller keeps the controller's state and empties its stack; any
  // other network starts again.
  virtual NetworkStatePtr restarted(const NetworkStatePtr& state, std::int64_t batch) const {
    return initial(batch, 0);
  }
  // Returns the hidden vectors after each pass of the next symbols, words : B x c. No symbol is
  // held back: the next state has read all of them.
  virtual Passes advance(const Tensor& words, const Refinement& refinement,
                         const NetworkStatePtr& state, Random* noise) const;
  // Returns the network's own measure of validity, B x ... for hidden vectors B x ... x H: valid if
  // above 1/2. Throws std::invalid_argument if it has none.
  virtual Tensor validity(const Tensor& hiddens) const;
  // Returns the effect of reading words : B x n on a memory of sections with strengths, in an
  // evaluation: the tensors of Stack::strengths, or none if the network has no such memory.
  virtual std::map<std::string, Tensor> strengths(const Tensor& words) const { return {}; }
  // Returns the matrices of which every symbol has a row of its own, by its id (stored(),
  // tensor/torch.h). A pass over strings reads, and has gradients in, the rows of their symbols
  // alone, and those after the rows of the alphabet.
  virtual std::vector<Tensor> symbol_tables() const { return {}; }
  // Returns one line without the size of the alphabet: "lstm controller, nondeterministic stack".
  virtual std::string line() const = 0;
  // Returns the controller and the stack, or null if there are none.
  virtual const StackRnn* stack_rnn() const { return nullptr; }

  // Returns the trainable tensors by name, shared, not copied.
  const ParameterList& parameters() const { return parameters_; }
  // Returns the tensors of the network that are not trained, shared, not copied.
  const ParameterList& buffers() const { return buffers_; }
  // Returns the places where scripts defined parts of the network; usually empty. A network with
  // such parts runs only on the thread of these scripts.
  const std::vector<OriginPtr>& origins() const { return origins_; }

 protected:
  // For networks without a memory that further passes could leave unchanged: the words with K equal
  // symbols in the place of each. carry_first is then an error.
  Tensor repeated(const Tensor& words, const Refinement& refinement) const;

  ParameterList parameters_, buffers_;
  std::vector<OriginPtr> origins_;
};
using NetworkPtr = std::shared_ptr<const Network>;

// `make` takes the number of symbols as the context's input, and the available stacks and
// controllers.
struct NetworkKind
    : RegistryRow<NetworkPtr (*)(const Json& options, const ModuleContext&, const Kinds&)> {
  // Fills in the defaults of nested options.
  Json (*complete)(Json options, const Kinds&) = nullptr;
};

const std::vector<NetworkKind>& network_kinds();

}  // namespace pushdown
