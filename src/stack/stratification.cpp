// The kinds `stratification`, `stratification_queue` and `stratification_deque`. The controller
// interface of the paper's section 3.4, for every memory and each end that is pushed or popped, is
//   d = sigmoid(W_d h + b_d),  u = sigmoid(W_u h + b_u),  r = 1,  v = tanh(W_v h + b_v),
// where d, u and r can be computed in other ways (stack/strength_layer.h). For a sigmoid, b_u
// starts near `pop_bias`: with -1 (the paper's supplement), pops are weak at first. For a deque,
// b_d at the bottom starts near `bottom_push_bias`. With -6, the pushes of hundreds of steps add up
// to less than is read, so the deque begins as a stack and a queue in one, pushed at the top and
// read at both ends. If both ends are pushed equally, each begins as a stack.
#include "stack/stratification.h"

#include "base/check.h"
#include "stack/kinds.h"
#include "stack/stack_trace.h"
#include "stack/strength_layer.h"

namespace pushdown {

Strata empty_strata(std::int64_t batch, std::int64_t memories, std::int64_t size,
                    at::TensorOptions options) {
  return {at::zeros({batch, memories, 0, size}, options), at::zeros({batch, memories, 0}, options)};
}

namespace {

// Sum of the strengths between each section and an end : B x K x S
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

Tensor reading_at(const Strata& strata, bool at_top, const Tensor& read) {
  const Tensor shares = strata_shares(strata.strengths, at_top, read);
  return at::matmul(shares.unsqueeze(2), strata.vectors).squeeze(2);
}

}  // namespace

Strata strata_step(SectionEnds ends, const Strata& old, const StrataActions& top,
                   const StrataActions& bottom) {
  const auto section = [](const Tensor& actions) { return actions.unsqueeze(2); };
  Tensor kept = cut(old.strengths, top.pop, ends != SectionEnds::queue);
  if (ends != SectionEnds::deque)
    return {at::cat({old.vectors, section(top.vector)}, 2), at::cat({kept, section(top.push)}, 2),
            top.read};
  kept = cut(kept, bottom.pop, false);
  return {at::cat({section(bottom.vector), old.vectors, section(top.vector)}, 2),
          at::cat({section(bottom.push), kept, section(top.push)}, 2), top.read, bottom.read};
}

Tensor strata_shares(const Tensor& strengths, bool at_top, const Tensor& read) {
  const Tensor before = strength_before(strengths, at_top);
  const Tensor length = read.defined() ? read.unsqueeze(2) : at::ones({1}, before.options());
  const Tensor room = at::where(before <= length, length - before, at::zeros_like(before));
  return at::where(strengths <= room, strengths, room);
}

Tensor strata_reading(SectionEnds ends, const Strata& strata) {
  if (ends != SectionEnds::deque)
    return reading_at(strata, ends == SectionEnds::stack, strata.read);
  return at::cat(
      {reading_at(strata, true, strata.read), reading_at(strata, false, strata.bottom_read)}, 2);
}

namespace {

struct StrataState : StackState {
  Strata strata;

  explicit StrataState(Strata given) : strata(std::move(given)) {}
  StackStatePtr detached() const override {
    std::vector<Tensor> constants;
    for (const Tensor& own : tensors()) constants.push_back(own.detach());
    return with_tensors(constants);
  }
  std::size_t bytes() const override {
    std::size_t total = 0;
    for (const Tensor& own : tensors()) total += tensor_bytes(own);
    return total;
  }
  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all{strata.vectors, strata.strengths};
    for (const Tensor& read : {strata.read, strata.bottom_read})
      if (read.defined()) all.push_back(read);
    return all;
  }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.stratification", tensors(), given);
    Strata other{given[0], given[1]};
    if (given.size() > 2) other.read = given[2];
    if (given.size() > 3) other.bottom_read = given[3];
    return std::make_shared<StrataState>(std::move(other));
  }
};

