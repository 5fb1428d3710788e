// A recurrent network with a stack that reads one-hot symbols (DuSell and Chiang 2020, sections 4.1
// and 5.4) or, with embedding = N > 0, the rows of a trained matrix V x N. h_0 = 0; reading symbol
// t gives h_t from [one-hot w_t ; reading_{t-1}], and h_t drives stack step t. Options
// (stack_rnn.h) set how the reading reaches the controller, the noise on its state, when the state
// is carried forward, and whether the output layer reads the reading, too.
#include "base/check.h"
#include "model/network_trace.h"
#include "model/stack_rnn.h"
#include "tensor/embedding.h"

namespace pushdown {
namespace {

struct RecurrentState : NetworkState {
  StackRnnState rnn;
  // Either `hidden`, h_t, or `symbol` is set: the symbol w_t that was given and not yet read.
  Tensor hidden;  // B x O, what the output layer reads
  Tensor symbol;  // B x 1
  // `hidden` is only an answer: that of a further pass, with a mask, or with the stack's reading.
  bool answer = false;

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<RecurrentState>(*this);
    copy->rnn = rnn.detached();
    if (hidden.defined()) copy->hidden = hidden.detach();
    return copy;
  }
  std::size_t bytes() const override {
    return rnn.bytes() + tensor_bytes(hidden) + tensor_bytes(symbol);
  }
  std::vector<Tensor> tensors() const override { return rnn.tensors(); }
  NetworkStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    auto copy = std::make_shared<RecurrentState>(*this);
    copy->rnn = rnn.with_tensors(given);
    if (hidden.defined() && rnn.hidden.defined() && !answer) copy->hidden = copy->rnn.hidden;
    return copy;
  }
};

Recurrence recurrence_of(const Json& options, const Tensor& embedding) {
  Recurrence recurrence;
  recurrence.coupled_state = options["coupling"] == "state";
  recurrence.noise = options["noise"];
  recurrence.noise_mean = options["noise_mean"];
  recurrence.dropout = options["dropout"];
  check(recurrence.dropout < 1, "model.recurrent", "option 'dropout' must be below 1, got {}",
        recurrence.dropout);
  recurrence.embedding = embedding;
  if (options["carry_forward"] == "soft") recurrence.carry = CarryForward::soft;
  if (options["carry_forward"] == "counter") recurrence.carry = CarryForward::counter;
  recurrence.learned_start = options["initial_state"] == "learned";
  recurrence.reading_out = options["output"] == "hidden_and_reading";
  return recurrence;
}

Tensor make_embedding(const Json& options, const ModuleContext& context) {
  const std::int64_t size = options["embedding"];
  return size > 0 ? uniform_parameter({context.input, size}, -0.1, 0.1, context) : Tensor();
}

class RecurrentNetwork : public Network, public TraceableNetwork, public LayeredNetwork {
 public:
  RecurrentNetwork(const Json& options, const ModuleContext& context, const Kinds& kinds)
      : symbols_(context.input),
        kernels_(options["kernels"]),
        dtype_(c10::typeMetaToScalarType(context.tensor_options.dtype())),
        device_(context.tensor_options.device()),
        embedding_(make_embedding(options, context)),
        rnn_(options["controller"], options["stack"],
             embedding_.defined() ? embedding_.size(1) : context.input, context.tensor_options,
             *context.random, recurrence_of(options, embedding_), kinds) {
    for (const OriginPtr& origin : {rnn_.controller().origin(), rnn_.stack().origin()})
      if (origin != nullptr) origins_.push_back(origin);
    controller_kind_ = options["controller"]["kind"];
    stack_kind_ = options["stack"]["kind"];
    if (embedding_.defined()) parameters_.emplace_back("embedding.weight", embedding_);
    for (const auto& entry : rnn_.parameters()) parameters_.push_back(entry);
    if (reads_symbols() && device_.is_cpu() && origins_.empty()) store_by_columns();
  }

