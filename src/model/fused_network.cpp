#include "model/fused_network.h"

#include "base/check.h"
#include "base/parallel.h"
#include "controller/elman.h"
#include "controller/gru.h"
#include "controller/lstm.h"

namespace pushdown {
namespace {

using CellLayers = std::vector<const CellLayer*>;

template <class Layer>
CellLayers cell_layers(const Layered<Layer>& controller) {
  CellLayers layers;
  for (const Layer& layer : controller.layers()) layers.push_back(&layer);
  return layers;
}

// The cell and the layers of a controller that the fused recurrence has; none for others.
CellLayers fused_layers(const Controller& controller, ScanCell& cell) {
  CellLayers layers;
  if (const auto* lstm = dynamic_cast<const Lstm*>(&controller)) {
    if (lstm->layers().front().activation != Activation::tanh) return {};
    cell = ScanCell::lstm;
    layers = cell_layers(*lstm);
  } else if (const auto* gru = dynamic_cast<const Gru*>(&controller)) {
    cell = ScanCell::gru;
    layers = cell_layers(*gru);
  } else if (const auto* elman = dynamic_cast<const Elman*>(&controller)) {
    const Activation activation = elman->layers().front().activation;
    if (activation == Activation::scaled_tanh) return {};
    cell = activation == Activation::sigmoid ? ScanCell::elman_sigmoid : ScanCell::elman_tanh;
    layers = cell_layers(*elman);
  }
  return layers.size() <= kMaxScanLayers ? layers : CellLayers{};
}

// Columns first .. first+count-1 of a matrix, rows padded with zeros.
template <class F>
const F* pack_rows(const Tensor& tensor, std::int64_t first, std::int64_t count,
                   Pieces<F>& pieces) {
  const auto rows = tensor.size(0), columns = tensor.size(1), row = scan_padded(count);
  F* to = pieces.take(rows * row);
  if (to == nullptr) return to;
  const F* from = tensor.data_ptr<F>() + first;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(from + i * columns, count, to + i * row);
    std::fill(to + i * row + count, to + (i + 1) * row, F(0));
  }
  return to;
}

// The same transposed: count x rows, padded.
template <class F>
const F* pack_columns(const Tensor& tensor, std::int64_t first, std::int64_t count,
                      Pieces<F>& pieces) {
  const auto rows = tensor.size(0), columns = tensor.size(1), row = scan_padded(rows);
  F* to = pieces.take(count * row);
  if (to == nullptr) return to;
  const F* from = tensor.data_ptr<F>() + first;
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) to[j * row + i] = from[i * columns + j];
    std::fill(to + j * row + rows, to + (j + 1) * row, F(0));
  }
  return to;
}

template <class F>
const F* pack_vector(const Tensor& tensor, Pieces<F>& pieces) {
  const auto count = tensor.numel();
  F* to = pieces.take(count);
  if (to == nullptr) return to;
  std::copy_n(tensor.data_ptr<F>(), count, to);
  std::fill(to + count, to + scan_padded(count), F(0));
  return to;
}

// I x G: column i of the weight, plus the bias.
template <class F>
const F* pack_words(const Tensor& weight, const Tensor& bias, std::int64_t inputs,
                    Pieces<F>& pieces) {
  const auto rows = weight.size(0), columns = weight.size(1);
  F* to = pieces.take(inputs * rows);
  if (to == nullptr) return to;
  const F *from = weight.data_ptr<F>(), *shift = bias.data_ptr<F>();
  for (std::int64_t j = 0; j < inputs; ++j)
    for (std::int64_t i = 0; i < rows; ++i) to[j * rows + i] = from[i * columns + j] + shift[i];
  return to;
}

}  // namespace

FusedNetworkPtr fused_network(const Controller& controller, const Stack& stack, std::int64_t inputs,
                              std::int64_t steps, const Tensor& output_weight,
                              const Tensor& output_bias) {
  FusedStack plan;
  const CellLayers layers = fused_layers(controller, plan.shape.cell);
  if (layers.empty() || steps < 1 || !stack.fused(plan)) return nullptr;
  const Tensor& first = layers.front()->weight_ih;
  if (first.scalar_type() != at::kFloat && first.scalar_type() != at::kDouble) return nullptr;
  auto network = std::make_shared<FusedNetwork>();
  ScanShape& shape = network->shape = plan.shape;
  shape.steps = steps;
  shape.layers = static_cast<std::int64_t>(layers.size());
  shape.hidden = controller.hidden_size();
  shape.gates = scan_gates(shape.cell) * shape.hidden;
  shape.reading = stack.reading_size();
  shape.actions = plan.action_weight.size(0);
  shape.automaton.steps = steps - 1;
  network->inputs = inputs;
  check(first.size(1) == inputs + shape.reading, "stack_rnn.run",
        "inputs must be B x n x {}, got {}", first.size(1) - shape.reading, inputs);
  std::int64_t start = 0;
  for (std::int64_t j = 0; j <= shape.automaton.nodes(); ++j) {
    network->row_start.push_back(start);
    start += shape.automaton.row(j);
  }
  shape.row_start = network->row_start.data();

  auto& tensors = network->tensors;
  for (const CellLayer* layer : layers)
    for (const Tensor& tensor :
         {layer->weight_ih, layer->weight_hh, layer->bias_ih, layer->bias_hh})
      tensors.push_back(tensor.contiguous());
  tensors.push_back(plan.action_weight.contiguous());
  tensors.push_back(plan.action_bias.contiguous());
  tensors.push_back(plan.bottom.defined() ? plan.bottom.contiguous()
                                          : at::empty({0}, first.options()));
  if (output_weight.defined()) {
    network->outcomes = output_weight.size(0);
    tensors.push_back(output_weight.contiguous());
    tensors.push_back(output_bias.contiguous());
  }
  return network;
}

