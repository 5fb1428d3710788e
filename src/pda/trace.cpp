#include "pda/trace.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace pushdown {
namespace {

using Row = std::vector<std::string>;

// Returns the width of a UTF-8 text in the terminal: the number of its characters.
std::size_t width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

// Formats columns of equal width with two blanks between them.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k == widths.size()) widths.push_back(0);
      widths[k] = std::max(widths[k], width(row[k]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k)
      line += row[k] + std::string(widths[k] - width(row[k]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string stack_text(const StringAutomaton& automaton, const std::vector<int>& stack) {
  constexpr std::size_t kShown = 20;
  std::string text = stack.size() > kShown ? fmt::format("({} more)", stack.size() - kShown) : "";
  for (std::size_t k = stack.size() > kShown ? stack.size() - kShown : 0; k < stack.size(); ++k)
    text += (text.empty() ? "" : " ") + automaton.stack_symbols[stack[k]];
  return text;
}

std::string configuration_text(const StringAutomaton& automaton, int b) {
  return automaton.states[automaton.state_of(b)] + ", " +
         automaton.stack_symbols[automaton.top_of(b)];
}

std::string quoted_dot(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '&' ? "&amp;" : std::string(1, c);  // a label may have entities
  }
  return quoted + "\"";
}

std::string node_name(int time, int b) {
  return time < 0 ? "start" : fmt::format("n{}_{}", time, b);
}

}  // namespace

std::string log_weight_text(double log_weight) {
  if (log_weight == kMinusInfinity) return "0";
  if (std::fabs(log_weight) > 600) return fmt::format("e^{:.4f}", log_weight);
  const double weight = std::exp(log_weight);
  // Hides rounding in a weight of 1.
  return std::fabs(weight - 1) < 1e-12 ? "1" : fmt::format("{:.4g}", weight);
}

double Trace::log_total(int time) const {
  double total = kMinusInfinity;
  for (int b = 0; b < automaton->configurations(); ++b)
    total = Log::plus(total, chart.forward(time, b));
  return total;
}

double Trace::share(int time, int configuration) const {
  const double weight = chart.forward(time, configuration);
  return weight == kMinusInfinity ? 0.0 : std::exp(weight - log_total(time));
}

std::string run_table(const StringAutomaton& automaton, const Run& run) {
  std::vector<Row> rows{{"time", "read", "weight", "action", "state", "stack"}};
  const auto stacks = stacks_of(automaton, run.moves);
  rows.push_back({"0", "", "", "", automaton.states[0], stack_text(automaton, stacks[0])});
  for (std::size_t t = 1; t < stacks.size(); ++t) {
    const auto& move = run.moves[t - 1];
    rows.push_back(
        {std::to_string(t), automaton.input[t - 1], log_weight_text(move.log_weight),
         action_text(move.action, move.pushed < 0 ? "" : automaton.stack_symbols[move.pushed]),
         automaton.states[move.state], stack_text(automaton, stacks[t])});
  }
  return aligned(rows);
}

std::string trace_table(const Trace& trace) {
  constexpr int kColumns = 8, kListed = 6;
  const auto& automaton = *trace.automaton;
  const bool tops = automaton.symbols() <= kColumns;
  Row head{"time", "read", "weight"};
  if (tops)
    for (const auto& symbol : automaton.stack_symbols) head.push_back("top " + symbol);
  head.push_back("state, top");
  std::vector<Row> rows{head};
  for (int t = 0; t <= automaton.length(); ++t) {
    Row row{std::to_string(t), t == 0 ? "" : automaton.input[t - 1],
            log_weight_text(trace.log_total(t))};
    std::vector<double> top(automaton.symbols());
    std::vector<std::pair<double, int>> shares;
    for (int b = 0; b < automaton.configurations(); ++b) {
      const double share = trace.share(t, b);
      if (trace.chart.forward(t, b) == kMinusInfinity) continue;
      top[automaton.top_of(b)] += share;
      shares.emplace_back(-share, b);
    }
    if (tops)
      for (const double share : top) row.push_back(share == 0 ? "0" : fmt::format("{:.3f}", share));
    std::sort(shares.begin(), shares.end());
    std::string list;
    for (std::size_t k = 0; k < shares.size() && k < kListed; ++k)
      list += fmt::format("{}{} {:.3f}", list.empty() ? "" : "; ",
                          configuration_text(automaton, shares[k].second), -shares[k].first);
    if (shares.size() > kListed) list += fmt::format("; {} more", shares.size() - kListed);
    row.push_back(shares.empty() ? "no run continues" : list);
    rows.push_back(row);
  }
  return aligned(rows);
}

std::string trace_dot(const Trace& trace) {
  const auto& automaton = *trace.automaton;
  const auto& chart = trace.chart;
  std::string text =
      "digraph stack_automaton {\n  rankdir=LR;\n  node [shape=ellipse, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\"];\n";
  if (automaton.reexposed) text += "  start [shape=point];\n";
  const int last = automaton.length();
  for (int t = 0; t <= last; ++t) {
    std::string names;
    for (int b = 0; b < automaton.configurations(); ++b) {
      if (chart.forward(t, b) == kMinusInfinity) continue;
      const bool ends = t == last && chart.accepted(b) > kMinusInfinity;
      text += fmt::format("  {} [label={}{}];\n", node_name(t, b),
                          quoted_dot(fmt::format("{}, {}", t, configuration_text(automaton, b))),
                          ends ? ", peripheries=2" : "");
      names += node_name(t, b) + "; ";
    }
    if (!names.empty()) text += "  { rank=same; " + names + "}\n";
  }
  for (const auto& edge : chart.edges())
    text += fmt::format("  {} -> {} [label={}];\n", node_name(edge.from_time, edge.from),
                        node_name(edge.time, edge.to),
                        quoted_dot(automaton.stack_symbols[automaton.top_of(edge.to)] + "/" +
                                   log_weight_text(edge.weight)));
  return text + "}\n";
}

}  // namespace pushdown