// Returns the suffixes that name the ends of a memory, as in "push_top".
std::vector<std::string> end_names(SectionEnds ends) {
  return ends == SectionEnds::deque ? std::vector<std::string>{"_top", "_bottom"}
                                    : std::vector<std::string>{""};
}

// The actions of all steps, one entry per end. push, pop, read : B x n x K, vector : B x n x K x m
std::vector<StrataActions> of_step(const std::vector<StrataActions>& all, std::int64_t t) {
  std::vector<StrataActions> now;
  for (const auto& [push, pop, vector, read] : all)
    now.push_back({push.select(1, t), pop.select(1, t), vector.select(1, t),
                   read.defined() ? read.select(1, t) : Tensor()});
  return now;
}

// Returns the memory before the first and after each of n steps.
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
    result["read_strength" + names[e]] =
        all[e].read.defined() ? all[e].read : at::ones_like(all[e].push);
  }
  const auto states = run(ends, all);
  const auto length = static_cast<std::int64_t>(states.size()) - 1;
  const auto stacked = [&](const auto& row_of) {
    std::vector<Tensor> rows;
    for (std::int64_t t = 1; t <= length; ++t) {
      // Every section keeps its place; future sections are 0.
      const auto later = length - t;
      rows.push_back(
          at::constant_pad_nd(row_of(states[t]), {ends == SectionEnds::deque ? later : 0, later}));
    }
    return rows.empty() ? states[0].strengths.unsqueeze(1).narrow(1, 0, 0) : at::stack(rows, 1);
  };
  result["strengths"] = stacked([](const Strata& own) { return own.strengths; });
  for (const auto& name : names)
    result["read" + name] = stacked([&](const Strata& own) {
      const bool at_top = name.empty() ? ends == SectionEnds::stack : name == "_top";
      return strata_shares(own.strengths, at_top, name == "_bottom" ? own.bottom_read : own.read);
    });
  return result;
}

// Returns the offset of the bias of a sigmoid strength; other strengths have no such bias.
double bias_of(const Json& options, const char* name, const char* strength) {
  const double bias = options[name];
  check(bias == 0 || options[strength] == "sigmoid", "stack.stratification",
        "{} needs {} = 'sigmoid', got {} with {} = '{}'", name, strength, bias, strength,
        options[strength].get<std::string>());
  return bias;
}

class StratificationStack : public MemoryStack, public TraceableStack {
 public:
  StratificationStack(SectionEnds ends, const Json& options, const ModuleContext& context)
      : ends_(ends),
        size_(options["size"]),
        memories_(options["memories"]),
        greatest_(options["max_strength"]),
        options_(context.tensor_options) {
    const double pop_bias = bias_of(options, "pop_bias", "pop");
    const double bottom_push_bias =
        ends == SectionEnds::deque ? bias_of(options, "bottom_push_bias", "push") : 0;
    for (const auto& name : end_names(ends)) {
      const auto strength = [&](const char* what) {
        return StrengthLayer(what + name, options[what], options["max_strength"], memories_,
                             context, parameters_);
      };
      // The order matters because each call draws random numbers.
      const auto push = strength("push"), pop = strength("pop"), read = strength("read");
      layers_.push_back(
          {{push, pop, read},
           make_action_layer("vector" + name, memories_ * size_, 5.0 / 3.0, context, parameters_)});
      const auto shift = [](const StrengthLayer& of, double bias) {
        at::NoGradGuard guard;
        if (bias != 0) of.layer().bias.add_(bias);
      };
      shift(pop, pop_bias);
      if (name == "_bottom") shift(push, bottom_push_bias);
    }
  }

