// The kinds `stratification`, `stratification_queue` and `stratification_deque`. Controller
// interface of the paper's section 3.4, for every memory and each end that is pushed or popped:
//   d = sigmoid(W_d h + b_d),  u = sigmoid(W_u h + b_u),  v = tanh(W_v h + b_v).
// b_u starts around `pop_bias`: with -1 (the paper's supplement) little is popped at first.
#include "stack/stratification.h"

#include "base/check.h"
#include "stack/kinds.h"

namespace pushdown {

Strata empty_strata(std::int64_t batch, std::int64_t memories, std::int64_t size,
                    at::TensorOptions options) {
  return {at::zeros({batch, memories, 0, size}, options), at::zeros({batch, memories, 0}, options)};
}

namespace {

// The strengths between each section and an end : B x K x S
Tensor strength_before(const Tensor& strengths, bool at_top) {
  const auto count = strengths.size(2);
  if (!at_top) return at::constant_pad_nd(strengths, {1, 0}).cumsum(2).narrow(2, 0, count);
  return at::constant_pad_nd(strengths, {0, 1}).flip(2).cumsum(2).flip(2).narrow(2, 1, count);
}

// amount : B x K
Tensor cut(const Tensor& strengths, const Tensor& amount, bool at_top) {
  const Tensor taken = (amount.unsqueeze(2) - strength_before(strengths, at_top)).relu();
  return (strengths - taken).relu();
}

Tensor reading_at(const Strata& strata, bool at_top) {
  const Tensor shares = strata_shares(strata.strengths, at_top);
  return at::matmul(shares.unsqueeze(2), strata.vectors).squeeze(2);
}

}  // namespace

Strata strata_step(SectionEnds ends, const Strata& old, const StrataActions& top,
                   const StrataActions& bottom) {
  const auto section = [](const Tensor& actions) { return actions.unsqueeze(2); };
  Tensor kept = cut(old.strengths, top.pop, ends != SectionEnds::queue);
  if (ends != SectionEnds::deque)
    return {at::cat({old.vectors, section(top.vector)}, 2), at::cat({kept, section(top.push)}, 2)};
  kept = cut(kept, bottom.pop, false);
  return {at::cat({section(bottom.vector), old.vectors, section(top.vector)}, 2),
          at::cat({section(bottom.push), kept, section(top.push)}, 2)};
}

Tensor strata_shares(const Tensor& strengths, bool at_top) {
  const Tensor before = strength_before(strengths, at_top);
  const Tensor room = at::where(before <= 1, 1 - before, at::zeros_like(before));
  return at::where(strengths <= room, strengths, room);
}

Tensor strata_reading(SectionEnds ends, const Strata& strata) {
  if (ends != SectionEnds::deque) return reading_at(strata, ends == SectionEnds::stack);
  return at::cat({reading_at(strata, true), reading_at(strata, false)}, 2);
}

namespace {

struct StrataState : StackState {
  Strata strata;

