#include "recurrence/trace/array_lowering.h"

#include "base/check.h"

namespace pushdown {
namespace {

using Kind = ArrayNode::Kind;

class Lowering {
 public:
  Lowering(StepTrace& trace, const ArrayGraph& graph, const std::vector<int>& results,
           const std::vector<ArrayInput>& inputs, const std::vector<std::string>& names)
      : trace_(trace),
        graph_(graph),
        inputs_(inputs),
        names_(names),
        uses_(graph.size()),
        made_(graph.size()) {
    std::vector<char> reached(graph.size());
    for (const int n : results) {
      reached[n] = 1;
      uses_[graph.base(n)] += 2;  // never becomes a part of another program
    }
    for (int n = graph.size(); n-- > 0;)
      if (reached[n])
        for (const int operand : graph.node(n).operands) {
          reached[operand] = 1;
          if (graph.node(n).kind != Kind::view) ++uses_[graph.base(operand)];
        }
  }

  Traced lower(int n) {
    Traced& made = made_[n];
    if (!made.defined()) made = find(n);
    return made_[n];
  }

 private:
  const ArrayNode& node(int n) const { return graph_.node(n); }
  std::int64_t count(int n) const { return array_count(graph_.shape(n)); }

  Traced find(int n) {
    const ArrayNode& of = node(n);
    switch (of.kind) {
      case Kind::input: {
        const ArrayInput& given = inputs_[of.input];
        if (const auto* vector = std::get_if<Traced>(&given))
          return trace_.slice(*vector, of.offset, count(n));
        return trace_.constant(flat_parameter(std::get<Tensor>(given)));
      }
      case Kind::view:
        if (follows(of.layout))
          return trace_.slice(lower(of.operands[0]), of.layout.offset, count(n));
        return program(n);
      case Kind::map: return map(n);
      case Kind::line:
        if (of.line == ArrayKind::softmax && is_vector(of.operands[0]))
          return lower(of.operands[0]).softmax_of_groups(of.shape.back());
        return program(n);
      case Kind::contraction: {
        Tensor weight;
        int x = -1;
        if (!is_linear(n, x, weight)) return program(n);
        return linear(lower(x), weight);
      }
      case Kind::join: {
        for (int d = 0; d < of.axis; ++d)
          if (of.shape[d] != 1) return program(n);
        std::vector<Traced> parts;
        for (const int part : of.operands) {
          if (!is_vector(part)) return program(n);
          parts.push_back(lower(part));
        }
        return trace_.concat(parts);
      }
      case Kind::constant: return program(n);
    }
    return {};
  }

  // Returns whether the numbers are contiguous.
  static bool follows(const ArrayLayout& layout) {
    std::int64_t stride = 1;
    for (std::size_t d = layout.shape.size(); d-- > 0;) {
      if (layout.shape[d] == 1) continue;
      if (layout.strides[d] != stride) return false;
      stride *= layout.shape[d];
    }
    return true;
  }
  // Returns whether n is available as a part of a vector of the step and is not a constant.
  bool is_vector(int n) const {
    const int base = graph_.base(n);
    return node(base).kind != Kind::constant && follows(graph_.layout(n));
  }
  bool is_number(int n, double& value) const {
    const int base = graph_.base(n);
    if (node(base).kind != Kind::constant || node(base).values.size() != 1) return false;
    value = node(base).values[0];
    return true;
  }

  // Array programs compute larger arrays block by block and store no intermediate results.
  static constexpr std::int64_t kMostMapped = 256;
  Traced map(int n) {
    const ArrayNode& of = node(n);
    double number = 0;
    int vectors = 0, numbers = 0;
    for (const int operand : of.operands) {
      if (is_vector(operand))
        ++vectors;
      else if (is_number(operand, number))
        ++numbers;
      else
        return program(n);
    }
    if (vectors == 0 || numbers > 1) return program(n);
    const int a = of.operands[0], b = of.operands.back();
    const bool first = is_vector(a);
    const int vector = first ? a : b;
    switch (of.function) {
      case ArrayFunction::copy: return lower(a);
      case ArrayFunction::negate: return lower(a) * -1.0;
      case ArrayFunction::add:
        if (numbers > 0) return lower(vector) + number;
        break;
      case ArrayFunction::subtract:
        if (numbers > 0) return first ? lower(a) + -number : number - lower(b);
        break;
      case ArrayFunction::multiply:
        if (numbers > 0) return lower(vector) * number;
        break;
      case ArrayFunction::sigmoid:
      case ArrayFunction::tanh: break;
      default:
        if (numbers > 0 || count(n) > kMostMapped) return program(n);
    }
    std::vector<Traced> operands;
    for (const int operand : of.operands) operands.push_back(lower(operand));
    return trace_.map(of.function, operands);
  }

