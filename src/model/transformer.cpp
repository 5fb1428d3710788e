// A transformer over the symbols of a string, optionally with stack attention (Vaswani et al. 2017;
// DuSell and Chiang 2024). Position 0 has a begin symbol, position t symbol w_t:
//   x_t = dropout(sqrt(d) E[w_t] + position_t),
//     position_t[2i] = sin(t / 10000^(2i/d)),  position_t[2i+1] = cos(t / 10000^(2i/d)).
// Each layer consists of a sublayer that looks back (sublayer.h) and a feedforward one, both as
//   x <- x + dropout(f(LayerNorm(x))),     feedforward: f(x) = W_2 relu(W_1 x + b_1) + b_2;
// and h_t = LayerNorm(x_t) after the last layer.
//
// Dropout masks are drawn from the generator of the training pass (Network::run), so that a resumed
// run repeats them. Without a generator, nothing is dropped.
#include <cmath>
#include <functional>
#include <mutex>

#include "base/check.h"
#include "base/stopping.h"
#include "model/dropout.h"
#include "model/network_trace.h"
#include "model/step_engine.h"
#include "model/sublayer.h"
#include "recurrence/execute/step_likelihood.h"
#include "stack/stack.h"
#include "tensor/backward.h"
#include "tensor/embedding.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

// Returns the encodings of the positions first .. first + count - 1 : count x d.
Tensor positions(std::int64_t first, std::int64_t count, std::int64_t size) {
  Tensor encodings = at::empty({count, size}, at::kDouble);
  auto* value = encodings.data_ptr<double>();
  for (std::int64_t t = first; t < first + count; ++t)
    for (std::int64_t i = 0; i < size; ++i) {
      const double angle =
          static_cast<double>(t) *
          std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(size));
      *value++ = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return encodings;
}

// The encodings from position 0 on, which are computed once.
class PositionTable {
 public:
  PositionTable(std::int64_t size, const at::TensorOptions& options)
      : size_(size), options_(options) {}

  Tensor first(std::int64_t count) const {
    const std::lock_guard lock(mutex_);
    if (!known_.defined() || known_.size(0) < count)
      known_ = positions(0, count, size_).to(options_);
    return known_.narrow(0, 0, count);
  }

 private:
  std::int64_t size_;
  at::TensorOptions options_;
  mutable std::mutex mutex_;
  mutable Tensor known_;
};

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
    std::size_t total = tensor_bytes(hidden) + tensor_bytes(symbol);
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
        positions_(size_, options_),
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
    std::vector<Tensor> supplied{positions_.first(steps).expand({batch, steps, size_})};
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
  // Records the layers; mask(x) drops numbers of x.
  template <class Mask>
  Traced record(Traced x, const Mask& mask) const {
    for (const Layer& layer : layers_) {
      x = x + mask(layer.sublayer->record(layer.norm(x)));
      x = x + mask(layer.feedforward(x));
    }
    return (*norm_)(x);
  }
  Tensor run_recorded(const Tensor& symbols, Random* noise) const {
    const auto batch = symbols.size(0), steps = symbols.size(1);
    StepTrace trace;
    const Tensor embedded =
        pushdown::embedded(embedding_, symbols) * std::sqrt(static_cast<double>(size_)) +
        positions_.first(steps);
    const auto mask = [&](const Traced& x) {
      if (masks(noise) == 0) return x;
      return x *
             trace.sequence(dropout(at::ones({batch, steps, size_}, options_), dropout_, noise));
    };
    const Traced x = trace.sequence(dropout(embedded, dropout_, noise));
    return engine_->run(trace.finish(record(x, mask)), batch, steps, 0, buffers_);
  }
  // Returns the program that reads symbols, and is supplied with positions and masks.
  StepPlanPtr planned(std::int64_t batch, std::int64_t steps, std::int64_t masks) const {
    return plans_->find({batch, steps, masks}, [&] {
      const at::AutoGradMode with_gradient(true);
      StepTrace trace(true);
      trace.begin_with(begin_symbol_);
      const auto mask = [&](const Traced& x) { return masks == 0 ? x : x * trace.supplied(size_); };
      const Traced symbols = trace.symbols(begin_symbol_ + 1), places = trace.supplied(size_);
      const Traced embedded =
          pushdown::linear(symbols, embedding_.t()) * std::sqrt(static_cast<double>(size_)) +
          places;
      return StepPlan::make(trace.finish(record(mask(embedded), mask)), parameters_);
    });
  }

  // B x c -> B x c x H, from the beginning or continuing after `state`, which is updated. Calls
  // `visit` with the number of each layer and what its sublayer reads.
  Tensor forward(
      const Tensor& symbols, TransformerState* state, Random* noise,
      const std::function<void(std::size_t, const Tensor&)>& visit = [](std::size_t,
                                                                        const Tensor&) {}) const {
    const auto length = symbols.size(1);
    const Tensor embedded = pushdown::embedded(embedding_, symbols.to(options_.device()));
    const Tensor places = positions(state ? state->position : 0, length, size_).to(options_);
    Tensor x = dropout(embedded * std::sqrt(static_cast<double>(size_)) + places, dropout_, noise);
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
  PositionTable positions_;
  Tensor embedding_;  // (V + 1) x d
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
      number_option("dropout", 0.0, "dropout probability in training", 0)};
  kind.make = [](const Json& options, const ModuleContext& context, const Kinds&) -> NetworkPtr {
    return std::make_shared<Transformer>(options, context);
  };
  kind.complete = complete_transformer;
  return kind;
}

}  // namespace pushdown