  std::int64_t reading_size() const override {
    return memories_ * size_ * static_cast<std::int64_t>(layers_.size());
  }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    Strata strata = empty_strata(batch, memories_, size_, options_);
    if (layers_[0].strengths[kRead].kind() != StrengthKind::fixed) {
      strata.read = at::zeros({batch, memories_}, options_);
      if (ends_ == SectionEnds::deque) strata.bottom_read = strata.read;
    }
    return std::make_shared<StrataState>(std::move(strata));
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
    NamedTensors result = strengths_of(ends_, actions(hiddens));
    const auto names = end_names(ends_);
    for (std::size_t e = 0; e < names.size(); ++e)
      for (int what = 0; what < kStrengths; ++what) {
        const Tensor distribution = layers_[e].strengths[what].distribution(hiddens);
        if (distribution.defined())
          result[fmt::format("{}_distribution{}", kNames[what], names[e])] = distribution;
      }
    return result;
  }
  // At each end, what is pushed, popped and read; the depth is the sum of all strengths.
  StackTrace trace(const Tensor& hiddens) const override {
    NamedTensors run = strengths_of(ends_, actions(hiddens.unsqueeze(0)));
    StackTrace trace;
    std::vector<Tensor> weights;  // n x K each
    for (const auto& name : end_names(ends_)) {
      const std::string at = name.empty() ? "" : " " + name.substr(1);
      trace.actions.insert(trace.actions.end(), {"push" + at, "pop" + at, "read" + at});
      weights.insert(weights.end(),
                     {run["push" + name][0], run["pop" + name][0], run["read" + name][0].sum(2)});
    }
    trace.weights = at::stack(weights, 2);
    trace.depth = run["strengths"][0].sum(2);
    return trace;
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    MemoryShape memory;
    memory.kind = MemoryKind::stratification;
    memory.steps = request.steps;
    memory.sections.ends = ends_;
    memory.sections.memories = memories_;
    memory.sections.size = size_;
    for (int what = 0; what < kStrengths; ++what)
      memory.sections.strengths[what] = layers_[0].strengths[what].kind();
    memory.sections.max_strength = greatest_;
    // The memory computes the strengths from the values of their layers.
    std::vector<Traced> actions;
    for (const auto& [strengths, vector] : layers_) {
      for (const auto& one : strengths)
        if (one.layer().weight.defined()) actions.push_back(one.layer()(hidden));
      actions.push_back(vector(hidden));
    }
    trace.drive(reading, joined(actions), memory);
    return {};
  }
  // Memory by memory: vectors, strengths, lengths of the last reading.
  HeldMemory held(const StackStatePtr& state) const override {
    const Strata& strata = strata_of(state);
    const Tensor one = at::ones({strata.strengths.size(0), memories_, 1}, options_);
    std::vector<Tensor> parts{strata.vectors.flatten(2), strata.strengths};
    for (const Tensor& read : {strata.read, strata.bottom_read})
      parts.push_back(read.defined() ? read.unsqueeze(2) : one);
    if (ends_ != SectionEnds::deque) parts.pop_back();
    return {at::cat(parts, 2).flatten(1), strata.strengths.size(2) / ends()};
  }
  std::int64_t held_size(std::int64_t count) const override {
    return memories_ * ends() * (count * (size_ + 1) + 1);
  }
  StackStatePtr after_held(const StackStatePtr& old, const Tensor& numbers,
                           std::int64_t count) const override {
    const Tensor each = numbers.view({numbers.size(0), memories_, -1});
    const auto sections = ends() * count, vectors = sections * size_;
    Strata strata{each.narrow(2, 0, vectors).unflatten(2, {sections, size_}),
                  each.narrow(2, vectors, sections)};
    if (strata_of(old).read.defined()) strata.read = each.select(2, vectors + sections);
    if (strata_of(old).bottom_read.defined())
      strata.bottom_read = each.select(2, vectors + sections + 1);
    return std::make_shared<StrataState>(std::move(strata));
  }

 private:
  enum { kPush, kPop, kRead, kStrengths };
  static constexpr const char* kNames[] = {"push", "pop", "read"};
  struct EndLayers {
    std::array<StrengthLayer, kStrengths> strengths;
    ActionLayer vector;
  };
  std::int64_t ends() const { return static_cast<std::int64_t>(layers_.size()); }
  static const Strata& strata_of(const StackStatePtr& state) {
    return static_cast<const StrataState&>(*state).strata;
  }
  // hidden : ... x H -> ... x K and ... x K x m, one entry per end
  std::vector<StrataActions> actions(const Tensor& hidden) const {
    std::vector<StrataActions> all;
    for (const auto& [strengths, vector] : layers_) {
      const Tensor vectors = vector(hidden).tanh().unflatten(-1, {memories_, size_});
      const auto given = [&](int what) {
        const Tensor strength = strengths[what](hidden);
        return strength.defined() ? strength : at::ones_like(vectors.select(-1, 0));
      };
      all.push_back({given(kPush), given(kPop), vectors, strengths[kRead](hidden)});
    }
    return all;
  }

  SectionEnds ends_;
  std::int64_t size_, memories_, greatest_;
  at::TensorOptions options_;
  std::vector<EndLayers> layers_;  // one per end
};

