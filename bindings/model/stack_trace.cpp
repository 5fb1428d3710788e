#include "bindings/model/classes.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/drawing.h"
#include "bindings/tensor/classes.h"
#include "model/network_trace.h"

namespace pushdown {
namespace model_trace {

constexpr auto kWhere = "model.trace";

struct TraceOptions {
  std::optional<std::int64_t> layer;
  std::int64_t memory = 1;
  static OptionRows rows() {
    return declare<TraceOptions>(
        {{"layer", &TraceOptions::layer,
          "number of the layer of a transformer; if absent, its first one with a stack",
          at_least(1)},
         {"memory", &TraceOptions::memory, "number of one of several memories side by side",
          at_least(1)}});
  }
};

const NetworkTrace& chosen(const std::vector<NetworkTrace>& traces,
                           const std::optional<std::int64_t>& layer) {
  std::string layers;
  for (const auto& one : traces) {
    if (one.layer == layer.value_or(one.layer)) return one;
    layers += (layers.empty() ? "" : ", ") + std::to_string(one.layer);
  }
  fail(kWhere, "layer {} has no stack: the layers with a stack are {}", *layer, layers);
}

// ids : 1 x m, as the network reads them; symbols : m.
MemoryTrace trace(const SequenceModel& model, const PassRequest& request,
                  std::vector<std::string> symbols, const TraceOptions& options) {
  const auto traces = traces_of(model.network(), request);
  const auto& [layer, stack, of] = chosen(traces, options.layer);
  MemoryTrace made{stack, layer, options.memory, traces.size(), of.weights.size(1)};
  check(options.memory <= made.memories, kWhere, "memory must be at most {}, got {}", made.memories,
        options.memory);
  const auto own = [&](const Tensor& all) {
    return all.defined() ? all.select(1, options.memory - 1).to(at::kCPU, at::kDouble).contiguous()
                         : Tensor();
  };
  made.actions = of.actions;
  made.weights = own(of.weights);
  made.depth_name = of.depth_name;
  made.depth = own(of.depth);
  made.depths = own(of.depths);
  made.readings = of.readings.to(at::kCPU, at::kDouble).contiguous();
  if (made.weights.size(0) > std::ssize(symbols)) symbols.insert(symbols.begin(), "<s>");
  made.symbols = std::move(symbols);
  return made;
}

Tensor ids_of(const Word& word) {
  return at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
}

std::vector<std::string> symbols_of(const Alphabet& alphabet, const Word& word) {
  std::vector<std::string> symbols;
  for (const int symbol : word) symbols.push_back(alphabet.symbol(symbol));
  return symbols;
}

MemoryTrace language_model_trace(const LanguageModel& model, const Tokens& tokens,
                                 const TraceOptions& options) {
  const Word word = to_word(model.alphabet(), tokens);
  return trace(model, {.words = ids_of(word)}, symbols_of(model.alphabet(), word), options);
}

MemoryTrace recognizer_trace(const Recognizer& model, const Tokens& tokens,
                             const TraceOptions& options) {
  const Word word = to_word(model.alphabet(), tokens);
  const Tensor ids = model.input(ids_of(word));
  auto symbols = symbols_of(model.alphabet(), word);
  if (ids.size(1) > std::ssize(symbols)) symbols.emplace_back("<end>");
  const Refinement& refinement = model.refinement(false);
  if (!model.memory_moves()) return trace(model, {ids, refinement}, symbols, options);
  std::vector<std::string> repeated;
  for (const auto& symbol : symbols) repeated.insert(repeated.end(), refinement.passes, symbol);
  return trace(model, {repeated_words(ids, refinement.passes)}, repeated, options);
}

MemoryTrace transducer_trace(const Transducer& model, const Tokens& source, const Tokens& target,
                             const TraceOptions& options) {
  const Word from = to_word(model.alphabet(), source),
             to = to_word(model.target_alphabet(), target);
  std::vector<std::string> symbols{"<s>"};
  for (const auto& symbol : symbols_of(model.alphabet(), from)) symbols.push_back(symbol);
  symbols.emplace_back("|||");
  for (const auto& symbol : symbols_of(model.target_alphabet(), to)) symbols.push_back(symbol);
  return trace(model, {model.joint({from}, {to}).inputs}, symbols, options);
}

Json rows(const MemoryTrace& trace) {
  Json list = Json::array();
  for (std::int64_t t = 0; t < std::ssize(trace.symbols); ++t) {
    Json row{{"time", t + 1}, {"symbol", trace.symbols[t]}, {"actions", Json::object()}};
    for (std::size_t a = 0; a < trace.actions.size(); ++a)
      row["actions"][trace.actions[a]] =
          trace.weights[t][static_cast<std::int64_t>(a)].item<double>();
    if (trace.depth.defined()) row[trace.depth_name] = trace.depth[t].item<double>();
    row["reading"] = Json::array();
    for (std::int64_t r = 0; r < trace.readings.size(1); ++r)
      row["reading"].push_back(trace.readings[t][r].item<double>());
    list.push_back(row);
  }
  return list;
}

// "superposition stack", "list stack, 2 of 5", "superposition stack, layer 3".
std::string title(const MemoryTrace& trace) {
  std::string text = trace.stack + " stack";
  if (trace.memories > 1) text += fmt::format(", {} of {}", trace.memory, trace.memories);
  if (trace.layers > 1 || trace.layer > 1) text += fmt::format(", layer {}", trace.layer);
  return text;
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Two decimals, without a sign before 0.00.
std::string number_text(const Tensor& number) {
  const double value = number.item<double>();
  return fmt::format("{:.2f}", std::abs(value) < 0.005 ? 0.0 : value);
}

std::string text(const MemoryTrace& trace) {
  constexpr std::size_t kColumns = 80, kNumber = 6;
  const auto steps = std::ssize(trace.symbols);
  std::size_t symbols = std::strlen("symbol");
  for (const auto& symbol : trace.symbols) symbols = std::max(symbols, width_of(symbol));
  const auto padded = [](const std::string& cell, std::size_t width) {
    return std::string(width - std::min(width, width_of(cell)), ' ') + cell;
  };
  std::vector<std::pair<std::string, Tensor>> columns;  // n each
  for (std::size_t a = 0; a < trace.actions.size(); ++a)
    columns.emplace_back(trace.actions[a], trace.weights.select(1, static_cast<std::int64_t>(a)));
  if (trace.depth.defined()) columns.emplace_back(trace.depth_name, trace.depth);
  std::string head = "symbol" + std::string(symbols - std::strlen("symbol"), ' ');
  for (const auto& [name, values] : columns)
    head += "  " + padded(name, std::max(kNumber - 1, width_of(name)));
  // As many numbers of the reading as a line has room for.
  const auto room = (kColumns - std::min(kColumns, width_of(head) + 5)) / (kNumber + 1);
  const auto all = trace.readings.size(1),
             shown = std::min<std::int64_t>(
                 all, std::max<std::int64_t>(1, static_cast<std::int64_t>(room)));
  if (all > 0) head += "  reading";
  std::string lines =
      fmt::format("Trace of {} step{}: {}\n{}", steps, steps == 1 ? "" : "s", title(trace), head);
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto& symbol = trace.symbols[t];
    std::string line = symbol + std::string(symbols - width_of(symbol), ' ');
    for (const auto& [name, values] : columns)
      line += "  " + padded(number_text(values[t]), std::max(kNumber - 1, width_of(name)));
    for (std::int64_t r = 0; r < shown; ++r)
      line += (r == 0 ? "  " : " ") + padded(number_text(trace.readings[t][r]), kNumber);
    lines += "\n" + line + (shown < all ? " ..." : "");
  }
  return lines;
}

constexpr NamedDoc kTrace(
    "model:trace(tokens, {options}) -> StackTrace  Returns what a memory of the model does while "
    "the "
    "model reads a string: the weights of its actions, its depth and its reading after each "
    "symbol.");

}  // namespace model_trace

void bind_stack_trace(Module& module) {
  using namespace model_trace;
  Class<MemoryTrace>(module, "What a memory of a model does while the model reads a string.")
      .def<&MemoryTrace::symbols>(
          "trace:symbols() -> table  Returns the n symbols that the network read.")
      .def<&MemoryTrace::actions>("trace:actions() -> table  Returns the names of the A actions.")
      .def<&MemoryTrace::weights>(
          "trace:weights() -> Tensor  Returns the weights of the actions, n x A.")
      .def<&MemoryTrace::depth>(
          "trace:depth() -> Tensor  Returns the depth after each symbol, n: the expected number of "
          "elements, the sum of the strengths or lengths, or the place of a head that starts at 0. "
          "Returns nil if a stack defined in Lua has no depth.")
      .def<&MemoryTrace::depths>(
          "trace:depths() -> Tensor  Returns the probabilities of the depths 0 .. D-1 after each "
          "symbol, n x D, or nil if the memory has no such distribution.")
      .def<&MemoryTrace::readings>(
          "trace:readings() -> Tensor  Returns the reading after each symbol, n x R.")
      .def<&rows>(
          "trace:rows() -> table  Returns a table {time, symbol, actions, depth, reading} for each "
          "symbol: the weights of the actions by name, and the numbers of the reading. A memory "
          "with a head has `head` in place of `depth`.")
      .def<&title>("trace:title() -> string  Returns the kind of the memory and its place.")
      .def<&drawn_as<MemoryTrace, "trace", "trace">>(
          "trace:svg(path) -> string  Returns a picture of the actions and the depth over the "
          "string as SVG; pd.plot.trace has options. Also writes it to the path, if one is given.")
      .def<&text>("tostring(trace) -> string  Returns the trace as text, one line per symbol.");
}

void bind_trace_method(Class<LanguageModel>& type) {
  type.def<&model_trace::language_model_trace>(model_trace::kTrace);
}
void bind_trace_method(Class<Recognizer>& type) {
  type.def<&model_trace::recognizer_trace>(model_trace::kTrace);
}
void bind_trace_method(Class<Transducer>& type) {
  type.def<&model_trace::transducer_trace>(
      "model:trace(source, target, {options}) -> StackTrace  Returns what a memory of the model "
      "does while the model reads start, source, separator and target: the weights of its actions, "
      "its depth and its reading after each symbol.");
}

}  // namespace pushdown
