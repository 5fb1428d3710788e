#include "model/fused.h"

#include "base/check.h"
#include "base/parallel.h"
#include "controller/elman.h"
#include "controller/gru.h"
#include "controller/lstm.h"

namespace pushdown {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// The cell and the layers of a controller that the fused recurrence has; null for others.
const std::vector<CellLayer>* fused_layers(const Controller& controller, ScanCell& cell) {
  const std::vector<CellLayer>* layers = nullptr;
  if (const auto* lstm = dynamic_cast<const Lstm*>(&controller)) {
    cell = ScanCell::lstm;
    layers = &lstm->layers();
  } else if (const auto* gru = dynamic_cast<const Gru*>(&controller)) {
    cell = ScanCell::gru;
    layers = &gru->layers();
  } else if (const auto* elman = dynamic_cast<const Elman*>(&controller)) {
    cell = elman->is_sigmoid() ? ScanCell::elman_sigmoid : ScanCell::elman_tanh;
    layers = &elman->layers();
  }
  return layers != nullptr && layers->size() <= kMaxScanLayers ? layers : nullptr;
}

// The last dimension filled with zeros up to whole paddings.
Tensor padded(const Tensor& tensor) {
  const auto size = tensor.size(-1);
  return at::constant_pad_nd(tensor, {0, scan_padded(size) - size}).contiguous();
}

// Trainable tensors in the form of ScanParameters. Layers above the first have an input weight and
// bias of their own; those of the first are in `pre` and in `reading`.
struct Weights {
  Tensor reading;      // G x R
  Tensor hidden;       // L x G x H
  Tensor hidden_bias;  // L x G
  Tensor upper;        // (L-1) x G x H
  Tensor upper_bias;   // (L-1) x G
  Tensor action;       // A x H
  Tensor action_bias;  // A
  Tensor bottom;       // m

  struct Copies {
    Tensor reading, reading_t, hidden, hidden_t, hidden_bias, upper, upper_t, upper_bias, action,
        action_t, action_bias, bottom;
  };
  Copies copies() const {
    const auto transposed = [](const Tensor& tensor) { return padded(tensor.transpose(-1, -2)); };
    return {padded(reading),     transposed(reading), padded(hidden),      transposed(hidden),
            padded(hidden_bias), padded(upper),       transposed(upper),   padded(upper_bias),
            padded(action),      transposed(action),  padded(action_bias), padded(bottom)};
  }
};

template <class F>
ScanParameters<F> parameters_of(const Weights::Copies& copies, std::int64_t layers) {
  ScanParameters<F> parameters{};
  const auto at_layer = [](const Tensor& tensor, std::int64_t l) {
    return tensor.data_ptr<F>() + l * tensor.stride(0);
  };
  for (std::int64_t l = 0; l < layers; ++l)
    parameters.layers[l] = {
        l == 0 ? copies.reading_t.data_ptr<F>() : at_layer(copies.upper_t, l - 1),
        l == 0 ? copies.reading.data_ptr<F>() : at_layer(copies.upper, l - 1),
        at_layer(copies.hidden_t, l),
        at_layer(copies.hidden, l),
        l == 0 ? nullptr : at_layer(copies.upper_bias, l - 1),
        at_layer(copies.hidden_bias, l)};
  parameters.action = copies.action.data_ptr<F>();
  parameters.action_t = copies.action_t.data_ptr<F>();
  parameters.action_bias = copies.action_bias.data_ptr<F>();
  parameters.bottom = copies.bottom.data_ptr<F>();
  return parameters;
}

// What the backward pass needs of the forward pass.
struct Tape : torch::CustomClassHolder {
  ScanShape shape;
  std::vector<std::int64_t> column_start;
  Weights::Copies copies;
  Tensor pre;       // B x T x G
  Tensor top;       // B x (T+1) x H, an alias of the output without its history
  Tensor lower;     // (L-1) x B x (T+1) x H
  Tensor readings;  // B x T x R
  Tensor tape;      // B x scan_tape_size

