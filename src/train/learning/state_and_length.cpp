// The error function of the neural network pushdown automaton (Sun, Giles, Chen and Lee 1998). It
// trains the last state neuron S and the length L of the analog stack at the end of a string
// together. It is for model/analog_pushdown.h with its own measure of validity, S - L above 1/2.
//   E = (v + L - S)^2   v = 1 for a valid string, min(0, S - L), a constant, for an invalid one
//   (16)
// The target is thus S = 1 and L = 0 for valid strings, and S = 0 or L >= 1 for invalid ones. The
// chapter's updates (17) omit the factor 2 of the derivative, so a learning rate of the chapter is
// twice one of these.
//
// A string that stopped at a refused pop (U > 0, the third part of the hidden vector) has another
// error instead of E. If it is valid, the error is U, whose derivative is -(dL + dA): push more. If
// it is invalid, there is none, or, with illegal_underflow = 'pop_more', the derivative of -U, with
// the value 0.
//
// dead_neuron = d > 0 (26): neuron d is trained to 0 in the trap state and to 1 elsewhere. An
// invalid string is in the trap after ObjectiveBatch::viable symbols; it stops there.
//   E = (S* - S_d)^2 / 2 + (L* - L)^2 / 2
//   valid    S* = 1, L* = 0
//   trap     S* = 0, no second term
//   invalid  S* = 1, L* = 1, or L + 0.1 (a constant) where L >= 0.9
// If `viable` is not known, no string is in the trap.
//
// legal_weight multiplies the errors of valid strings. The chapter gives them five times the
// learning rate, one after every five invalid ones.
#include "base/check.h"
#include "train/learning/objective.h"

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
                      "number of the neuron that is trained to 0 in the trap; 0: none", 0)
           .trying(1),
       number_option("legal_weight", 1.0, "weight of the errors of valid strings", 0).trying(5)},
      [](const Json& options) -> ObjectivePtr {
        return std::make_unique<StateAndLength>(options);
      }};
}

}  // namespace pushdown
