// A recurrent controller with a stack: the only class that uses both. Let z be the hidden vector of
// the controller's first layer, r the stack's reading and h the controller's hidden vector (z if
// there is one layer). Reading x_t computes
//   z^  = z_{t-1} + P r_{t-1} + e                   P r with coupling 'state', e with noise
//   x^  = x_t ++ r_{t-1}                            x_t alone with coupling 'state'
//   h_t, state_t = controller(x^, state_{t-1} with z^ in the place of z_{t-1})
//   stack_t      = update(stack_{t-1}, h_t)
// (Mali et al. 2021, equations 4 and 8; Suzgun et al. 2019 also use coupling 'state').
//   e ~ N(mean, deviation^2) in each component, in training passes alone.
// The numbers are drawn step by step, string by string, so that a sequence read in pieces gets the
// same noise.
//
// Carry-forward (equation 9): the state is kept while the stack rests,
//   state_t = u f(..) + (1 - u) state_{t-1} with z^,   h_t being part of it,
// where u comes from the last step's action, which h_{t-1} determines; before the first action u =
// 1.
//   'soft'     u = 1 - no_op, which is push + pop: a weight
//   'counter'  u = 0 while c > 1, else 1, where c counts the consecutive steps up to the last one
//              with no_op as the greatest action; no gradient flows through u.
// The equation has one hidden vector. A cell with a larger state (LSTM) keeps all of it, and so do
// all layers. As printed, z^, not z, is kept: the reading still changes the state.
//
// Dropout (Srivastava et al. 2014), in training passes alone, multiplies by a mask m, whose numbers
// are 0 with probability p and 1 / (1 - p) otherwise: x_t, if it is an embedding; the hidden vector
// of each layer before the next one reads it; and h_t as the network's output. The recurrence and
// the stack get the vectors without masks. All passes over x_t have the same masks, which are drawn
// after e.
//
// The output layer reads h_t. With `reading_out` it reads h_t ++ r_t instead, where r_t is the
// reading after the update that h_t drives ("+R" of DuSell and Cotterell 2025;
// include_reading_in_output in their program, rau). Every pass over x_t has the same r_t, and the
// first symbol is predicted from 0 ++ r_0. Dropout multiplies r_t by a mask, too, drawn after that
// of h_t. A program moves the memory at the end of a step and reads it at the beginning of the next
// one, so that a run over n symbols takes one step more, whose input does not matter.
//
// The controller starts from its own initial state (0 for most cells) or, with `learned_start`,
// from trained vectors that are shared by all sequences and initially drawn from U(-0.1, 0.1)
// (Grefenstette et al. 2015, section 3.4): one for each tensor of its state. The first symbol is
// still predicted from h_0 = 0, and the stack starts empty.
//
// Iterative refinement (Refinement in model/network.h): the equations above are the first of K
// passes over x_t. Each further pass recomputes the state from that of the previous pass, without
// noise, with the same x_t, r_{t-1} and u:
//   h_t^k, state_t^k = controller(x^, state_t^{k-1} with z^ = z_t^{k-1} + P r_{t-1})
// The stack moves once, by h_t^1. The next symbol continues from state_t^K, or with carry_first
// from state_t^1.
//
// Dimension letters: B batch, n length, I input, H hidden, R reading size, K passes, O output size:
// H, or H + R with `reading_out`.
#pragma once
#include "base/buffer_pool.h"
#include "model/kinds.h"
#include "model/network.h"
#include "model/step_engine.h"
#include "recurrence/program/step_plan.h"

namespace pushdown {

enum class CarryForward { none, soft, counter };

// The connection of a controller and its stack beyond the plain recurrence, and the start state.
struct Recurrence {
  bool coupled_state = false;        // coupling 'state', not 'input'
  double noise = 0, noise_mean = 0;  // deviation and mean of e
  CarryForward carry = CarryForward::none;
  bool learned_start = false;
  double dropout = 0;  // p
  // V x I, trained with the network: the inputs are its rows, and have a mask. Undefined: the
  // inputs are one-hot vectors or come from elsewhere.
  Tensor embedding;
  bool reading_out = false;  // output 'hidden_and_reading'

  bool noisy() const { return noise != 0 || noise_mean != 0; }
  bool random() const { return noisy() || dropout != 0; }
};

// The state of the network within a batch of sequences.
struct StackRnnState {
  ControllerState controller;
  StackStatePtr stack;
  // B x H, drives the stack's next step: the hidden vector of the symbol's first pass; undefined
  // before the first input. With `reading_out` the stack has made that step already.
  Tensor hidden;
  Tensor resting;  // B x 1: c of carry-forward by 'counter', without gradient; else undefined

