// The fused recurrence of one sequence by a team of threads (device_team.h): the loops of
// scan.isa.cpp, with barriers between the steps and the sums of the parameter gradients behind.
#pragma once
#include "kernel/device_cells.h"
#include "kernel/device_nondeterministic.h"
#include "kernel/device_scan.h"
#include "kernel/device_sections.h"
#include "kernel/device_stacks.h"

namespace pushdown::device {

PUSHDOWN_HOST_DEVICE Index padded(Index count) {
  return (count + kScanPadding - 1) / kScanPadding * kScanPadding;
}
// Numbers that layer l reads besides `pre`.
PUSHDOWN_HOST_DEVICE Index width_below(const ScanShape& shape, Index l) {
  return l == 0 ? shape.reading : shape.hidden;
}

PUSHDOWN_HOST_DEVICE DeviceGradients gradient_places(const ScanShape& shape, Index symbols) {
  DeviceGradients places;
  Index next = 0;
  const auto take = [&next](Index count) {
    const Index place = next;
    next += count;
    return place;
  };
  places.words = take(symbols * shape.gates);
  for (Index l = 0; l < shape.layers; ++l) {
    places.input[l] = take(shape.gates * width_below(shape, l));
    places.hidden[l] = take(shape.gates * shape.hidden);
    places.input_bias[l] = take(shape.gates);
    places.hidden_bias[l] = take(shape.gates);
  }
  places.action = take(shape.actions * shape.hidden);
  places.action_bias = take(shape.actions);
  const bool has_bottom = shape.stack == ScanStack::nondeterministic;
  places.bottom = take(has_bottom ? shape.automaton.channels : 0);
  places.count = next;
  return places;
}

template <class F, class Stack>
struct ScanLoop {
  // Of the cells; the stack's tape lies behind.
  PUSHDOWN_HOST_DEVICE static Count cell_tape(const ScanShape& shape) {
    return shape.layers * shape.steps * cell_saved(shape.cell) * shape.hidden;
  }
  // Forward: pre-activations of both sides, actions. Backward: the gradient of a reading; for each
  // layer carry and the gradients of h_t and h_{t-1}.
  PUSHDOWN_HOST_DEVICE static Count own_fast(const ScanShape& shape) {
    const Count forward = 2 * shape.gates + shape.actions;
    const Count backward = shape.reading + 3 * shape.layers * shape.hidden;
    return forward > backward ? forward : backward;
  }
  PUSHDOWN_HOST_DEVICE static DeviceScanSizes sizes(const ScanShape& shape) {
    DeviceScanSizes sizes;
    sizes.tape = cell_tape(shape) + Stack::tape_size(shape);
    sizes.fast = own_fast(shape) + Stack::fast_size(shape);
    sizes.scratch = Stack::scratch_size(shape) + sizes.fast;
    return sizes;
  }

  // One sequence of one model: the parts of a DeviceScan, which lies in the device's constant
  // memory and is not copied.
  const ScanShape& shape;
  const ScanParameters<F>& first_model;
  Index parameter_shift;  // from the first model to this
  const F* pre;
  const std::int64_t* words;
  F *hidden, *readings, *tape, *fast;
  const F* hidden_gradient;
  F *input_gradient, *recurrent_gradient, *action_gradient, *gradients;
  Index symbols;
  Stack stack;

  // `near`: memory for the fast numbers, null for that in scratch.
  PUSHDOWN_DEVICE ScanLoop(const DeviceScan<F>& scan, Index model, Index sequence, F* near)
      : ScanLoop(scan, model, model * scan.batch + sequence, sequence, sizes(scan.shape), near) {}

