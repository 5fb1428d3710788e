// A controller with several layers of one cell, each reading the hidden vector of the layer below.
//
// Dimension letters: B batch, I input of a layer, H hidden.
#pragma once
#include <string>

#include "controller/controller.h"

namespace pushdown {

// Returns the options hidden, layers.
std::vector<OptionSpec> cell_options();

// Creates the parameters of one layer and lists them as {name}_l{index}.
class LayerParameters {
 public:
  // `normal`: weights N(0, 0.005^2) and biases 0 instead of U(-0.1, 0.1).
  LayerParameters(std::int64_t index, std::int64_t input, std::int64_t hidden, bool normal,
                  const ModuleContext& context, ParameterList& list)
      : input(input),
        hidden(hidden),
        index_(index),
        normal_(normal),
        context_(context),
        list_(list) {}

  Tensor weight(const char* name, at::IntArrayRef shape) const {
    return normal_ ? add(name, normal_parameter(shape, 0.005, context_))
                   : uniform(name, shape, 0.1);
  }
  Tensor bias(const char* name, at::IntArrayRef shape) const {
    return normal_ ? constant(name, shape, 0) : uniform(name, shape, 0.1);
  }
  Tensor uniform(const char* name, at::IntArrayRef shape, double bound) const {
    return add(name, uniform_parameter(shape, -bound, bound, context_));
  }
  Tensor constant(const char* name, at::IntArrayRef shape, double value) const {
    return add(name, constant_parameter(shape, value, context_));
  }

  const std::int64_t input, hidden;  // I, H

 private:
  Tensor add(const char* name, Tensor tensor) const {
    list_.emplace_back(fmt::format("{}_l{}", name, index_), tensor);
    return tensor;
  }

  std::int64_t index_;
  bool normal_;
  const ModuleContext& context_;
  ParameterList& list_;
};

// The parameters of the classical cells, named and initialised as in LibTorch, except for U(-0.1,
// 0.1) (DuSell and Chiang 2020, section 5.5: all but the fully connected layers). `gates` rows of
// size hidden each:
//   weight_ih : gates*H x I     weight_hh : gates*H x H     bias_ih, bias_hh : gates*H
struct CellLayer {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

  CellLayer(std::int64_t gates, const LayerParameters& make)
      : weight_ih(make.weight("weight_ih", {gates * make.hidden, make.input})),
        weight_hh(make.weight("weight_hh", {gates * make.hidden, make.hidden})),
        bias_ih(make.bias("bias_ih", {gates * make.hidden})),
        bias_hh(make.bias("bias_hh", {gates * make.hidden})) {}
};

// A Layer is constructed as Layer(options, parameters), has a constant kStates, the number of
// tensors in its state, and a function step(x, old), x : B x I, which returns the new tensors; the
// first is the hidden vector. The step is a template over the type of its vectors
// (recurrence/trace/step_trace.h). The tensors are B x H each, unless the layer has a function
// state_sizes(), which returns their widths. They are 0 at first, or as the array kStart of kStates
// numbers says. A constant kReadsHidden = false says that the step does not read the old hidden
// vector.
template <class Layer>
class Layered : public Controller {
 public:
  Layered(const Json& options, const ModuleContext& context)
      : hidden_(options["hidden"]), tensor_options_(context.tensor_options) {
    const std::int64_t count = options["layers"];
    const bool normal = options.value("initialization", "uniform") == "normal";
    for (std::int64_t k = 0; k < count; ++k)
      layers_.emplace_back(options, LayerParameters(k, k == 0 ? context.input : hidden_, hidden_,
                                                    normal, context, parameters_));
  }

  std::int64_t hidden_size() const override { return hidden_; }
  std::int64_t layers() const override { return static_cast<std::int64_t>(layers_.size()); }
  bool reads_hidden() const override {
    if constexpr (requires { Layer::kReadsHidden; }) return Layer::kReadsHidden;
    return true;
  }
  ControllerState initial(std::int64_t batch) const override {
    std::vector<std::int64_t> sizes(Layer::kStates, hidden_);
    if constexpr (requires(const Layer& layer) { layer.state_sizes(); })
      sizes = layers_.front().state_sizes();
    ControllerState state;
    for (std::size_t k = 0; k < layers_.size() * Layer::kStates; ++k) {
      const std::size_t own = k % Layer::kStates;
      double start = 0;
      if constexpr (requires { Layer::kStart; }) start = Layer::kStart[own];
      state.push_back(at::full({batch, sizes[own]}, start, tensor_options_));
    }
    return state;
  }
  std::pair<Tensor, ControllerState> step(const Tensor& input, const ControllerState& state,
                                          const std::vector<Tensor>& masks) const override {
    return step_of(input, state, masks);
  }
  std::pair<Traced, TracedState> trace(const Traced& input, const TracedState& state,
                                       const std::vector<Traced>& masks) const override {
    return step_of(input, state, masks);
  }

 protected:
  const Layer& first_layer() const { return layers_.front(); }

 private:
  template <class V>
  std::pair<V, std::vector<V>> step_of(const V& input, const std::vector<V>& state,
                                       const std::vector<V>& masks) const {
    std::vector<V> next;
    V x = input;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      if (k > 0 && !masks.empty()) x = x * masks[k - 1];
      const std::vector<V> layer = layers_[k].step(x, &state[k * Layer::kStates]);
      x = layer.front();
      next.insert(next.end(), layer.begin(), layer.end());
    }
    return {x, next};
  }

  std::int64_t hidden_;
  at::TensorOptions tensor_options_;
  std::vector<Layer> layers_;
};

template <class Cell>
ControllerPtr make_cell(const Json& options, const ModuleContext& context) {
  return std::make_shared<Cell>(options, context);
}

// Returns the options of every cell and its own.
inline std::vector<OptionSpec> cell_options_and(std::vector<OptionSpec> own) {
  auto specs = cell_options();
  specs.insert(specs.end(), own.begin(), own.end());
  return specs;
}

}  // namespace pushdown
