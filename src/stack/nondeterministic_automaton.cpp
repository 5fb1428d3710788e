// The definition of the nondeterministic stack in tensor operations.
#include "stack/nondeterministic.h"

#include "kernel/memory/automaton_range.h"

namespace pushdown {

std::vector<OptionSpec> nondeterministic_shape_options() {
  return {
      integer_option("states", 2, "number of states Q of the pushdown automaton", 1)
          .between(1, 64)
          .trying(1)
          .trying(3),
      integer_option("symbols", 2, "number of stack symbols S, the bottom symbol included", 1)
          .between(1, 64)
          .trying(3),
      text_option("reading", "symbol",
                  "reading: distribution over top symbols, or over pairs of state and top symbol",
                  {"symbol", "state_symbol"}),
      text_option("bottom", "original",
                  "whether a pop can expose the initial bottom symbol again: no (original, 2020 "
                  "paper) or yes (reexposed, 2023 paper)",
                  {"original", "reexposed"}),
      integer_option("window", 0,
                     "number of past steps that the stack can see; 0: all, with memory and time "
                     "that grow with the string",
                     0)
          .trying(1)
          .trying(3)};
}

NondeterministicShape nondeterministic_shape(const Json& options) {
  NondeterministicShape shape;
  shape.states = options["states"];
  shape.symbols = options["symbols"];
  shape.reexposed = options["bottom"] == "reexposed";
  shape.state_symbol = options.value("reading", "state_symbol") == "state_symbol";
  shape.window = options["window"];
  return shape;
}

Tensor reading_of_forward_weights(const Tensor& forward, const NondeterministicShape& shape) {
  if (shape.state_symbol) return forward;
  return forward.view({forward.size(0), shape.states, shape.symbols}).sum(1);
}

StackAutomaton initial_automaton(const NondeterministicShape& shape, std::int64_t batch,
                                 at::TensorOptions options, const Tensor& bottom) {
  const auto size = shape.configurations(), channels = 1 + shape.vector;
  // The edge 0 -> 1 is absent if no sum contains it or if the next step's window ends before it.
  const bool edge = shape.reexposed && shape.window != 1;
  const auto nodes = edge ? 1 : 0;
  StackAutomaton automaton{at::zeros({batch, channels, nodes, nodes, size, size}, options),
                           at::zeros({batch, size}, options),
                           at::zeros({batch, shape.vector, size}, options)};
  automaton.forward.select(1, 0).fill_(1);
  Tensor corner = at::zeros({size, size}, options);
  corner[0][0].fill_(1);
  const Tensor one = at::ones({batch, 1}, options);
  const Tensor values = bottom.defined() ? at::cat({one, bottom}, 1) : one;  // B x (1 + m)
  if (edge) automaton.edges = values.view({batch, channels, 1, 1, 1, 1}) * corner;
  if (bottom.defined()) automaton.vectors = bottom.unsqueeze(2) * corner[0];
  return automaton;
}

namespace {

// Constants of AutomatonRange for the tensor's number type.
bool is_single(const Tensor& tensor) { return tensor.scalar_type() == at::kFloat; }
double smallest_of(const Tensor& tensor) {
  return is_single(tensor) ? AutomatonRange<float>::kSmallest : AutomatonRange<double>::kSmallest;
}
// Of the configurations that a step reaches.
Tensor least_mass(const Tensor& total) {
  const double least =
      is_single(total) ? AutomatonRange<float>::kLeast : AutomatonRange<double>::kLeast;
  return (least * total).clamp_min(smallest_of(total));
}

}  // namespace

Tensor step_numerators(const NondeterministicShape& shape, const StackAutomaton& automaton,
                       const Tensor& weights, const Tensor& vector) {
  const auto batch = weights.size(0), size = shape.configurations();
  const auto states = shape.states, symbols = shape.symbols, channels = 1 + shape.vector;
  const Tensor& edges = automaton.edges;
  const auto nodes = edges.size(2);  // l .. p-1
  const Tensor weighted = automaton.forward.unsqueeze(2) * weights;
  const Tensor push = weighted.narrow(2, 0, size);          // B x a x (r,y)
  const Tensor replace = weighted.narrow(2, size, size);    // B x c x (r,y)
  const Tensor pop = weighted.narrow(2, 2 * size, states);  // B x c x r

  Tensor pushed = push.reshape({batch, 1, 1, size, size});  // N[p->j] : B x (1+m) x 1 x C x C
  if (vector.defined()) pushed = at::cat({pushed, vector.view({batch, -1, 1, 1, 1}) * pushed}, 1);
  Tensor numerators = pushed;
  if (nodes > 0) {
    const Tensor last = edges.select(3, nodes - 1);  // P[.->p], V[.->p]
    Tensor older = at::einsum("bmiac,bcd->bmiad", {last, replace});
    if (nodes > 1) {
      // upper[k] = P and V[.->l+1+k], M[k] for l+1+k < p
      const Tensor upper = edges.narrow(3, 0, nodes - 1)
                               .reshape({batch, channels, nodes, nodes - 1, size, states, symbols});
      const Tensor popped =
          at::einsum("bkac,bcr->bkar", {last.select(1, 0).narrow(1, 1, nodes - 1), pop})
              .reshape({batch, nodes - 1, states, symbols, states});  // M[k][(t,y)->r]
      older = older + at::einsum("bmikaty,bktyr->bmiary", {upper, popped})
                          .reshape({batch, channels, nodes, size, size});
    }
    numerators = at::cat({older, pushed}, 2);
  }
  return numerators;
}

StackAutomaton step_automaton(const NondeterministicShape& shape, const StackAutomaton& automaton,
                              const Tensor& weights, const Tensor& vector) {
  const auto batch = weights.size(0), size = shape.configurations();
  const Tensor& edges = automaton.edges;
  const auto nodes = edges.size(2);  // l .. p-1
  const Tensor numerators = step_numerators(shape, automaton, weights, vector);
  const Tensor all = numerators.select(1, 0).sum(c10::IntArrayRef{1, 2});  // z_j : B x C
  const Tensor total = all.sum(1, true);
  const Tensor mass = all.masked_fill(all < least_mass(total.detach()), 0);
  const Tensor divisor = at::where(mass > 0, mass, at::ones_like(mass));
  const Tensor column = numerators / divisor.view({batch, 1, 1, 1, size});

  StackAutomaton next;
  next.forward = mass / at::where(total >= smallest_of(total), total, at::ones_like(total));
  next.vectors = column.narrow(1, 1, shape.vector).sum(c10::IntArrayRef{2, 3});
  // The next step's window contains window - 1 of these nodes.
  const auto kept =
      shape.window == 0 ? nodes + 1 : std::min<std::int64_t>(nodes + 1, shape.window - 1);
  const auto dropped = nodes + 1 - kept;
  const Tensor fresh = column.narrow(2, dropped, kept).unsqueeze(3);
  if (kept > 1) {
    const Tensor old = edges.narrow(2, dropped, kept - 1).narrow(3, dropped, kept - 1);
    next.edges = at::cat({at::constant_pad_nd(old, {0, 0, 0, 0, 0, 0, 0, 1}), fresh}, 3);
  } else {
    next.edges = fresh.narrow(3, 0, kept);
  }
  return next;
}

StackAutomaton detached(const StackAutomaton& automaton) {
  return {automaton.edges.detach(), automaton.forward.detach(), automaton.vectors.detach()};
}

std::size_t automaton_bytes(const StackAutomaton& automaton) {
  return tensor_bytes(automaton.edges) + tensor_bytes(automaton.forward) +
         tensor_bytes(automaton.vectors);
}

Tensor vector_reading(const StackAutomaton& automaton) {
  return (automaton.vectors * automaton.forward.unsqueeze(1)).transpose(1, 2).flatten(1, 2);
}

std::pair<Tensor, Tensor> possible_shares(const StackAutomaton& automaton) {
  const auto nodes = automaton.edges.size(2);
  if (nodes == 0) {
    const Tensor none = at::zeros_like(automaton.forward);
    return {none, none};
  }
  const Tensor edges = automaton.edges.detach().select(1, 0), last = edges.select(2, nodes - 1);
  const Tensor below = edges.narrow(2, 0, nodes - 1).sum(c10::IntArrayRef{1, 3}).unsqueeze(3);
  return {last.sum(c10::IntArrayRef{1, 2}),
          (below * last.narrow(1, 1, nodes - 1)).sum(c10::IntArrayRef{1, 2})};
}

Tensor scaled_exponential(const Tensor& log_weights, const StackAutomaton& automaton) {
  const auto size = automaton.forward.size(1);
  const auto pops = log_weights.size(2) - 2 * size;
  // What a weight of 1 would add to the masses: every push, and the replacements and pops that are
  // possible.
  const Tensor forward = automaton.forward.detach().unsqueeze(2);  // B x C x 1
  const auto [replaced, exposed] = possible_shares(automaton);
  const Tensor held = replaced.unsqueeze(2), popped = exposed.unsqueeze(2);
  const Tensor share =
      at::cat({forward.expand({-1, -1, size}), (forward * held).expand({-1, -1, size}),
               (forward * popped).expand({-1, -1, pops})},
              2);
  Tensor shift = (log_weights.detach() + share.log()).amax(c10::IntArrayRef{1, 2}, true);
  shift = at::where(at::isinf(shift), at::zeros_like(shift), shift);
  // Only impossible transitions have larger weights.
  const double most = is_single(log_weights) ? AutomatonRange<float>::kMostExponent
                                             : AutomatonRange<double>::kMostExponent;
  const Tensor shifted = log_weights - shift;
  if (shifted.requires_grad()) shifted.register_hook(balanced);
  const Tensor weights = shifted.clamp_max(most)
                             .masked_fill(forward == 0, -std::numeric_limits<double>::infinity())
                             .exp();
  return weights.masked_fill(weights.detach() < smallest_of(weights), 0);
}

Tensor balanced(const Tensor& gradients) {
  const Tensor sum = gradients.sum(c10::IntArrayRef{1, 2}, true).abs(),
               magnitude = gradients.abs().sum(c10::IntArrayRef{1, 2}, true);
  return gradients.masked_fill(sum > magnitude / 4, 0);
}

}  // namespace pushdown