  PUSHDOWN_DEVICE F* hidden_of(Index l, Index t) const {
    return hidden + (l * shape.steps + t) * shape.hidden;
  }
  PUSHDOWN_DEVICE F* saved_of(Index l, Index t) const {
    return tape + (l * shape.steps + t) * cell_saved(shape.cell) * shape.hidden;
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team) {
    const Index h = shape.hidden, g = shape.gates, gp = padded(g), a = shape.actions,
                ap = padded(a);
    F *input = fast, *recurrent = input + g, *actions = recurrent + g;
    const F *action_t = own(first_model.action_t), *action_bias = own(first_model.action_bias);
    stack.begin(team);
    team.sync();
    for (Index t = 0; t < shape.steps; ++t) {
      const F* below = readings + t * shape.reading;
      for (Index l = 0; l < shape.layers; ++l) {
        const ScanLayer<F>& layer = first_model.layers[l];
        const F *input_t = own(layer.input_t), *hidden_t = own(layer.hidden_t),
                *input_bias = own(layer.input_bias), *hidden_bias = own(layer.hidden_bias);
        const F* previous = t == 0 ? nullptr : hidden_of(l, t - 1);
        const Index width = width_below(shape, l);
        each(team, 2 * g, [&](Index i) {
          const bool is_input = i < g;
          const Index row = is_input ? i : i - g;
          const F* from = is_input ? below : previous;
          const F* weights = is_input ? input_t : hidden_t;
          const Index count = is_input ? width : t == 0 ? 0 : h;
          F sum =
              is_input ? (l == 0 ? pre[words[t] * g + row] : input_bias[row]) : hidden_bias[row];
          for (Index k = 0; k < count; ++k) sum += from[k] * weights[k * gp + row];
          input[i] = sum;
        });
        team.sync();
        each(team, h, [&](Index k) {
          cell_forward(shape.cell, h, k, input, recurrent, previous,
                       t == 0 ? nullptr : saved_of(l, t - 1), saved_of(l, t), hidden_of(l, t));
        });
        team.sync();
        below = hidden_of(l, t);
      }
      if (a == 0 || t + 1 == shape.steps) continue;
      each(team, a, [&](Index row) {
        F sum = action_bias[row];
        for (Index k = 0; k < h; ++k) sum += below[k] * action_t[k * ap + row];
        actions[row] = sum;
      });
      team.sync();
      stack.forward(team, t, actions);
      team.sync();
    }
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team) {
    const Index h = shape.hidden, g = shape.gates, gp = padded(g), a = shape.actions,
                ap = padded(a), r = shape.reading, top = shape.layers - 1;
    const F* action_t = own(first_model.action_t);
    F* reading = fast;
    F* carries = reading + r;
    F* hiddens = carries + shape.layers * h;  // gradients of h_t
    F* previous_hiddens = hiddens + shape.layers * h;
    each(team, r + 3 * shape.layers * h, [&](Index i) { fast[i] = 0; });
    stack.begin_backward(team);
    team.sync();
    for (Index t = shape.steps; t-- > 0;) {
      F* action = action_gradient + t * a;
      const bool acts = a > 0 && t + 1 < shape.steps;
      if (acts) {
        stack.backward(team, t, reading, action);
        team.sync();
      } else {
        each(team, a, [&](Index i) { action[i] = 0; });
      }
      sums<F>(
          team, h, [&](Index) { return acts ? a : 0; },
          [&](Index k) {
            const F* weights = action_t + k * ap;
            return [action, weights](Index i) { return action[i] * weights[i]; };
          },
          [&](Index k, F sum) { hiddens[top * h + k] += hidden_gradient[t * h + k] + sum; });
      team.sync();
      for (Index l = shape.layers; l-- > 0;) {
        const ScanLayer<F>& layer = first_model.layers[l];
        const F *input_t = own(layer.input_t), *hidden_t = own(layer.hidden_t);
        F* input = input_of(l, t);
        F* recurrent = recurrent_of(l, t);
        each(team, h, [&](Index k) {
          previous_hiddens[l * h + k] =
              cell_backward(shape.cell, h, k, hiddens[l * h + k], carries + l * h,
                            t == 0 ? nullptr : hidden_of(l, t - 1), saved_of(l, t),
                            t == 0 ? nullptr : saved_of(l, t - 1), input, recurrent);
        });
        team.sync();
        // Rows 0 .. H-1 go to h_{t-1}, the others to what the layer reads.
        sums<F>(
            team, h + width_below(shape, l), [&](Index) { return g; },
            [&](Index row) {
              const F* slopes = row < h ? recurrent : input;
              const F* weights = row < h ? hidden_t + row * gp : input_t + (row - h) * gp;
              return [slopes, weights](Index i) { return slopes[i] * weights[i]; };
            },
            [&](Index row, F sum) {
              if (row < h)
                previous_hiddens[l * h + row] += sum;
              else if (l > 0)
                hiddens[(l - 1) * h + row - h] += sum;
              else
                reading[row - h] = sum;
            });
        team.sync();
      }
      F* swapped = hiddens;
      hiddens = previous_hiddens;
      previous_hiddens = swapped;
    }
    stack.end_backward(team, reading, gradients + gradient_places(shape, symbols).bottom);
    sum_over_steps(team);
  }

 private:
  PUSHDOWN_DEVICE ScanLoop(const DeviceScan<F>& scan, Index model, Index place, Index sequence,
                           const DeviceScanSizes& sizes, F* near)
      : shape(scan.shape),
        first_model(scan.parameters),
        parameter_shift(model * scan.parameter_stride),
        pre(scan.pre + model * scan.pre_stride),
        words(scan.words + model * scan.model_word_stride + sequence * scan.word_stride),
        hidden(scan.hidden + place * shape.layers * shape.steps * shape.hidden),
        readings(at(scan.readings, place * shape.steps * shape.reading)),
        tape(scan.tape + place * sizes.tape),
        fast(near != nullptr ? near : scan.scratch + (place + 1) * sizes.scratch - sizes.fast),
        hidden_gradient(at(scan.hidden_gradient, place * shape.steps * shape.hidden)),
        input_gradient(at(scan.input_gradient, place * shape.layers * shape.steps * shape.gates)),
        recurrent_gradient(
            cell_splits(shape.cell)
                ? at(scan.recurrent_gradient, place * shape.layers * shape.steps * shape.gates)
                : input_gradient),
        action_gradient(at(scan.action_gradient, place * shape.steps * shape.actions)),
        gradients(at(scan.sequence_gradients, place * gradient_places(shape, scan.symbols).count)),
        symbols(scan.symbols),
        stack(shape, {tape + cell_tape(shape), scan.scratch + place * sizes.scratch,
                      fast + own_fast(shape), readings, own(first_model.bottom)}) {}