  explicit StrataState(Strata given) : strata(std::move(given)) {}
  StackStatePtr detached() const override {
    return std::make_shared<StrataState>(
        Strata{strata.vectors.detach(), strata.strengths.detach()});
  }
  std::size_t bytes() const override {
    return tensor_bytes(strata.vectors) + tensor_bytes(strata.strengths);
  }
  std::vector<Tensor> tensors() const override { return {strata.vectors, strata.strengths}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.stratification", tensors(), given);
    return std::make_shared<StrataState>(Strata{given[0], given[1]});
  }
};

// The ends of a memory by name, as they are behind "push", "pop" and so on.
std::vector<std::string> end_names(SectionEnds ends) {
  return ends == SectionEnds::deque ? std::vector<std::string>{"_top", "_bottom"}
                                    : std::vector<std::string>{""};
}

// The actions of all steps, one entry an end. push, pop : B x n x K, vector : B x n x K x m
std::vector<StrataActions> of_step(const std::vector<StrataActions>& all, std::int64_t t) {
  std::vector<StrataActions> now;
  for (const auto& [push, pop, vector] : all)
    now.push_back({push.select(1, t), pop.select(1, t), vector.select(1, t)});
  return now;
}

// The memory before any of n steps and after each.
std::vector<Strata> run(SectionEnds ends, const std::vector<StrataActions>& all) {
  const Tensor& vector = all[0].vector;
  std::vector<Strata> run{
      empty_strata(vector.size(0), vector.size(2), vector.size(3), vector.options())};
  for (std::int64_t t = 0; t < vector.size(1); ++t) {
    auto now = of_step(all, t);
    run.push_back(strata_step(ends, run.back(), now.front(), now.back()));
  }
  return run;
}

// See Stack::strengths.
NamedTensors strengths_of(SectionEnds ends, const std::vector<StrataActions>& all) {
  NamedTensors result;
  const auto names = end_names(ends);
  for (std::size_t e = 0; e < names.size(); ++e) {
    result["push" + names[e]] = all[e].push;
    result["pop" + names[e]] = all[e].pop;
  }
  const auto states = run(ends, all);
  const auto length = static_cast<std::int64_t>(states.size()) - 1;
  const auto stacked = [&](const auto& row_of) {
    std::vector<Tensor> rows;
    for (std::int64_t t = 1; t <= length; ++t) {
      // Every section keeps its place; those to come are 0.
      const auto later = length - t;
      rows.push_back(at::constant_pad_nd(row_of(states[static_cast<std::size_t>(t)].strengths),
                                         {ends == SectionEnds::deque ? later : 0, later}));
    }
    return rows.empty() ? states[0].strengths.unsqueeze(1).narrow(1, 0, 0) : at::stack(rows, 1);
  };
  result["strengths"] = stacked([](const Tensor& own) { return own; });
  for (const auto& name : names)
    result["read" + name] = stacked([&](const Tensor& own) {
      return strata_shares(own, name.empty() ? ends == SectionEnds::stack : name == "_top");
    });
  return result;
}

class StratificationStack : public Stack {
 public:
  StratificationStack(SectionEnds ends, const Json& options, const ModuleContext& context)
      : ends_(ends),
        size_(options["size"]),
        memories_(options["memories"]),
        options_(context.tensor_options) {
    for (const auto& name : end_names(ends)) {
      const auto layer = [&](const char* what, std::int64_t rows, double gain) {
        return make_action_layer(what + name, memories_ * rows, gain, context, parameters_);
      };
      // In this order: the random numbers are drawn on the way.
      const ActionLayer push = layer("push", 1, 1.0), pop = layer("pop", 1, 1.0);
      layers_.push_back({push, pop, layer("vector", size_, 5.0 / 3.0)});
      at::NoGradGuard guard;
      pop.bias.add_(options["pop_bias"].get<double>());
    }
  }

