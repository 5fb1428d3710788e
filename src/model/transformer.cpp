// A transformer over the symbols of a string, optionally with stack attention (Vaswani et al. 2017;
// DuSell and Chiang 2024). Position 0 has a begin symbol, position t symbol w_t:
//   x_t = dropout(sqrt(d) E[w_t] + p_t),
// where p_t is the vector of a position, if it is added (positions.h).
// Each layer consists of a sublayer that looks back (sublayer.h) and a feedforward one, both as
//   x <- x + dropout(f(LayerNorm(x))),     feedforward: f(x) = W_2 relu(W_1 x + b_1) + b_2;
// and h_t = LayerNorm(x_t) after the last layer.
//
// If a layer is pushdown_attention, every symbol attaches to a place in a parse before it is read
// (attachment_head.h), and these layers see the depths of the parse. run() and read() then go
// symbol by symbol, because h_{t-1} decides where w_t attaches; with given attachments, all
// positions are computed at once.
//
// Random positions, and after them dropout masks, are drawn from the generator of the training pass
// (Network::run), so that a resumed run repeats them. Without a generator, nothing is random.
#include <cmath>
#include <functional>

#include "base/check.h"
#include "base/stopping.h"
#include "model/attaching_network.h"
#include "model/attachment_head.h"
#include "model/dropout.h"
#include "model/network_trace.h"
#include "model/positions.h"
#include "model/pushdown_attention.h"
#include "model/step_engine.h"
#include "model/transformer_layer.h"
#include "stack/stack.h"
#include "tensor/backward.h"
#include "tensor/embedding.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

struct TransformerState : NetworkState {
  std::vector<NetworkStatePtr> layers;
  std::int64_t position = 0;  // of the next vector
  std::int64_t expected = 0;  // number of vectors; 0: unknown
  Tensor drawn;               // the vectors of their random positions : expected x d
  // Either `hidden`, h_t, or `symbol` is set: the symbol w_t that was given and not yet read.
  Tensor hidden;                // B x H
  Tensor symbol;                // B x 1
  AttachmentState attachments;  // of a network that attaches symbols

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<TransformerState>(*this);
    for (auto& layer : copy->layers) layer = layer->detached();
    if (hidden.defined()) copy->hidden = hidden.detach();
    auto& hiddens = copy->attachments.hiddens;
    if (hiddens.defined()) hiddens = hiddens.detach();
    return copy;
  }
  std::size_t bytes() const override {
    std::size_t total = tensor_bytes(hidden) + tensor_bytes(symbol) + tensor_bytes(drawn) +
                        tensor_bytes(attachments.hiddens);
    for (const auto& layer : layers) total += layer->bytes();
    return total;
  }
};

