// A recurrent controller with a stack: the only class that sees both. With z the hidden vector of
// the controller's first layer, r the stack's reading and h the controller's hidden vector (z where
// there is one layer), reading x_t goes
//   z^  = z_{t-1} + P r_{t-1} + e                   P r with coupling 'state', e with noise
//   x^  = x_t ++ r_{t-1}                            x_t alone with coupling 'state'
//   h_t, state_t = controller(x^, state_{t-1} with z^ in the place of z_{t-1})
//   stack_t      = update(stack_{t-1}, h_t)
// (Mali et al. 2021, equations 4 and 8; coupling 'state' is that of Suzgun et al. 2019, too.)
//   e ~ N(mean, deviation^2) in each component, in training passes alone. The numbers are drawn
// step by step, string by string, so that a sequence read in pieces sees the same.
//
// Carry-forward (equation 9): the state is kept while the stack rests,
//   state_t = u f(..) + (1 - u) state_{t-1} with z^,   h_t being part of it,
// where u comes from the last step's action, which h_{t-1} decides; before the first one u = 1.
//   'soft'     u = 1 - no_op, which is push + pop: a weight
//   'counter'  u = 0 while c > 1, else 1, c being how many steps up to the last one in a row had
//              no_op as the greatest action; no gradient flows through u.
// The equation has one hidden vector. A cell with more to remember (LSTM) keeps all of it, and so
// do all layers. z^, not z, is kept, as it is printed: the reading still moves the state.
//
// The controller starts from its own initial state (0 for most cells), or, with `learned_start`,
// from trained vectors that are the same for all sequences and drawn from U(-0.1, 0.1) at first
// (Grefenstette et al. 2015, section 3.4): one for each tensor of its state. What predicts the
// first symbol stays h_0 = 0, and the stack starts empty.
//
// Iterative refinement (Refinement in model/network.h): the equations above are the first of K
// passes over x_t. Each further pass makes the state anew, from that of the pass before it without
// noise, with the same x_t, r_{t-1} and u:
//   h_t^k, state_t^k = controller(x^, state_t^{k-1} with z^ = z_t^{k-1} + P r_{t-1})
// The stack moves once, by h_t^1. The next symbol goes on from state_t^K, or with carry_first from
// state_t^1.
//
// Dimension letters: B batch, n length, I input, H hidden, R reading size, K passes.
#pragma once
#include "base/buffer_pool.h"
#include "model/kinds.h"
#include "model/network.h"
#include "model/step_engine.h"
#include "recurrence/step_plan.h"

namespace pushdown {

enum class CarryForward { none, soft, counter };

// What happens between a controller and its stack besides the plain recurrence, and where it
// starts.
struct Recurrence {
  bool coupled_state = false;        // coupling 'state', not 'input'
  double noise = 0, noise_mean = 0;  // deviation and mean of e
  CarryForward carry = CarryForward::none;
  bool learned_start = false;

  bool noisy() const { return noise != 0 || noise_mean != 0; }
};

// Where the network stands in a batch of sequences.
struct StackRnnState {
  ControllerState controller;
  StackStatePtr stack;
  Tensor hidden;   // B x H, drives the stack's next step: that of the symbol's first pass;
                   // undefined before the first input
  Tensor resting;  // B x 1: c of carry-forward by 'counter', without gradient; else undefined

  StackRnnState detached() const;
  std::size_t bytes() const;
  // See NetworkState: those of the controller and of the stack, the hidden vector unless the
  // controller carries it itself, and the counter where there is one.
  std::vector<Tensor> tensors() const;
  StackRnnState with_tensors(const std::vector<Tensor>& tensors) const;
};

class StackRnn {
 public:
  // `input` is the size of x_t; the controller is made for what it reads of it and of the reading.
  // std::invalid_argument if the state is to be carried and the stack has no action no_op.
  StackRnn(const Json& controller, const Json& stack, std::int64_t input,
           at::TensorOptions tensor_options, Random& random, const Recurrence& recurrence = {},
           const Kinds& kinds = registered_kinds());

  const Controller& controller() const { return *controller_; }
  const Stack& stack() const { return *stack_; }
  const Recurrence& recurrence() const { return recurrence_; }
  // P : H x R, undefined where the reading is part of the input or has size 0.
  const Tensor& coupling_weight() const { return coupling_weight_; }
  std::int64_t hidden_size() const { return controller_->hidden_size(); }
  // What runs its programs; null where its device has no kernels.
  const StepEnginePtr& engine() const { return engine_; }
  // Whether it is the controller alone, in training passes, too.
  bool bare() const {
    return stack_->reading_size() == 0 && stack_->parameters().empty() &&
           !recurrence_.coupled_state && recurrence_.carry == CarryForward::none &&
           initial_.empty() && !recurrence_.noisy();
  }
  // Whether training passes differ from evaluations.
  bool differs_in_training() const { return evaluated_ != stack_ || recurrence_.noisy(); }
  // controller.*, stack.*, coupling.weight, initial.0 and on
  ParameterList parameters() const;