  std::int64_t reading_size() const override {
    return memories_ * size_ * static_cast<std::int64_t>(layers_.size());
  }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<StrataState>(empty_strata(batch, memories_, size_, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const auto now = actions(hidden);
    return std::make_shared<StrataState>(
        strata_step(ends_, strata_of(state), now.front(), now.back()));
  }
  Tensor reading(const StackStatePtr& state) const override {
    return strata_reading(ends_, strata_of(state)).flatten(1);
  }
  NamedTensors strengths(const Tensor& hiddens) const override {
    return strengths_of(ends_, actions(hiddens));
  }
  bool fused(FusedStack& plan) const override {
    plan.shape.stack = ScanStack::stratification;
    plan.shape.ends = ends_;
    plan.shape.memories = memories_;
    plan.shape.size = size_;
    std::vector<Tensor> weights, biases;
    for (const auto& end : layers_)
      for (const ActionLayer* layer : {&end.push, &end.pop, &end.vector}) {
        weights.push_back(layer->weight);
        biases.push_back(layer->bias);
      }
    plan.action_weight = at::cat(weights);
    plan.action_bias = at::cat(biases);
    return true;
  }

 private:
  struct EndLayers {
    ActionLayer push, pop, vector;
  };
  static const Strata& strata_of(const StackStatePtr& state) {
    return static_cast<const StrataState&>(*state).strata;
  }
  // hidden : ... x H -> ... x K and ... x K x m, one entry an end
  std::vector<StrataActions> actions(const Tensor& hidden) const {
    std::vector<StrataActions> all;
    for (const auto& [push, pop, vector] : layers_)
      all.push_back({push(hidden).sigmoid(), pop(hidden).sigmoid(),
                     vector(hidden).tanh().unflatten(-1, {memories_, size_})});
    return all;
  }

  SectionEnds ends_;
  std::int64_t size_, memories_;
  at::TensorOptions options_;
  std::vector<EndLayers> layers_;  // one an end
};

const char* kind_name(SectionEnds ends) {
  switch (ends) {
    case SectionEnds::queue: return "stratification_queue";
    case SectionEnds::deque: return "stratification_deque";
    case SectionEnds::stack: break;
  }
  return "stratification";
}

// The tensors given to a bare memory, as those of one memory.
std::vector<StrataActions> given_actions(SectionEnds ends, const NamedTensors& inputs) {
  std::vector<StrataActions> all;
  std::vector<std::int64_t> shape{-1, -1, -1};
  for (const auto& name : end_names(ends)) {
    const auto given = [&](const std::string& what, at::IntArrayRef wanted) {
      return simulate_input(kind_name(ends), inputs, what + name, wanted).unsqueeze(2);
    };
    const Tensor vectors = given("vectors", shape);
    shape = {vectors.size(0), vectors.size(1), vectors.size(3)};
    const Tensor push = given("push", {shape[0], shape[1]}),
                 pop = given("pop", {shape[0], shape[1]});
    all.push_back({push, pop, vectors});
  }
  return all;
}

template <SectionEnds kEnds>
StackKind kind_of(const char* doc) {
  StackKind kind;
  kind.name = kind_name(kEnds);
  kind.doc = doc;
  kind.options = {
      integer_option("size", 20, "size m of a pushed vector", 1),
      integer_option("memories", 1, "memories side by side, each with its own actions", 1)
          .between(1, 1 << 16),
      number_option("pop_bias", 0.0,
                    "around which the bias of the pop layer starts; -1 in the paper's "
                    "supplement")};
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<StratificationStack>(kEnds, options, context);
  };
  for (const auto& name : end_names(kEnds)) {
    const std::string where = name.empty() ? "" : " at the " + name.substr(1);
    kind.inputs.emplace_back("push" + name, "B x n: strength d of each push" + where);
    kind.inputs.emplace_back("pop" + name, "B x n: thickness u popped before the pushes" + where);
    kind.inputs.emplace_back("vectors" + name, "B x n x m: the pushed vectors" + where);
  }
  kind.simulate = [](const Json&, const NamedTensors& inputs) {
    std::vector<Tensor> readings;
    for (const Strata& strata : run(kEnds, given_actions(kEnds, inputs)))
      readings.push_back(strata_reading(kEnds, strata).flatten(1));
    return at::stack(readings, 1);
  };
  kind.strengths = [](const Json&, const NamedTensors& inputs) {
    return strengths_of(kEnds, given_actions(kEnds, inputs));
  };
  return kind;
}

}  // namespace

StackKind stratification_stack() {
  return kind_of<SectionEnds::stack>(
      "Vectors with real-valued strengths (Grefenstette et al. 2015).");
}
StackKind stratification_queue() {
  return kind_of<SectionEnds::queue>(
      "The same as a queue: popped and read at the other end (Grefenstette et al. 2015).");
}
StackKind stratification_deque() {
  return kind_of<SectionEnds::deque>(
      "The same with two ends: pushed, popped and read at both (Grefenstette et al. 2015).");
}

}  // namespace pushdown
