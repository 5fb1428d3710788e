// A transformer over the symbols of a string, optionally with stack attention (Vaswani et al. 2017;
// DuSell and Chiang 2024). Position 0 has a begin symbol, position t symbol w_t:
//   x_t = dropout(sqrt(d) E[w_t] + p_t),
// where p_t is the vector of a position, if it is added (positions.h).
// Each layer consists of a sublayer that looks back (sublayer.h) and a feedforward one, both as
//   x <- x + dropout(f(LayerNorm(x))),     feedforward: f(x) = W_2 relu(W_1 x + b_1) + b_2;
// and h_t = LayerNorm(x_t) after the last layer.
//
// Random positions, and after them dropout masks, are drawn from the generator of the training pass
// (Network::run), so that a resumed run repeats them. Without a generator, nothing is random.
#include <cmath>
#include <functional>

#include "base/check.h"
#include "base/stopping.h"
#include "model/dropout.h"
#include "model/network_trace.h"
#include "model/positions.h"
#include "model/step_engine.h"
#include "model/sublayer.h"
#include "recurrence/execute/step_likelihood.h"
#include "stack/stack.h"
#include "tensor/backward.h"
#include "tensor/embedding.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

struct Norm {
  Tensor gain, bias;

  Norm(const std::string& name, const ModuleContext& context, ParameterList& parameters)
      : gain(zero_parameter({context.input}, context)),
        bias(zero_parameter({context.input}, context)) {
    at::NoGradGuard guard;
    gain.fill_(1);
    parameters.emplace_back(name + "_gain", gain);
    parameters.emplace_back(name + "_bias", bias);
  }
  template <class Vector>
  Vector operator()(const Vector& x) const {
    return normalized(x, gain, bias);
  }
};

struct Layer {
  std::string kind;
  Norm norm;
  SublayerPtr sublayer;
  Norm feedforward_norm;
  Tensor inner_weight, inner_bias, outer_weight, outer_bias;

  Layer(const std::string& name, const Json& options, std::int64_t inner,
        const ModuleContext& context, ParameterList& parameters)
      : kind(options["kind"]),
        norm(name + "norm", context, parameters),
        sublayer(find_row("layer", layer_kinds(), options["kind"].get<std::string>())
                     .make(without_kind(options), context)),
        feedforward_norm(name + "feedforward_norm", context, parameters),
        inner_weight(xavier_parameter(inner, context.input, 1.0, context)),
        inner_bias(uniform_parameter({inner}, -0.1, 0.1, context)),
        outer_weight(xavier_parameter(context.input, inner, 1.0, context)),
        outer_bias(uniform_parameter({context.input}, -0.1, 0.1, context)) {
    for (const auto& [own, tensor] : sublayer->parameters())
      parameters.emplace_back(name + own, tensor);
    for (const auto& [own, tensor] : {std::pair{"inner_weight", inner_weight},
                                      {"inner_bias", inner_bias},
                                      {"outer_weight", outer_weight},
                                      {"outer_bias", outer_bias}})
      parameters.emplace_back(name + "feedforward_" + own, tensor);
  }

  static Json without_kind(Json options) {
    options.erase("kind");
    return options;
  }
  Tensor feedforward(const Tensor& x) const {
    return linear_product(linear_product(feedforward_norm(x), inner_weight, inner_bias).relu(),
                          outer_weight, outer_bias);
  }
  Traced feedforward(const Traced& x) const {
    return pushdown::linear(pushdown::linear(feedforward_norm(x), inner_weight, inner_bias).relu(),
                            outer_weight, outer_bias);
  }
};

struct TransformerState : NetworkState {
  std::vector<NetworkStatePtr> layers;
  std::int64_t position = 0;  // of the next vector
  std::int64_t expected = 0;  // number of vectors; 0: unknown
  Tensor drawn;               // the vectors of their random positions : expected x d
  // Either `hidden`, h_t, or `symbol` is set: the symbol w_t that was given and not yet read.
  Tensor hidden;  // B x H
  Tensor symbol;  // B x 1

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<TransformerState>(*this);
    for (auto& layer : copy->layers) layer = layer->detached();
    if (hidden.defined()) copy->hidden = hidden.detach();
    return copy;
  }
  std::size_t bytes() const override {
    std::size_t total = tensor_bytes(hidden) + tensor_bytes(symbol) + tensor_bytes(drawn);
    for (const auto& layer : layers) total += layer->bytes();
    return total;
  }
};

