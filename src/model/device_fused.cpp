#include "model/device_fused.h"

#include "base/check.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

constexpr const char* kDeviceFusedPlace = "device";

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

[[noreturn]] void fail_memory(const FusedNetwork& network, std::int64_t models, std::int64_t batch,
                              const DevicePassBytes& need, const std::string& what_is_there) {
  fail_environment(kDeviceFusedPlace,
                   "{} strings of {} steps, {} models at once: {} of the device's memory are "
                   "needed (tape {}, scratch {}, other {}), but {}; take a smaller batch, fewer "
                   "models at once or shorter strings",
                   batch, network.shape.steps, models, megabytes(need.total()),
                   megabytes(need.tape), megabytes(need.scratch), megabytes(need.other),
                   what_is_there);
}

// The transposed copies, biases and bottom vectors of M networks, those of each behind each other.
class Packing {
 public:
  explicit Packing(std::int64_t models) : models_(models) {}

  // Columns first .. first+count-1 of M x rows x columns, transposed, rows padded with zeros.
  std::int64_t matrix(const Tensor& of_models, std::int64_t first, std::int64_t count) {
    const auto rows = of_models.size(1);
    return add(at::constant_pad_nd(of_models.narrow(2, first, count).transpose(1, 2),
                                   {0, scan_padded(rows) - rows}));
  }
  std::int64_t vector(const Tensor& of_models) {  // M x count
    const auto count = of_models.size(1);
    return add(at::constant_pad_nd(of_models, {0, scan_padded(count) - count}));
  }
  std::int64_t stride() const { return stride_; }
  Tensor packed() const { return at::cat(pieces_, 1); }

 private:
  std::int64_t add(const Tensor& piece) {
    const auto place = stride_;
    const auto count = piece.numel() / models_;
    pieces_.push_back(piece.reshape({models_, count}));
    stride_ += count;
    return place;
  }

  std::int64_t models_, stride_ = 0;
  std::vector<Tensor> pieces_;
};

// Hidden vectors as a function of the stacked tensors of M networks, M x ... each, in the order of
// FusedNetwork::tensors without the output layer.
template <class F>
struct HiddensNode final : AutogradNode {
  FusedNetworkPtr network;  // the form of all
  DeviceRunnerPtr runner;
  std::int64_t models, batch;
  std::vector<std::vector<std::int64_t>> sizes;  // of the stacked tensors
  at::TensorOptions numbers;
  Tensor words, packed, table, hidden, readings, tape;  // what `scan` points to
  DeviceScan<F> scan;
  bool freed = false;

  HiddensNode(const FusedNetworkPtr& network, const DeviceRunnerPtr& runner, const Tensor& ids,
              const variable_list& stacked)
      : network(network),
        runner(runner),
        models(ids.size(0)),
        batch(ids.size(1)),
        numbers(stacked[0].options()),
        words(ids.contiguous()) {
    for (const Tensor& tensor : stacked) sizes.push_back(tensor.sizes().vec());
    scan.shape = network->shape;
    scan.shape.row_start = nullptr;
    scan.models = models;
    scan.batch = batch;
    scan.symbols = network->inputs;
    pack(stacked);
    scan.words = words.data_ptr<std::int64_t>();
    scan.word_stride = scan.shape.steps;
    scan.model_word_stride = batch * scan.word_stride;
  }
  std::string name() const override { return "DeviceHiddens"; }
  void release_variables() override {
    words = packed = table = hidden = readings = tape = Tensor();
    freed = true;
  }

  Tensor forward(bool gradients) {
    const ScanShape& shape = scan.shape;
    const auto need = device_pass_bytes(*network, models, batch, gradients);
    const auto free = runner->free_bytes();
    if (need.total() > free)
      fail_memory(*network, models, batch, need, megabytes(free) + " are free");
    const auto places = models * batch, layers = shape.layers, steps = shape.steps;
    hidden = memory({models, batch, layers, steps, shape.hidden}, gradients);
    readings = memory({places, steps, shape.reading}, gradients);
    tape = memory({places, device_scan_sizes(shape).tape}, gradients);
    const Tensor scratch = memory({places, device_scan_sizes(shape).scratch}, gradients);
    scan.hidden = hidden.data_ptr<F>();
    scan.readings = readings.data_ptr<F>();
    scan.tape = tape.data_ptr<F>();
    scan.scratch = scratch.data_ptr<F>();
    runner->forward(scan);
    // A copy: the node keeps its own, whatever becomes of the result.
    return hidden.select(2, layers - 1).clone();
  }