  Tensor hidden(std::int64_t layer) const {
    return layer + 1 == shape.layers ? top : lower.select(0, layer);
  }
  template <class F>
  ScanSequence<F> sequence(std::int64_t b, F* scratch) const {
    const auto at_sequence = [&](const Tensor& tensor) {
      return tensor.data_ptr<F>() + b * tensor.stride(0);
    };
    ScanSequence<F> result{};
    result.pre = at_sequence(pre);
    for (std::int64_t l = 0; l < shape.layers; ++l)
      result.hidden[l] = at_sequence(hidden(l)) + shape.hidden;  // row 0 is h_0
    result.readings = at_sequence(readings);
    result.tape = at_sequence(tape);
    result.scratch = scratch;
    return result;
  }
};

template <class F>
void forward_all(const Tape& tape) {
  const auto parameters = parameters_of<F>(tape.copies, tape.shape.layers);
  const auto kernel = scan_kernel<F>(current_isa(), tape.shape);
  const auto scratch_size = scan_scratch_size(tape.shape);
  parallel_for(tape.pre.size(0), [&](std::int64_t b) {
    const std::unique_ptr<F[]> scratch(new F[scratch_size]);
    kernel.forward(tape.shape, parameters, tape.sequence<F>(b, scratch.get()));
  });
}

struct PreGradients {
  Tensor input;      // L x B x T x G
  Tensor recurrent;  // the same, or an alias of input
  Tensor actions;    // B x T x A
  Tensor bottom;     // B x m
};

template <class F>
void backward_all(const Tape& tape, const Tensor& hidden_gradient, const PreGradients& out) {
  const auto parameters = parameters_of<F>(tape.copies, tape.shape.layers);
  const auto kernel = scan_kernel<F>(current_isa(), tape.shape);
  const auto scratch_size = scan_scratch_size(tape.shape);
  parallel_for(tape.pre.size(0), [&](std::int64_t b) {
    const std::unique_ptr<F[]> scratch(new F[scratch_size]);
    const ScanGradients<F> gradients{
        hidden_gradient.data_ptr<F>() + b * hidden_gradient.stride(0) + tape.shape.hidden,
        out.input.data_ptr<F>() + b * out.input.stride(1),
        out.recurrent.data_ptr<F>() + b * out.recurrent.stride(1),
        out.input.stride(0),
        out.actions.data_ptr<F>() + b * out.actions.stride(0),
        out.bottom.data_ptr<F>() + b * out.bottom.stride(0)};
    kernel.backward(tape.shape, parameters, tape.sequence<F>(b, scratch.get()), gradients);
  });
}

// sum over sequences and steps of a[b, t, :] outer c[b, t, :]
Tensor outer_sum(const Tensor& a, const Tensor& c) {
  return at::mm(a.flatten(0, 1).t(), c.flatten(0, 1));
}

struct FusedScan : torch::autograd::Function<FusedScan> {
  static Tensor forward(AutogradContext* context, const Tensor& pre, const Tensor& reading,
                        const Tensor& hidden, const Tensor& hidden_bias, const Tensor& upper,
                        const Tensor& upper_bias, const Tensor& action, const Tensor& action_bias,
                        const Tensor& bottom, const ScanShape& shape) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const auto batch = pre.size(0), steps = shape.steps;
    auto tape = c10::make_intrusive<Tape>();
    tape->shape = shape;
    std::int64_t start = 0;
    for (std::int64_t j = 0; j <= shape.automaton.nodes(); ++j) {
      tape->column_start.push_back(start);
      start += shape.automaton.column(j);
    }
    tape->shape.column_start = tape->column_start.data();
    tape->copies =
        Weights{reading, hidden, hidden_bias, upper, upper_bias, action, action_bias, bottom}
            .copies();
    tape->pre = pre.contiguous();
    const Tensor output = at::empty({batch, steps + 1, shape.hidden}, pre.options());
    output.select(1, 0).zero_();
    tape->top = output.detach();
    tape->lower = at::empty({shape.layers - 1, batch, steps + 1, shape.hidden}, pre.options());
    tape->lower.select(2, 0).zero_();
    tape->readings = at::empty({batch, steps, shape.reading}, pre.options());
    tape->tape = at::empty({batch, scan_tape_size(tape->shape)}, pre.options());
    AT_DISPATCH_FLOATING_TYPES(pre.scalar_type(), "scan", [&] { forward_all<scalar_t>(*tape); });
    context->saved_data["tape"] = c10::IValue::make_capsule(tape);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list output_gradients) {
    const auto tape =
        c10::static_intrusive_pointer_cast<Tape>(context->saved_data["tape"].toCapsule());
    const ScanShape& shape = tape->shape;
    const auto batch = tape->pre.size(0);
    PreGradients out;
    out.input = at::empty({shape.layers, batch, shape.steps, shape.gates}, tape->pre.options());
    out.recurrent = shape.cell == ScanCell::gru ? at::empty_like(out.input) : out.input;
    out.actions = at::empty({batch, shape.steps, shape.actions}, tape->pre.options());
    out.bottom = at::empty({batch, shape.automaton.channels}, tape->pre.options());
    const Tensor hidden_gradient = output_gradients[0].contiguous();
    AT_DISPATCH_FLOATING_TYPES(tape->pre.scalar_type(), "scan",
                               [&] { backward_all<scalar_t>(*tape, hidden_gradient, out); });
    std::vector<Tensor> hidden, upper;
    for (std::int64_t l = 0; l < shape.layers; ++l) {
      hidden.push_back(outer_sum(out.recurrent[l], tape->hidden(l).narrow(1, 0, shape.steps)));
      if (l > 0)
        upper.push_back(outer_sum(out.input[l], tape->hidden(l - 1).narrow(1, 1, shape.steps)));
    }
    const auto sum_steps = [](const Tensor& tensor) {
      return tensor.sum(c10::IntArrayRef{-3, -2});
    };
    return {out.input[0],
            outer_sum(out.input[0], tape->readings),
            at::stack(hidden),
            sum_steps(out.recurrent),
            upper.empty() ? at::zeros_like(tape->copies.upper) : at::stack(upper),
            sum_steps(out.input.narrow(0, 1, shape.layers - 1)),
            outer_sum(out.actions, tape->top.narrow(1, 1, shape.steps)),
            sum_steps(out.actions),
            out.bottom.sum(0),
            Variable()};
  }
};

}  // namespace