  std::int64_t hidden_size() const override { return rnn_.output_size(); }
  std::vector<Tensor> symbol_tables() const override {
    if (embedding_.defined()) return {embedding_};
    // A group of trainers stores its parameters anew (Optimizer::step_together).
    std::vector<Tensor> tables;
    for (const Tensor& matrix : by_columns_)
      if (!matrix.is_contiguous()) tables.push_back(matrix);
    return tables;
  }
  // A part that a script defines is followed by whether its step is recorded.
  std::string line() const override {
    const auto recorded = [&](const OriginPtr& origin, auto is_recorded) {
      if (origin == nullptr || !kernels_) return "";
      return is_recorded() ? " (recorded)" : " (not recorded)";
    };
    const Controller& controller = rnn_.controller();
    const Stack& stack = rnn_.stack();
    return fmt::format("{} controller{}, {} stack{}", controller_kind_,
                       recorded(controller.origin(), [&] { return controller.recordable(); }),
                       stack_kind_, recorded(stack.origin(), [&] {
                         return stack.recorded({.batch = 1, .steps = 2}) != nullptr;
                       }));
  }
  const StackRnn* stack_rnn() const override { return &rnn_; }

  Passes run(const PassRequest& request) const override {
    const Tensor inputs = inputs_of(request.words);
    Tensor hiddens;
    if (kernels_)
      hiddens = rnn_.run_recorded(inputs, one_hot_ids(request.words), request.noise, request.window,
                                  nullptr, request.refinement, request.lengths, request.sources);
    if (!hiddens.defined()) {
      check(request.window == 0, "model.recurrent", "this network has no window");
      hiddens = rnn_.run_stepwise(inputs, request.noise, request.refinement, request.sources);
    }
    return {hiddens, {}, nullptr};
  }
  Route route(const PassRequest& request) const override {
    if (request.algorithm == "uoro" && reads_symbols() && device_.is_cpu() && rnn_.bare())
      if (auto network = rnn_.controller().higher_order()) {
        network->shape.passes = request.refinement.passes;
        network->shape.carry_first = request.refinement.carry_first;
        return *network;
      }
    // With the reading, the program has a step more than the string (output_reading.h).
    const bool alone =
        reads_symbols() && !rnn_.differs_in_training() && !rnn_.recurrence().reading_out;
    if (!kernels_ || request.algorithm != "bptt" || (request.together && !alone))
      return Network::route(request);
    return rnn_.route(request);
  }

