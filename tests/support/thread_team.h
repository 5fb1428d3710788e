// Teams of processor threads for the step functions of the CUDA kernels (with the terms of
// kernel/device_team.h).
#pragma once
#include <barrier>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace pushdown::testing_support {

// The shared part of a team.
class TeamHall {
 public:
  TeamHall(int size, int lanes) : size(size), lanes(lanes), all(size), values(size) {
    for (int group = 0; group < size / lanes; ++group)
      groups.push_back(std::make_unique<std::barrier<>>(lanes));
  }
  const int size, lanes;
  std::barrier<> all;
  std::vector<std::unique_ptr<std::barrier<>>> groups;
  std::vector<double> values;
};

class ThreadTeam {
 public:
  ThreadTeam(TeamHall& hall, int id) : hall_(&hall), id_(id) {}
  std::int64_t id() const { return id_; }
  std::int64_t size() const { return hall_->size; }
  void sync() const {
    if (hall_->size > 1) hall_->all.arrive_and_wait();
  }
  std::int64_t lane() const { return id_ % hall_->lanes; }
  std::int64_t lanes() const { return hall_->lanes; }
  std::int64_t group() const { return id_ / hall_->lanes; }
  std::int64_t groups() const { return hall_->size / hall_->lanes; }
  template <class F>
  F group_sum(F value) const {
    return sum_of(value, group() * lanes(), lanes());
  }
  template <class F>
  F group_greatest(F value) const {
    return folded(value, group() * lanes(), lanes(), [](F a, F b) { return b > a ? b : a; });
  }

 private:
  template <class F>
  F sum_of(F value, std::int64_t first, std::int64_t count) const {
    return folded(value, first, count, [](F a, F b) { return a + b; });
  }
  // For `count` threads of the group of this one, which must all call it.
  template <class F, class Join>
  F folded(F value, std::int64_t first, std::int64_t count, const Join& join) const {
    if (lanes() == 1) return value;
    auto& barrier = *hall_->groups[group()];
    hall_->values[id_] = value;
    barrier.arrive_and_wait();
    F all = static_cast<F>(hall_->values[first]);
    for (std::int64_t i = first + 1; i < first + count; ++i)
      all = join(all, static_cast<F>(hall_->values[i]));
    barrier.arrive_and_wait();
    return all;
  }

  TeamHall* hall_;
  int id_;
};

// Calls body(team) by `size` threads at once, in groups of `lanes`, a divisor of `size`.
template <class Body>
void run_team(int size, int lanes, const Body& body) {
  TeamHall hall(size, lanes);
  std::vector<std::jthread> others;
  for (int id = 1; id < size; ++id)
    others.emplace_back([&hall, &body, id] { body(ThreadTeam(hall, id)); });
  body(ThreadTeam(hall, 0));
}

}  // namespace pushdown::testing_support