  // Returns whether n is a product of a vector with a parameter, and the columns of the parameter
  // that belong to the vector as a matrix.
  bool is_linear(int n, int& x, Tensor& weight) const {
    const ArrayNode& of = node(n);
    const ArraySizes& space = graph_.shape(of.operands[0]);
    const auto rank = space.size();
    if (rank < 2) return false;
    for (std::size_t d = 0; d + 2 < rank; ++d)
      if (space[d] != 1) return false;
    for (int k = 0; k < 2; ++k) {
      const int vector = of.operands[k], matrix = of.operands[1 - k];
      const ArrayNode& base = node(graph_.base(matrix));
      if (base.kind != Kind::input) continue;
      const auto* parameter = std::get_if<Tensor>(&inputs_[base.input]);
      const ArrayLayout own = graph_.layout(vector), rows = graph_.layout(matrix);
      if (parameter == nullptr || node(graph_.base(vector)).kind == Kind::constant) continue;
      if (space[rank - 2] > 1 && own.strides[rank - 2] != 0) continue;
      if (space[rank - 1] > 1 && own.strides[rank - 1] != 1) continue;
      if ((space[rank - 2] > 1 && rows.strides[rank - 2] == 0) ||
          (space[rank - 1] > 1 && rows.strides[rank - 1] == 0))
        continue;
      weight = parameter->as_strided({space[rank - 2], space[rank - 1]},
                                     {std::max<std::int64_t>(1, rows.strides[rank - 2]),
                                      std::max<std::int64_t>(1, rows.strides[rank - 1])},
                                     parameter->storage_offset() + rows.offset);
      x = vector_of(vector);
      return x >= 0;
    }
    return false;
  }
  // Returns the node whose numbers a factor repeats for each row of the matrix, or -1. A view of
  // the same numbers is not in the graph, so the search covers the nodes that were expanded.
  int vector_of(int n) const {
    const int base = graph_.base(n);
    const ArrayLayout own = graph_.layout(n);
    const auto size = own.shape.back();
    if (own.offset == 0 && count(base) == size) return base;
    for (int m = 0; m < graph_.size(); ++m)
      if (node(m).kind == Kind::view && graph_.base(m) == base &&
          node(m).layout.offset == own.offset && count(m) == size && follows(node(m).layout))
        return m;
    return -1;
  }

  // ---- Array programs ----

  // Returns whether node n is computed inside the program of another node.
  bool goes_along(int n) const {
    if (uses_[n] != 1) return false;
    const ArrayNode& of = node(n);
    Tensor weight;
    int x = -1;
    if (of.kind == Kind::contraction) return !is_linear(n, x, weight);
    return of.kind == Kind::map || of.kind == Kind::line || of.kind == Kind::join;
  }
  Traced program(int n) {
    ArrayProgram program;
    ArrayGraph part;
    std::map<int, int> copies;
    std::vector<Traced> operands;
    std::vector<int> found;
    collect(n, true, found);
    std::vector<int> order(found);
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    for (const int m : order) {
      const ArrayNode& of = node(m);
      const auto operand = [&](int k) { return copies.at(of.operands[k]); };
      const bool inside =
          m == n || of.kind == Kind::constant || of.kind == Kind::view || goes_along(m);
      int copy = -1;
      if (!inside) {
        program.inputs.push_back(name_of_input(m));
        copy = part.input(static_cast<int>(operands.size()), 0, of.shape, of.gradient);
        operands.push_back(lower(m));
      } else if (of.kind == Kind::constant) {
        copy = part.constant(of.shape, of.values);
      } else if (of.kind == Kind::view) {
        copy = part.view(operand(0), of.layout);
      } else if (of.kind == Kind::map) {
        std::vector<int> all;
        for (std::size_t k = 0; k < of.operands.size(); ++k)
          all.push_back(operand(static_cast<int>(k)));
        copy = part.map(of.function, all);
      } else if (of.kind == Kind::line) {
        copy = part.line(of.line, operand(0));
      } else if (of.kind == Kind::contraction) {
        copy = part.contraction(operand(0), operand(1));
      } else {
        std::vector<int> all;
        for (std::size_t k = 0; k < of.operands.size(); ++k)
          all.push_back(operand(static_cast<int>(k)));
        copy = part.join(all, of.axis);
      }
      copies[m] = copy;
    }
    add_step(part, {copies.at(n)}, program);
    program.finish();
    // A program without vectors has only constants, but still needs a trace.
    return trace_.array(std::make_shared<const ArrayProgram>(std::move(program)), operands);
  }
  void collect(int n, bool root, std::vector<int>& found) const {
    found.push_back(n);
    const ArrayNode& of = node(n);
    if (of.kind == Kind::input || of.kind == Kind::constant) return;
    if (!root && of.kind != Kind::view && !goes_along(n)) return;
    for (const int operand : of.operands) collect(operand, false, found);
  }
  std::string name_of_input(int n) const {
    return node(n).kind == Kind::input ? names_.at(node(n).input) : fmt::format("v{}", n);
  }

  StepTrace& trace_;
  const ArrayGraph& graph_;
  const std::vector<ArrayInput>& inputs_;
  const std::vector<std::string>& names_;
  std::vector<int> uses_;
  std::vector<Traced> made_;
};

}  // namespace

Tensor flat_parameter(const Tensor& parameter) { return parameter.view({-1}); }

std::vector<Traced> lower_arrays(StepTrace& trace, const ArrayGraph& graph,
                                 const std::vector<int>& results,
                                 const std::vector<ArrayInput>& inputs,
                                 const std::vector<std::string>& names) {
  Lowering lowering(trace, graph, results, inputs, names);
  std::vector<Traced> made;
  for (const int n : results) made.push_back(lowering.lower(n));
  return made;
}

}  // namespace pushdown
