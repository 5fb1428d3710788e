// The sublayers of a transformer that look back: vectors x_1 .. x_n in, n vectors out, the t-th of
// which depends only on x_1 .. x_t. They are created by name through layer_kinds().
//
// attention        causal self-attention with several heads (Vaswani et al. 2017), without biases:
//                    out_t = W_o concat_h sum_{s<=t} softmax_s(q_t . k_s / sqrt(d/heads)) v_s
//                  with an encoding of positions (positions.h)
// superposition    stack attention (DuSell and Chiang 2024): x_t drives a step of a superposition
// nondeterministic or of a vector nondeterministic stack, whose reading after the step is used,
//                    a_t = W_a x_t,  v_t = W_v x_t,  out_t = W_y reading_t;
//                  a_t goes through a softmax over push, pop and no_op, or is the logarithm of the
//                  transition weights.
// pushdown_attention  attention that sees the depths of a parse (pushdown_attention.h)
//
// Dimension letters: B batch, n length, c length of a piece, d size of the vectors, R reading.
#pragma once
#include "model/network.h"

namespace pushdown {

class PushdownAttention;
class Stack;

class Sublayer {
 public:
  virtual ~Sublayer() = default;

  // Runs from the beginning: B x n x d -> B x n x d.
  virtual Tensor run(const Tensor& x) const = 0;
  // Run in pieces: B x c x d -> B x c x d.
  virtual NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const = 0;
  virtual std::pair<Tensor, NetworkStatePtr> read(const Tensor& x,
                                                  const NetworkStatePtr& state) const = 0;

  // Records what run() computes, if records(). `distances`: the vectors p of the numbers of the
  // steps (positions.h), if reads_distances().
  virtual bool records() const { return false; }
  virtual bool reads_distances() const { return false; }
  virtual Traced record(const Traced& x, const Traced& distances) const { return {}; }

  // Returns the stack of stack attention, which what the layer reads drives; otherwise null.
  virtual const Stack* stack() const { return nullptr; }

  // Returns the layer if it reads the depths of a parse; otherwise null.
  virtual const PushdownAttention* pushdown() const { return nullptr; }

  const ParameterList& parameters() const { return parameters_; }

 protected:
  ParameterList parameters_;
};
using SublayerPtr = std::shared_ptr<const Sublayer>;

// `make` takes d as the context's input.
using LayerKind = RegistryRow<SublayerPtr (*)(const Json& options, const ModuleContext&)>;

const std::vector<LayerKind>& layer_kinds();

}  // namespace pushdown