class Transformer : public Network,
                    public TraceableNetwork,
                    public LayeredNetwork,
                    public AttachingNetwork {
 public:
  Transformer(const Json& options, const ModuleContext& given)
      : begin_symbol_(given.input),
        size_(options["hidden"]),
        dropout_(options["dropout"]),
        options_(given.tensor_options),
        engine_(step_engine(options_.device())),
        positions_(options["positions"]),
        longest_(options["longest_position"]),
        gap_(is_randomized() ? options["position_gap"].get<std::int64_t>() : 1),
        places_(size_, gap_, options_),
        distances_(size_, 1, options_),
        embedding_(uniform_parameter({given.input + 1, size_}, -0.1, 0.1, given)) {
    parameters_.emplace_back("embedding", embedding_);
    ModuleContext context = given;
    context.input = size_;
    std::string kinds;
    for (const Json& layer : options["layers"]) {
      kinds += (kinds.empty() ? "" : ", ") + layer["kind"].get<std::string>();
      layers_.emplace_back(fmt::format("layers.{}.", layers_.size() + 1), layer,
                           options["feedforward"].get<std::int64_t>(), context, parameters_);
    }
    norm_.emplace("norm", context, parameters_);
    if (std::any_of(layers_.begin(), layers_.end(), [](const TransformerLayer& layer) {
          return layer.sublayer->pushdown() != nullptr;
        }))
      head_.emplace(context, parameters_);
    line_ = "transformer of " + (kinds.empty() ? "no layers" : kinds);
  }

  std::int64_t hidden_size() const override { return size_; }
  std::string line() const override { return line_; }

  Passes run(const PassRequest& request) const override {
    const Tensor symbols = begun(repeated(request.words, request.refinement));
    if (attaches()) {
      const auto state = begun(symbols.size(0), symbols.size(1) - 1);
      return {forward_attaching(symbols, *state, request.noise), {}, nullptr};
    }
    const bool recorded = records() && !SecondDerivatives::wanted();
    return {
        recorded ? run_recorded(symbols, request.noise) : forward(symbols, nullptr, request.noise),
        {},
        nullptr};
  }

  Route route(const PassRequest& request) const override {
    const auto& [words, noise] = std::tie(request.words, request.noise);
    const auto batch = words.size(0), steps = words.size(1) + 1;
    const bool with_steps = request.outcomes > 0 && request.outcomes <= kMostOutcomes;
    if (!records() || !with_steps || request.together || SecondDerivatives::wanted())
      return Network::route(request);
    const StepPlanPtr found = planned(batch, steps, masks(noise));
    if (found == nullptr) return ByTensors();
    PlannedBatch planned{found, begun(words)};
    planned.buffers = buffers_;
    const auto supply = [&](const Tensor& rows) {
      planned.supplied.push_back(rows.expand({batch, steps, size_}));
    };
    if (adds_positions()) supply(added(steps, noise));
    if (reads_distances()) supply(distances_.rows(0, steps));
    for (std::int64_t k = 0; k < masks(noise); ++k)
      supply(dropout(at::ones({batch, steps, size_}, options_), dropout_, noise));
    return planned;
  }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return begun(batch, length);
  }

  std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& state,
                                          Random* noise) const override {
    const auto& old = static_cast<const TransformerState&>(*state);
    const auto length = words.size(1);
    if (length == 0) return {at::empty({words.size(0), 0, size_}, options_), state};
    Tensor read_now = words.narrow(1, 0, length - 1);
    if (old.symbol.defined()) read_now = at::cat({old.symbol, read_now}, 1);
    auto next = std::make_shared<TransformerState>(old);
    next->hidden = Tensor();
    next->symbol = words.narrow(1, length - 1, 1).clone();
    Tensor hiddens;
    if (read_now.size(1) > 0) hiddens = forward_from(read_now, *next, noise);
    if (old.hidden.defined())
      hiddens = hiddens.defined() ? at::cat({old.hidden.unsqueeze(1), hiddens}, 1)
                                  : old.hidden.unsqueeze(1);
    return {hiddens, next};
  }

  std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state,
                                          Random* noise) const override {
    const auto& old = static_cast<const TransformerState&>(*state);
    if (old.hidden.defined()) return {old.hidden, state};
    auto next = std::make_shared<TransformerState>(old);
    next->hidden = forward_from(old.symbol, *next, noise).select(1, 0);
    next->symbol = Tensor();
    return {next->hidden, next};
  }

  std::vector<NetworkTrace> traces(const PassRequest& request) const override {
    const Tensor symbols = begun(repeated(request.words, request.refinement));
    std::vector<NetworkTrace> all;
    forward(symbols, nullptr, nullptr, own_depths(symbols), [&](std::size_t l, const Tensor& x) {
      const Sublayer& sublayer = *layers_[l].sublayer;
      if (const Stack* stack = sublayer.stack())
        all.push_back({static_cast<std::int64_t>(l) + 1, layers_[l].kind, trace_of(*stack, x[0])});
    });
    return all;
  }

  // The vectors of a layer are those that the next one reads: its output after normalization.
  std::vector<Tensor> layers(const PassRequest& request) const override {
    const Tensor symbols = begun(repeated(request.words, request.refinement));
    std::vector<Tensor> all;
    const Tensor last = forward(symbols, nullptr, nullptr, own_depths(symbols),
                                [&](std::size_t layer, const Tensor& read) {
                                  if (layer > 0)
                                    all.push_back(carried_passes(read, request.refinement));
                                });
    all.push_back(carried_passes(last, request.refinement));
    return all;
  }

  bool attaches() const override { return head_.has_value(); }

  Tensor run_attached(const Tensor& words, const Tensor& attachments,
                      Random* noise) const override {
    const Tensor symbols = begun(words);
    return forward(symbols, nullptr, noise, parse_of_batch(attachments).depths);
  }

  Tensor attachment_log_probabilities(const Tensor& words, const Tensor& attachments,
                                      const Tensor& hiddens) const override {
    const auto length = words.size(1);
    if (length == 0) return at::zeros({words.size(0), 0}, options_);
    const Tensor all = head_->log_probabilities(
        pushdown::embedded(embedding_, words.to(options_.device())), hiddens.narrow(1, 0, length),
        hiddens.narrow(1, 1, length - 1), parse_of_batch(attachments).choices);
    return all.gather(2, attachments.to(options_.device()).unsqueeze(2)).squeeze(2);
  }

  Tensor next_attachments(const Tensor& word, const NetworkStatePtr& state) const override {
    return next_attachments(word, static_cast<const TransformerState&>(*state).attachments)
        .select(1, 0);
  }

  NetworkStatePtr attach(const Tensor& word, const Attachments& attachments,
                         const NetworkStatePtr& state) const override {
    auto next = std::make_shared<TransformerState>(
        static_cast<const TransformerState&>(*read(word, state, nullptr).second));
    next->attachments.chosen = attachments;
    return next;
  }

  std::vector<Tensor> symbol_tables() const override { return {embedding_}; }

 private:
  // Whether a recorded program computes the whole network.
  bool records() const {
    return options_.device().is_cpu() && !layers_.empty() &&
           std::all_of(layers_.begin(), layers_.end(),
                       [](const TransformerLayer& layer) { return layer.sublayer->records(); });
  }
  // Returns the number of dropout masks of a pass.
  std::int64_t masks(const Random* noise) const {
    return noise == nullptr || dropout_ == 0 ? 0 : 2 * std::ssize(layers_) + 1;
  }
  bool is_randomized() const { return positions_ == "randomized"; }
  bool adds_positions() const { return positions_ == "sinusoidal" || is_randomized(); }
  bool reads_distances() const {
    return std::any_of(layers_.begin(), layers_.end(), [](const TransformerLayer& layer) {
      return layer.sublayer->reads_distances();
    });
  }
  // Returns the vectors that a pass over whole strings adds to the embeddings : count x d
  Tensor added(std::int64_t count, Random* noise) const {
    if (is_randomized() && noise != nullptr)
      return sinusoids(drawn_positions(count, longest_, *noise), size_).to(options_);
    return evaluated(0, count);
  }
  Tensor evaluated(std::int64_t first, std::int64_t count) const {
    check(!is_randomized() || (first + count - 1) * gap_ < longest_, "model.transformer",
          "symbol {} of a string would have position {}: expected a larger 'longest_position' than "
          "{}, or a smaller 'position_gap' than {}",
          first + count - 1, (first + count - 1) * gap_, longest_, gap_);
    return places_.rows(first, count);
  }
  // The same for a piece after `state`.
  Tensor added(TransformerState& state, std::int64_t count, Random* noise) const {
    if (!is_randomized() || noise == nullptr) return evaluated(state.position, count);
    if (!state.drawn.defined()) {
      check(
          state.position == 0 && state.expected > 0, "model.transformer",
          "positions = 'randomized' draws the positions of whole strings: pieces need a state that "
          "was given the number of symbols, and cannot be trained on texts without end");
      state.drawn = added(state.expected, noise);
    }
    check(state.position + count <= state.expected, "model.transformer",
          "the state was given {} symbols, and positions = 'randomized' has no position for more",
          state.expected - 1);
    return state.drawn.narrow(0, state.position, count);
  }

  // Records the layers; mask(x) drops numbers of x.
  template <class Mask>
  Traced record(Traced x, const Traced& distances, const Mask& mask) const {
    for (const TransformerLayer& layer : layers_) {
      x = x + mask(layer.sublayer->record(layer.norm(x), distances));
      x = x + mask(layer.feedforward(x));
    }
    return (*norm_)(x);
  }
  Tensor run_recorded(const Tensor& symbols, Random* noise) const {
    const auto batch = symbols.size(0), steps = symbols.size(1);
    StepTrace trace;
    Tensor embedded =
        pushdown::embedded(embedding_, symbols) * std::sqrt(static_cast<double>(size_));
    if (adds_positions()) embedded = embedded + added(steps, noise);
    Traced distances;
    if (reads_distances())
      distances = trace.sequence(distances_.rows(0, steps).expand({batch, steps, size_}));
    const auto mask = [&](const Traced& x) {
      if (masks(noise) == 0) return x;
      return x *
             trace.sequence(dropout(at::ones({batch, steps, size_}, options_), dropout_, noise));
    };
    const Traced x = trace.sequence(dropout(embedded, dropout_, noise));
    return engine_->run(trace.finish(record(x, distances, mask)), batch, steps, 0, buffers_);
  }
  // Returns the program that reads symbols, and is supplied with positions, distances and masks.
  StepPlanPtr planned(std::int64_t batch, std::int64_t steps, std::int64_t masks) const {
    return plans_->find({batch, steps, masks}, [&] {
      const at::AutoGradMode with_gradient(true);
      StepTrace trace(true);
      trace.begin_with(begin_symbol_);
      const auto mask = [&](const Traced& x) { return masks == 0 ? x : x * trace.supplied(size_); };
      const Traced symbols = trace.symbols(begin_symbol_ + 1);
      Traced places, distances;
      if (adds_positions()) places = trace.supplied(size_);
      if (reads_distances()) distances = trace.supplied(size_);
      Traced embedded =
          pushdown::linear(symbols, embedding_.t()) * std::sqrt(static_cast<double>(size_));
      if (adds_positions()) embedded = embedded + places;
      return StepPlan::make(trace.finish(record(mask(embedded), distances, mask)), parameters_);
    });
  }

  // Returns the words after the begin symbol.
  Tensor begun(const Tensor& words) const {
    return at::constant_pad_nd(words, {1, 0}, static_cast<double>(begin_symbol_));
  }
  std::shared_ptr<TransformerState> begun(std::int64_t batch, std::int64_t length) const {
    auto state = std::make_shared<TransformerState>();
    for (const TransformerLayer& layer : layers_)
      state->layers.push_back(layer.sublayer->initial(batch, length == 0 ? 0 : length + 1));
    state->symbol = at::full({batch, 1}, begin_symbol_, at::kLong);
    state->expected = length == 0 ? 0 : length + 1;
    if (attaches()) {
      state->attachments.parses.resize(batch);
      state->attachments.hiddens = at::empty({batch, 0, size_}, options_);
    }
    return state;
  }

  // Returns the log-probabilities of the attachments of word : B x 1, B x 1 x (t+1).
  Tensor next_attachments(const Tensor& word, const AttachmentState& state) const {
    const auto symbols = state.hiddens.size(1) - 1;
    return head_->log_probabilities(pushdown::embedded(embedding_, word.to(options_.device())),
                                    state.hiddens.narrow(1, symbols, 1),
                                    state.hiddens.narrow(1, 1, symbols), state.choices());
  }

  // Reads symbols : B x c one after the other, each of which attaches first.
  Tensor forward_attaching(const Tensor& symbols, TransformerState& state, Random* noise) const {
    std::vector<Tensor> hiddens;
    AttachmentState& known = state.attachments;
    for (const Tensor& symbol : symbols.split(1, 1)) {
      if (state.position > 0) {
        known.attach(known.chosen.empty()
                         ? most_probable(next_attachments(symbol, known).detach().select(1, 0))
                         : known.chosen);
        known.chosen.clear();
      }
      hiddens.push_back(forward(symbol, &state, noise, known.depths()));
      known.hiddens = at::cat({known.hiddens, hiddens.back()}, 1);
    }
    return at::cat(hiddens, 1);
  }
  Tensor forward_from(const Tensor& symbols, TransformerState& state, Random* noise) const {
    return attaches() ? forward_attaching(symbols, state, noise) : forward(symbols, &state, noise);
  }
  // Returns the depths of symbols that attach where this is most probable, if the network attaches.
  Tensor own_depths(const Tensor& symbols) const {
    if (!attaches()) return {};
    const auto state = begun(symbols.size(0), symbols.size(1) - 1);
    forward_attaching(symbols, *state, nullptr);
    return state->attachments.all_depths();
  }

  // B x c -> B x c x H, from the beginning or continuing after `state`, which is updated. Calls
  // `visit` with the number of each layer and what its sublayer reads. depths: what
  // PushdownAttention reads, B x c x (before + c).
  Tensor forward(
      const Tensor& symbols, TransformerState* state, Random* noise, const Tensor& depths = {},
      const std::function<void(std::size_t, const Tensor&)>& visit = [](std::size_t,
                                                                        const Tensor&) {}) const {
    const auto length = symbols.size(1);
    Tensor x = pushdown::embedded(embedding_, symbols.to(options_.device())) *
               std::sqrt(static_cast<double>(size_));
    if (adds_positions())
      x = x + (state == nullptr ? added(length, noise) : added(*state, length, noise));
    x = dropout(x, dropout_, noise);
    const StopCheck stop;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      stop();
      const TransformerLayer& layer = layers_[l];
      Tensor seen;
      const Tensor read = layer.norm(x);
      visit(l, read);
      if (const auto* pushdown = layer.sublayer->pushdown()) {
        const auto before = state ? state->layers[l] : pushdown->initial(symbols.size(0), 0);
        auto [found, after] = pushdown->read(read, depths, before);
        seen = found;
        if (state != nullptr) state->layers[l] = after;
      } else if (state == nullptr)
        seen = layer.sublayer->run(read);
      else
        std::tie(seen, state->layers[l]) = layer.sublayer->read(read, state->layers[l]);
      stop();
      x = x + dropout(seen, dropout_, noise);
      x = x + dropout(layer.feedforward(x), dropout_, noise);
    }
    if (state != nullptr) state->position += length;
    return (*norm_)(x);
  }

  std::int64_t begin_symbol_, size_;
  double dropout_;
  at::TensorOptions options_;
  StepEnginePtr engine_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
  std::shared_ptr<StepPlans> plans_ = std::make_shared<StepPlans>();
  std::string positions_;
  std::int64_t longest_, gap_;
  PositionTable places_, distances_;  // those that are added, and those of distances
  Tensor embedding_;                  // (V + 1) x d
  std::vector<TransformerLayer> layers_;
  std::optional<LayerNorm> norm_;
  std::optional<AttachmentHead> head_;  // if the network attaches symbols
  std::string line_;
};

