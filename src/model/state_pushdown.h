// The neural state pushdown automaton (Mali, Ororbia and Giles 2019): quantised state neurons z,
// action neurons a and read neurons r around a digital stack.
//
// Letters: B batch, n length, J state neurons, V string symbols and action neurons, I inputs (the
// string symbols, followed by the end symbol if there is one), R = V + 1 read neurons (the last
// one: the stack is empty), K passes of iterative refinement.
//
// A step reads symbol l with z, r and a stack whose top is k:
//   third order   v_i = b_i + sum_jk W_ijkl z_j r_k
//   second order  v_i = b_i + sum_j z_j (sum_k W_ijk r_k + W_ij(R+l))
//   z'_i = 1 where logistic(v_i) > 1/2, that is v_i > 0, else 0
//   u_i as v_i with the action tensor; f = 2 logistic(u_i) - 1 makes a_i = 1 above the upper
//   threshold, -1 below the lower one, else 0
//   stack: a_l = 1 pushes l (string symbols only); else a_k = -1 pops the top k; else nothing
//   r' (reading 'top'): alpha_2 at the new top (the last neuron: the stack is empty), alpha_3 at a
//   symbol just popped that is not the new top, alpha_1 elsewhere
//   r' (reading 'action', equation 3 to the letter): alpha_1, alpha_2, alpha_3 at read neuron i
//   where a_i = 0, 1, -1; the last one alpha_2 where the stack is empty, else alpha_1
// z_0 = (1, 0, .., 0), r_0 reads an empty stack, the hidden vector is z.
//
// Iterative refinement: pass 1 is the step above. Passes 2 .. K take the new z and r' with the same
// symbol and recompute only z. They are skipped at a symbol whose triple (state, top, symbol) is
// hinted, provided that exactly one state neuron is active.
//
// Gradients (docs/reference/nspda.md): dz/dv and da/du are those of the functions before
// quantisation. The reading is differentiated as
//   r' = p pushed + (1 - p) q popped + (1 - p)(1 - q) kept,  p = max(a_l, 0), q = max(-a_k, 0),
// where pushed, popped and kept are the readings of the three outcomes and p, q are 0 or 1.
//
// state_pushdown_stepwise.cpp is the definition in tensor operations;
// kernel/state_pushdown/state_pushdown.h computes the same without them if no gradient is needed,
// and for the algorithms that it knows (route()).
#pragma once
#include "base/buffer_pool.h"
#include "kernel/state_pushdown/state_pushdown.h"
#include "model/network_trace.h"

namespace pushdown {

// alpha_1, alpha_2, alpha_3.
struct ReadingValues {
  double other = 0, top = 0, popped = 0;
};

struct StatePushdownState : NetworkState {
  using Stacks = std::vector<std::vector<std::int64_t>>;  // symbols, the top last

  Tensor neurons;                        // z : B x J
  Tensor reading;                        // r : B x R
  std::shared_ptr<const Stacks> stacks;  // B stacks
  Tensor symbol;                         // B x 1: given but not yet read; undefined: none

  NetworkStatePtr detached() const override;
  std::size_t bytes() const override;
  std::vector<Tensor> tensors() const override;  // z, r
  NetworkStatePtr with_tensors(const std::vector<Tensor>& tensors) const override;
};

class StatePushdown : public Network, public TraceableNetwork {
 public:
  enum class Order { second, third };
  enum class Reading { top, action };
  enum class Discrete { evaluation, never, always };

  StatePushdown(const Json& options, const ModuleContext& context);