  // The stack moves by the hidden vectors of the first passes.
  std::vector<NetworkTrace> traces(const PassRequest& request) const override {
    if (rnn_.stack().reading_size() == 0) return {};
    const auto length = request.words.size(1), passes = request.refinement.passes;
    const Tensor hiddens = run(request).hiddens[0].narrow(0, 1, length * passes);
    const Tensor first =
        hiddens.view({length, passes, hidden_size()}).select(1, 0).narrow(1, 0, rnn_.hidden_size());
    const auto evaluated = rnn_.stack().evaluated();
    return {{1, stack_kind_, trace_of(evaluated ? *evaluated : rnn_.stack(), first)}};
  }
  std::vector<Tensor> layers(const PassRequest& request) const override {
    const auto count = static_cast<std::size_t>(rnn_.controller().layers());
    if (count == 1)
      return {carried_passes(run(request).hiddens.narrow(2, 0, rnn_.hidden_size()),
                             request.refinement)};
    const Tensor inputs = inputs_of(request.words);
    const auto batch = inputs.size(0);
    std::vector<std::vector<Tensor>> all(count,
                                         {at::zeros({batch, rnn_.hidden_size()}, options())});
    StackRnnState state = rnn_.initial(batch, inputs.size(1));
    for (std::int64_t t = 0; t < inputs.size(1); ++t) {
      state = rnn_.read(inputs.narrow(1, t, 1), state, nullptr, request.refinement).second;
      // Every layer has as many tensors, its hidden vector first (controller/layered.h).
      for (std::size_t layer = 0; layer < count; ++layer)
        all[layer].push_back(state.controller[layer * (state.controller.size() / count)]);
    }
    std::vector<Tensor> layers;
    for (const auto& vectors : all) layers.push_back(at::stack(vectors, 1));
    return layers;
  }
  NamedTensors strengths(const Tensor& words) const override {
    return rnn_.strengths(inputs_of(words));
  }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return initial_of(batch, length, {});
  }
  NetworkStatePtr initial_of_pairs(const std::vector<std::int64_t>& sources,
                                   std::int64_t length) const override {
    return initial_of(static_cast<std::int64_t>(sources.size()), length, sources);
  }

  std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& state,
                                          Random* noise) const override {
    const auto& old = static_cast<const RecurrentState&>(*state);
    const auto length = words.size(1);
    if (length == 0) return {at::empty({words.size(0), 0, hidden_size()}, options()), state};
    Tensor read_now = words.narrow(1, 0, length - 1);
    if (old.symbol.defined()) read_now = at::cat({old.symbol, read_now}, 1);
    auto next = std::make_shared<RecurrentState>();
    next->symbol = words.narrow(1, length - 1, 1).clone();
    Tensor hiddens;
    std::tie(hiddens, next->rnn) = read_from(old.rnn, read_now, noise);
    if (old.hidden.defined()) hiddens = at::cat({old.hidden.unsqueeze(1), hiddens}, 1);
    return {hiddens, next};
  }

  std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state,
                                          Random* noise) const override {
    const auto& old = static_cast<const RecurrentState&>(*state);
    if (old.hidden.defined()) return {old.hidden, state};
    auto next = std::make_shared<RecurrentState>();
    Tensor hiddens;
    std::tie(hiddens, next->rnn) = rnn_.read(inputs_of(old.symbol), old.rnn, noise);
    next->hidden = hiddens.select(1, 0);
    next->answer = only_answers(noise);
    return {next->hidden, next};
  }

  NetworkStatePtr restarted(const NetworkStatePtr& state, std::int64_t batch) const override {
    auto copy = std::make_shared<RecurrentState>(static_cast<const RecurrentState&>(*state));
    copy->rnn.stack = rnn_.initial(batch, 0).stack;
    if (copy->hidden.defined() && rnn_.recurrence().reading_out)
      copy->hidden = copy->rnn.hidden.defined() ? rnn_.output(copy->rnn) : rnn_.first_output(batch);
    return copy;
  }

  Passes advance(const Tensor& words, const Refinement& refinement, const NetworkStatePtr& state,
                 Random* noise) const override {
    // A symbol that was given but not yet read comes first.
    const auto from = peek(state, noise).second;
    if (words.size(1) == 0)
      return {at::empty({words.size(0), 0, hidden_size()}, options()), {}, from};
    auto next = std::make_shared<RecurrentState>();
    next->answer = refinement.passes > 1 || only_answers(noise);
    Passes result;
    std::tie(result.hiddens, next->rnn) =
        read_from(static_cast<const RecurrentState&>(*from).rnn, words, noise, refinement);
    next->hidden = result.hiddens.select(1, result.hiddens.size(1) - 1);
    result.state = next;
    return result;
  }

 private:
  NetworkStatePtr initial_of(std::int64_t batch, std::int64_t length,
                             const std::vector<std::int64_t>& sources) const {
    auto state = std::make_shared<RecurrentState>();
    state->rnn = rnn_.initial(batch, length, sources);
    state->hidden = rnn_.first_output(batch);
    return state;
  }
  std::pair<Tensor, StackRnnState> read_from(const StackRnnState& state, const Tensor& words,
                                             Random* noise,
                                             const Refinement& refinement = {}) const {
    const Tensor inputs = inputs_of(words);
    if (kernels_)
      if (auto read = rnn_.read_recorded(inputs, one_hot_ids(words), state, noise, refinement))
        return std::move(*read);
    return rnn_.read(inputs, state, noise, refinement);
  }
  // Returns whether the output of a pass is more than its hidden vector.
  bool only_answers(const Random* noise) const {
    return (noise != nullptr && rnn_.recurrence().dropout != 0) || rnn_.recurrence().reading_out;
  }
  // Stores large matrices of one-hot inputs by columns, so that what belongs to a symbol lies
  // together in memory.
  void store_by_columns() {
    constexpr std::int64_t kLarge = 1 << 16;
    const auto large = [&](const auto& entry) {
      return entry.second.dim() == 2 && entry.second.size(1) >= symbols_ &&
             entry.second.numel() >= kLarge;
    };
    if (std::none_of(parameters_.begin(), parameters_.end(), large)) return;
    for (const Tensor& matrix : rnn_.selected_matrices()) {
      if (matrix.numel() < kLarge) continue;
      matrix.set_data(matrix.detach().t().contiguous().t());
      by_columns_.push_back(matrix);
    }
  }
  // Returns whether recorded programs can take symbols directly.
  bool reads_symbols() const { return kernels_ && !embedding_.defined(); }
  at::TensorOptions options() const { return at::TensorOptions().dtype(dtype_).device(device_); }
  // Returns the ids if the inputs are one-hot.
  Tensor one_hot_ids(const Tensor& words) const {
    return embedding_.defined() ? Tensor() : words.to(device_);
  }
  // B x n -> B x n x V, or B x n x N with an embedding
  Tensor inputs_of(const Tensor& words) const {
    const Tensor ids = words.to(device_);
    return embedding_.defined() ? embedded(embedding_, ids) : at::one_hot(ids, symbols_).to(dtype_);
  }

  std::int64_t symbols_;
  bool kernels_;
  at::ScalarType dtype_;
  at::Device device_;
  Tensor embedding_;  // V x N; undefined without one
  StackRnn rnn_;
  std::vector<Tensor> by_columns_;  // see store_by_columns()
  std::string controller_kind_, stack_kind_;
};

}  // namespace

