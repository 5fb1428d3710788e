// The recurrent networks of Delétang et al. (2023), compared with their equations by plain tensor
// operations: controllers with ReLU, several stacks, and the Tape-RNN, whose tapes jump by the
// length of each source. Values and gradients, in float64.
#include <gtest/gtest.h>

#include "model/transducer.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::tape_rnn_test {
namespace {

using namespace testing_support;

const std::vector<Word> kSources{{0, 1, 2}, {1}, {2, 2, 1, 0, 0}, {0, 0, 1}};
const std::vector<Word> kTargets{{1}, {0, 0, 1, 1}, {}, {1, 0, 1}};

Transducer make(const Json& controller, const Json& stack, const Json& more = Json::object()) {
  Json options{{"controller", controller}, {"stack", stack},     {"output_embedding", 0},
               {"feedback", false},        {"dtype", "float64"}, {"seed", 5}};
  options.update(more);
  Transducer model(Alphabet({"a", "b", "c"}), Alphabet({"x", "y"}), options);
  // Weights that are large enough for actions to differ from step to step.
  at::NoGradGuard guard;
  Random random(3);
  for (const auto& [name, tensor] : model.parameters())
    tensor.copy_(random_tensor(tensor.sizes(), random, -0.7, 0.7));
  return model;
}

using Numbers = std::map<std::string, Tensor>;

// A memory by plain tensor operations: reads, and moves by a hidden vector, both of one sequence.
struct Memory {
  std::function<Tensor(const Tensor& cells)> read;
  std::function<Tensor(const Tensor& cells, const Tensor& hidden)> move;
  Tensor cells;
};

Tensor layer(const Numbers& p, const std::string& name, const Tensor& x) {
  return p.at("stack." + name + "_weight").matmul(x) + p.at("stack." + name + "_bias");
}

// The program of the paper moves its memory by matrices: the identity with its rows rolled.
Memory tapes(const Numbers& p, std::int64_t count, std::int64_t cells, std::int64_t size,
             std::int64_t jump, std::int64_t write_layers) {
  Memory memory;
  memory.cells = at::zeros({count, cells, size}, at::kDouble);
  memory.read = [](const Tensor& all) { return all.select(1, 0).flatten(); };
  memory.move = [=, &p](const Tensor& all, const Tensor& hidden) {
    Tensor vector = hidden;
    for (std::int64_t k = 1; k <= write_layers; ++k)
      vector = layer(p, fmt::format("write{}", k), vector).clamp_min(0);
    vector = layer(p, "vector", vector).view({count, 1, size});
    const Tensor actions = layer(p, "action", hidden).view({count, 5}).softmax(1);
    const Tensor written = at::cat({vector, all.narrow(1, 1, cells - 1)}, 1);
    const Tensor eye = at::eye(cells, at::kDouble);
    const std::vector<Tensor> moves{eye, eye.roll(-1, 0), eye.roll(1, 0), eye.roll(-jump, 0),
                                    eye.roll(jump, 0)};
    return at::einsum("amn,knc,ka->kmc", {at::stack(moves), written, actions});
  };
  return memory;
}

Memory stacks(const Numbers& p, std::int64_t count, std::int64_t size, bool joint) {
  Memory memory;
  memory.cells = at::zeros({count, 40, size}, at::kDouble);
  memory.read = [](const Tensor& all) { return all.select(1, 0).flatten(); };
  memory.move = [=, &p](const Tensor& all, const Tensor& hidden) {
    const Tensor scores = layer(p, "action", hidden);
    const Tensor actions =
        joint ? scores.softmax(0).view({count, 3}) : scores.view({count, 3}).softmax(1);
    const Tensor pushed = layer(p, "vector", hidden).view({count, 1, size});
    const Tensor none = at::zeros_like(pushed);
    std::vector<Tensor> made;
    for (std::int64_t k = 0; k < count; ++k)
      made.push_back(actions[k][0] * at::cat({pushed[k], all[k].narrow(0, 0, 39)}) +
                     actions[k][1] * at::cat({all[k].narrow(0, 1, 39), none[k]}) +
                     actions[k][2] * all[k]);
    return at::stack(made);
  };
  return memory;
}

// The losses of the pairs, one after the other.
Tensor losses_by_hand(const Transducer& model,
                      const std::function<Memory(const Numbers&, std::int64_t source)>& memory_of) {
  Numbers p;
  for (const auto& [name, tensor] : model.parameters()) p[name] = tensor;
  const auto gate = [&](const char* of, const Tensor& x) {
    return p.at(fmt::format("controller.weight_{}_l0", of)).matmul(x) +
           p.at(fmt::format("controller.bias_{}_l0", of));
  };
  const Tensor inputs = at::eye(3 + 2 + 2, at::kDouble);
  std::vector<Tensor> losses;
  for (std::size_t b = 0; b < kSources.size(); ++b) {
    Memory memory = memory_of(p, std::ssize(kSources[b]));
    Tensor hidden = at::zeros({p.at("controller.weight_hh_l0").size(1)}, at::kDouble);
    const auto read = [&](std::int64_t symbol) {
      hidden =
          (gate("ih", at::cat({inputs[symbol], memory.read(memory.cells)})) + gate("hh", hidden))
              .clamp_min(0);
      memory.cells = memory.move(memory.cells, hidden);
    };
    read(model.start_input());
    for (const int id : kSources[b]) read(id);
    Word outcomes = kTargets[b];
    outcomes.push_back(static_cast<int>(model.end_outcome()));
    for (const int id : outcomes) {
      read(model.separator_input());
      const Tensor logits = p.at("output.weight").matmul(hidden.clamp_min(0)) + p.at("output.bias");
      losses.push_back(-logits.log_softmax(0)[id]);
    }
  }
  return at::stack(losses);
}

struct Case {
  const char* name;
  Json stack;
  std::function<Memory(const Numbers&, std::int64_t source)> memory;
};

std::vector<Case> cases() {
  const auto tape = [](std::int64_t count, std::int64_t cells, std::vector<std::int64_t> layers) {
    return Json{{"kind", "tape"},
                {"tapes", count},
                {"cells", cells},
                {"size", 3},
                {"write_layers", layers}};
  };
  const auto stack = [](std::int64_t count, bool joint) {
    return Json{{"kind", "superposition"},
                {"stacks", count},
                {"size", 2},
                {"vector", "linear"},
                {"joint_actions", joint}};
  };
  return {
      {"one tape", tape(1, 9, {6, 5}),
       [](const Numbers& p, std::int64_t n) { return tapes(p, 1, 9, 3, n, 2); }},
      {"tape shorter than a source", tape(1, 4, {6}),
       [](const Numbers& p, std::int64_t n) { return tapes(p, 1, 4, 3, n, 1); }},
      {"four tapes", tape(4, 7, {}),
       [](const Numbers& p, std::int64_t n) { return tapes(p, 4, 7, 3, n, 0); }},
      {"one stack", stack(1, false),
       [](const Numbers& p, std::int64_t) { return stacks(p, 1, 2, false); }},
      {"three stacks", stack(3, false),
       [](const Numbers& p, std::int64_t) { return stacks(p, 3, 2, false); }},
      {"three stacks, one softmax", stack(3, true),
       [](const Numbers& p, std::int64_t) { return stacks(p, 3, 2, true); }},
  };
}

const Json kRelu{{"kind", "elman"}, {"hidden", 6}, {"activation", "relu"}};

std::vector<Tensor> gradients_of(const Transducer& model, const Tensor& losses) {
  const Tensor probe = at::arange(losses.numel(), at::kDouble).mul(0.7).sin();
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : model.parameters()) tensor.mutable_grad() = Tensor();
  (losses * probe).sum().backward();
  for (const auto& [name, tensor] : model.parameters())
    found.push_back(tensor.grad().defined() ? tensor.grad().clone() : at::zeros_like(tensor));
  return found;
}

