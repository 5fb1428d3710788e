#include "pda/deterministic_run.h"

#include "base/check.h"

namespace pushdown {

DeterministicRun::DeterministicRun(Pda pda) : pda_(std::move(pda)) {
  check(pda_.deterministic(), "pda.run", "the automaton{} must be deterministic",
        pda_.name().empty() ? "" : " " + pda_.name());
  auto table = std::make_shared<Table>();
  for (const auto& t : pda_.transitions())
    if (t.weight > 0) (*table)[{t.state, t.top, t.symbol}] = t;
  table_ = table;
}

const Transition* DeterministicRun::transition(int symbol) const {
  const auto found = table_->find({state_, stack_.back(), symbol});
  return found == table_->end() ? nullptr : &found->second;
}

bool DeterministicRun::step(int symbol) {
  const auto* t = transition(symbol);
  if (t == nullptr || (t->action == StackAction::pop && stack_.size() == 1)) return false;
  if (t->action == StackAction::pop)
    stack_.pop_back();
  else if (t->action == StackAction::push)
    stack_.push_back(t->pushed);
  else
    stack_.back() = t->pushed;
  state_ = t->next;
  return true;
}

bool DeterministicRun::accepted() const {
  return pda_.accepting()[state_] > 0 &&
         (!pda_.at_bottom() || (stack_.size() == 1 && stack_[0] == 0));
}

bool DeterministicRun::accepts(const Word& word) const {
  DeterministicRun run = *this;
  run.state_ = 0;
  run.stack_ = {0};
  for (const int symbol : word)
    if (!run.step(symbol)) return false;
  return run.accepted();
}

}  // namespace pushdown
