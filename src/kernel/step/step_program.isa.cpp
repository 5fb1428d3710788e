// The step programs (step_program.h), compiled once for each instruction set.
#include "kernel/step/step_program.h"

#include "kernel/step/step_gradients.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
void loop_forward(const StepProgram<F>& program, const StepSegment& segment, StepNodes<F>& nodes) {
  for (Index t = 0; t < program.steps; ++t) {
    while (nodes.active > 0 && nodes.length(nodes.active - 1) <= t) --nodes.active;
    if (nodes.active == 0) break;
    for (int n = segment.first; n < segment.end; ++n) {
      if (nodes.stopped()) return;
      nodes.compute(n, t);
    }
  }
  nodes.active = nodes.count();
}

template <class F>
void forward(const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room) {
  StepNodes<F> nodes(program, first, end, room);
  nodes.begin_memories();
  for (Index k = 0; k < program.segment_count; ++k) {
    const StepSegment& segment = program.segments[k];
    if (segment.loop)
      loop_forward(program, segment, nodes);
    else
      nodes.in_sequences([&] {
        for (int n = segment.first; n < segment.end && !nodes.stopped(); ++n) nodes.compute(n, 0);
      });
    if (nodes.stopped()) return;
  }
  nodes.leave_memories();
}

template <class F>
void add_given(const StepProgram<F>& program, StepNodes<F>& nodes, int output, Index t,
               Rows<F> slope) {
  if (program.nodes[output].gradient)
    nodes.add_to(output, t, [&](Index b, Index i) { return load(slope[b] + i); });
}

// output : -1, or the node whose gradient is given.
template <class F>
void loop_backward(const StepProgram<F>& program, const StepSegment& segment, StepNodes<F>& nodes,
                   int output, Rows<F> given, Index given_step) {
  nodes.active = 0;
  for (Index t = program.steps; t-- > 0;) {
    if (nodes.stopped()) return;
    // Nothing follows the last step of a sequence.
    const Index longer = nodes.active;
    while (nodes.active < nodes.count() && nodes.length(nodes.active) > t) ++nodes.active;
    if (nodes.active == 0) continue;
    for (int n = segment.first; n < segment.end; ++n) {
      const StepNode& node = program.nodes[n];
      if (node.apart) continue;
      if (nodes.active > longer && node.carried) nodes.clear_gradient(n, t, longer);
      if (nodes.owns_rows(n) && !node.set) nodes.clear_gradient(n, node.carried ? t - 1 : t);
    }
    int n = segment.end;
    const auto propagate_from = [&](int lowest) {
      while (n-- > lowest) {
        if (nodes.stopped()) return;
        if (program.nodes[n].gradient) nodes.propagate(n, t);
      }
      n = lowest;
    };
    if (program.window > 0 && t + 1 < program.steps && (t + 1) % program.window == 0) {
      propagate_from(static_cast<int>(program.after));
      for (int k = 0; k < n; ++k)
        if (nodes.owns_rows(k)) nodes.clear_gradient(k, t);
      // The previous value of a carried node belongs to the previous step, too.
      for (int k = n; k < program.count; ++k)
        if (nodes.owns_rows(k) && program.nodes[k].carried) nodes.clear_gradient(k, t - 1);
      for (int k = 0; k < program.count; ++k)
        if (program.nodes[k].op == StepOp::room) nodes.clear_gradient(k, t);
      nodes.cut_memories();
    }
    if (output >= 0)
      add_given(program, nodes, output, t, {given.first + t * given_step, given.row});
    propagate_from(segment.first);
  }
  nodes.active = nodes.count();
}

template <class F>
void backward(const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room,
              int output, const F* slopes, Index given_step, Index given_row) {
  StepNodes<F> nodes(program, first, end, room);
  const Rows<F> given{const_cast<F*>(slopes) + first * given_row, given_row};
  nodes.begin_memories_backward();
  for (int n = 0; n < program.count; ++n)
    if (program.nodes[n].op == StepOp::constant || program.nodes[n].op == StepOp::room)
      nodes.clear_gradient(n, 0);
  for (int n = 0; n < program.count; ++n) {
    const StepNode& node = program.nodes[n];
    if (!node.apart || !nodes.owns_rows(n) || node.set) continue;
    if (node.carried) nodes.clear_gradient(n, -1);
    nodes.in_sequences([&] { nodes.clear_gradient(n, 0); });
  }
  for (Index k = program.segment_count; k-- > 0;) {
    const StepSegment& segment = program.segments[k];
    const bool last = segment.first <= output && output < segment.end;
    if (segment.loop)
      loop_backward(program, segment, nodes, last ? output : -1, given, given_step);
    else
      nodes.in_sequences([&] {
        if (last)
          add_given(program, nodes, output, 0,
                    {given.first + nodes.sequence() * given.row, given_step});
        for (int n = segment.end; n-- > segment.first && !nodes.stopped();)
          if (program.nodes[n].gradient) nodes.propagate(n, 0);
      });
    if (nodes.stopped()) return;
  }
  nodes.end_memories_backward();
}

template <class F>
StepKernel<F> kernel_of() {
  return {forward<F>, backward<F>,
          [](const MemoryShape& memory) {
            return padded_size(memory_functions<F>(memory).tape_size(memory) + kPadding);
          },
          [](const MemoryShape& memory) {
            return padded_size(memory_functions<F>(memory).scratch_size(memory) + kPadding);
          }};
}

template <class F>
ArrayKernel<F> array_kernel_of() {
  return {[](const ArrayCode<F>& code, F* const* values, Index t) {
            ArrayLoops<F>(code, values, nullptr).forward(t);
          },
          [](const ArrayCode<F>& code, F* const* values, F* const* slopes, Index t) {
            ArrayLoops<F>(code, values, slopes).backward(t);
          }};
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
StepKernel<float> isa_kernel<StepKernel<float>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel_of<float>();
}
template <>
StepKernel<double> isa_kernel<StepKernel<double>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel_of<double>();
}
template <>
MemoryFunctions<float> isa_kernel<MemoryFunctions<float>, PUSHDOWN_OWN_ISA>(
    const MemoryShape& shape) {
  return PUSHDOWN_ISA_NAMESPACE::memory_functions<float>(shape);
}
template <>
MemoryFunctions<double> isa_kernel<MemoryFunctions<double>, PUSHDOWN_OWN_ISA>(
    const MemoryShape& shape) {
  return PUSHDOWN_ISA_NAMESPACE::memory_functions<double>(shape);
}
template <>
ArrayKernel<float> isa_kernel<ArrayKernel<float>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::array_kernel_of<float>();
}
template <>
ArrayKernel<double> isa_kernel<ArrayKernel<double>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::array_kernel_of<double>();
}

}  // namespace pushdown
