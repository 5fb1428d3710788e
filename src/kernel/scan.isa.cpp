// The fused recurrence (scan.h), compiled once for each instruction set.
#include "kernel/scan.h"

#include "kernel/scan_cells.h"
#include "kernel/scan_stacks.h"
#include "kernel/stratification_scan.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

// Places of the parts of tape and scratch. Every part ends with room for one more vector.
struct Layout {
  Index h, g, gp, hp, ap, rp, saved, stack_tape, scratch_vectors, stack_scratch;

  template <class Cell, class Stack>
  static Layout of(const ScanShape& shape) {
    Layout z{};
    z.h = shape.hidden;
    z.g = shape.gates;
    z.gp = scan_padded(z.g);
    z.hp = scan_padded(z.h);
    z.ap = scan_padded(shape.actions);
    z.rp = scan_padded(shape.reading);
    z.saved = scan_padded(Cell::kSaved * z.h) + kScanPadding;
    z.stack_tape = shape.layers * shape.steps * z.saved;
    // Pre-activations, actions, one input gradient, and per layer: carry and hidden gradients.
    z.scratch_vectors = 2 * (z.gp + kScanPadding) + z.ap + kScanPadding +
                        (z.rp > z.hp ? z.rp : z.hp) + z.rp + 4 * kScanPadding +
                        shape.layers * 3 * (z.hp + kScanPadding);
    z.stack_scratch = scan_padded(z.scratch_vectors);
    return z;
  }
};

template <class F, class Cell, class Stack>
struct Scan {
  static Index tape_size(const ScanShape& shape) {
    return scan_padded(Layout::of<Cell, Stack>(shape).stack_tape + Stack::tape_size(shape) +
                       kScanPadding);
  }
  static Index scratch_size(const ScanShape& shape) {
    return scan_padded(Layout::of<Cell, Stack>(shape).stack_scratch + Stack::scratch_size(shape) +
                       kScanPadding);
  }

  static void forward(const ScanShape& shape, const ScanParameters<F>& parameters,
                      const ScanSequence<F>& sequence) {
    const Layout z = Layout::of<Cell, Stack>(shape);
    Stack stack(shape, sequence.tape + z.stack_tape, sequence.scratch + z.stack_scratch);
    F* input = sequence.scratch;
    F* recurrent = input + z.gp + kScanPadding;
    F* actions = recurrent + z.gp + kScanPadding;
    const Index r = shape.reading;
    if (shape.steps > 0) stack.begin(parameters, sequence.readings);
    for (Index t = 0; t < shape.steps; ++t) {
      const F* below = sequence.readings + t * r;
      Index below_size = r;
      for (Index l = 0; l < shape.layers; ++l) {
        const auto& layer = parameters.layers[l];
        F* hidden = sequence.hidden[l] + t * z.h;
        const F* previous = t == 0 ? nullptr : hidden - z.h;
        F* saved = sequence.tape + (l * shape.steps + t) * z.saved;
        const F* before = t == 0 ? nullptr : saved - z.saved;
        if (l == 0)
          copy(input, sequence.pre + sequence.words[t] * z.g, z.g);
        else
          copy(input, layer.input_bias, z.g);
        clear(input + z.g, z.gp - z.g);
        add_product(input, z.gp, below, below_size, layer.input_t);
        copy(recurrent, layer.hidden_bias, z.gp);
        if (previous != nullptr) add_product(recurrent, z.gp, previous, z.h, layer.hidden_t);
        Cell::forward(z.h, input, recurrent, previous, before, saved, hidden);
        below = hidden;
        below_size = z.h;
      }
      if (t + 1 < shape.steps && shape.actions > 0) {
        copy(actions, parameters.action_bias, z.ap);
        add_product(actions, z.ap, below, z.h, parameters.action_t);
        stack.forward(t, actions, sequence.readings + (t + 1) * r);
      }
    }
  }

