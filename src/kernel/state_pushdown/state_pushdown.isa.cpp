// The neural state pushdown automaton (state_pushdown.h), compiled once for each instruction set.
#include "kernel/state_pushdown/state_pushdown.h"

#include "kernel/state_pushdown/state_pushdown_rank_one.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

// Each works with scratch memory, or without it to count the size.
template <class F, bool kThird>
struct Tasks {
  using M = Machine<F, kThird>;
  using String = StatePushdownString<F>;
  using Loss = StatePushdownLoss<F>;

  static void forward(const M& machine, String& string, Loss*, Arena& arena) {
    Recorder<F, kThird> recorder{machine, string.hiddens, string.weights};
    machine.walk(string, recorder, arena);
  }
  static void bptt(const M& machine, String& string, Loss* loss, Arena& arena) {
    Tape<F, kThird> tape(machine, loss, string.length, arena);
    machine.walk(string, tape, arena);
    tape.go_back(string.reading, arena);
  }
  static void rtrl(const M& machine, String& string, Loss* loss, Arena& arena) {
    Influence<F, kThird> influence(machine, loss, string.length, arena);
    machine.walk(string, influence, arena);
  }
  static void uoro(const M& machine, String& string, Loss* loss, Arena& arena) {
    RankOne<F, kThird> estimate(machine, loss, string.length, arena);
    machine.walk(string, estimate, arena);
    if (arena.memory != nullptr) estimate.finish();
  }

  using Function = void (*)(const M&, String&, Loss*, Arena&);
  static constexpr Function of(StatePushdownTask task) {
    return task == StatePushdownTask::forward ? forward
           : task == StatePushdownTask::bptt  ? bptt
           : task == StatePushdownTask::rtrl  ? rtrl
                                              : uoro;
  }

  template <StatePushdownTask kTask>
  static void run(const StatePushdownShape& shape, const StatePushdownParameters<F>& parameters,
                  String& string, Loss* loss, void* scratch) {
    if constexpr (kTask != StatePushdownTask::forward) {
      loss->loss = loss->score = 0;
      // If nothing is read, the loss is that of the initial state.
      if (string.length == 0) {
        Validity<F>{*loss, shape.states}.see(string.neurons, true);
        return;
      }
    }
    const M machine(shape, parameters);
    Arena arena{static_cast<unsigned char*>(scratch)};
    of(kTask)(machine, string, loss, arena);
  }
  template <StatePushdownTask kTask>
  static Index bytes(const StatePushdownShape& shape, Index length) {
    const StatePushdownParameters<F> parameters{};
    String string{};
    string.length = length;
    Loss loss{};
    Arena arena;
    of(kTask)(M(shape, parameters), string, &loss, arena);
    return arena.used;
  }
  static StatePushdownKernel<F> kernel(StatePushdownTask task) {
    using Task = StatePushdownTask;
    switch (task) {
      case Task::forward: return {run<Task::forward>, bytes<Task::forward>};
      case Task::bptt: return {run<Task::bptt>, bytes<Task::bptt>};
      case Task::rtrl: return {run<Task::rtrl>, bytes<Task::rtrl>};
      case Task::uoro: break;
    }
    return {run<Task::uoro>, bytes<Task::uoro>};
  }
};

template <class F>
StatePushdownKernel<F> kernel(const StatePushdownShape& shape, StatePushdownTask task) {
  return shape.third_order ? Tasks<F, true>::kernel(task) : Tasks<F, false>::kernel(task);
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
StatePushdownKernel<float> isa_kernel<StatePushdownKernel<float>, PUSHDOWN_OWN_ISA>(
    const StatePushdownShape& shape, const StatePushdownTask& task) {
  return PUSHDOWN_ISA_NAMESPACE::kernel<float>(shape, task);
}
template <>
StatePushdownKernel<double> isa_kernel<StatePushdownKernel<double>, PUSHDOWN_OWN_ISA>(
    const StatePushdownShape& shape, const StatePushdownTask& task) {
  return PUSHDOWN_ISA_NAMESPACE::kernel<double>(shape, task);
}

}  // namespace pushdown