class Transformer : public Network, public TraceableNetwork, public LayeredNetwork {
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
    line_ = "transformer of " + (kinds.empty() ? "no layers" : kinds);
  }

  std::int64_t hidden_size() const override { return size_; }
  std::string line() const override { return line_; }

  Passes run(const PassRequest& request) const override {
    if (request.window > 0) return {};
    const Tensor symbols = at::constant_pad_nd(repeated(request.words, request.refinement), {1, 0},
                                               static_cast<double>(begin_symbol_));
    const bool recorded = records() && !SecondDerivatives::wanted();
    return {
        recorded ? run_recorded(symbols, request.noise) : forward(symbols, nullptr, request.noise),
        {},
        nullptr};
  }

  Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                           const Tensor& output_bias, Random* noise,
                           std::optional<double> scale) const override {
    const auto batch = targets.size(0), steps = targets.size(1);
    if (!records() || steps == 0 || output_weight.size(0) > kMostOutcomes) return {};
    if (SecondDerivatives::wanted()) return {};
    const StepPlanPtr found = planned(batch, steps, masks(noise));
    if (found == nullptr) return {};
    std::vector<Tensor> supplied;
    if (adds_positions()) supplied.push_back(added(steps, noise).expand({batch, steps, size_}));
    if (reads_distances())
      supplied.push_back(distances_.rows(0, steps).expand({batch, steps, size_}));
    for (std::int64_t k = 0; k < masks(noise); ++k)
      supplied.push_back(dropout(at::ones({batch, steps, size_}, options_), dropout_, noise));
    return engine_->log_likelihoods(found, targets, output_weight, output_bias, std::move(supplied),
                                    buffers_, scale);
  }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    auto state = std::make_shared<TransformerState>();
    for (const Layer& layer : layers_)
      state->layers.push_back(layer.sublayer->initial(batch, length == 0 ? 0 : length + 1));
    state->symbol = at::full({batch, 1}, begin_symbol_, at::kLong);
    state->expected = length == 0 ? 0 : length + 1;
    return state;
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
    if (read_now.size(1) > 0) hiddens = forward(read_now, next.get(), noise);
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
    next->hidden = forward(old.symbol, next.get(), noise).select(1, 0);
    next->symbol = Tensor();
    return {next->hidden, next};
  }

  std::vector<NetworkTrace> traces(const PassRequest& request) const override {
    const Tensor symbols = at::constant_pad_nd(repeated(request.words, request.refinement), {1, 0},
                                               static_cast<double>(begin_symbol_));
    std::vector<NetworkTrace> all;
    forward(symbols, nullptr, nullptr, [&](std::size_t l, const Tensor& x) {
      const Sublayer& sublayer = *layers_[l].sublayer;
      if (const Stack* stack = sublayer.stack())
        all.push_back({static_cast<std::int64_t>(l) + 1, layers_[l].kind, trace_of(*stack, x[0])});
    });
    return all;
  }

  // The vectors of a layer are those that the next one reads: its output after normalization.
  std::vector<Tensor> layers(const PassRequest& request) const override {
    const Tensor symbols = at::constant_pad_nd(repeated(request.words, request.refinement), {1, 0},
                                               static_cast<double>(begin_symbol_));
    std::vector<Tensor> all;
    const Tensor last =
        forward(symbols, nullptr, nullptr, [&](std::size_t layer, const Tensor& read) {
          if (layer > 0) all.push_back(carried_passes(read, request.refinement));
        });
    all.push_back(carried_passes(last, request.refinement));
    return all;
  }

  std::vector<Tensor> symbol_tables() const override { return {embedding_}; }

 private:
  // Whether a recorded program computes the whole network.
  bool records() const {
    return engine_ != nullptr && engine_->differentiates() && !layers_.empty() &&
           std::all_of(layers_.begin(), layers_.end(),
                       [](const Layer& layer) { return layer.sublayer->records(); });
  }
  // Returns the number of dropout masks of a pass.
  std::int64_t masks(const Random* noise) const {
    return noise == nullptr || dropout_ == 0 ? 0 : 2 * std::ssize(layers_) + 1;
  }
  bool is_randomized() const { return positions_ == "randomized"; }
  bool adds_positions() const { return positions_ == "sinusoidal" || is_randomized(); }
  bool reads_distances() const {
    return std::any_of(layers_.begin(), layers_.end(),
                       [](const Layer& layer) { return layer.sublayer->reads_distances(); });
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
    for (const Layer& layer : layers_) {
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

  // B x c -> B x c x H, from the beginning or continuing after `state`, which is updated. Calls
  // `visit` with the number of each layer and what its sublayer reads.
  Tensor forward(
      const Tensor& symbols, TransformerState* state, Random* noise,
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
      const Layer& layer = layers_[l];
      Tensor seen;
      const Tensor read = layer.norm(x);
      visit(l, read);
      if (state == nullptr)
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
  std::vector<Layer> layers_;
  std::optional<Norm> norm_;
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
                  "list of layers: their kinds, or tables with kind and options"),
      integer_option("hidden", 32, "size d of the vectors", 1).between(1, 1 << 20),
      integer_option("heads", 4, "number of attention heads of each attention layer", 1)
          .between(1, 1 << 20),
      integer_option("feedforward", 64, "number of hidden units of each feedforward sublayer", 1)
          .between(1, 1 << 20),
      number_option("dropout", 0.0, "dropout probability in training", 0),
      text_option("positions", "sinusoidal",
                  "encoding of positions: none; sinusoidal or randomized, added to the embeddings; "
                  "rotary, alibi or relative, in attention",
                  position_kinds()),
      integer_option("longest_position", 2048,
                     "number of positions from which 'randomized' draws in training", 2)
          .between(2, 1 << 20),
      integer_option("position_gap", 4,
                     "distance of neighbouring positions of 'randomized' in evaluation", 1)
          .between(1, 1 << 20)};
  kind.make = [](const Json& options, const ModuleContext& context, const Kinds&) -> NetworkPtr {
    return std::make_shared<Transformer>(options, context);
  };
  kind.complete = complete_transformer;
  return kind;
}

}  // namespace pushdown