  static void backward(const ScanShape& shape, const ScanParameters<F>& parameters,
                       const ScanSequence<F>& sequence, const ScanGradients<F>& gradients) {
    const Layout z = Layout::of<Cell, Stack>(shape);
    Stack stack(shape, sequence.tape + z.stack_tape, sequence.scratch + z.stack_scratch);
    F* below = sequence.scratch;  // gradient of what a layer reads
    F* reading = below + (z.rp > z.hp ? z.rp : z.hp) + kScanPadding;
    F* carries = reading + z.rp + kScanPadding;
    const Index stride = z.hp + kScanPadding;
    F* hiddens = carries + shape.layers * stride;  // gradients of h_t
    F* previous_hiddens = hiddens + shape.layers * stride;
    clear(carries, 3 * shape.layers * stride);
    const Index top = shape.layers - 1, a = shape.actions;
    stack.begin_backward();
    for (Index t = shape.steps; t-- > 0;) {
      F* last = hiddens + top * stride;
      add(last, gradients.hidden + t * z.h, z.h);
      if (a > 0) {
        F* action = gradients.actions + t * a;
        if (t + 1 < shape.steps) {
          stack.backward(t, reading, action);
          add_product(last, z.hp, action, a, parameters.action);
        } else {
          clear(action, a);
        }
      }
      for (Index l = shape.layers; l-- > 0;) {
        const auto& layer = parameters.layers[l];
        const Index place = l * gradients.layer_stride + t * z.g;
        F* input = gradients.input + place;
        F* recurrent = Cell::kSplit ? gradients.recurrent + place : input;
        const F* hidden = sequence.hidden[l] + t * z.h;
        const F* previous = t == 0 ? nullptr : hidden - z.h;
        const F* saved = sequence.tape + (l * shape.steps + t) * z.saved;
        F* gradient = hiddens + l * stride;
        F* previous_gradient = previous_hiddens + l * stride;
        clear(previous_gradient, z.hp);
        Cell::backward(z.h, gradient, carries + l * stride, previous, saved,
                       t == 0 ? nullptr : saved - z.saved, input, recurrent, previous_gradient);
        add_product(previous_gradient, z.hp, recurrent, z.g, layer.hidden);
        if (l > 0) {
          clear(below, z.hp);
          add_product(below, z.hp, input, z.g, layer.input);
          add(gradient - stride, below, z.h);
        } else if (shape.reading > 0) {
          clear(reading, z.rp);
          add_product(reading, z.rp, input, z.g, layer.input);
        }
      }
      F* swapped = hiddens;
      hiddens = previous_hiddens;
      previous_hiddens = swapped;
    }
    stack.end_backward(reading, gradients.bottom);
  }
};

template <class F, class Visit>
auto with_stack(const ScanShape& shape, Visit visit) {
  const auto cell = [&]<class Stack>() {
    switch (shape.cell) {
      case ScanCell::elman_tanh: return visit.template operator()<ElmanCell<F, false>, Stack>();
      case ScanCell::elman_sigmoid: return visit.template operator()<ElmanCell<F, true>, Stack>();
      case ScanCell::lstm: return visit.template operator()<LstmCell<F>, Stack>();
      case ScanCell::gru: break;
    }
    return visit.template operator()<GruCell<F>, Stack>();
  };
  switch (shape.stack) {
    case ScanStack::none:
    case ScanStack::shifted:  // in step programs alone
    case ScanStack::analog: break;
    case ScanStack::superposition: return cell.template operator()<SuperpositionScan<F>>();
    case ScanStack::stratification: return cell.template operator()<StratificationScan<F>>();
    case ScanStack::nondeterministic: return cell.template operator()<NondeterministicScan<F>>();
  }
  return cell.template operator()<NoStack<F>>();
}

template <class F>
ScanKernel<F> kernel_of(const ScanShape& shape) {
  return with_stack<F>(shape, []<class Cell, class Stack>() {
    return ScanKernel<F>{Scan<F, Cell, Stack>::forward, Scan<F, Cell, Stack>::backward};
  });
}

}  // namespace

ScanKernel<float> scan_kernel_f(const ScanShape& shape) { return kernel_of<float>(shape); }
ScanKernel<double> scan_kernel_d(const ScanShape& shape) { return kernel_of<double>(shape); }

// Sizes count numbers and are the same for both types.
Index scan_tape(const ScanShape& shape) {
  return with_stack<float>(
      shape, [&]<class Cell, class Stack>() { return Scan<float, Cell, Stack>::tape_size(shape); });
}
Index scan_scratch(const ScanShape& shape) {
  return with_stack<float>(shape, [&]<class Cell, class Stack>() {
    return Scan<float, Cell, Stack>::scratch_size(shape);
  });
}
Index scan_gate_count(ScanCell cell) {
  ScanShape shape{cell, ScanStack::none};
  return with_stack<float>(shape, []<class Cell, class Stack>() { return Cell::kGates; });
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
