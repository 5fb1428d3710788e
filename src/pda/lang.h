// Lang's algorithm (Lang 1974; Dusell and Chiang 2020, section 3.3): all runs of a pushdown
// automaton on a string at once, as the stack automaton, a weighted finite automaton whose paths
// are the possible stack contents. Its nodes are (time j, configuration b); an edge
//   (i, a) -> (j, b)   with b = (r, y), labelled y
// says that y was put on the element that is the top at (i, a), and is the top at (j, b) without
// having been popped in between. Its inner weight gamma[i->j][a->b], in a semiring of
// grammar/semiring.h, is the sum over the runs that do so:
//   push     gamma[j-1->j][a->(r,y)] += w[a, push y, r]
//   replace  gamma[i->j][a->(r,y)]   += gamma[i->j-1][a->c] w[c, replace y, r]
//   pop      gamma[i->j][a->(r,y)]   += gamma[i->k][a->(t,y)] gamma[k->j-1][(t,y)->c] w[c, pop, r]
// The forward weight alpha[j][b] is the sum over all runs that are in b at time j:
//   alpha[j][b] = sum_{i,a} alpha[i][a] gamma[i->j][a->b].
// Time -1 is the start: the edge from it to time 0 is the initial bottom symbol. With the original
// convention it is left out, so that this symbol cannot be reached again.
//
// With a window D edges that reach back further, j - i > D, count as 0: the runs that need them are
// lost (the limited memory of Dusell and Chiang 2022, 2023).
//
// Only edges out of configurations that some run reaches are kept (the tensor of the paper also has
// the others, which enter no sum). Weights are in the semirings of logarithms, so that nothing
// underflows at any length. Time O(n^3) and memory O(n^2) in the length at most, less where few
// edges exist: linear for a deterministic automaton.
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
    // In the semiring Best: the last move of the best run along it, and the edges that it was made
    // from (-1: none).
    int move = -1, below = -1, popped = -1;
  };

  // `automaton` must outlive the chart.
  explicit LangChart(const StringAutomaton& automaton);

  double forward(int time, int configuration) const { return node(time, configuration).forward; }
  const std::vector<Edge>& edges() const { return edges_; }  // in order of their times j
  // Numbers of the edges that end in a node, in order of i and a.
  const std::vector<int>& edges_into(int time, int configuration) const {
    return node(time, configuration).edges;
  }
  // In the semiring Best: the edge by which the best run gets to a node; -1: none does.
  int best_edge(int time, int configuration) const { return node(time, configuration).best_edge; }
  // The sum over accepted runs.
  double accepted() const;
  // The same, of one last configuration.
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

}  // namespace pushdown