  variable_list apply(variable_list&& given) override {
    check(!freed, "backward", "the graph was used and freed; keep it with retain_graph");
    at::AutoGradMode no_gradient(false);
    const ScanShape& shape = scan.shape;
    const DeviceGradients places = device_gradients(shape, scan.symbols);
    const auto all = models * batch, steps = shape.steps;
    const bool split = network->split_gates();
    const Tensor from_above = given[0].contiguous();
    const Tensor scratch = memory({all, device_scan_sizes(shape).scratch}, true),
                 input = memory({all, shape.layers, steps, shape.gates}, true),
                 recurrent = split ? memory({all, shape.layers, steps, shape.gates}, true) : input,
                 actions = memory({all, steps, shape.actions}, true),
                 parts = memory({all, places.count}, true),
                 sums = memory({models, places.count}, true);
    DeviceScan<F> backward = scan;
    backward.scratch = scratch.data_ptr<F>();
    backward.hidden_gradient = from_above.data_ptr<F>();
    backward.input_gradient = input.data_ptr<F>();
    backward.recurrent_gradient = recurrent.data_ptr<F>();
    backward.action_gradient = actions.data_ptr<F>();
    backward.sequence_gradients = parts.data_ptr<F>();
    backward.gradients = sums.data_ptr<F>();
    runner->backward(backward);
    return unpacked(places, sums);
  }

 private:
  Tensor memory(at::IntArrayRef size, bool gradients) const {
    try {
      return at::empty(size, numbers);
    } catch (const c10::OutOfMemoryError&) {
      fail_memory(*network, models, batch, device_pass_bytes(*network, models, batch, gradients),
                  "what is free is not in pieces large enough");
    }
  }

  void pack(const variable_list& stacked) {
    const ScanShape& shape = scan.shape;
    const auto layers = shape.layers;
    Packing packing(models);
    std::vector<std::pair<const F**, std::int64_t>> places;
    for (std::int64_t l = 0; l < layers; ++l) {
      auto& layer = scan.parameters.layers[l];
      const Tensor* own = &stacked[static_cast<std::size_t>(4 * l)];
      const auto first = l == 0 ? network->inputs : 0,
                 count = l == 0 ? shape.reading : shape.hidden;
      places.emplace_back(&layer.input_t, packing.matrix(own[0], first, count));
      places.emplace_back(&layer.hidden_t, packing.matrix(own[1], 0, shape.hidden));
      if (l > 0) places.emplace_back(&layer.input_bias, packing.vector(own[2]));
      places.emplace_back(&layer.hidden_bias, packing.vector(own[3]));
    }
    const Tensor* behind = &stacked[static_cast<std::size_t>(4 * layers)];
    if (shape.actions > 0) {
      places.emplace_back(&scan.parameters.action_t, packing.matrix(behind[0], 0, shape.hidden));
      places.emplace_back(&scan.parameters.action_bias, packing.vector(behind[1]));
    }
    places.emplace_back(&scan.parameters.bottom, packing.vector(behind[2]));
    packed = packing.packed();
    for (const auto& [pointer, place] : places) *pointer = packed.data_ptr<F>() + place;
    scan.parameter_stride = packing.stride();
    table = (stacked[0].narrow(2, 0, network->inputs).transpose(1, 2) + stacked[2].unsqueeze(1))
                .contiguous();
    scan.pre = table.data_ptr<F>();
    scan.pre_stride = network->inputs * shape.gates;
  }

  variable_list unpacked(const DeviceGradients& places, const Tensor& sums) const {
    const ScanShape& shape = scan.shape;
    variable_list result;
    const auto part = [&](std::int64_t place, std::int64_t count) {
      return sums.narrow(1, place, count);
    };
    const auto next = [&](std::int64_t place) {
      const auto& size = sizes[result.size()];
      std::int64_t count = 1;
      for (std::size_t i = 1; i < size.size(); ++i) count *= size[i];
      result.push_back(part(place, count).reshape(size));
    };
    for (std::int64_t l = 0; l < shape.layers; ++l) {
      if (l == 0) {
        const Tensor of_words = part(places.words, network->inputs * shape.gates)
                                    .reshape({models, network->inputs, shape.gates})
                                    .transpose(1, 2);
        const Tensor of_reading = part(places.input[0], shape.gates * shape.reading)
                                      .reshape({models, shape.gates, shape.reading});
        result.push_back(at::cat({of_words, of_reading}, 2));
      } else {
        next(places.input[l]);
      }
      next(places.hidden[l]);
      next(places.input_bias[l]);
      next(places.hidden_bias[l]);
    }
    next(places.action);
    next(places.action_bias);
    next(places.bottom);
    return result;
  }
};

// The tensors of all networks, M x ... each.
variable_list stacked_tensors(const std::vector<FusedNetworkPtr>& networks, std::size_t first,
                              std::size_t end) {
  variable_list stacked;
  for (std::size_t k = first; k < end; ++k) {
    if (networks.size() == 1) {
      stacked.push_back(networks[0]->tensors[k].unsqueeze(0));
      continue;
    }
    std::vector<Tensor> of_all;
    for (const auto& network : networks) of_all.push_back(network->tensors[k]);
    stacked.push_back(at::stack(of_all));
  }
  return stacked;
}

std::size_t recurrent_tensors(const FusedNetwork& network) {
  return static_cast<std::size_t>(4 * network.shape.layers + 3);
}