  StackRnnState detached() const;
  std::size_t bytes() const;
  // See NetworkState: the tensors of the controller and of the stack, the hidden vector unless it
  // is part of the controller's state, and the counter if there is one.
  std::vector<Tensor> tensors() const;
  StackRnnState with_tensors(const std::vector<Tensor>& tensors) const;
};

class StackRnn {
 public:
  // `input` is the size of x_t; the controller is created for the part of it and of the reading
  // that it reads. Throws std::invalid_argument if the state is to be carried forward and the stack
  // has no action no_op.
  StackRnn(const Json& controller, const Json& stack, std::int64_t input,
           at::TensorOptions tensor_options, Random& random, const Recurrence& recurrence = {},
           const Kinds& kinds = registered_kinds());

  const Controller& controller() const { return *controller_; }
  const Stack& stack() const { return *stack_; }
  const Recurrence& recurrence() const { return recurrence_; }
  // P : H x R, undefined if the reading is part of the input or has size 0.
  const Tensor& coupling_weight() const { return coupling_weight_; }
  std::int64_t hidden_size() const { return controller_->hidden_size(); }
  // Returns the size of the vectors that the output layer reads, O.
  std::int64_t output_size() const {
    return hidden_size() + (recurrence_.reading_out ? stack_->reading_size() : 0);
  }
  // The engine that runs its programs; null if its device has no kernels.
  const StepEnginePtr& engine() const { return engine_; }
  // Returns whether it consists of the controller alone, also in training passes.
  bool bare() const {
    return stack_->reading_size() == 0 && stack_->parameters().empty() &&
           !recurrence_.coupled_state && recurrence_.carry == CarryForward::none &&
           initial_.empty() && !recurrence_.random();
  }
  // Returns whether training passes differ from evaluations.
  bool differs_in_training() const { return evaluated_ != stack_ || recurrence_.random(); }
  // controller.*, stack.*, coupling.weight, initial.0 onwards
  ParameterList parameters() const;

  // inputs : B x n x I -> the outputs of times 0 to n : B x (n+1) x O, with h_0 = 0. Uses one
  // program over the sequence if the controller, the stack and their connection support it. `noise`
  // makes it a training pass: it drives the noise, and some stacks behave differently
  // (Stack::evaluated). `lengths`, `sources`: see PassRequest; empty: all n, and no pairs.
  Tensor run(const Tensor& inputs, Random* noise = nullptr, const Tensor& words = {},
             const std::vector<std::int64_t>& lengths = {}) const;
  // Does the same step by step: the definition; with K passes B x (nK+1) x O.
  Tensor run_stepwise(const Tensor& inputs, Random* noise = nullptr,
                      const Refinement& refinement = {},
                      const std::vector<std::int64_t>& sources = {}) const;
  // Does the same with the step as a recorded program (recurrence/trace/step_trace.h). Returns an
  // undefined tensor if the stack cannot be recorded. `words` : B x n, if the inputs are their
  // one-hot vectors; optional. With a window > 0, gradients end after every `window` inputs, as if
  // the sequence were read in pieces with the state as a constant in between; undefined for stacks
  // that cannot be cut and with `reading_out`. Runs on the given engine; null: the one of the
  // network's device.
  Tensor run_recorded(const Tensor& inputs, const Tensor& words, Random* noise = nullptr,
                      std::int64_t window = 0, const StepEnginePtr& engine = nullptr,
                      const Refinement& refinement = {},
                      const std::vector<std::int64_t>& lengths = {},
                      const std::vector<std::int64_t>& sources = {}) const;
  // Returns a plan for the symbols of words : B x n, if there is one, with the program of
  // run_recorded() recorded once for many batches; it gives no gradients of other parts. Otherwise
  // tensors, or pieces with a window that run_recorded() cannot have.
  Route route(const PassRequest& request) const;

  // Returns the matrices whose first columns, one for each input, are selected by symbols if the
  // inputs are one-hot. They are found in the program of plan().
  std::vector<Tensor> selected_matrices() const;