template <class F>
PackedWeights<F>::PackedWeights(const FusedNetwork& network, Pieces<F>& pieces) {
  const ScanShape& shape = network.shape;
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    const Tensor &weight_ih = network.layer(l, 0), &weight_hh = network.layer(l, 1);
    const auto first = l == 0 ? network.inputs : 0;
    const auto count = l == 0 ? shape.reading : shape.hidden;
    scan.layers[l] = {pack_columns<F>(weight_ih, first, count, pieces),
                      pack_rows<F>(weight_ih, first, count, pieces),
                      pack_columns<F>(weight_hh, 0, shape.hidden, pieces),
                      pack_rows<F>(weight_hh, 0, shape.hidden, pieces),
                      l == 0 ? nullptr : pack_vector<F>(network.layer(l, 2), pieces),
                      pack_vector<F>(network.layer(l, 3), pieces)};
  }
  if (shape.actions > 0) {
    scan.action_t = pack_columns<F>(network.action(0), 0, shape.hidden, pieces);
    scan.action = pack_rows<F>(network.action(0), 0, shape.hidden, pieces);
    scan.action_bias = pack_vector<F>(network.action(1), pieces);
  }
  scan.bottom = pack_vector<F>(network.bottom(), pieces);
  words = pack_words<F>(network.layer(0, 0), network.layer(0, 2), network.inputs, pieces);
  if (network.outcomes > 0)
    output = {pack_columns<F>(network.output(0), 0, shape.hidden, pieces),
              pack_rows<F>(network.output(0), 0, shape.hidden, pieces),
              pack_vector<F>(network.output(1), pieces), shape.hidden, network.outcomes};
}

template <class F>
StepRecord<F>::StepRecord(const FusedNetwork& network, std::int64_t batch, bool with_gradients,
                          Pieces<F>& pieces)
    : batch(batch) {
  const ScanShape& shape = network.shape;
  readings = pieces.take(batch * shape.steps * shape.reading);
  for (std::int64_t l = 0; l < shape.layers; ++l)
    hidden[l] = pieces.take(batch * (shape.steps + 1) * shape.hidden);
  if (!with_gradients) return;
  const auto gates = shape.layers * batch * shape.steps * shape.gates;
  input = pieces.take(gates);
  recurrent = network.split_gates() ? pieces.take(gates) : input;
  actions = pieces.take(batch * shape.steps * shape.actions);
  scores = pieces.take(batch * (shape.steps + 1) * network.outcomes);
  bottom = pieces.take(batch * shape.automaton.channels);
}

template <class F>
ScanSequence<F> StepRecord<F>::sequence(const FusedNetwork& network, std::int64_t b) const {
  const ScanShape& shape = network.shape;
  ScanSequence<F> result{};
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    F* first = hidden[l] + b * (shape.steps + 1) * shape.hidden;
    std::fill_n(first, shape.hidden, F(0));  // h_0
    result.hidden[l] = first + shape.hidden;
  }
  result.readings = readings + b * shape.steps * shape.reading;
  return result;
}

template <class F>
ScanGradients<F> StepRecord<F>::gradients(const FusedNetwork& network, std::int64_t b) const {
  const ScanShape& shape = network.shape;
  ScanGradients<F> result{};
  result.input = input + b * shape.steps * shape.gates;
  result.recurrent = recurrent + b * shape.steps * shape.gates;
  result.layer_stride = batch * shape.steps * shape.gates;
  result.actions = actions + b * shape.steps * shape.actions;
  result.bottom = bottom + b * shape.automaton.channels;
  return result;
}

namespace {

// The sums behind the gradients, collected first and then taken in blocks of rows on all threads.
template <class F>
class Products {
 public:
  Products(std::int64_t batch, const F* scales) : batch_(batch), scales_(scales) {}

