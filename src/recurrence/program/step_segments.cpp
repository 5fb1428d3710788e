#include "recurrence/program/step_segments.h"

#include <algorithm>

namespace pushdown {
namespace {

// The number of weights from which moving their product out of a loop is worth the additional
// memory.
constexpr std::int64_t kLeastMoved = 1 << 13;

class Arrangement {
 public:
  explicit Arrangement(TracedProgram&& program)
      : program_(std::move(program)), recorded_(count()) {}

  TracedProgram result() {
    fold_embeddings();
    find_loops();
    std::vector<int> order;
    bool divided = loops_.empty() || program_.attends;
    for (int n = 0, loop = 0; n < recorded_; ++n) {
      if (loop < static_cast<int>(loops_.size()) && loops_[at(loop)].first == n)
        divided |= move_out_of(loops_[at(loop++)], order);
      if (!in_loop(n)) order.push_back(n);
      const auto here = std::find_if(loops_.begin(), loops_.end(),
                                     [&](const Range& range) { return range.end == n + 1; });
      if (here != loops_.end()) order.insert(order.end(), here->nodes.begin(), here->nodes.end());
    }
    if (!divided) {
      order.clear();
      for (int n = 0; n < recorded_; ++n) order.push_back(n);
    }
    std::erase_if(order, [&](int n) { return dead_[at(n)]; });
    TracedProgram result = with_nodes(program_, order, recorded_);
    if (divided) set_segments(result, order);
    set_gradients(result);
    return result;
  }

 private:
  // Nodes first .. end-1 among which a value goes back to an earlier node. `nodes`: those that
  // remain in the loop.
  struct Range {
    int first, end;
    std::vector<int> nodes;
  };

  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  int count() const { return static_cast<int>(program_.nodes.size()); }
  StepNode& node(int n) { return program_.nodes[at(n)]; }
  int whole_of(int n) {
    while (node(n).op == StepOp::slice) n = node(n).a;
    return n;
  }
  StepTerm& term(const StepNode& of, int k) { return program_.terms[at(of.first_term + k)]; }
  // Everything that a node reads, without slices in between.
  std::vector<int> read_by(int n) {
    std::vector<int> all;
    const StepNode& of = node(n);
    for (const int operand : {of.a, of.b, of.c}) all.push_back(operand);
    for (int k = 0; k < of.terms; ++k) all.push_back(term(of, k).operand);
    for (int k = 0; k < of.operands; ++k)
      all.push_back(program_.operands[at(of.first_operand + k)]);
    std::erase(all, -1);
    for (int& operand : all) operand = whole_of(operand);
    return all;
  }
  // Nodes that have no numbers of their own, or none that are computed step by step.
  bool is_view(int n) { return !row_of(node(n).op).is_computed() || node(n).op == StepOp::symbols; }

  void fold_embeddings() {
    dead_.assign(program_.nodes.size(), 0);
    std::vector<int> readers(program_.nodes.size());
    for (int n = 0; n < recorded_; ++n)
      for (const int operand : read_by(n)) ++readers[at(operand)];
    const auto embeds = [&](int n) {
      const StepNode& of = node(n);
      return of.op == StepOp::affine && of.terms == 1 && of.operands == 0 && term(of, 0).lookup &&
             term(of, 0).table < 0 && !of.carried && n != program_.output;
    };
    for (int n = 0; n < recorded_; ++n) {
      const StepNode of = node(n);
      for (int k = 0; k < of.terms; ++k) {
        StepTerm& own = term(of, k);
        const int embedding = own.operand;
        if (own.lookup || !embeds(embedding)) continue;
        const StepTerm& inner = term(node(embedding), 0);
        own = {inner.operand, own.matrix, true, inner.matrix};
        if (--readers[at(embedding)] == 0) dead_[at(embedding)] = 1;
      }
    }
  }

  void find_loops() {
    std::vector<std::pair<int, int>> found;
    std::vector<std::pair<int, int>> of_room(program_.nodes.size(), {recorded_, -1});
    for (int n = 0; n < recorded_; ++n) {
      const StepOp op = node(n).op;
      if (is_view(n) && op != StepOp::room) continue;
      if (op == StepOp::memory || op == StepOp::array) found.emplace_back(n, n);
      for (const int operand : read_by(n)) {
        const StepNode& of = node(operand);
        if (of.op == StepOp::previous && n <= of.a) found.emplace_back(n, of.a);
        if (of.op != StepOp::room) continue;
        auto& [first, last] = of_room[at(operand)];
        first = std::min(first, n);
        last = std::max({last, n, of.a});
      }
    }
    for (const auto& range : of_room)
      if (range.second >= 0) found.push_back(range);
    std::sort(found.begin(), found.end());
    for (const auto& [first, last] : found) {
      if (loops_.empty() || first >= loops_.back().end) loops_.push_back({first, last + 1, {}});
      loops_.back().end = std::max(loops_.back().end, last + 1);
    }
  }
  bool in_loop(int n) const {
    return std::any_of(loops_.begin(), loops_.end(),
                       [&](const Range& loop) { return loop.first <= n && n < loop.end; });
  }