template <class F>
Tensor hiddens(const std::vector<FusedNetworkPtr>& networks, const Tensor& words,
               const DeviceRunnerPtr& runner) {
  const variable_list stacked = stacked_tensors(networks, 0, recurrent_tensors(*networks[0]));
  const bool gradients = gradients_wanted(stacked);
  NodePtr<HiddensNode<F>> node;
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node = make_node<HiddensNode<F>>(networks[0], runner, words, stacked);
    result = node->forward(gradients);
  }
  if (gradients) connect(node, result, stacked);
  return result;
}

}  // namespace

DevicePassBytes device_pass_bytes(const FusedNetwork& network, std::int64_t models,
                                  std::int64_t batch, bool gradients) {
  const ScanShape& shape = network.shape;
  const auto sizes = device_scan_sizes(shape);
  const auto parameters = device_gradients(shape, network.inputs).count;
  const auto steps = shape.steps, gates = shape.layers * steps * shape.gates;
  // Hidden vectors of all layers, those that are copied out, and the scores.
  auto other = (shape.layers + 2) * steps * shape.hidden + steps * shape.reading +
               2 * (steps + 1) * network.outcomes;
  if (gradients)
    other += gates * (network.split_gates() ? 2 : 1) + steps * shape.actions +
             2 * steps * shape.hidden + parameters + 2 * (steps + 1) * network.outcomes;
  const auto bytes = [&](std::int64_t count) {
    return static_cast<std::size_t>(count) * network.tensors[0].element_size();
  };
  return {bytes(models * batch * sizes.tape), bytes(models * batch * sizes.scratch),
          bytes(models * (batch * other + 3 * parameters))};
}

bool same_form(const FusedNetwork& first, const FusedNetwork& second) {
  const ScanShape &a = first.shape, &b = second.shape;
  if (first.inputs != second.inputs || first.outcomes != second.outcomes ||
      first.tensors.size() != second.tensors.size())
    return false;
  for (std::size_t k = 0; k < first.tensors.size(); ++k) {
    const Tensor &one = first.tensors[k], &other = second.tensors[k];
    if (one.sizes() != other.sizes() || one.scalar_type() != other.scalar_type() ||
        one.device() != other.device())
      return false;
  }
  return a.cell == b.cell && a.stack == b.stack && a.steps == b.steps && a.layers == b.layers &&
         a.hidden == b.hidden && a.reading == b.reading && a.actions == b.actions &&
         a.size == b.size && a.ends == b.ends && a.memories == b.memories &&
         std::equal(std::begin(a.strengths), std::end(a.strengths), std::begin(b.strengths)) &&
         a.max_strength == b.max_strength && a.automaton.states == b.automaton.states &&
         a.automaton.symbols == b.automaton.symbols &&
         a.automaton.channels == b.automaton.channels && a.automaton.window == b.automaton.window &&
         a.reexposed == b.reexposed && a.state_symbol == b.state_symbol &&
         a.normalized == b.normalized;
}

Tensor device_hiddens(const std::vector<FusedNetworkPtr>& networks, const Tensor& words,
                      const DeviceRunnerPtr& runner) {
  const FusedNetwork& form = *networks.at(0);
  check(words.dim() == 3 && words.scalar_type() == at::kLong &&
            words.size(0) == static_cast<std::int64_t>(networks.size()) &&
            words.size(2) == form.shape.steps,
        kDeviceFusedPlace, "words must be {} x B x {} (int64), got {}", networks.size(),
        form.shape.steps, shape_text(words));
  check(std::all_of(networks.begin(), networks.end(),
                    [&](const auto& network) { return same_form(form, *network); }),
        kDeviceFusedPlace, "the networks must be of one form");
  return form.tensors[0].scalar_type() == at::kFloat ? hiddens<float>(networks, words, runner)
                                                     : hiddens<double>(networks, words, runner);
}

Tensor device_log_probabilities(const std::vector<FusedNetworkPtr>& networks, const Tensor& targets,
                                const DeviceRunnerPtr& runner) {
  const FusedNetwork& form = *networks.at(0);
  const auto models = targets.size(0), batch = targets.size(1), places = targets.size(2);
  const Tensor read = targets.narrow(2, 0, places - 1);
  // What stands behind a string's end is read and goes nowhere.
  const Tensor words =
      at::where(read.ge(0).logical_and(read.lt(form.inputs)), read, at::zeros_like(read));
  const Tensor after = device_hiddens(networks, words, runner);
  const Tensor first = at::zeros({models, batch, 1, form.shape.hidden}, after.options());  // h_0
  const auto outputs = stacked_tensors(networks, recurrent_tensors(form), form.tensors.size());
  const Tensor scores = at::baddbmm(outputs[1].unsqueeze(1),
                                    at::cat({first, after}, 2).view({models, batch * places, -1}),
                                    outputs[0].transpose(1, 2));
  const Tensor ids = targets.reshape({models, batch * places, 1});
  const Tensor found = scores.log_softmax(2).gather(2, ids.clamp_min(0));
  return found.masked_fill(ids.lt(0), 0).view({models, batch, places}).sum(2);
}

}  // namespace pushdown