  // out (rows x columns of a matrix with out_row columns) = sums of a outer c over `steps` steps.
  // A null c is the constant 1.
  void add(std::int64_t steps, const F* a, std::int64_t a_sequence, std::int64_t rows, const F* c,
           std::int64_t c_sequence, std::int64_t columns, F* out, std::int64_t out_row) {
    constexpr std::int64_t kBlock = 32;
    for (std::int64_t first = 0; columns > 0 && first < rows; first += kBlock)
      sums_.push_back({batch_, steps, a, a_sequence, rows, c == nullptr ? &kOne : c, c_sequence,
                       c == nullptr ? 0 : columns, columns, scales_, out, out_row, first,
                       std::min(rows, first + kBlock)});
  }
  void run(const DenseKernel<F>& kernel) const {
    std::int64_t work = 0;
    for (const auto& sum : sums_)
      work += sum.sequences * sum.steps * (sum.end - sum.first) * (sum.columns + 2);
    constexpr std::int64_t kWorthThreads = 1 << 18;
    const auto one = [&](std::int64_t i) { kernel.outer_sum(sums_[i]); };
    if (work >= kWorthThreads)
      parallel_for(static_cast<std::int64_t>(sums_.size()), one);
    else
      for (std::size_t i = 0; i < sums_.size(); ++i) one(static_cast<std::int64_t>(i));
  }

 private:
  static constexpr F kOne = 1;
  std::int64_t batch_;
  const F* scales_;
  std::vector<OuterSum<F>> sums_;
};

}  // namespace

template <class F>
std::vector<Tensor> tensor_gradients(const FusedNetwork& network, const StepRecord<F>& record,
                                     const F* scales, const std::int64_t* words) {
  const ScanShape& shape = network.shape;
  const auto t = shape.steps, g = shape.gates, h = shape.hidden, a = shape.actions,
             r = shape.reading, v = network.outcomes, batch = record.batch;
  const auto kernel = dense_kernel<F>(current_isa());
  std::vector<Tensor> gradients;
  for (const Tensor& tensor : network.tensors) gradients.push_back(at::empty_like(tensor));
  const auto out = [&](const Tensor& tensor) {
    return gradients[&tensor - network.tensors.data()].template data_ptr<F>();
  };
  Products<F> products(batch, scales);
  const auto hidden_stride = (t + 1) * h;
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    const F* input = record.input + l * batch * t * g;
    const F* recurrent = record.recurrent + l * batch * t * g;
    F* weight_ih = out(network.layer(l, 0));
    const auto columns = network.layer(l, 0).size(1);
    if (l == 0) {
      products.add(t, input, t * g, g, record.readings, t * r, r, weight_ih + network.inputs,
                   columns);
    } else {
      products.add(t, input, t * g, g, record.hidden[l - 1] + h, hidden_stride, h, weight_ih, h);
    }
    products.add(t, recurrent, t * g, g, record.hidden[l], hidden_stride, h,
                 out(network.layer(l, 1)), h);
    products.add(t, input, t * g, g, nullptr, 0, 1, out(network.layer(l, 2)), 1);
    if (network.split_gates())
      products.add(t, recurrent, t * g, g, nullptr, 0, 1, out(network.layer(l, 3)), 1);
  }
  const F* top = record.hidden[shape.layers - 1];
  products.add(t, record.actions, t * a, a, top + h, hidden_stride, h, out(network.action(0)), h);
  products.add(t, record.actions, t * a, a, nullptr, 0, 1, out(network.action(1)), 1);
  if (v > 0) {
    products.add(t + 1, record.scores, (t + 1) * v, v, top, hidden_stride, h,
                 out(network.output(0)), h);
    products.add(t + 1, record.scores, (t + 1) * v, v, nullptr, 0, 1, out(network.output(1)), 1);
  }
  products.run(kernel);
  for (std::int64_t l = 0; l < shape.layers && !network.split_gates(); ++l)
    std::copy_n(out(network.layer(l, 2)), g, out(network.layer(l, 3)));
  std::vector<F> table(static_cast<std::size_t>(network.inputs * g));
  for (std::int64_t b = 0; b < batch; ++b)
    kernel.scatter_rows(t, words + b * (t + 1), record.input + b * t * g, g,
                        scales == nullptr ? F(1) : scales[b], table.data());
  F* weight_ih = out(network.layer(0, 0));
  const auto columns = network.layer(0, 0).size(1);
  for (std::int64_t i = 0; i < g; ++i)
    for (std::int64_t word = 0; word < network.inputs; ++word)
      weight_ih[i * columns + word] = table[word * g + i];
  const auto channels = network.bottom().numel();
  F* bottom = out(network.bottom());
  std::fill_n(bottom, channels, F(0));
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t k = 0; k < channels; ++k)
      bottom[k] += (scales == nullptr ? F(1) : scales[b]) * record.bottom[b * channels + k];
  return gradients;
}

template struct PackedWeights<float>;
template struct PackedWeights<double>;
template struct StepRecord<float>;
template struct StepRecord<double>;
template std::vector<Tensor> tensor_gradients(const FusedNetwork&, const StepRecord<float>&,
                                              const float*, const std::int64_t*);
template std::vector<Tensor> tensor_gradients(const FusedNetwork&, const StepRecord<double>&,
                                              const double*, const std::int64_t*);

}  // namespace pushdown