// 'attention' and {kind = 'attention'} are equivalent.
Json complete_transformer(Json options, const Kinds&) {
  constexpr auto kWhere = "model.language_model";
  Json layers = Json::array();
  for (const Json& given : options["layers"]) {
    Json layer = given.is_string() ? Json{{"kind", given}} : given;
    auto [kind, own] = resolve_kind("layer", layer_kinds(), layer);
    if (own.contains("heads") && !layer.contains("heads")) own["heads"] = options["heads"];
    if (own.contains("positions") && !layer.contains("positions") &&
        attention_encoding(options["positions"]) != AttentionEncoding::none)
      own["positions"] = options["positions"];
    Json full{{"kind", kind.name}};
    full.update(own);
    layers.push_back(full);
  }
  check(options["dropout"].get<double>() < 1, kWhere, "option 'dropout' must be below 1, got {}",
        options["dropout"].get<double>());
  options["layers"] = layers;
  return options;
}

}  // namespace

NetworkKind transformer_network() {
  NetworkKind kind;
  kind.name = "transformer";
  kind.doc = "A transformer, optionally with stack attention layers.";
  kind.options = {
      list_option("layers", Json::array({"attention", "attention"}),
                  "list of layers: their kinds, or tables with kind and options")
          .in_small(Json::array({"attention"}))
          .trying(Json::array({"attention", "superposition", "nondeterministic"})),
      integer_option("hidden", 32, "size d of the vectors", 1)
          .between(1, 1 << 20)
          .in_small(8)
          .trying(6),
      integer_option("heads", 4, "number of attention heads of each attention layer", 1)
          .between(1, 1 << 20)
          .in_small(2)
          .trying(4),
      integer_option("feedforward", 64, "number of hidden units of each feedforward sublayer", 1)
          .between(1, 1 << 20)
          .in_small(5)
          .trying(3),
      number_option("dropout", 0.0, "dropout probability in training", 0).trying(0.3),
      text_option("positions", "sinusoidal",
                  "encoding of positions: none; sinusoidal or randomized, added to the embeddings; "
                  "rotary, alibi or relative, in attention",
                  position_kinds()),
      integer_option("longest_position", 2048,
                     "number of positions from which 'randomized' draws in training", 2)
          .between(2, 1 << 20)
          .trying(100, {{"positions", "randomized"}}),
      integer_option("position_gap", 4,
                     "distance of neighbouring positions of 'randomized' in evaluation", 1)
          .between(1, 1 << 20)
          .trying(2, {{"positions", "randomized"}})};
  kind.make = [](const Json& options, const ModuleContext& context, const Kinds&) -> NetworkPtr {
    return std::make_shared<Transformer>(options, context);
  };
  kind.complete = complete_transformer;
  return kind;
}

}  // namespace pushdown