  std::int64_t hidden_size() const override { return states_; }
  std::string line() const override;
  using Network::run;
  Passes run(const PassRequest& request) const override;
  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override;
  std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& state,
                                          Random* noise) const override;
  std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state,
                                          Random* noise) const override;
  Passes advance(const Tensor& words, const Refinement& refinement, const NetworkStatePtr& state,
                 Random* noise) const override;
  std::vector<NetworkTrace> traces(const PassRequest& request) const override;
  Route route(const PassRequest& request) const override;

  Order order() const { return order_; }
  std::int64_t states() const { return states_; }         // J
  std::int64_t symbols() const { return symbols_; }       // V
  std::int64_t inputs() const { return inputs_; }         // I; symbol V is the end symbol if I > V
  std::int64_t readings() const { return symbols_ + 1; }  // R
  // The readings in use, and the intervals that they are drawn from.
  const ReadingValues& values() const { return values_; }
  const ReadingValues& least_values() const { return least_; }
  const ReadingValues& greatest_values() const { return greatest_; }
  // a_i = 1 if u_i > push_threshold(), -1 if u_i < pop_threshold().
  double push_threshold() const { return push_threshold_; }
  double pop_threshold() const { return pop_threshold_; }

  // Shared, not copied: in-place changes affect the network.
  const Tensor& state_weight() const { return state_weight_; }    // J x J x R x I | J x J x (R+I)
  const Tensor& state_bias() const { return state_bias_; }        // J
  const Tensor& action_weight() const { return action_weight_; }  // V x J x R x I | V x J x (R+I)
  const Tensor& action_bias() const { return action_bias_; }      // V
  // The hinted triples, bool J x R x I (state, top, symbol), and the size of a discrete weight.
  // These are tensors of buffers() and change in place.
  const Tensor& hints() const { return hints_; }
  void set_hints(const Tensor& mask) const;
  double weight_scale() const { return weight_scale_.item<double>(); }
  void set_weight_scale(double scale) const;
  Discrete discrete() const { return discrete_; }

  struct PreActivations {
    std::vector<double> state;   // v : J
    std::vector<double> action;  // u : V
  };
  // Returns v and u of one step, summed in double precision; `discrete`: with the discrete weights.
  PreActivations pre_activations(const std::vector<double>& state,
                                 const std::vector<double>& reading, std::int64_t symbol,
                                 bool discrete = false) const;
  // Returns r for reading 'top'; top = V: the stack is empty; popped = -1: nothing was popped.
  // `values` are the drawn ones or any in the intervals.
  std::vector<double> reading(std::int64_t top, std::int64_t popped,
                              const ReadingValues& values) const;
  std::vector<double> reading(std::int64_t top, std::int64_t popped = -1) const {
    return reading(top, popped, values_);
  }

 private:
  // Weights in use: full precision or discrete.
  struct Weights {
    Tensor state, action;
  };
  Weights weights(bool discrete) const;
  // Returns whether a pass uses the discrete weights: evaluations only, or all passes.
  bool is_discrete(const Random* noise) const;
  // The definition (state_pushdown_stepwise.cpp).
  struct Stepwise;
  Passes advance_stepwise(const Tensor& words, const Refinement& refinement,
                          const StatePushdownState& state, const Weights& weights) const;
  // For the kernel (state_pushdown_fast.cpp).
  bool has_kernel() const;
  StatePushdownShape shape(const Refinement& refinement) const;
  template <class F>
  Passes advance_inside(const Tensor& words, const Refinement& refinement,
                        const StatePushdownState& state, const Weights& weights) const;
  template <class F>
  ValidityLosses differentiate_inside(const PassRequest& request, StatePushdownTask task) const;
  template <class F>
  StatePushdownParameters<F> pack(const Weights& weights, const StatePushdownShape& shape,
                                  F* packed) const;

  Order order_;
  Reading reading_kind_;
  Discrete discrete_;
  std::int64_t states_, symbols_, inputs_;
  ReadingValues values_, least_, greatest_;
  double push_threshold_, pop_threshold_;
  at::TensorOptions options_;
  Tensor state_weight_, state_bias_, action_weight_, action_bias_;
  Tensor hints_, weight_scale_;  // buffers
  BufferPoolPtr pool_ = std::make_shared<BufferPool>();
};

// Returns the architecture 'nspda' with the options order, states, reading, alpha_1, alpha_2,
// alpha_3, action_thresholds, discrete, weight_scale, range, reading_values.
NetworkKind state_pushdown_network();

}  // namespace pushdown
