// Pushdown automata, their runs and Lang's algorithm as Lua values.
#pragma once
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/alphabet.h"
#include "pda/trace.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Pda> = "Pda";
template <>
inline constexpr auto kClassName<Trace> = "Trace";
template <>
inline constexpr auto kHeldBytes<Trace> = [](const Trace& trace) {
  return trace.chart.edges().size() * 2 * sizeof(LangChart<Log>::Edge);
};

// A run with its automaton.
struct PdaRun {
  std::shared_ptr<const StringAutomaton> automaton;
  Run run;
  double log_total = 0;  // total of all runs that it was chosen from
};
template <>
inline constexpr auto kClassName<PdaRun> = "Run";

// Returns the run of greatest weight among the accepting runs or among all runs, or nothing if
// there is none.
std::optional<PdaRun> best_run_of(std::shared_ptr<const StringAutomaton> automaton, bool accepted);
// The options of functions about runs. Each function declares those that it has.
struct RunOptions {
  bool accepted = true;
  std::int64_t limit = 100'000;
  bool reexposed = true;
};
template <class X>
OptionRow<X> accepted_row() {
  return {"accepted", &X::accepted, "considers only accepting runs; false: all runs"};
}
template <class X>
OptionRow<X> limit_row() {
  return {"limit", &X::limit, "maximum number of moves to try", at_least(1)};
}
std::vector<PdaRun> all_runs_of(std::shared_ptr<const StringAutomaton> automaton,
                                const RunOptions& options);

// The result of pd.pda.load.
Pda load_pda(lua_State* L, const PathText& name, const std::optional<Json>& options);
// Binds call, parse, load, list and describe of pd.pda, and the classes Trace and Run.
void bind_pda_loading(Module& module);
void bind_trace(Module& module);

}  // namespace pushdown
