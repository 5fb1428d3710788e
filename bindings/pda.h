// Pushdown automata, their runs and Lang's algorithm as Lua values.
#pragma once
#include "bindings/alphabet.h"
#include "bindings/options.h"
#include "pda/trace.h"

namespace pushdown {

class Module;

template <>
struct ClassName<Pda> {
  static constexpr const char* value = "Pda";
};
template <>
struct ClassName<Trace> {
  static constexpr const char* value = "Trace";
  static std::size_t bytes(const Trace& trace) {
    return trace.chart.edges().size() * 2 * sizeof(LangChart<Log>::Edge);
  }
};

// A run with the automaton it belongs to.
struct PdaRun {
  std::shared_ptr<const StringAutomaton> automaton;
  Run run;
  double log_total = 0;  // of all runs that it was chosen from
};
template <>
struct ClassName<PdaRun> {
  static constexpr const char* value = "Run";
};

// The run of greatest weight, of the accepted ones or of all; nothing where there is none.
std::optional<PdaRun> best_run_of(std::shared_ptr<const StringAutomaton> automaton, bool accepted);
// The options of functions about runs; each declares those that it has.
struct RunOptions {
  bool accepted = true;
  std::int64_t limit = 100'000;
  bool reexposed = true;
};
template <class X>
OptionRow<X> accepted_row() {
  return {"accepted", &X::accepted, "accepting runs only, else all"};
}
template <class X>
OptionRow<X> limit_row() {
  return {"limit", &X::limit, "moves to try before an error", at_least(1)};
}
std::vector<PdaRun> all_runs_of(std::shared_ptr<const StringAutomaton> automaton,
                                const RunOptions& options);

// What pd.pda.load gives.
Pda load_pda(lua_State* L, const std::string& name, const std::optional<Json>& options);
// pushdown.plot[kind]{[field] = object, path =} -> the SVG, pushed.
Results draw(lua_State* L, const char* kind, const char* field, const Any& object,
             const std::optional<std::string>& path);

// call, parse, load, list and describe of pd.pda; the classes Trace and Run.
void bind_pda_loading(Module& module);
void bind_trace(Module& module);

}  // namespace pushdown
