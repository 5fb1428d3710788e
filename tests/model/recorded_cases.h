// Every controller with every stack that has kernels.
#pragma once
#include "model/stack_rnn.h"

namespace pushdown::testing_support {

struct RecordedCase {
  Json controller, stack;
  Recurrence recurrence = {};
};
inline void PrintTo(const RecordedCase& given, std::ostream* out) {
  *out << given.controller << ' ' << given.stack << ' ' << given.recurrence.coupled_state << ' '
       << given.recurrence.noise << ' ' << static_cast<int>(given.recurrence.carry);
}

inline std::vector<RecordedCase> recorded_cases() {
  std::vector<Json> controllers;
  for (const auto& row : controller_kinds()) {
    controllers.push_back({{"kind", row.name}, {"hidden", 5}});
    controllers.push_back({{"kind", row.name}, {"hidden", 18}, {"layers", 2}});
  }
  for (const char* activation : {"scaled_tanh", "relu"})
    controllers.push_back({{"kind", "elman"}, {"hidden", 6}, {"activation", activation}});
  for (const char* kind : {"lstm", "mlstm"})
    controllers.push_back({{"kind", kind}, {"hidden", 6}, {"activation", "scaled_tanh"}});
  controllers.push_back({{"kind", "delta_rnn"}, {"hidden", 6}, {"phi", "relu"}});
  controllers.push_back({{"kind", "mlstm"}, {"hidden", 6}, {"output", "gate_inside"}});
  controllers.push_back({{"kind", "mrnn"}, {"hidden", 6}, {"factors", 9}});
  controllers.push_back({{"kind", "second_order"}, {"hidden", 6}, {"start", "zero"}});
  for (const char* kind : {"deltanet", "matrix_lstm", "scalar_lstm"})
    controllers.push_back({{"kind", kind}, {"hidden", 18}, {"heads", 3}});
  for (const char* kind : {"matrix_lstm", "scalar_lstm"})
    controllers.push_back({{"kind", kind}, {"hidden", 5}, {"forget_gate", "exponential"}});
  for (const char* kind : {"deltanet", "selective_ssm"})
    controllers.push_back({{"kind", kind}, {"hidden", 5}, {"lowest_eigenvalue", -1}});
  std::vector<RecordedCase> all;
  for (const Json& controller : controllers)
    for (const Json& stack : {Json{{"kind", "none"}}, {{"kind", "superposition"}, {"size", 3}}})
      all.push_back({controller, stack});
  const Json lstm{{"kind", "lstm"}, {"hidden", 7}};
  for (const Json& stack :
       {Json{{"kind", "stratification"}, {"size", 3}},
        {{"kind", "stratification"}, {"size", 2}, {"memories", 2}, {"read", "expectation"}},
        {{"kind", "stratification_queue"},
         {"size", 3},
         {"push", "expectation"},
         {"read", "expectation"}},
        {{"kind", "stratification_deque"}, {"size", 2}, {"memories", 3}, {"read", "expectation"}},
        {{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 3}},
        {{"kind", "vector_nondeterministic"}, {"states", 2}, {"symbols", 2}, {"size", 3}},
        {{"kind", "vector_nondeterministic"}, {"bottom", "original"}, {"vector", "exp"}},
        {{"kind", "nondeterministic"}, {"symbols", 3}, {"window", 4}, {"reading", "state_symbol"}},
        {{"kind", "vector_nondeterministic"}, {"window", 3}, {"normalized", true}},
        {{"kind", "nondeterministic"}, {"window", 1}},
        {{"kind", "nondeterministic"}, {"window", 9}, {"bottom", "reexposed"}},
        {{"kind", "nondeterministic"}, {"states", 3}, {"symbols", 3}, {"window", 6}},
        {{"kind", "vector_nondeterministic"}, {"size", 2}, {"window", 30}}})
    all.push_back({lstm, stack});
  // Memories whose cells move.
  const auto parallel = [](Json more) {
    Json stack{{"kind", "parallel_superposition"}, {"stacks", 3}};
    stack.update(more);
    return stack;
  };
  const std::vector<Json> shifted{
      {{"kind", "superposition"}, {"size", 5}, {"no_op", false}, {"depth", 4}},
      {{"kind", "superposition"}, {"size", 17}, {"vector", "linear"}, {"temperature", 0.5}},
      {{"kind", "superposition"}, {"size", 3}, {"vector", "exp"}},
      parallel(Json::object()),
      parallel({{"no_op", true}, {"read_depth", 4}, {"stacks", 1}, {"bias", true}}),
      parallel({{"no_op", true}, {"no_op_keeps", "top"}, {"read_depth", 3}}),
      parallel({{"no_op", true}, {"rounding", true}, {"stacks", 18}, {"empty", 0.5}}),
      {{"kind", "list"}, {"lists", 2}},
      {{"kind", "list"}, {"lists", 17}, {"no_op", true}, {"reach", 2}, {"rounding", true}},
      {{"kind", "list"}, {"lists", 1}, {"reach", 0}},
      {{"kind", "baby_ntm"}, {"cells", 6}, {"size", 3}},
      {{"kind", "baby_ntm"}, {"cells", 1}, {"size", 2}, {"temperature", 2.0}},
      {{"kind", "superposition"}, {"size", 3}, {"stacks", 2}},
      {{"kind", "superposition"}, {"size", 2}, {"stacks", 9}, {"joint_actions", true}},
      {{"kind", "tape"}, {"cells", 6}, {"size", 3}, {"jump", 2}, {"write_layers", {4}}},
      {{"kind", "tape"}, {"cells", 20}, {"tapes", 4}, {"size", 5}},
      {{"kind", "baby_ntm"}}};
  const Json gru{{"kind", "gru"}, {"hidden", 6}};
  for (const Json& stack : shifted) {
    all.push_back({gru, stack});
    all.push_back({lstm, stack, {true}});
  }
  const Json still = parallel({{"no_op", true}}), mlstm{{"kind", "mlstm"}, {"hidden", 6}},
             layers{{"kind", "mrnn"}, {"hidden", 5}, {"layers", 2}};
  // With masks of the inputs, which are one-hot vectors nevertheless.
  const Tensor one_hot = at::eye(4, at::kDouble);
  for (const CarryForward carry : {CarryForward::none, CarryForward::soft, CarryForward::counter})
    for (const double noise : {0.0, 0.3})
      for (const Json& controller : {mlstm, layers}) {
        all.push_back({controller, still, {true, noise, 0.1, carry}});
        all.push_back({controller, shifted[1], {false, noise, 0, carry}});
        all.push_back({controller, {{"kind", "baby_ntm"}}, {true, noise, 0, carry}});
        all.push_back({controller, still, {false, noise, 0, carry, false, 0.4, one_hot}});
      }
  // Stabilizers begin near minus infinity, and nothing may be left of that.
  for (const char* kind : {"matrix_lstm", "scalar_lstm"})
    for (const CarryForward carry : {CarryForward::soft, CarryForward::counter})
      all.push_back({{{"kind", kind}, {"hidden", 6}}, still, {false, 0, 0, carry}});
  return all;
}

}  // namespace pushdown::testing_support
