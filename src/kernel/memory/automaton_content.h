// The content of a nondeterministic stack with a window, which a run takes over from a previous run
// (memories.h), for both sources of this stack. With K nodes below the head, it has the numbers
//   forward : C                          of the head
//   vectors : m x C                      the same, as read
//   edges : (1 + m) x K x C x K x C      P and V: channel, upper node k and b, lower node i and a,
//                                        0 unless i <= k
//   actions : C*W + m                    if the run begins with an update (MemoryShape::held_moves)
// of a StackAutomaton (stack/nondeterministic.h). A run that takes it over numbers the nodes anew:
// 1 .. K, and K + 1 for the head.
#pragma once
#include "kernel/memory/loops.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

// `nodes` below the head, of which `oldest` is the lowest. In the functions, Row is row(j, r): row
// r = channel*C + b of column j of the memory.
template <class F>
struct AutomatonContent {
  Index c, m, nodes, oldest;
  F* numbers;

  PUSHDOWN_DEVICE Index head() const { return oldest + nodes; }
  PUSHDOWN_DEVICE F* forward() const { return numbers; }
  PUSHDOWN_DEVICE F* vectors() const { return numbers + c; }
  PUSHDOWN_DEVICE F* actions() const { return vectors() + m * c + (1 + m) * nodes * c * nodes * c; }
  PUSHDOWN_DEVICE bool has_column(Index j) const { return j > oldest && j <= head(); }
  // Row r of column j, valid from number oldest*C on.
  PUSHDOWN_DEVICE F* row(Index j, Index r) const {
    const Index channel = r / c, b = r - channel * c;
    return numbers + c + m * c + ((channel * nodes + j - oldest - 1) * c + b) * nodes * c -
           oldest * c;
  }
  PUSHDOWN_DEVICE Index begin() const { return oldest * c; }

  template <class Team, class Row>
  PUSHDOWN_DEVICE void write_edges(const Team& team, const Row& to) const {
    for (Index j = oldest + 1; j <= head(); ++j)
      for (Index r = 0; r < (1 + m) * c; ++r) {
        const F* edges = row(j, r);
        F* target = to(j, r);
        each_between(team, begin(), j * c, [&](Index e) { target[e] = edges[e]; });
      }
  }
  template <class Team, class Row>
  PUSHDOWN_DEVICE void read_edges(const Team& team, const Row& from) const {
    for (Index j = oldest + 1; j <= head(); ++j)
      for (Index r = 0; r < (1 + m) * c; ++r) {
        F* edges = row(j, r);
        const F* source = from(j, r);
        each_between(team, begin(), head() * c,
                     [&](Index e) { edges[e] = e < j * c ? source[e] : F(0); });
      }
  }

  // The numbers are gradients of a content that a run leaves behind. Adds them to the gradients of
  // column j of the run. The content has normalized edges, in the notation of spread():
  //   a[i][a] P[i->j][a->b] / a[j][b], and the same of V.
  template <class Team, class Row>
  PUSHDOWN_DEVICE void add_edges(const Team& team, Index j, const Row& edges, const Row& gradients,
                                 F* forward_gradients) const {
    for (Index r = 0; r < (1 + m) * c; ++r) {
      const F* slopes = row(j, r);
      F* to = gradients(j, r);
      each_between(team, begin(), j * c, [&](Index e) { to[e] += slopes[e]; });
    }
    each_between(team, begin(), j * c, [&](Index e) {
      F sum = 0;
      for (Index r = 0; r < (1 + m) * c; ++r) sum += row(j, r)[e] * edges(j, r)[e];
      forward_gradients[e] += sum;
    });
    each(team, c, [&](Index b) {
      F sum = 0;
      for (Index channel = 0; channel <= m; ++channel) {
        const F *slopes = row(j, channel * c + b), *edge = edges(j, channel * c + b);
        for (Index e = begin(); e < j * c; ++e) sum += slopes[e] * edge[e];
      }
      forward_gradients[j * c + b] -= sum;
    });
  }
  // The same for the head's forward weights u and vectors, into the gradients of its rows.
  template <class Team>
  PUSHDOWN_DEVICE void add_head(const Team& team, const F* u, const F* read, F* rows) const {
    F mean = 0;
    for (Index b = 0; b < c; ++b) mean += forward()[b] * u[b];
    each(team, c, [&](Index b) {
      F sum = u[b] * (forward()[b] - mean);
      for (Index k = 0; k < m; ++k) {
        sum -= vectors()[k * c + b] * read[k * c + b];
        rows[(1 + k) * c + b] += vectors()[k * c + b];
      }
      rows[b] += sum;
    });
  }
};

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
