// Runs of pushdown automata and Lang's algorithm as Lua objects.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/pda/classes.h"
#include "bindings/session/drawing.h"
#include "bindings/tensor/classes.h"

namespace pushdown {

std::optional<PdaRun> best_run_of(std::shared_ptr<const StringAutomaton> automaton, bool accepted) {
  auto run = best_run(*automaton, accepted);
  if (!run) return std::nullopt;
  const Trace trace(automaton);
  const double total = accepted ? trace.chart.accepted() : trace.log_total(automaton->length());
  return PdaRun{std::move(automaton), std::move(*run), total};
}

std::vector<PdaRun> all_runs_of(std::shared_ptr<const StringAutomaton> automaton,
                                const RunOptions& options) {
  std::vector<PdaRun> runs;
  double total = kMinusInfinity;
  for (auto& run : all_runs(*automaton, options.accepted, options.limit)) {
    total = Log::plus(total, run.log_weight);
    runs.push_back({automaton, std::move(run)});
  }
  for (auto& run : runs) run.log_total = total;
  return runs;
}

namespace {

Json symbols_of(const StringAutomaton& automaton, const std::vector<int>& stack) {
  Json list = Json::array();
  for (const int symbol : stack) list.push_back(automaton.stack_symbols[symbol]);
  return list;
}

Json run_steps(const PdaRun& run) {
  const auto& automaton = *run.automaton;
  const auto stacks = stacks_of(automaton, run.run.moves);
  Json list = Json::array();
  for (std::size_t t = 1; t < stacks.size(); ++t) {
    const auto& move = run.run.moves[t - 1];
    Json row{{"time", t},
             {"symbol", automaton.input[t - 1]},
             {"state", automaton.states[automaton.state_of(move.configuration)]},
             {"top", automaton.stack_symbols[automaton.top_of(move.configuration)]},
             {"next", automaton.states[move.state]},
             {"action", move.action == StackAction::push      ? "push"
                        : move.action == StackAction::replace ? "replace"
                                                              : "pop"}};
    if (move.pushed >= 0) row["pushed"] = automaton.stack_symbols[move.pushed];
    row["log_weight"] = move.log_weight;
    row["stack"] = symbols_of(automaton, stacks[t]);
    list.push_back(row);
  }
  return list;
}

Json run_stacks(const PdaRun& run) {
  Json list = Json::array();
  for (const auto& stack : stacks_of(*run.automaton, run.run.moves))
    list.push_back(symbols_of(*run.automaton, stack));
  return list;
}

double run_share(const PdaRun& run) { return std::exp(run.run.log_weight - run.log_total); }

std::string run_text(const PdaRun& run) {
  auto text = fmt::format("Run of {} step{}, weight {}, {:.4g} of the weight of all\n",
                          run.run.moves.size(), run.run.moves.size() == 1 ? "" : "s",
                          log_weight_text(run.run.log_weight), run_share(run)) +
              run_table(*run.automaton, run.run);
  text.pop_back();
  return text;
}

// (n+1) x C, natural logarithms.
Tensor forward_weights(const Trace& trace) {
  const auto& automaton = *trace.automaton;
  Tensor weights = at::empty({automaton.length() + 1, automaton.configurations()}, at::kDouble);
  double* w = weights.data_ptr<double>();
  for (int t = 0; t <= automaton.length(); ++t)
    for (int b = 0; b < automaton.configurations(); ++b) *w++ = trace.chart.forward(t, b);
  return weights;
}

// (n+1) x C
Tensor distribution(const Trace& trace) {
  const Tensor weights = forward_weights(trace);
  // If no run is left, the row is 0.
  return weights.softmax(1).nan_to_num(0);
}

// (n+1) x S
Tensor top_distribution(const Trace& trace) {
  const Tensor shares = distribution(trace);
  return shares.view({shares.size(0), -1, trace.automaton->symbols()}).sum(1);
}

Json configuration(const StringAutomaton& automaton, int time, int b) {
  return {{"time", time},
          {"state", automaton.states[automaton.state_of(b)]},
          {"top", automaton.stack_symbols[automaton.top_of(b)]}};
}

Json inner_weights(const Trace& trace) {
  const auto& automaton = *trace.automaton;
  Json list = Json::array();
  for (const auto& edge : trace.chart.edges()) {
    Json row = configuration(automaton, edge.time, edge.to);
    if (edge.from_time >= 0) row["from"] = configuration(automaton, edge.from_time, edge.from);
    row["log_weight"] = edge.weight;
    list.push_back(row);
  }
  return list;
}

Json nodes(const Trace& trace) {
  const auto& automaton = *trace.automaton;
  const int last = automaton.length();
  Json list = Json::array();
  for (int t = 0; t <= last; ++t)
    for (int b = 0; b < automaton.configurations(); ++b) {
      const double forward = trace.chart.forward(t, b);
      if (forward == kMinusInfinity) continue;
      Json row = configuration(automaton, t, b);
      row["log_weight"] = forward;
      row["share"] = trace.share(t, b);
      row["accepted"] = t == last && trace.chart.accepted(b) > kMinusInfinity;
      list.push_back(row);
    }
  return list;
}

struct TraceBestOptions : RunOptions {
  static OptionRows rows() { return declare<TraceBestOptions>({accepted_row<TraceBestOptions>()}); }
};
struct TraceAllOptions : RunOptions {
  using Self = TraceAllOptions;
  static OptionRows rows() { return declare<Self>({accepted_row<Self>(), limit_row<Self>()}); }
};

std::optional<PdaRun> trace_best_run(const Trace& trace, const TraceBestOptions& options) {
  return best_run_of(trace.automaton, options.accepted);
}

std::vector<PdaRun> trace_all_runs(const Trace& trace, const TraceAllOptions& options) {
  return all_runs_of(trace.automaton, options);
}

bool trace_accepts(const Trace& trace) { return trace.chart.accepted() > kMinusInfinity; }

std::string trace_text(const Trace& trace) {
  const double accepted = trace.chart.accepted();
  auto text =
      fmt::format("Trace of {} step{}: {}\n", trace.automaton->length(),
                  trace.automaton->length() == 1 ? "" : "s",
                  accepted == kMinusInfinity ? "no run accepts"
                                             : "accepted with weight " + log_weight_text(accepted));
  text += trace_table(trace);
  text.pop_back();
  return text;
}

}  // namespace

void bind_trace(Module& module) {
  Class<PdaRun>(module, "One run of a pushdown automaton on a string.")
      .def<[](const PdaRun& run) { return run.run.log_weight; }>(
          "run:log_weight() -> number  Returns the natural logarithm of the weight of the run.")
      .def<&run_share>(
          "run:share() -> number  Returns the weight of the run divided by the total weight of the "
          "runs that it was chosen from.")
      .def<&run_steps>(
          "run:steps() -> table  Returns a table {time, symbol, state, top, action, pushed, next, "
          "log_weight, stack} for every symbol that was read.")
      .def<&run_stacks>(
          "run:stacks() -> table  Returns the stack contents, bottom to top, at times 0 to n.")
      .def<[](const PdaRun& run) { return run.automaton->input; }>(
          "run:input() -> table  Returns the symbols that were read.")
      .def<&drawn_as<PdaRun, "run", "run">>(
          "run:svg(path) -> string  Returns a picture of the stack over the string as SVG. Also "
          "writes it to the path, if one is given.")
      .def<&run_text>("tostring(run) -> string  Returns the run as text, one line per step.");
  Class<Trace>(module, "All runs of a pushdown automaton on a string: the stack automaton.")
      .def<&trace_accepts>("trace:accepts() -> boolean  Returns whether a run accepts the string.")
      .def<[](const Trace& trace) { return trace.chart.accepted(); }>(
          "trace:log_weight() -> number  Returns the natural logarithm of the total weight of the "
          "accepting runs.")
      .def<&forward_weights>(
          "trace:forward_weights() -> Tensor  Returns the natural logarithms of the forward "
          "weights at times 0 to n, (n+1) x C. Configuration (q, x) has the index q*S + x.")
      .def<&distribution>(
          "trace:distribution() -> Tensor  Returns the forward weights divided by their sum at "
          "each time, (n+1) x C.")
      .def<&top_distribution>(
          "trace:top_distribution() -> Tensor  Returns the distribution of the top symbol at times "
          "0 to n, (n+1) x S.")
      .def<&inner_weights>(
          "trace:inner_weights() -> table  Returns the edges of the stack automaton, each {from = "
          "{time, state, top}, time, state, top, log_weight}. The edge of the bottom symbol has no "
          "`from`.")
      .def<&nodes>(
          "trace:nodes() -> table  Returns the nodes of the stack automaton that runs reach, each "
          "{time, state, top, log_weight, share, accepted}.")
      .def<&trace_best_run>(
          "trace:best_run{options} -> Run  Returns the accepting run of greatest weight, or nil.")
      .def<&trace_all_runs>("trace:all_runs{options} -> table  Returns every accepting run.")
      .def<[](const Trace& trace) { return trace.automaton->input; }>(
          "trace:input() -> table  Returns the symbols that were read.")
      .def<&trace_dot>(
          "trace:dot() -> string  Returns the stack automaton in the DOT language of Graphviz.")
      .def<&drawn_as<Trace, "automaton", "trace">>(
          "trace:svg(path) -> string  Returns a picture of the stack automaton over the string as "
          "SVG. Also writes it to the path, if one is given.")
      .def<&trace_text>("tostring(trace) -> string  Returns the trace as text, one line per time.");
}

}  // namespace pushdown