const char* kind_name(SectionEnds ends) {
  switch (ends) {
    case SectionEnds::queue: return "stratification_queue";
    case SectionEnds::deque: return "stratification_deque";
    case SectionEnds::stack: break;
  }
  return "stratification";
}

// Returns the tensors given to the bare data structure, as actions of one memory.
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
    const bool reads = inputs.contains("read" + name);
    all.push_back({push, pop, vectors, reads ? given("read", {shape[0], shape[1]}) : Tensor()});
  }
  return all;
}

template <SectionEnds kEnds>
StackKind kind_of(const char* doc) {
  StackKind kind;
  kind.name = kind_name(kEnds);
  kind.doc = doc;
  kind.options = {
      integer_option("size", 20, "size m of a pushed vector", 1)
          .between(1, 1 << 16)
          .in_small(3)
          .trying(17),
      integer_option("memories", 1, "number of parallel memories, each with its own actions", 1)
          .between(1, 1 << 16)
          .trying(2),
      number_option("pop_bias", 0.0,
                    "mean of the initial bias of the pop layer (-1 in the paper's supplement); "
                    "only with pop = 'sigmoid'")
          // Two pops as strong as the pushes remove everything at every step.
          .in_small(kEnds == SectionEnds::deque ? Json(-1.0) : Json())
          .trying(-0.5)};
  if (kEnds == SectionEnds::deque)
    kind.options.push_back(
        number_option("bottom_push_bias", 0.0,
                      "mean of the initial bias of the bottom push layer; with -6 the deque first "
                      "pushes only at the top; only with push = 'sigmoid'")
            .trying(-0.5));
  const auto strengths = strength_options();
  kind.options.insert(kind.options.end(), strengths.begin(), strengths.end());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<StratificationStack>(kEnds, options, context);
  };
  for (const auto& name : end_names(kEnds)) {
    const std::string where = name.empty() ? "" : " at the " + name.substr(1);
    kind.inputs.emplace_back("push" + name, "B x n: strength d of each push" + where);
    kind.inputs.emplace_back("pop" + name, "B x n: strength u popped before the pushes" + where);
    kind.inputs.emplace_back("vectors" + name, "B x n x m: the pushed vectors" + where);
    kind.inputs.emplace_back("read" + name,
                             "B x n: strength r of each reading" + where + "; 1 if absent");
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
      "A stack of vectors with real-valued strengths (Grefenstette et al. 2015; Merrill et al. "
      "2019).");
}
StackKind stratification_queue() {
  return kind_of<SectionEnds::queue>(
      "A queue of vectors with real-valued strengths, popped and read at the other end "
      "(Grefenstette et al. 2015).");
}
StackKind stratification_deque() {
  return kind_of<SectionEnds::deque>(
      "A deque of vectors with real-valued strengths, pushed, popped and read at both ends "
      "(Grefenstette et al. 2015).");
}

}  // namespace pushdown