  // `length`: the expected number of inputs, 0 if unknown; `sources`: see PassRequest.
  StackRnnState initial(std::int64_t batch, std::int64_t length,
                        const std::vector<std::int64_t>& sources = {}) const;
  // Returns the output before the first input : B x O.
  Tensor first_output(std::int64_t batch) const;
  // Returns the output h_t ++ r_t of a state that has read inputs; h_t alone without `reading_out`.
  Tensor output(const StackRnnState& state) const;
  // Reads the next inputs, B x c x I. Returns the outputs of their passes, B x cK x O, and the next
  // state.
  std::pair<Tensor, StackRnnState> read(const Tensor& inputs, StackRnnState state,
                                        Random* noise = nullptr,
                                        const Refinement& refinement = {}) const;
  // Does the same by a recorded program. Returns nothing if there is none, or if the stack cannot
  // be taken over from one piece to the next. words : B x c, see run_recorded().
  std::optional<std::pair<Tensor, StackRnnState>> read_recorded(
      const Tensor& inputs, const Tensor& words, const StackRnnState& state,
      Random* noise = nullptr, const Refinement& refinement = {},
      const StepEnginePtr& engine = nullptr) const;
  // Returns Stack::strengths for the steps of reading the inputs in an evaluation.
  NamedTensors strengths(const Tensor& inputs) const;

  // Returns the random numbers of the next `steps` steps of a training pass, n x B x R: the noise
  // that is added to the old hidden vector, H, and the masks of dropout, for x_t, I, each layer, H,
  // and the reading of the output layer. Undefined if there are none.
  Tensor draw_noise(std::int64_t batch, std::int64_t steps, Random* noise) const;
  // Makes one step as a pure function. input : B x I; drawn : B x R or undefined, see draw_noise();
  // `memory` is the stack or its evaluated form. Adds the output of each pass to `outputs`.
  StackRnnState step(const Tensor& input, const Tensor& drawn, const Stack& memory,
                     const StackRnnState& state, const Refinement& refinement,
                     std::vector<Tensor>& outputs) const;

 private:
  // The computation between one move of the memory and the next, written once for tensors and for
  // traced vectors.
  template <class Vector>
  struct Symbol {
    Vector input;
    Vector reading, drawn, kept;  // undefined if absent
  };
  template <class Vector>
  struct PassesOf {
    std::vector<Vector> hiddens;  // one for each pass
    std::vector<Vector> outputs;  // the same with masks, without the reading
    std::vector<Vector> state;    // the controller's state from which the next symbol continues
  };
  // The random numbers of a step by their use, in the order of draw_noise().
  template <class Vector>
  struct Drawn {
    Vector disturbance, input_mask, output_mask;  // undefined if absent
    std::vector<Vector> layer_masks;
  };
  std::int64_t drawn_size() const;  // R
  // Returns the mask of the reading in the numbers of draw_noise(); undefined if there is none.
  Tensor reading_mask(const Tensor& drawn) const;
  template <class Vector>
  Drawn<Vector> drawn_parts(const Vector& numbers) const;
  template <class Vector>
  PassesOf<Vector> passes(const Symbol<Vector>& symbol, const std::vector<Vector>& state,
                          const Refinement& refinement) const;
  // Returns the part of the state that is kept after a step with no_op `rested` : B x 1, which is
  // its weight (soft) or whether it was the greatest (counter). Updates the counter `resting`, c.
  template <class Vector>
  Vector kept(const Vector& rested, Vector& resting) const;

  // The values from the previous steps that the first recorded step uses.
  struct Beginning {
    ControllerState controller;
    Tensor rested, resting;  // B x 1 each, see kept(); used if the state is carried forward
  };
  Beginning beginning(std::int64_t batch) const;
  struct Recorded {
    PassesOf<Traced> made;
    Traced output;   // the outputs of the passes : KH, then with `reading_out` the reading before
    Traced resting;  // c after the step; undefined without a counter
  };
  Recorded record(StepTrace& trace, const Traced& input, const Traced& drawn, RecordedStack& stack,
                  const Beginning& beginning, const Refinement& refinement) const;
  // Returns the stack in recorded form if the controller has one, too; otherwise null.
  RecordedStackPtr recorded_stack(const Stack& stack, const StackRequest& request) const;
  // Returns the steps after the last symbol, see `reading_out`.
  std::int64_t further_steps() const { return recurrence_.reading_out ? 1 : 0; }
  // Returns the plan for words : B x n, null if there is none. It has the step more of
  // `reading_out`.
  StepPlanPtr plan(const PassRequest& request) const;
  ControllerState initial_controller(std::int64_t batch) const;

  Recurrence recurrence_;
  ControllerPtr controller_;
  StackPtr stack_;
  std::shared_ptr<const Stack> evaluated_;  // used in evaluation: another view of stack_
  Tensor coupling_weight_;
  std::vector<Tensor> initial_;  // H each, by tensor of the controller's state; may be empty
  at::TensorOptions tensor_options_;
  std::int64_t input_;
  StepEnginePtr engine_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
  std::shared_ptr<StepPlans> plans_ = std::make_shared<StepPlans>();
};

}  // namespace pushdown
