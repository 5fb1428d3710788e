// Causal self-attention that sees how deep each earlier symbol lies in an incremental parse (Murty,
// Sharma, Andreas and Manning, "Pushdown Layers", EMNLP 2023). Position t gives symbol s the score
//     q_t . W_k (x_s + e[min(depth, D - 1)]) / sqrt(d/heads),   depth of s in the parse after t,
// with a learned vector e for each of D depths; values have none. With D = 2 the layer only sees
// whether a symbol is part of a larger constituent, as the published program on Dyck languages.
// Of the encodings of positions, `relative` adds its u to q_t here, too, as the published program
// does; the vectors of depths are not rotated and have no distance.
#pragma once
#include "model/self_attention.h"

namespace pushdown {

class PushdownAttention : public SelfAttention {
 public:
  PushdownAttention(const Json& options, const ModuleContext& context);

  // With depth 0 everywhere, as run().
  std::pair<Tensor, NetworkStatePtr> read(const Tensor& x,
                                          const NetworkStatePtr& state) const override;
  // Reads x : B x c x d with the depths B x c x (t + c), int64, of the t positions before and these
  // ones at each of these ones. Depths of later positions have no effect.
  std::pair<Tensor, NetworkStatePtr> read(const Tensor& x, const Tensor& depths,
                                          const NetworkStatePtr& state) const;

  bool records() const override { return false; }
  const PushdownAttention* pushdown() const override { return this; }

 private:
  Tensor vectors_;  // e : D x d
};

LayerKind pushdown_attention_layer();

}  // namespace pushdown
