// Causal self-attention with several heads (sublayer.h), and a place for more scores.
#pragma once
#include <functional>

#include "model/positions.h"
#include "model/sublayer.h"

namespace pushdown {

class SelfAttention : public Sublayer {
 public:
  SelfAttention(const Json& options, const ModuleContext& context);

  Tensor run(const Tensor& x) const override { return read(x, initial(x.size(0), 0)).first; }
  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override;
  std::pair<Tensor, NetworkStatePtr> read(const Tensor& x,
                                          const NetworkStatePtr& state) const override {
    return attend(x, state, nullptr);
  }

  bool records() const override { return true; }
  bool reads_distances() const override { return encoding_ == AttentionEncoding::relative; }
  Traced record(const Traced& x, const Traced& distances) const override;

 protected:
  // Returns what is added to the products of queries and keys, B x heads x c x (t + c), for the
  // queries W_q x, with `relative` positions W_q x + u : B x heads x c x d/heads.
  using MoreScores = std::function<Tensor(const Tensor& queries)>;
  // Reads with more scores; null: none.
  std::pair<Tensor, NetworkStatePtr> attend(const Tensor& x, const NetworkStatePtr& state,
                                            const MoreScores& more) const;
  // Returns the number t of positions that a state has read.
  static std::int64_t positions_of(const NetworkState& state);
  // Applies the query, key or value weight: B x c x d -> B x heads x c x d/heads.
  Tensor heads(const Tensor& x, std::size_t weight) const;
  static constexpr std::size_t kQueryWeight = 0, kKeyWeight = 1, kValueWeight = 2;

 private:
  Tensor bias(std::size_t k) const { return parameters_[k].second.view({1, heads_, 1, -1}); }

  std::int64_t size_, heads_;
  at::TensorOptions options_;
  AttentionEncoding encoding_;
  PositionTable distances_;
};

std::vector<OptionSpec> attention_options();
LayerKind attention_layer();

}  // namespace pushdown