TEST(TapeRnn, FollowsItsEquations) {
  for (const Case& given : cases())
    for (const bool kernels : {true, false}) {
      const Transducer model =
          make(kRelu, given.stack, {{"rectified", true}, {"kernels", kernels}});
      const Tensor got = model.losses(model.joint(kSources, kTargets)),
                   wanted = losses_by_hand(model, given.memory);
      EXPECT_LT(deviation(got, wanted), 1e-12) << given.name << ", kernels " << kernels;
      const auto found = gradients_of(model, got), expected = gradients_of(model, wanted);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LT(deviation(found[i], expected[i]), 1e-9)
            << given.name << ", kernels " << kernels << ", " << model.parameters()[i].first;
    }
}

// The positive part of an LSTM's hidden vector, which can be negative.
TEST(TapeRnn, OutputLayersMayReadThePositivePart) {
  const Json lstm{{"kind", "lstm"}, {"hidden", 5}}, none{{"kind", "none"}};
  const Transducer plain = make(lstm, none), rectified = make(lstm, none, {{"rectified", true}});
  at::NoGradGuard guard;
  const auto joint = plain.joint(kSources, kTargets);
  const Tensor hiddens =
      plain.network().run({.words = joint.inputs, .lengths = joint.lengths}).hiddens;
  const Tensor read = hiddens.flatten(0, 1).index_select(0, joint.places).clamp_min(0);
  Numbers p;
  for (const auto& [name, tensor] : plain.parameters()) p[name] = tensor;
  EXPECT_LT(deviation(rectified.logits(joint),
                      read.matmul(p.at("output.weight").t()) + p.at("output.bias")),
            1e-12);
  EXPECT_GT((rectified.logits(joint) - plain.logits(joint)).abs().max().item<double>(), 0.01);
}

