// Lang's algorithm (Lang 1974; DuSell and Chiang 2020, section 3.3). It represents all runs of a
// pushdown automaton on a string as the stack automaton, a weighted finite automaton whose paths
// are the possible stack contents. Its nodes are (time j, configuration b). An edge
//   (i, a) -> (j, b)   with b = (r, y), labelled y
// means that y was put on top of the element that is the top at (i, a), and is the top at (j, b)
// without having been popped in between. Its inner weight gamma[i->j][a->b], in a semiring of
// grammar/semiring.h, is the sum over the runs that do so:
//   push     gamma[j-1->j][a->(r,y)] += w[a, push y, r]
//   replace  gamma[i->j][a->(r,y)]   += gamma[i->j-1][a->c] w[c, replace y, r]
//   pop      gamma[i->j][a->(r,y)]   += gamma[i->k][a->(t,y)] gamma[k->j-1][(t,y)->c] w[c, pop, r]
// The forward weight alpha[j][b] is the sum over all runs that are in b at time j:
//   alpha[j][b] = sum_{i,a} alpha[i][a] gamma[i->j][a->b].
// Time -1 is the start: the edge from it to time 0 is the initial bottom symbol. The original
// convention omits this edge, so this symbol cannot be reached again.
//
// With a window D, edges that reach back further, j - i > D, count as 0, and runs that need them
// are lost (the limited memory of DuSell and Chiang 2022, 2023).
//
// Only edges from configurations that some run reaches are stored. The paper's tensor also has the
// others, which enter no sum. Weights are in the semirings of logarithms, so nothing underflows at
// any length. Takes at most O(n^3) time and O(n^2) memory in the length, less if there are few
// edges: linear for a deterministic automaton.
#pragma once
#include <optional>
#include <vector>

#include "grammar/semiring.h"
#include "pda/string_automaton.h"

namespace pushdown {

template <class S>
class LangChart {
 public:
  struct Edge {
    int from_time, from;  // i (-1: the start) and a
    int time, to;         // j and b
    double weight;        // gamma
    // In the semiring Best: the last move of the best run along the edge, and the edges that it was
    // computed from (-1: none).
    int move = -1, below = -1, popped = -1;
  };

  // `automaton` must outlive the chart.
  explicit LangChart(const StringAutomaton& automaton);

  double forward(int time, int configuration) const { return node(time, configuration).forward; }
  const std::vector<Edge>& edges() const { return edges_; }  // in order of their times j
  // Indices of the edges that end in a node, ordered by i and a.
  const std::vector<int>& edges_into(int time, int configuration) const {
    return node(time, configuration).edges;
  }
  // In the semiring Best: the edge by which the best run reaches a node; -1: no run reaches it.
  int best_edge(int time, int configuration) const { return node(time, configuration).best_edge; }
  // Returns the sum over accepted runs.
  double accepted() const;
  // Returns the sum over accepted runs that end in this configuration.
  double accepted(int configuration) const;

 private:
  struct Node {
    double forward = S::zero();
    int best_edge = -1;
    std::vector<int> edges;
  };
  class Column;

  const Node& node(int time, int configuration) const {
    return nodes_[static_cast<std::size_t>(time) * automaton_.configurations() + configuration];
  }
  Node& node(int time, int configuration) {
    return nodes_[static_cast<std::size_t>(time) * automaton_.configurations() + configuration];
  }
  void begin();
  void step(int time);

  const StringAutomaton& automaton_;
  std::vector<Edge> edges_;
  std::vector<Node> nodes_;
};

// Returns the run of greatest weight, found by Lang's algorithm, or nothing if there is
// none. With `accepted`, only accepted runs count, and the weight of the last state is a factor.
std::optional<Run> best_run(const StringAutomaton& automaton, bool accepted);

}  // namespace pushdown
