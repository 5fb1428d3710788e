#include "pda/lang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/memory.h"
#include "base/stopping.h"

namespace pushdown {

// Collects the edges of one time.
template <class S>
class LangChart<S>::Column {
 public:
  Column(LangChart& chart, int time) : chart_(chart), time_(time) {}

  void add(int from_time, int from, int to, double weight, int move, int below, int popped) {
    const int window = chart_.automaton_.window;
    if (window > 0 && time_ - from_time > window) return;
    auto& edges = chart_.edges_;
    const auto size = static_cast<std::uint64_t>(chart_.automaton_.configurations());
    const auto key = (static_cast<std::uint64_t>(from_time + 1) * size + from) * size + to;
    const auto [entry, is_new] = found_.try_emplace(key, edges.size());
    if (is_new) {
      edges.push_back({from_time, from, time_, to, weight, move, below, popped});
      chart_.node(time_, to).edges.push_back(static_cast<int>(entry->second));
      return;
    }
    auto& edge = edges[entry->second];
    if (weight > edge.weight) edge.move = move, edge.below = below, edge.popped = popped;
    edge.weight = S::plus(edge.weight, weight);
  }

 private:
  LangChart& chart_;
  int time_;
  std::unordered_map<std::uint64_t, std::size_t> found_;
};

template <class S>
LangChart<S>::LangChart(const StringAutomaton& automaton) : automaton_(automaton) {
  check_memory("pda.lang", fmt::format("the chart of a string of {} symbols", automaton.length()),
               sizeof(Node) * (automaton.length() + 1.0) * automaton.configurations());
  nodes_.resize(static_cast<std::size_t>(automaton.length() + 1) * automaton.configurations());
  begin();
  for (int t = 1; t <= automaton.length(); ++t) step(t);
}

template <class S>
void LangChart<S>::begin() {
  auto& first = node(0, 0);
  first.forward = S::from_weight(1);
  if (!automaton_.reexposed) return;
  edges_.push_back({-1, 0, 0, 0, S::from_weight(1)});
  first.edges.push_back(0);
  first.best_edge = 0;
}

template <class S>
void LangChart<S>::step(int time) {
  // Sums the exposed weight over the removed tops before joining it with the edges into the node
  // below.
  struct Popped {
    double weight = S::zero();
    int move = -1, edge = -1;
  };
  std::map<std::tuple<int, int, int>, Popped> popped;  // (k, configuration there, next state)
  Column column(*this, time);
  const auto first_edge = edges_.size();
  const auto& moves = automaton_.moves[time - 1];
  const StopCheck stop;
  for (int m = 0; m < static_cast<int>(moves.size()); ++m) {
    stop();
    const auto& move = moves[m];
    const auto& source = node(time - 1, move.configuration);
    if (source.forward == S::zero() || move.log_weight == S::zero()) continue;
    const int to = automaton_.target(move, 0);
    if (move.action == StackAction::push) {
      column.add(time - 1, move.configuration, to, move.log_weight, m, -1, -1);
      continue;
    }
    for (const int e : source.edges) {
      stop();
      const auto [from_time, from] = std::pair(edges_[e].from_time, edges_[e].from);
      const double weight = S::times(edges_[e].weight, move.log_weight);
      if (move.action == StackAction::replace) {
        column.add(from_time, from, to, weight, m, e, -1);
      } else if (from_time >= 0) {
        auto& entry = popped[{from_time, from, move.state}];
        if (weight > entry.weight) entry.move = m, entry.edge = e;
        entry.weight = S::plus(entry.weight, weight);
      }
    }
  }
  for (const auto& [key, entry] : popped) {
    const auto [k, bared, state] = key;
    const int to = state * automaton_.symbols() + automaton_.top_of(bared);
    for (const int f : node(k, bared).edges) {
      stop();
      const auto [from_time, from] = std::pair(edges_[f].from_time, edges_[f].from);
      column.add(from_time, from, to, S::times(edges_[f].weight, entry.weight), entry.move, f,
                 entry.edge);
    }
  }
  for (auto e = first_edge; e < edges_.size(); ++e) {
    const auto& edge = edges_[e];
    const double through = edge.from_time < 0
                               ? edge.weight
                               : S::times(forward(edge.from_time, edge.from), edge.weight);
    auto& target = node(time, edge.to);
    if (through > target.forward) target.best_edge = static_cast<int>(e);
    target.forward = S::plus(target.forward, through);
  }
}

template <class S>
double LangChart<S>::accepted(int configuration) const {
  const double ends = automaton_.accepting[automaton_.state_of(configuration)];
  if (ends == 0) return S::zero();
  const int last = automaton_.length();
  double sum = S::zero();
  if (!automaton_.at_bottom || last == 0) {
    sum = forward(last, configuration);
  } else if (automaton_.top_of(configuration) == 0) {
    for (const int e : edges_into(last, configuration))
      if (edges_[e].from_time < 0) sum = edges_[e].weight;
  }
  return S::times(sum, S::from_weight(ends));
}

template <class S>
double LangChart<S>::accepted() const {
  double sum = S::zero();
  for (int b = 0; b < automaton_.configurations(); ++b) sum = S::plus(sum, accepted(b));
  return sum;
}

template class LangChart<Log>;
template class LangChart<Best>;

namespace {

// Returns the moves of the best run that ends with `edge` on top. Every edge stores its last move
// and the edges that it was computed from, which have earlier moves.
std::vector<Move> moves_along(const StringAutomaton& automaton, const LangChart<Best>& chart,
                              int edge) {
  std::vector<Move> moves(automaton.length());
  std::vector<int> open;
  // The elements below the top.
  while (edge >= 0) {
    open.push_back(edge);
    const auto& e = chart.edges()[edge];
    edge = e.from_time < 0 ? -1 : chart.best_edge(e.from_time, e.from);
  }
  while (!open.empty()) {
    const auto& e = chart.edges()[open.back()];
    open.pop_back();
    if (e.move < 0) continue;  // the initial bottom symbol
    moves[e.time - 1] = automaton.moves[e.time - 1][e.move];
    for (const int before : {e.below, e.popped})
      if (before >= 0) open.push_back(before);
  }
  return moves;
}

}  // namespace

std::optional<Run> best_run(const StringAutomaton& automaton, bool accepted) {
  const LangChart<Best> chart(automaton);
  const int last = automaton.length();
  double best = kMinusInfinity;
  int end = -1;
  for (int b = 0; b < automaton.configurations(); ++b) {
    const double weight = accepted ? chart.accepted(b) : chart.forward(last, b);
    if (weight > best) best = weight, end = b;
  }
  if (end < 0) return std::nullopt;
  int edge = chart.best_edge(last, end);
  if (accepted && automaton.at_bottom)
    for (const int e : chart.edges_into(last, end))
      if (chart.edges()[e].from_time < 0) edge = e;
  return Run{best, moves_along(automaton, chart, edge)};
}

}  // namespace pushdown