NetworkKind recurrent_network() {
  NetworkKind kind;
  kind.name = "recurrent";
  kind.doc = "A recurrent controller with a stack.";
  kind.options = {
      table_option("controller", Json{{"kind", "lstm"}}, "controller: kind and its options")
          .holding(&options_by_kind<&controller_kinds>)
          .in_small({{"kind", "elman"}, {"hidden", 4}}),
      table_option("stack", Json{{"kind", "none"}}, "stack: kind and its options")
          .holding(&options_by_kind<&stack_kinds>)
          .in_small({{"kind", "superposition"}, {"size", 3}}),
      integer_option(
          "embedding", 0,
          "size of the learned symbol vectors that the controller reads; 0: one-hot vectors", 0)
          .trying(3),
      boolean_option("kernels", true, "run sequences with compiled kernels if available"),
      text_option("coupling", "input",
                  "input: append the reading to the input; state: add it to the old hidden state",
                  {"input", "state"}),
      number_option(
          "noise", 0.0,
          "standard deviation of the Gaussian noise that training adds to the old hidden state", 0)
          .trying(0.2),
      number_option("noise_mean", 0.0, "mean of this noise").trying(0.1, {{"noise", 0.2}}),
      number_option(
          "dropout", 0.0,
          "dropout probability, in training, of embeddings, of what upper layers read, and "
          "of what the output layer reads",
          0)
          .trying(0.3),
      text_option("carry_forward", "none",
                  "keep the state while the stack does nothing: weighted by no_op (soft), or from "
                  "the second no_op in a row on (counter)",
                  {"none", "soft", "counter"}),
      text_option("output", "hidden",
                  "what the output layer reads: hidden: the hidden state; hidden_and_reading: also "
                  "the stack's reading after the action of the step",
                  {"hidden", "hidden_and_reading"}),
      text_option("initial_state", "zero",
                  "initial state of the controller: zero (for most cells), or trained vectors",
                  {"zero", "learned"})};
  kind.make = [](const Json& options, const ModuleContext& context,
                 const Kinds& kinds) -> NetworkPtr {
    return std::make_shared<RecurrentNetwork>(options, context, kinds);
  };
  kind.complete = [](Json options, const Kinds& kinds) {
    const auto fill = [&](const char* key, const auto& rows) {
      Json full{{"kind", options[key].value("kind", Json())}};
      full.update(resolve_kind(key, rows, options[key]).second);
      options[key] = full;
    };
    fill("controller", kinds.controllers);
    fill("stack", kinds.stacks);
    return options;
  };
  return kind;
}

}  // namespace pushdown
