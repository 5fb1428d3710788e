#include "pda/reachability.h"

#include <map>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

struct Frame {
  std::set<std::pair<int, int>> callers;  // (frame, top) that pushed it
  std::set<int> returns;                  // states after its end
};

class Saturation {
 public:
  Saturation(const std::function<std::vector<PushdownMove>(int, int)>& moves, std::int64_t limit)
      : ask_(moves), limit_(limit) {}

  Reachable run(int start) {
    frames_.emplace_back();
    add(0, start, 0);
    const StopCheck stop;
    while (!waiting_.empty()) {
      stop();
      const auto [frame, state, top] = waiting_.back();
      waiting_.pop_back();
      for (const auto& move : moves_of(state, top)) step(frame, top, move);
    }
    Reachable result;
    for (const auto& [frame, state, top] : nodes_) {
      result.pairs.insert({state, top});
      if (frame == 0 && top == 0) result.at_bottom.insert(state);
    }
    return result;
  }

 private:
  using Node = std::tuple<int, int, int>;  // frame, state, top

  void add(int frame, int state, int top) {
    if (!nodes_.insert({frame, state, top}).second) return;
    check(static_cast<std::int64_t>(nodes_.size()) <= limit_, "pda.reachable",
          "more than {} configurations of the stack's elements; raise the limit", limit_);
    waiting_.push_back({frame, state, top});
  }

  void step(int frame, int top, const PushdownMove& move) {
    if (move.action == StackAction::replace) return add(frame, move.state, move.pushed);
    if (move.action == StackAction::push) {
      const auto [entry, is_new] =
          numbers_.emplace(std::pair(move.state, move.pushed), static_cast<int>(frames_.size()));
      if (is_new) frames_.emplace_back();
      const int pushed = entry->second;
      add(pushed, move.state, move.pushed);
      if (frames_[pushed].callers.insert({frame, top}).second)
        for (const int state : frames_[pushed].returns) add(frame, state, top);
      return;
    }
    if (frame == 0 || !frames_[frame].returns.insert(move.state).second) return;
    for (const auto& [caller, below] : frames_[frame].callers) add(caller, move.state, below);
  }

  const std::vector<PushdownMove>& moves_of(int state, int top) {
    const auto found = known_.find({state, top});
    return found != known_.end()
               ? found->second
               : known_.emplace(std::pair(state, top), ask_(state, top)).first->second;
  }

  const std::function<std::vector<PushdownMove>(int, int)>& ask_;
  std::int64_t limit_;
  std::vector<Frame> frames_;                   // 0: the bottom symbol's
  std::map<std::pair<int, int>, int> numbers_;  // (state, symbol) of the push -> frame
  std::set<Node> nodes_;
  std::vector<Node> waiting_;
  std::map<std::pair<int, int>, std::vector<PushdownMove>> known_;
};

}  // namespace

Reachable reachable(int start, const std::function<std::vector<PushdownMove>(int, int)>& moves,
                    std::int64_t limit) {
  return Saturation(moves, limit).run(start);
}

Reachable reachable(const Pda& pda) {
  std::map<std::pair<int, int>, std::vector<PushdownMove>> table;
  for (const auto& t : pda.transitions())
    if (t.weight > 0) table[{t.state, t.top}].push_back({t.next, t.action, t.pushed});
  return reachable(0, [&](int state, int top) { return table[{state, top}]; });
}

}  // namespace pushdown
