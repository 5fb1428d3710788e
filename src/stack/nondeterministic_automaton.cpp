// The definition of the nondeterministic stack in tensor operations.
#include "stack/nondeterministic.h"

namespace pushdown {

std::vector<OptionSpec> nondeterministic_shape_options() {
  return {
      integer_option("states", 2, "number of states Q of the pushdown automaton", 1).between(1, 64),
      integer_option("symbols", 2, "number of stack symbols S, the bottom symbol included", 1)
          .between(1, 64),
      text_option("reading", "symbol", "what is read: top symbols, or states and top symbols",
                  {"symbol", "state_symbol"}),
      text_option("bottom", "original",
                  "whether the initial bottom symbol can be seen again: never (2020 paper) or "
                  "reexposed by a pop (2023)",
                  {"original", "reexposed"})};
}

NondeterministicShape nondeterministic_shape(const Json& options) {
  NondeterministicShape shape;
  shape.states = options["states"];
  shape.symbols = options["symbols"];
  shape.reexposed = options["bottom"] == "reexposed";
  shape.state_symbol = options["reading"] == "state_symbol";
  return shape;
}

Tensor reading_of_forward_weights(const Tensor& forward, const NondeterministicShape& shape) {
  if (shape.state_symbol) return forward;
  return forward.view({forward.size(0), shape.states, shape.symbols}).sum(1);
}

StackAutomaton initial_automaton(const NondeterministicShape& shape, std::int64_t batch,
                                 std::int64_t steps, at::TensorOptions options,
                                 const Tensor& bottom) {
  const auto size = shape.configurations(), nodes = steps + 2;
  const Tensor none = at::zeros({batch, (1 + shape.vector) * nodes, size, size}, options);
  Tensor start = at::zeros({batch, size}, options);
  start.select(1, 0).fill_(1);
  StackAutomaton automaton{{none, none}, {start, start}};
  if (!shape.reexposed) return automaton;
  // The edge 0 -> 1: probability 1, and the bottom's vector.
  const Tensor one = at::ones({batch, 1}, options);
  const Tensor channels = bottom.defined() ? at::cat({one, bottom}, 1) : one;  // B x (1 + m)
  Tensor corner = at::zeros({nodes, size, size}, options);
  corner[0][0][0].fill_(1);
  automaton.edges[1] = (channels.view({batch, -1, 1, 1, 1}) * corner).flatten(1, 2);
  return automaton;
}

StackAutomaton step_automaton(const NondeterministicShape& shape, const StackAutomaton& automaton,
                              const Tensor& weights, const Tensor& vector) {
  const auto batch = weights.size(0), size = shape.configurations();
  const auto states = shape.states, symbols = shape.symbols;
  const auto p = static_cast<std::int64_t>(automaton.edges.size()) - 1;  // the node we come from
  const Tensor& edges = automaton.edges.back();  // B x K*N x C x C, K channels, N nodes
  const auto nodes = edges.size(1) / (1 + shape.vector);
  const Tensor weighted = automaton.forward.back().unsqueeze(2) * weights;
  const Tensor push = weighted.narrow(2, 0, size);          // B x a x (r,y)
  const Tensor replace = weighted.narrow(2, size, size);    // B x c x (r,y)
  const Tensor pop = weighted.narrow(2, 2 * size, states);  // B x c x r

  Tensor pushed = push.unsqueeze(1);  // B x K x C x C
  if (vector.defined()) pushed = at::cat({pushed, vector.unsqueeze(2).unsqueeze(3) * pushed}, 1);
  Tensor numerators =
      at::einsum("biac,bcd->biad", {edges, replace}) +
      at::constant_pad_nd(pushed.unsqueeze(2), {0, 0, 0, 0, p, nodes - p - 1}).flatten(1, 2);
  if (p >= 2) {
    // upper[k - 1] = P and V[.->k], 1 <= k < p : B x (p-1) x K*N x C x Q x S (node i, a, t, y)
    const std::vector<Tensor> inner(automaton.edges.begin() + 1, automaton.edges.end() - 1);
    const Tensor upper = at::stack(inner, 1).view({batch, p - 1, -1, size, states, symbols});
    const Tensor popped = at::einsum("bkac,bcr->bkar", {edges.narrow(1, 1, p - 1), pop})
                              .view({batch, p - 1, states, symbols, states});  // M[k][(t,y)->r]
    numerators =
        numerators +
        at::einsum("bkiaty,bktyr->biary", {upper, popped}).reshape({batch, -1, size, size});
  }
  const Tensor mass = numerators.narrow(1, 0, nodes).sum(c10::IntArrayRef{1, 2});  // z_j : B x C
  const Tensor total = mass.sum(1, true);
  StackAutomaton next = automaton;
  next.forward.push_back(mass / at::where(total > 0, total, at::ones_like(total)));
  const Tensor divisor = at::where(mass > 0, mass, at::ones_like(mass));
  next.edges.push_back(numerators / divisor.unsqueeze(1).unsqueeze(1));
  return next;
}

Tensor vector_reading(const NondeterministicShape& shape, const StackAutomaton& automaton) {
  const auto size = shape.configurations();
  const Tensor& edges = automaton.edges.back();
  const auto nodes = edges.size(1) / (1 + shape.vector);
  const Tensor expected = edges.narrow(1, nodes, shape.vector * nodes)
                              .reshape({edges.size(0), shape.vector, nodes * size, size})
                              .sum(2);  // B x m x C
  return (expected * automaton.forward.back().unsqueeze(1)).transpose(1, 2).flatten(1, 2);
}

Tensor scaled_exponential(const Tensor& log_weights, const Tensor& forward) {
  const Tensor reachable = (forward.detach() > 0).unsqueeze(2);  // B x C x 1
  const Tensor masked =
      log_weights.masked_fill(~reachable, -std::numeric_limits<double>::infinity());
  Tensor shift = masked.detach().amax(c10::IntArrayRef{1, 2}, true);
  shift = at::where(at::isinf(shift), at::zeros_like(shift), shift);
  return (masked - shift).exp();
}

}  // namespace pushdown
