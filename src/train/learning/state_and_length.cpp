#include "train/learning/state_and_length.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "objective.state_and_length";

class StateAndLength : public Objective {
 public:
  explicit StateAndLength(const Json& options)
      : pop_more_(options["illegal_underflow"] == "pop_more"),
        dead_neuron_(options["dead_neuron"]),
        legal_weight_(options["legal_weight"]) {}

  Tensor losses(const ObjectiveBatch& batch) const override {
    const Tensor& hiddens = batch.hiddens;
    const auto passes = hiddens.size(1), states = hiddens.size(2) - 2;
    check(states >= 1 && dead_neuron_ <= states, kWhere,
          "the network must have at least {} state neurons, got {}",
          std::max<std::int64_t>(1, dead_neuron_), states);
    const Tensor legal = batch.labels > 0.5;  // B

    // The pass at which a string stops: the one that leads to the trap, or its last one.
    Tensor last = at::full({hiddens.size(0)}, passes - 1, legal.options().dtype(at::kLong));
    Tensor due = at::full_like(legal, batch.ends);
    Tensor trapped = at::zeros_like(legal);
    if (dead_neuron_ > 0 && batch.viable.defined()) {
      const Tensor place = (batch.viable.to(last.options()) - batch.first) * batch.passes - 1;
      trapped = legal.logical_not().logical_and(place < passes);
      due = at::where(trapped, place >= 0, due);
      last = at::where(trapped, place, last).clamp_min(0);
    }
    const Tensor hidden =
        hiddens.gather(1, last.view({-1, 1, 1}).expand({-1, 1, states + 2})).squeeze(1);
    const Tensor length = hidden.select(1, states), underflow = hidden.select(1, states + 1);
    check_scores(batch.scores.gather(1, last.unsqueeze(1)).squeeze(1), hidden, states);

    const Tensor error = dead_neuron_ > 0 ? with_dead_neuron(hidden.select(1, dead_neuron_ - 1),
                                                             length, legal, trapped)
                                          : joint(hidden.select(1, states - 1), length, legal);
    const Tensor none = at::zeros_like(error);
    const Tensor refused =
        at::where(legal, underflow, pop_more_ ? underflow.detach() - underflow : none);
    const Tensor loss = at::where(underflow > 0, refused, error);
    return at::where(due, at::where(legal, legal_weight_ * loss, loss), none);
  }

 private:
  // All tensors are B.
  static Tensor joint(const Tensor& state, const Tensor& length, const Tensor& legal) {
    const Tensor gap = (state - length).detach();
    const Tensor v = at::where(legal, at::ones_like(gap), gap.clamp_max(0));
    return (v + length - state).square();
  }
  static Tensor with_dead_neuron(const Tensor& state, const Tensor& length, const Tensor& legal,
                                 const Tensor& trapped) {
    const Tensor alive = trapped.logical_not().to(state.scalar_type());
    const Tensor now = length.detach();
    const Tensor longer = at::where(now >= 0.9, now + 0.1, at::ones_like(now));
    const Tensor wanted = at::where(legal, at::zeros_like(now), longer);
    return (alive - state).square() / 2 + alive * (wanted - length).square() / 2;
  }
  static void check_scores(const Tensor& scores, const Tensor& hidden, std::int64_t states) {
    const Tensor measure = at::where(hidden.select(1, states + 1) > 0, at::zeros_like(scores),
                                     hidden.select(1, states - 1) - hidden.select(1, states));
    check(scores.equal(measure), kWhere,
          "it trains the measure S - L of an 'nnpda': the recognizer must have architecture = "
          "'nnpda' and output = 'own'");
  }

  bool pop_more_;
  std::int64_t dead_neuron_;
  double legal_weight_;
};

}  // namespace

ObjectiveKind state_and_length_objective() {
  return {
      "state_and_length",
      "Last state neuron and stack length of an 'nnpda' at the end (Sun et al. 1998).",
      {text_option("illegal_underflow", "none",
                   "target for an invalid string that pops an empty stack", {"none", "pop_more"}),
       integer_option("dead_neuron", 0,
                      "number of the neuron that is trained to 0 in the trap; 0: none", 0),
       number_option("legal_weight", 1.0, "weight of the errors of valid strings", 0)},
      [](const Json& options) -> ObjectivePtr {
        return std::make_unique<StateAndLength>(options);
      }};
}

}  // namespace pushdown