  // Appends the nodes that can be computed before a loop to the order. Returns whether they have
  // large products.
  bool move_out_of(Range& loop, std::vector<int>& order) {
    std::vector<char> inside(program_.nodes.size());
    const auto depends = [&](int operand) {
      const StepNode& of = node(operand);
      if (of.op == StepOp::previous) return loop.first <= of.a && of.a < loop.end;
      return of.op == StepOp::room || inside[at(operand)] != 0;
    };
    bool large = false;
    for (int n = loop.first; n < loop.end; ++n) {
      const std::vector<int> operands = read_by(n);
      const StepOp op = node(n).op;
      const bool own = op == StepOp::memory || op == StepOp::array ||
                       (!is_view(n) && (n >= program_.after ||
                                        std::any_of(operands.begin(), operands.end(), depends)));
      if (!own) {
        large |= weights(node(n)) >= kLeastMoved;
        order.push_back(n);
        continue;
      }
      inside[at(n)] = 1;
      loop.nodes.push_back(n);
      if (op != StepOp::affine) continue;
      const int before = split(n, depends);
      if (before < 0) continue;
      order.push_back(before);
      large = true;
    }
    return large;
  }
  std::int64_t weights(const StepNode& of) {
    std::int64_t sum = 0;
    for (int k = 0; k < of.terms; ++k)
      if (!term(of, k).lookup) sum += program_.matrices[at(term(of, k).matrix)].numel();
    return sum;
  }

  // Moves those parts of a sum that do not depend on the loop into a new node, which becomes its
  // first operand. Returns that node, or -1 if they are small.
  template <class Depends>
  int split(int n, const Depends& depends) {
    std::vector<StepTerm> terms[2];
    std::vector<int> operands[2];
    const StepNode of = node(n);
    std::int64_t moved = 0;
    for (int k = 0; k < of.terms; ++k) {
      const StepTerm own = term(of, k);
      const bool remains = own.lookup || depends(whole_of(own.operand));
      if (!remains) moved += program_.matrices[at(own.matrix)].numel();
      terms[remains].push_back(own);
    }
    if (moved < kLeastMoved) return -1;
    for (int k = 0; k < of.operands; ++k) {
      const int own = program_.operands[at(of.first_operand + k)];
      operands[depends(whole_of(own))].push_back(own);
    }
    const int before = count();
    operands[1].insert(operands[1].begin(), before);
    StepNode made{StepOp::affine};
    made.size = of.size;
    program_.nodes.push_back(made);
    program_.given.emplace_back();
    program_.initial.emplace_back();
    dead_.push_back(0);
    for (const bool remains : {false, true}) {
      StepNode& to = node(remains ? n : before);
      to.first_term = static_cast<int>(program_.terms.size());
      to.terms = static_cast<int>(terms[remains].size());
      to.first_operand = static_cast<int>(program_.operands.size());
      to.operands = static_cast<int>(operands[remains].size());
      program_.terms.insert(program_.terms.end(), terms[remains].begin(), terms[remains].end());
      program_.operands.insert(program_.operands.end(), operands[remains].begin(),
                               operands[remains].end());
    }
    return before;
  }

  // `order`: the nodes of the result.
  void set_segments(TracedProgram& result, const std::vector<int>& order) {
    std::vector<int> loop_of(order.size(), -1);
    for (std::size_t k = 0; k < order.size(); ++k)
      for (std::size_t l = 0; l < loops_.size(); ++l)
        if (std::find(loops_[l].nodes.begin(), loops_[l].nodes.end(), order[k]) !=
            loops_[l].nodes.end())
          loop_of[k] = static_cast<int>(l);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const int n = static_cast<int>(k);
      if (k == 0 || loop_of[k] != loop_of[k - 1])
        result.segments.push_back({n, n, loop_of[k] >= 0});
      ++result.segments.back().end;
    }
    program_ = result;
    for (int n = 0; n < count(); ++n) {
      StepNode& own = result.nodes[at(n)];
      own.apart = own.op == StepOp::sequence || own.op == StepOp::symbols ||
                  (loop_of[at(n)] < 0 && !is_view(n));
    }
    for (int n = 0; n < count(); ++n) {
      if (node(n).op == StepOp::slice || node(n).op == StepOp::previous) continue;
      for (int operand : read_by(n)) {
        if (node(operand).op == StepOp::previous) operand = node(operand).a;
        if (!is_view(operand) && loop_of[at(operand)] != loop_of[at(n)])
          result.nodes[at(operand)].apart = true;
      }
    }
  }

  TracedProgram program_;
  int recorded_;  // number of nodes of the given program; others were added
  std::vector<Range> loops_;
  std::vector<char> dead_;  // by node: nothing reads it any more
};

}  // namespace

TracedProgram arranged(TracedProgram program) { return Arrangement(std::move(program)).result(); }

}  // namespace pushdown