Tensor run_fused(const Controller& controller, const Stack& stack, const Tensor& inputs) {
  FusedStack plan;
  const auto* layers = fused_layers(controller, plan.shape.cell);
  const bool possible = layers != nullptr && inputs.device().is_cpu() && inputs.dim() == 3 &&
                        inputs.size(1) > 0 &&
                        (inputs.scalar_type() == at::kFloat || inputs.scalar_type() == at::kDouble);
  if (!possible || !stack.fused(plan)) return {};
  ScanShape& shape = plan.shape;
  shape.steps = inputs.size(1);
  shape.layers = static_cast<std::int64_t>(layers->size());
  shape.hidden = controller.hidden_size();
  shape.gates = scan_gates(shape.cell) * shape.hidden;
  shape.reading = stack.reading_size();
  shape.actions = plan.action_weight.size(0);
  shape.automaton.steps = shape.steps - 1;

  const CellLayer& first = layers->front();
  const auto input = inputs.size(2);
  check(first.weight_ih.size(1) == input + shape.reading, "stack_rnn.run",
        "inputs must be B x n x {}, got {}", first.weight_ih.size(1) - shape.reading,
        shape_text(inputs));
  std::vector<Tensor> hidden, hidden_bias, upper, upper_bias;
  for (const CellLayer& layer : *layers) {
    hidden.push_back(layer.weight_hh);
    hidden_bias.push_back(layer.bias_hh);
    if (&layer == &first) continue;
    upper.push_back(layer.weight_ih);
    upper_bias.push_back(layer.bias_ih);
  }
  const auto stacked = [&](const std::vector<Tensor>& tensors, at::IntArrayRef empty_shape) {
    return tensors.empty() ? at::empty(empty_shape, inputs.options()) : at::stack(tensors);
  };
  return FusedScan::apply(
      at::linear(inputs, first.weight_ih.narrow(1, 0, input), first.bias_ih),
      first.weight_ih.narrow(1, input, shape.reading), stacked(hidden, {}),
      stacked(hidden_bias, {}), stacked(upper, {0, shape.gates, shape.hidden}),
      stacked(upper_bias, {0, shape.gates}), plan.action_weight, plan.action_bias,
      plan.bottom.defined() ? plan.bottom : at::empty({0}, inputs.options()), shape);
}

}  // namespace pushdown
