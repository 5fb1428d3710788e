#include "pda/summaries.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {

class Summaries::Search {
 public:
  Search(const Pda& pda, Summaries& result)
      : pda_(pda), result_(result), symbols_(static_cast<int>(pda.stack_symbols().size())) {
    const auto size = pda.states().size() * pda.stack_symbols().size();
    steps_into_.resize(size);
    pushes_of_.resize(size);
    known_.resize(size);
  }

  void run() {
    for (const auto& t : pda_.transitions()) {
      if (t.weight <= 0) continue;
      const int from = at(t.state, t.top);
      if (t.action == StackAction::pop) open_.push({1, from, t.next});
      if (t.action == StackAction::replace) steps_into_[at(t.next, t.pushed)].push_back({from, 1});
      if (t.action == StackAction::push) pushes_of_[at(t.next, t.pushed)].push_back(from);
    }
    const StopCheck stop;
    while (!open_.empty()) {
      stop();
      const auto [length, configuration, next] = open_.top();
      open_.pop();
      if (!known_[configuration].insert(next).second) continue;
      check(++count_ <= kMost, "pda",
            "the automaton{} has more than {} summaries, which are combinations of a state, a top "
            "and the state after its pop",
            pda_.name().empty() ? "" : " " + pda_.name(), kMost);
      result_.pops_[configuration].emplace_back(next, length);
      settle(configuration, next, length);
    }
    for (auto& list : result_.pops_) std::sort(list.begin(), list.end());
    find_ends();
  }

 private:
  int at(int state, int top) const { return state * symbols_ + top; }

  // Runs from `configuration` to a pop into `next` take at least `length` symbols.
  void settle(int configuration, int next, int length) {
    for (const auto& [from, cost] : steps_into_[configuration])
      open_.push({cost + length, from, next});
    // Pushing this element and popping it again is a step of the element below.
    for (const int from : pushes_of_[configuration]) {
      const int below = at(next, from % symbols_);
      steps_into_[below].push_back({from, 1 + length});
      for (const auto& [state, rest] : result_.pops_[below])
        open_.push({1 + length + rest, from, state});
    }
  }

  void find_ends() {
    using Entry = std::pair<int, int>;  // (length, configuration)
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    for (int q = 0; q < static_cast<int>(pda_.states().size()); ++q)
      for (int x = 0; x < symbols_; ++x)
        if (pda_.accepting()[q] > 0 && (x == 0 || !pda_.at_bottom())) open.push({0, at(q, x)});
    const StopCheck stop;
    while (!open.empty()) {
      stop();
      const auto [length, configuration] = open.top();
      open.pop();
      auto& end = result_.ends_[configuration];
      if (end <= length) continue;
      end = length;
      for (const auto& [from, cost] : steps_into_[configuration]) open.push({cost + length, from});
      if (!pda_.at_bottom())
        for (const int from : pushes_of_[configuration]) open.push({1 + length, from});
    }
  }

  static constexpr std::int64_t kMost = 10'000'000;

  const Pda& pda_;
  Summaries& result_;
  int symbols_;
  std::int64_t count_ = 0;
  std::vector<std::vector<Step>> steps_into_;
  std::vector<std::vector<int>> pushes_of_;  // configurations that push this one
  std::vector<std::set<int>> known_;
  using Entry = std::tuple<int, int, int>;  // (length, configuration, state after the pop)
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

Summaries::Summaries(const Pda& pda)
    : symbols_(pda.stack_symbols().size()),
      pops_(pda.states().size() * symbols_),
      ends_(pops_.size(), kNone) {
  Search(pda, *this).run();
}

int Summaries::pop_length(int state, int top, int next) const {
  const auto& list = pops(state, top);
  const auto found = std::lower_bound(list.begin(), list.end(), std::pair(next, 0));
  return found != list.end() && found->first == next ? found->second : kNone;
}

}  // namespace pushdown