  // What a pass does not need may be null.
  template <class Number>
  PUSHDOWN_DEVICE static Number* at(Number* first, Index by) {
    return first == nullptr ? nullptr : first + by;
  }
  // A parameter of this model.
  PUSHDOWN_DEVICE const F* own(const F* of_first) const { return at(of_first, parameter_shift); }
  PUSHDOWN_DEVICE F* input_of(Index l, Index t) const {
    return input_gradient + (l * shape.steps + t) * shape.gates;
  }
  PUSHDOWN_DEVICE F* recurrent_of(Index l, Index t) const {
    return recurrent_gradient + (l * shape.steps + t) * shape.gates;
  }

  // to[i][k] = sum_{t < count} left[t][i] right[t][k], rows of `rows` and `columns` numbers.
  template <class Team>
  PUSHDOWN_DEVICE static void outer_sums(const Team& team, Index count, const F* left, Index rows,
                                         const F* right, Index columns, F* to) {
    each(team, rows * columns, [&](Index place) {
      const Index i = place / columns, k = place - i * columns;
      F sum = 0;
      for (Index t = 0; t < count; ++t) sum += left[t * rows + i] * right[t * columns + k];
      to[place] = sum;
    });
  }
  template <class Team>
  PUSHDOWN_DEVICE static void step_sums(const Team& team, Index count, const F* left, Index rows,
                                        F* to) {
    each(team, rows, [&](Index i) {
      F sum = 0;
      for (Index t = 0; t < count; ++t) sum += left[t * rows + i];
      to[i] = sum;
    });
  }

  // The gradients of the parameters from those of the pre-activations, summed over the steps.
  template <class Team>
  PUSHDOWN_DEVICE void sum_over_steps(const Team& team) const {
    const DeviceGradients places = gradient_places(shape, symbols);
    const Index h = shape.hidden, g = shape.gates, steps = shape.steps;
    for (Index l = 0; l < shape.layers; ++l) {
      const F* below = l == 0 ? readings : hidden_of(l - 1, 0);
      outer_sums(team, steps, input_of(l, 0), g, below, width_below(shape, l),
                 gradients + places.input[l]);
      outer_sums(team, steps - 1, recurrent_of(l, 1), g, hidden_of(l, 0), h,
                 gradients + places.hidden[l]);
      step_sums(team, steps, input_of(l, 0), g, gradients + places.input_bias[l]);
      step_sums(team, steps, recurrent_of(l, 0), g, gradients + places.hidden_bias[l]);
    }
    outer_sums(team, steps - 1, action_gradient, shape.actions, hidden_of(shape.layers - 1, 0), h,
               gradients + places.action);
    step_sums(team, steps - 1, action_gradient, shape.actions, gradients + places.action_bias);
    // A column of the table of symbols belongs to one thread.
    each(team, g, [&](Index i) {
      F* to = gradients + places.words + i;
      for (Index v = 0; v < symbols; ++v) to[v * g] = 0;
      for (Index t = 0; t < steps; ++t) to[words[t] * g] += input_of(0, t)[i];
    });
  }
};

// Gradient i of a model: the sum over its sequences.
template <class F>
PUSHDOWN_DEVICE void sum_over_sequences(const DeviceScan<F>& scan, Index count, Index model,
                                        Index i) {
  const F* from = scan.sequence_gradients + model * scan.batch * count + i;
  F sum = 0;
  for (Index b = 0; b < scan.batch; ++b) sum += from[b * count];
  scan.gradients[model * count + i] = sum;
}

// visit.operator()<Loop>() with the loop for the shape's stack.
template <class F, class Visit>
auto with_scan_loop(const ScanShape& shape, const Visit& visit) {
  switch (shape.stack) {
    case ScanStack::superposition:
      return visit.template operator()<ScanLoop<F, SuperpositionStack<F>>>();
    case ScanStack::stratification:
      return visit.template operator()<ScanLoop<F, SectionStack<F>>>();
    case ScanStack::nondeterministic:
      return with_automaton<F>(
          shape, [&]<class Stack>() { return visit.template operator()<ScanLoop<F, Stack>>(); });
    default: break;
  }
  return visit.template operator()<ScanLoop<F, NoStack<F>>>();
}

}  // namespace pushdown::device