// After the end, the first symbol of the alphabet, until there are as many symbols as in the source
// and the end; what was predicted before does not change.
TEST(TapeRnn, TargetsMayBePadded) {
  const Transducer model = make(kRelu, {{"kind", "none"}});
  const auto plain = model.joint(kSources, kTargets),
             padded = model.joint(kSources, kTargets, true);
  EXPECT_EQ(plain.predictions, (std::vector<std::int64_t>{2, 5, 1, 4}));
  EXPECT_EQ(padded.predictions, (std::vector<std::int64_t>{4, 5, 6, 4}));
  EXPECT_TRUE(
      at::equal(padded.targets,
                at::tensor({1, 2, 0, 0, 0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 0, 1, 0, 1, 2}, at::kLong)));
  at::NoGradGuard guard;
  const Tensor before = model.losses(plain), after = model.losses(padded);
  EXPECT_LT(deviation(after.slice(0, 0, 2), before.slice(0, 0, 2)), 1e-13);
  EXPECT_LT(deviation(after.slice(0, 4, 10), before.slice(0, 2, 8)), 1e-13);
  EXPECT_CONTAINS(
      message([] {
        make(kRelu, {{"kind", "none"}}, {{"feedback", true}}).joint(kSources, kTargets, true);
      }),
      "padded targets need feedback = false");
}

TEST(TapeRnn, RefusesInvalidOptions) {
  const auto refusal = [&](const Json& stack, const Json& more = Json::object()) {
    return message([&] { make(kRelu, stack, more); });
  };
  EXPECT_CONTAINS(refusal({{"kind", "none"}}, {{"rectified", true}, {"output_embedding", 4}}),
                  "'rectified' needs output_embedding = 0");
  EXPECT_CONTAINS(refusal({{"kind", "tape"}, {"write_layers", {64, 0}}}),
                  "'write_layers' must be a list of integers from 1 to 65536, got [64,0]");
  EXPECT_CONTAINS(refusal({{"kind", "tape"}, {"tapes", 1000}, {"size", 100}}),
                  "tapes x size must be at most 65536 numbers, got 1000 x 100");
  EXPECT_CONTAINS(refusal({{"kind", "superposition"}, {"stacks", 1000}, {"size", 100}}),
                  "stacks x size must be at most 65536 numbers, got 1000 x 100");
  EXPECT_CONTAINS(refusal({{"kind", "tape"}, {"cells", 0}}), "cells");
}

}  // namespace
}  // namespace pushdown::tape_rnn_test