  // inputs : B x n x I -> hidden vectors h_0 .. h_n : B x (n+1) x H, with h_0 = 0. One program over
  // the sequence, where there is one for the controller, the stack and what is between them.
  // `noise` makes it a training pass, for the noise and for stacks that then differ
  // (Stack::evaluated).
  Tensor run(const Tensor& inputs, Random* noise = nullptr, const Tensor& words = {}) const;
  // The same step by step: the definition; with K passes B x (nK+1) x H.
  Tensor run_stepwise(const Tensor& inputs, Random* noise = nullptr,
                      const Refinement& refinement = {}) const;
  // The same with the step as a recorded program (recurrence/step_trace.h), for stacks that can be
  // recorded; an undefined tensor for others. `words` : B x n, where the inputs are their one-hot
  // vectors, may be left out.
  // With a window > 0 gradients end behind every `window` inputs, as if the sequence were read in
  // pieces with the state as a constant in between; undefined for stacks that cannot be cut.
  // By the given engine, null: that of the network's device.
  Tensor run_recorded(const Tensor& inputs, const Tensor& words, Random* noise = nullptr,
                      std::int64_t window = 0, const StepEnginePtr& engine = nullptr,
                      const Refinement& refinement = {}) const;
  // A training pass over the symbols of words : B x n that differentiates itself, with the program
  // of run_recorded() recorded once for many batches; its output is the hidden vectors of the
  // passes, B x n x KH. Null where there is none: no gradients of other parts can be asked for
  // then. The noise is that of run_recorded().
  DirectPassPtr direct_pass(const Tensor& words, Random& noise, std::int64_t window,
                            const Refinement& refinement) const;
  // The log-likelihood of targets : B x (n+1) with this output layer, B, by the program of
  // run_recorded(), recorded once for many batches (recurrence/step_likelihood.h); undefined where
  // there is none.
  Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                           const Tensor& output_bias, Random* noise) const;
  // The program that reads symbols, of an evaluation; null where there is none.
  StepPlanPtr plan(std::int64_t batch, std::int64_t steps) const;

  // `length`: how many inputs are expected, 0 where that is not known.
  StackRnnState initial(std::int64_t batch, std::int64_t length) const;
  // The inputs that follow, B x c x I -> the hidden vectors of their passes B x cK x H, and where
  // that leads.
  std::pair<Tensor, StackRnnState> read(const Tensor& inputs, StackRnnState state,
                                        Random* noise = nullptr,
                                        const Refinement& refinement = {}) const;
  // The same by a recorded program; nothing where there is none, or where the memory cannot be
  // taken over from one piece to the next (Stack::held). words : B x c, see run_recorded().
  std::optional<std::pair<Tensor, StackRnnState>> read_recorded(
      const Tensor& inputs, const Tensor& words, const StackRnnState& state,
      Random* noise = nullptr, const Refinement& refinement = {},
      const StepEnginePtr& engine = nullptr) const;
  // See Stack::strengths, for the steps of reading the inputs in an evaluation.
  NamedTensors strengths(const Tensor& inputs) const;

  // What the next `steps` steps of a training pass add to the old hidden vector: n x B x H,
  // undefined without noise.
  Tensor draw_noise(std::int64_t batch, std::int64_t steps, Random* noise) const;
  // One step, a function of its arguments alone. input : B x I; disturbance : B x H or undefined;
  // `memory` is the stack or its evaluated form. Adds the hidden vector of each pass to `hiddens`.
  StackRnnState step(const Tensor& input, const Tensor& disturbance, const Stack& memory,
                     const StackRnnState& state, const Refinement& refinement,
                     std::vector<Tensor>& hiddens) const;

 private:
  // The step, once for tensors and for traced vectors: what stands between one move of the memory
  // and the next.
  template <class Vector>
  struct Symbol {
    Vector input;
    Vector reading, disturbance, kept;  // undefined where there is none
  };
  template <class Vector>
  struct PassesOf {
    std::vector<Vector> hiddens;  // of each pass
    std::vector<Vector> state;    // of the controller, from which the next symbol goes on
  };
  template <class Vector>
  PassesOf<Vector> passes(const Symbol<Vector>& symbol, const std::vector<Vector>& state,
                          const Refinement& refinement) const;
  // What part of the state is kept after a step whose no_op was `rested` : B x 1, its weight
  // (soft), or whether it was the greatest (counter). `resting` is c, and changes.
  template <class Vector>
  Vector kept(const Vector& rested, Vector& resting) const;

  // What the first of the recorded steps sees of those before.
  struct Beginning {
    ControllerState controller;
    Tensor rested, resting;  // B x 1 each, see kept(); used where the state is carried
  };
  Beginning beginning(std::int64_t batch) const;
  struct Recorded {
    PassesOf<Traced> made;
    Traced output;   // the hidden vectors of the passes : KH
    Traced resting;  // c after the step; undefined where nothing is counted
  };
  Recorded record(StepTrace& trace, const Traced& input, const Traced& disturbance,
                  const Stack& memory, const Beginning& beginning, std::int64_t batch,
                  std::int64_t steps, const Refinement& refinement) const;
  // Of words : B x n; the plan is null where there is none.
  struct PlannedRun {
    StepPlanPtr plan;
    std::vector<Tensor> supplied;
  };
  PlannedRun planned(std::int64_t batch, std::int64_t steps, Random* noise,
                     const Refinement& refinement) const;
  ControllerState initial_controller(std::int64_t batch) const;

  Recurrence recurrence_;
  ControllerPtr controller_;
  StackPtr stack_;
  std::shared_ptr<const Stack> evaluated_;  // what an evaluation uses: another view of stack_
  Tensor coupling_weight_;
  std::vector<Tensor> initial_;  // by tensor of the controller's state: H; none unless learned
  at::TensorOptions tensor_options_;
  std::int64_t input_;
  StepEnginePtr engine_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
  std::shared_ptr<StepPlans> plans_ = std::make_shared<StepPlans>();
};

}  // namespace pushdown
