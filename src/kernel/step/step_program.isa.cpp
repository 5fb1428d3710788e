// The step programs (step_program.h), compiled once for each instruction set.
#include "kernel/step/step_program.h"

#include "kernel/step/step_gradients.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

// Both passes over the sequences first .. end-1 of a program.
template <class F>
class BlockPass {
 public:
  BlockPass(const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room)
      : p_(program), nodes_(program, first, end, room) {}

  void forward() {
    nodes_.begin_memories();
    for (Index k = 0; k < p_.segment_count; ++k) {
      const StepSegment& segment = p_.segments[k];
      if (segment.loop)
        loop_forward(segment);
      else
        nodes_.in_sequences([&] {
          for (int n = segment.first; n < segment.end && !nodes_.stopped(); ++n)
            nodes_.compute(n, 0);
        });
      if (nodes_.stopped()) return;
    }
    nodes_.leave_memories();
  }

  void backward(int output, Rows<F> given, Index given_step) {
    nodes_.begin_memories_backward();
    for (int n = 0; n < p_.count; ++n)
      if (p_.nodes[n].op == StepOp::constant || p_.nodes[n].op == StepOp::room)
        nodes_.clear_gradient(n, 0);
    for (int n = 0; n < p_.count; ++n) {
      if (!p_.nodes[n].apart || !nodes_.owns_rows(n) || p_.nodes[n].set) continue;
      if (p_.nodes[n].carried) nodes_.clear_gradient(n, -1);
      nodes_.in_sequences([&] { nodes_.clear_gradient(n, 0); });
    }
    for (Index k = p_.segment_count; k-- > 0;) {
      const StepSegment& segment = p_.segments[k];
      const bool last = segment.first <= output && output < segment.end;
      if (segment.loop)
        loop_backward(segment, last ? output : -1, given, given_step);
      else
        nodes_.in_sequences([&] {
          if (last) add_given(output, 0, {given.first + nodes_.sequence() * given.row, given_step});
          for (int n = segment.end; n-- > segment.first && !nodes_.stopped();)
            if (p_.nodes[n].gradient) nodes_.propagate(n, 0);
        });
      if (nodes_.stopped()) return;
    }
    nodes_.end_memories_backward();
  }

 private:
  void loop_forward(const StepSegment& segment) {
    for (Index t = 0; t < p_.steps; ++t) {
      while (nodes_.active > 0 && nodes_.length(nodes_.active - 1) <= t) --nodes_.active;
      if (nodes_.active == 0) break;
      for (int n = segment.first; n < segment.end; ++n) {
        if (nodes_.stopped()) return;
        nodes_.compute(n, t);
      }
    }
    nodes_.active = nodes_.count();
  }

  void add_given(int output, Index t, Rows<F> slope) {
    if (p_.nodes[output].gradient)
      nodes_.add_to(output, t, [&](Index b, Index i) { return load(slope[b] + i); });
  }

  // output : -1, or the node whose gradient is given.
  void loop_backward(const StepSegment& segment, int output, Rows<F> given, Index given_step) {
    nodes_.active = 0;
    for (Index t = p_.steps; t-- > 0;) {
      if (nodes_.stopped()) return;
      // Nothing follows the last step of a sequence.
      const Index longer = nodes_.active;
      while (nodes_.active < nodes_.count() && nodes_.length(nodes_.active) > t) ++nodes_.active;
      if (nodes_.active == 0) continue;
      for (int n = segment.first; n < segment.end; ++n) {
        const StepNode& node = p_.nodes[n];
        if (node.apart) continue;
        if (nodes_.active > longer && node.carried) nodes_.clear_gradient(n, t, longer);
        if (nodes_.owns_rows(n) && !node.set) nodes_.clear_gradient(n, node.carried ? t - 1 : t);
      }
      int n = segment.end;
      const auto propagate_from = [&](int lowest) {
        while (n-- > lowest) {
          if (nodes_.stopped()) return;
          if (p_.nodes[n].gradient) nodes_.propagate(n, t);
        }
        n = lowest;
      };
      if (p_.window > 0 && t + 1 < p_.steps && (t + 1) % p_.window == 0) {
        propagate_from(static_cast<int>(p_.after));
        for (int k = 0; k < n; ++k)
          if (nodes_.owns_rows(k)) nodes_.clear_gradient(k, t);
        // The previous value of a carried node belongs to the previous step, too.
        for (int k = n; k < p_.count; ++k)
          if (nodes_.owns_rows(k) && p_.nodes[k].carried) nodes_.clear_gradient(k, t - 1);
        for (int k = 0; k < p_.count; ++k)
          if (p_.nodes[k].op == StepOp::room) nodes_.clear_gradient(k, t);
        nodes_.cut_memories();
      }
      if (output >= 0) add_given(output, t, {given.first + t * given_step, given.row});
      propagate_from(segment.first);
    }
    nodes_.active = nodes_.count();
  }

  const StepProgram<F>& p_;
  StepNodes<F> nodes_;
};

template <class F>
StepKernel<F> kernel_of() {
  return {[](const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room) {
            BlockPass<F>(program, first, end, room).forward();
          },
          [](const StepProgram<F>& program, Index first, Index end, const StepRoom<F>& room,
             int output, const F* given, Index given_step, Index given_row) {
            BlockPass<F>(program, first, end, room)
                .backward(output, {const_cast<F*>(given) + first * given_row, given_row},
                          given_step);
          },
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
            ArrayPass<F>(code, values, nullptr).forward(t);
          },
          [](const ArrayCode<F>& code, F* const* values, F* const* slopes, Index t) {
            ArrayPass<F>(code, values, slopes).backward(t);
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
