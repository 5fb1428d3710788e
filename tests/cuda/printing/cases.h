// The networks whose code is printed when the tests are built (print.cpp), and compiled into
// test_cuda.
#pragma once
#include "kernel/step/device_step_code.h"
#include "model/language_model.h"
#include "model/recorded_cases.h"
#include "model/step_engine.h"
#include "recurrence/device/source.h"
#include "recurrence/everything.h"
#include "recurrence/memory_networks.h"

namespace pushdown::testing_support {

struct PrintedCase {
  std::string name;
  DeviceSourceOptions options;
  // The program for so many sequences and steps.
  std::function<TracedProgram(std::int64_t batch, std::int64_t steps)> record;
};

inline DeviceSourceOptions source_options(bool is_double, int threads = 64) {
  DeviceSourceOptions options;
  options.is_double = is_double;
  options.threads = threads;
  return options;
}

inline LanguageModel printed_model(const Json& controller, const Json& stack, bool is_double,
                                   int seed = 1) {
  return LanguageModel(Alphabet({"a", "b", "c"}), Json{{"controller", controller},
                                                       {"stack", stack},
                                                       {"dtype", is_double ? "float64" : "float32"},
                                                       {"seed", seed}});
}

// Memories of recorded networks, those that can be cut also with windows.
inline std::vector<PrintedCase> printed_memories() {
  std::vector<PrintedCase> all;
  for (const Example& example : memories())
    for (const bool windowed : {false, true}) {
      const bool chosen = example.name == "worn stacks" || example.name == "list of vectors" ||
                          example.name == "analog stack" || example.name == "deque of sections";
      if (windowed && !chosen) continue;
      auto options = source_options(true);
      options.windowed = windowed;
      all.push_back({example.name + (windowed ? ", windows" : ""), options,
                     [shape = example.shape](std::int64_t batch, std::int64_t steps) {
                       return MemoryNetwork(shape, batch, steps, at::kDouble).record();
                     }});
    }
  return all;
}

// Language models, whose programs read symbols.
struct PrintedModel {
  std::string name;
  Json controller, stack;
  bool is_double;
  int threads;
};
inline std::vector<PrintedModel> printed_models() {
  const Json lstm{{"kind", "lstm"}, {"hidden", 5}}, none{{"kind", "none"}};
  std::vector<PrintedModel> all{
      {"lstm", lstm, none, true, 64},
      {"lstm, float32", {{"kind", "lstm"}, {"hidden", 20}}, none, false, 256},
      {"two layers", {{"kind", "lstm"}, {"hidden", 18}, {"layers", 2}}, none, true, 64},
      {"wide", {{"kind", "lstm"}, {"hidden", 70}}, none, false, 64},
      {"gru", {{"kind", "gru"}, {"hidden", 6}}, {{"kind", "superposition"}, {"size", 3}}, true, 64},
      {"deque", lstm, {{"kind", "stratification_deque"}, {"size", 2}}, true, 64},
      {"nondeterministic, float32",
       {{"kind", "lstm"}, {"hidden", 20}},
       {{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 2}},
       false,
       256}};
  for (const char* kind : {"elman", "mrnn", "mlstm", "mi_rnn", "delta_rnn", "second_order",
                           "deltanet", "selective_ssm", "scalar_lstm", "matrix_lstm"})
    all.push_back({kind, {{"kind", kind}, {"hidden", 5}}, none, true, 64});
  return all;
}

inline std::vector<PrintedCase> printed_cases() {
  auto all = printed_memories();
  for (const PrintedModel& model : printed_models())
    all.push_back({model.name, source_options(model.is_double, model.threads),
                   [model](std::int64_t batch, std::int64_t steps) {
                     return *printed_model(model.controller, model.stack, model.is_double)
                                 .network()
                                 .plan(batch, steps)
                                 ->program();
                   }});
  for (const bool gradients : {true, false}) {
    auto options = source_options(true);
    options.gradients = gradients;
    all.push_back({gradients ? "every operation" : "no gradients", options,
                   [gradients](std::int64_t batch, std::int64_t steps) {
                     const at::AutoGradMode mode(gradients);
                     return record(Everything(), inputs_of(batch, steps, gradients));
                   }});
  }
  return all;
}

// The hidden vectors of a network, and all gradients, by an engine; null: by the processor.
inline std::vector<Tensor> recorded_outcome(const RecordedCase& of, const StepEnginePtr& engine) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  at::manual_seed(5);
  const Tensor x = at::randn({2, 3, 4}, options).requires_grad_();
  Random random(3), drawn(7);
  const StackRnn network(of.controller, of.stack, 4, options, random, of.recurrence);
  const Tensor hiddens = network.run_recorded(x, {}, &drawn, 0, engine);
  (hiddens * at::arange(hiddens.numel(), options).view_as(hiddens).cos()).sum().backward();
  std::vector<Tensor> all{hiddens.detach(), x.grad()};
  for (const auto& [name, tensor] : network.parameters())
    all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros({1}, options));
  return all;
}
// The part of a complete text that is the network's own.
inline std::string own_code(const std::string& text) {
  const std::string begin = "\nnamespace pushdown::device {\n\n",
                    end = "\n}  // namespace pushdown::device\n";
  const auto first = text.rfind(begin) + begin.size();
  return text.substr(first, text.size() - end.size() - first);
}

}  // namespace pushdown::testing_support
