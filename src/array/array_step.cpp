// Converts a graph to instructions: decides which arrays need memory, which functions run in one
// loop, and which parts of joined arrays are read in place.
#include <algorithm>

#include "array/array_copies.h"
#include "array/array_graph.h"
#include "base/check.h"

namespace pushdown {
namespace {

using Kind = ArrayNode::Kind;

// More boxes than this cost more than the memory that they save.
constexpr std::int64_t kMostBoxes = 32;

// The numbers of a node that an instruction reads, in the dimensions of its space.
struct Access {
  int node;  // not a view
  std::int64_t offset;
  ArraySizes strides;
};

// How an access traverses a joined array: the dimension of the array along which each dimension of
// the space moves, and the start.
struct Walk {
  ArraySizes first;        // by dimension of the array
  std::vector<int> along;  // by dimension of the space; -1: does not move
  ArraySizes steps;
};

// A map as a list of calls; the leaves are its inputs.
struct Tree {
  std::vector<ArrayCall> calls;
  std::vector<Access> leaves;
};

class StepBuilder {
 public:
  StepBuilder(const ArrayGraph& graph, const std::vector<int>& results, ArrayProgram& program)
      : graph_(graph),
        results_(results),
        program_(program),
        used_(size()),
        uses_(size()),
        stored_(size()),
        done_(size()),
        calls_(size()),
        leaves_(size()),
        places_(size()) {}

  void build() {
    find_uses();
    find_stored();
    ArrayStep step;
    step.first = static_cast<int>(program_.instructions.size());
    place_results();
    for (int n = 0; n < graph_.size(); ++n)
      if (used_[at(n)] && stored_[at(n)]) compute(n);
    std::int64_t offset = 0;
    for (const int n : results_) {
      const ArraySizes& shape = graph_.shape(n);
      if (const int base = graph_.base(n);
          base != n || places_[at(base)].buffer != output() || places_[at(base)].offset != offset)
        copy_to({output(), offset, contiguous_layout(shape).strides, graph_.node(n).gradient},
                shape, n);
      offset += array_count(shape);
    }
    move_copied(program_, at(step.first), output() + 2, output());
    step.end = static_cast<int>(program_.instructions.size());
    step.memory = memory_;
    program_.output = std::max(program_.output, offset);
    program_.steps.push_back(step);
  }

 private:
  struct Place {
    int buffer = -1;
    std::int64_t offset = 0;
    ArraySizes strides = {};
    bool gradient = false;
  };
  struct Use {
    int by;  // -1: a result
    int operand;
  };

  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  std::size_t size() const { return static_cast<std::size_t>(graph_.size()); }
  int output() const { return static_cast<int>(program_.inputs.size()); }
  const ArrayNode& node(int n) const { return graph_.node(n); }
  bool is_computed(int n) const {
    const Kind kind = node(n).kind;
    return kind == Kind::map || kind == Kind::line || kind == Kind::contraction ||
           kind == Kind::join;
  }

  void find_uses() {
    const auto use = [&](int by, int n) {
      const int base = graph_.base(n);
      used_[at(base)] = 1;
      uses_[at(base)].push_back({by, n});
    };
    for (const int n : results_) use(-1, n);
    for (int n = graph_.size(); n-- > 0;)
      if (used_[at(n)])
        for (const int operand : node(n).operands) use(n, operand);
  }

  // ---- Which arrays need memory ----

  // A result is assembled in its place.
  bool reads_number_by_number(int by) const {
    return by >= 0 && (node(by).kind == Kind::map || node(by).kind == Kind::join);
  }
  bool can_be_read_in_parts(int n) const {
    const auto boxes = static_cast<std::int64_t>(node(n).operands.size());
    return boxes <= kMostBoxes &&
           std::all_of(uses_[at(n)].begin(), uses_[at(n)].end(), [&](const Use& use) {
             const ArrayLayout layout = graph_.layout(use.operand);
             Walk walk;
             return reads_number_by_number(use.by) &&
                    find_walk(n, {n, layout.offset, layout.strides}, layout.shape, walk);
           });
  }
  void find_stored() {
    for (int n = 0; n < graph_.size(); ++n) {
      if (!used_[at(n)] || !is_computed(n)) continue;
      const ArrayNode& of = node(n);
      stored_[at(n)] = of.kind == Kind::join ? !can_be_read_in_parts(n) : 1;
      if (of.kind != Kind::map) continue;
      int calls = 1, leaves = 0;
      for (const int operand : of.operands) {
        const bool inner = can_be_inside(operand) && calls + calls_[at(operand)] <= kArrayCalls &&
                           leaves + leaves_[at(operand)] <= kArrayViews - 3;
        if (inner) {
          stored_[at(operand)] = 0;
          calls += calls_[at(operand)];
          leaves += leaves_[at(operand)];
        } else {
          ++leaves;
        }
      }
      calls_[at(n)] = calls;
      leaves_[at(n)] = leaves;
    }
    // An array that would only be copied to its place is computed there.
    for (int n = 0; n < graph_.size(); ++n) {
      if (!used_[at(n)] || node(n).kind != Kind::map || !stored_[at(n)]) continue;
      if (uses_[at(n)].size() != 1) continue;
      const Use& use = uses_[at(n)][0];
      const bool placed = use.by < 0 || (node(use.by).kind == Kind::join && stored_[at(use.by)]);
      if (placed && use.operand == n) stored_[at(n)] = 0;
    }
  }
  // Returns whether the loop of the array's only user computes it, too.
  bool can_be_inside(int n) const {
    return node(n).kind == Kind::map && uses_[at(n)].size() == 1 && uses_[at(n)][0].operand == n;
  }

  // ---- Joined arrays ----

  bool find_walk(int n, const Access& access, const ArraySizes& space, Walk& walk) const {
    const ArraySizes& shape = graph_.shape(n);
    const ArraySizes strides = contiguous_layout(shape).strides;
    walk.first.assign(shape.size(), 0);
    std::int64_t rest = access.offset;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      walk.first[d] = rest / strides[d];
      rest %= strides[d];
    }
    ArraySizes last = walk.first;
    walk.along.assign(space.size(), -1);
    walk.steps.assign(space.size(), 0);
    for (std::size_t d = 0; d < space.size(); ++d) {
      const auto stride = access.strides[d];
      if (stride == 0 || space[d] <= 1) continue;
      if (stride < 0) return false;
      std::size_t found = shape.size();
      for (std::size_t x = 0; x < shape.size(); ++x)
        if (shape[x] > 1 && strides[x] <= stride && stride % strides[x] == 0) {
          found = x;
          break;
        }
      if (found == shape.size()) return false;
      walk.along[d] = static_cast<int>(found);
      walk.steps[d] = stride / strides[found];
      last[found] += walk.steps[d] * (space[d] - 1);
      if (last[found] >= shape[found]) return false;
    }
    // At most one dimension of the space may move along the axis of the parts, so that the space
    // can be cut into boxes across it.
    const int axis = node(n).axis;
    return std::count(walk.along.begin(), walk.along.end(), axis) <= 1;
  }

  // ---- Instructions ----

  void place_results() {
    std::int64_t offset = 0;
    for (const int n : results_) {
      if (graph_.base(n) == n && stored_[at(n)] && places_[at(n)].buffer < 0)
        places_[at(n)] = {output(), offset, contiguous_layout(graph_.shape(n)).strides,
                          node(n).gradient};
      offset += array_count(graph_.shape(n));
    }
  }
  const Place& place(int n) {
    Place& found = places_[at(n)];
    if (found.buffer >= 0) return found;
    const ArrayNode& of = node(n);
    found.strides = contiguous_layout(of.shape).strides;
    found.gradient = of.gradient;
    if (of.kind == Kind::input) {
      found.buffer = of.input;
      found.offset = of.offset;
    } else if (of.kind == Kind::constant) {
      found.buffer = output() + 1;
      found.offset = constant(of.values);
    } else {
      found.buffer = output() + 2;
      found.offset = memory_;
      // Leaves room for whole vectors at any start.
      memory_ += padded_size(array_count(of.shape));
    }
    return found;
  }
  std::int64_t constant(const std::vector<double>& values) {
    auto& all = program_.constants;
    if (values.size() == 1) {
      const auto same = [&](double value) {
        return value == values[0] || (value != value && values[0] != values[0]);
      };
      const auto found = std::find_if(all.begin(), all.end(), same);
      if (found != all.end()) return found - all.begin();
    }
    const auto first = static_cast<std::int64_t>(all.size());
    all.insert(all.end(), values.begin(), values.end());
    return first;
  }

  bool is_line(int n, ArrayKind kind) const {
    return used_[at(n)] && node(n).kind == Kind::line && node(n).line == kind;
  }
  // The sum of one row is the last number of its running sum: returns that array, or -1.
  int running_sum_of(int n) const {
    if (!is_line(n, ArrayKind::sum) || array_count(graph_.shape(n)) != 1) return -1;
    if (places_[at(n)].buffer >= 0) return -1;  // a result
    const int operand = node(n).operands[0];
    const ArrayLayout summed = graph_.layout(operand);
    if (array_count(summed.shape) == 0) return -1;
    for (const Use& use : uses_[at(graph_.base(operand))]) {
      if (use.by < 0 || !is_line(use.by, ArrayKind::running_sum)) continue;
      const ArrayLayout other = graph_.layout(node(use.by).operands[0]);
      if (summed.shape == other.shape && summed.offset == other.offset &&
          summed.strides == other.strides)
        return use.by;
    }
    return -1;
  }

  void compute(int n) {
    const ArrayNode& of = node(n);
    if (done_[at(n)]) return;
    done_[at(n)] = 1;
    if (const int running = running_sum_of(n); running >= 0) {
      compute(running);
      Place& last = places_[at(n)] = place(running);
      last.strides.pop_back();
      last.offset += array_count(graph_.shape(running)) - 1;
      return;
    }
    const Place to = place(n);
    if (of.kind == Kind::join) return put_together(n, to);
    if (of.kind == Kind::map) {
      Tree tree;
      expand(n, true, tree);
      return emit_map(to, of.shape, tree);
    }
    ArrayInstruction made;
    made.kind = of.kind == Kind::line ? of.line : ArrayKind::contraction;
    ArraySizes space = graph_.shape(of.operands[0]);
    Place out = to;
    if (of.shape.size() < space.size()) out.strides.push_back(0);
    std::vector<Access> accesses;
    for (const int operand : of.operands) accesses.push_back(access(operand));
    // The last dimension stays last and, for a product, the one before it stays the dimension of
    // the columns.
    emit(made, out, space, accesses, {}, of.kind == Kind::line ? 1 : 2);
  }
  void put_together(int n, const Place& to) {
    const auto axis = at(node(n).axis);
    Place part = to;
    for (const int operand : node(n).operands) {
      part.gradient = node(operand).gradient;
      copy_to(part, graph_.shape(operand), operand);
      part.offset += graph_.shape(operand)[axis] * to.strides[axis];
    }
  }
  void copy_to(const Place& to, const ArraySizes& shape, int n) {
    Tree tree;
    const bool inside = node(n).kind == Kind::map && used_[at(n)] && !stored_[at(n)];
    if (inside)
      expand(n, true, tree);
    else
      tree.leaves.push_back(access(n));
    emit_map(to, shape, tree);
  }
  Access access(int n) const {
    const ArrayLayout layout = graph_.layout(n);
    return {graph_.base(n), layout.offset, layout.strides};
  }

  // Returns the call that computes n, or the leaf that reads it.
  int expand(int n, bool root, Tree& tree) {
    const bool inside = root || (node(n).kind == Kind::map && !stored_[at(n)]);
    if (!inside) return leaf(access(n), tree);
    const ArrayNode& of = node(n);
    ArrayCall call{of.function};
    call.gradient = of.gradient;
    call.single = true;
    std::vector<int> operands = of.operands;
    // a b + c is one function.
    if (of.function == ArrayFunction::add) {
      const auto product = [&](int k) {
        const int m = operands[at(k)];
        return node(m).kind == Kind::map && !stored_[at(m)] &&
               node(m).function == ArrayFunction::multiply;
      };
      const int first = product(1) ? 1 : product(0) ? 0 : -1;
      if (first >= 0) {
        call.function = ArrayFunction::multiply_add;
        const int m = operands[at(first)], other = operands[at(1 - first)];
        operands = {node(m).operands[0], node(m).operands[1], other};
      }
    }
    int* places[] = {&call.a, &call.b, &call.c};
    for (std::size_t k = 0; k < operands.size(); ++k) *places[k] = expand(operands[k], false, tree);
    tree.calls.push_back(call);
    return ~(static_cast<int>(tree.calls.size()) - 1);
  }
  static int leaf(Access access, Tree& tree) {
    for (std::size_t k = 0; k < tree.leaves.size(); ++k)
      if (tree.leaves[k].node == access.node && tree.leaves[k].offset == access.offset &&
          tree.leaves[k].strides == access.strides)
        return static_cast<int>(k);
    tree.leaves.push_back(std::move(access));
    return static_cast<int>(tree.leaves.size()) - 1;
  }

  // Reads joined arrays part by part: cuts the space where a part begins.
  void emit_map(const Place& to, const ArraySizes& shape, const Tree& given) {
    if (array_count(shape) == 0) return;
    Tree tree = given;
    for (Access& leaf : tree.leaves) {
      while (node(leaf.node).kind == Kind::join && !stored_[at(leaf.node)]) {
        const ArrayNode& of = node(leaf.node);
        Walk walk;
        check(find_walk(leaf.node, leaf, shape, walk), "array", "a joined array cannot be read");
        const auto axis = at(of.axis);
        std::int64_t begin = 0;  // of the part, along the axis
        std::size_t part = 0;
        const auto length = [&](std::size_t k) { return graph_.shape(of.operands[k])[axis]; };
        while (walk.first[axis] >= begin + length(part)) begin += length(part++);
        const auto moving = std::find(walk.along.begin(), walk.along.end(), of.axis);
        if (moving != walk.along.end()) {
          const auto d = static_cast<std::size_t>(moving - walk.along.begin());
          const auto step = walk.steps[d];
          const auto inside = (begin + length(part) - walk.first[axis] + step - 1) / step;
          if (inside < shape[d]) return emit_cut(to, shape, given, d, inside);
        }
        const int operand = of.operands[part];
        const ArrayLayout layout = graph_.layout(operand);
        leaf.node = graph_.base(operand);
        leaf.offset = layout.offset;
        for (std::size_t x = 0; x < walk.first.size(); ++x)
          leaf.offset += (walk.first[x] - (x == axis ? begin : 0)) * layout.strides[x];
        for (std::size_t d = 0; d < shape.size(); ++d)
          leaf.strides[d] =
              walk.along[d] < 0 ? 0 : walk.steps[d] * layout.strides[at(walk.along[d])];
      }
    }
    ArrayInstruction made;
    emit(made, to, shape, tree.leaves, tree.calls, 0);
  }
  void emit_cut(const Place& to, const ArraySizes& shape, const Tree& tree, std::size_t d,
                std::int64_t first) {
    Place lower = to;
    Tree rest = tree;
    ArraySizes left = shape, right = shape;
    left[d] = first;
    right[d] -= first;
    emit_map(to, left, tree);
    lower.offset += first * to.strides[d];
    for (Access& leaf : rest.leaves) leaf.offset += first * leaf.strides[d];
    emit_map(lower, right, rest);
  }

  // `fixed`: number of last dimensions that are not merged.
  void emit(ArrayInstruction made, const Place& to, const ArraySizes& space,
            const std::vector<Access>& accesses, std::vector<ArrayCall> calls, std::size_t fixed) {
    std::vector<ArrayView> views;
    for (const Access& access : accesses) {
      const Place& from = place(access.node);
      ArrayView view{from.buffer, from.offset, {}, node(access.node).gradient};
      view.offset += access.offset;
      views.push_back(view);
    }
    std::vector<ArraySizes> strides{to.strides};
    for (const Access& access : accesses) strides.push_back(access.strides);
    // Removes dimensions of size 1 and merges contiguous dimensions.
    ArraySizes shape;
    std::vector<ArraySizes> kept(strides.size());
    fixed = std::min(fixed, space.size());
    for (std::size_t d = 0; d < space.size(); ++d) {
      const bool stays = d + fixed >= space.size();
      if (space[d] == 1 && !stays) continue;
      const bool follows = !stays && !shape.empty() && [&] {
        for (std::size_t k = 0; k < strides.size(); ++k)
          if (kept[k].back() != strides[k][d] * space[d]) return false;
        return true;
      }();
      if (follows) {
        shape.back() *= space[d];
        for (std::size_t k = 0; k < strides.size(); ++k) kept[k].back() = strides[k][d];
      } else {
        shape.push_back(space[d]);
        for (std::size_t k = 0; k < strides.size(); ++k) kept[k].push_back(strides[k][d]);
      }
    }
    if (shape.empty()) {
      shape.push_back(1);
      for (auto& own : kept) own.push_back(0);
    }
    check(shape.size() <= static_cast<std::size_t>(kArrayDims), "array",
          "an array of more than {} dimensions", kArrayDims);
    made.dims = static_cast<int>(shape.size());
    made.out = {to.buffer, to.offset, {}, to.gradient};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      made.shape[d] = shape[d];
      made.out.stride[d] = kept[0][d];
      for (std::size_t k = 0; k < views.size(); ++k) views[k].stride[d] = kept[k + 1][d];
    }
    made.first_view = static_cast<int>(program_.views.size());
    made.views = static_cast<int>(views.size());
    made.first_call = static_cast<int>(program_.calls.size());
    made.calls = static_cast<int>(calls.size());
    // The part of a joined array that is read decides whether a gradient flows.
    for (ArrayCall& call : calls) {
      const auto flows = [&](int k) {
        return k < 0 ? calls[at(~k)].gradient : views[at(k)].gradient;
      };
      const bool* slopes = facts_of(call.function).has_slope;
      call.gradient =
          call.gradient && ((slopes[0] && flows(call.a)) || (slopes[1] && flows(call.b)) ||
                            (slopes[2] && flows(call.c)));
    }
    if (made.kind == ArrayKind::map)
      made.out.gradient = calls.empty() ? views[0].gradient : calls.back().gradient;
    program_.views.insert(program_.views.end(), views.begin(), views.end());
    program_.calls.insert(program_.calls.end(), calls.begin(), calls.end());
    program_.instructions.push_back(made);
    check(program_.instructions.size() < kMostInstructions, "array", "more than {} instructions",
          kMostInstructions);
  }
  static constexpr std::size_t kMostInstructions = 200'000;

  const ArrayGraph& graph_;
  const std::vector<int>& results_;
  ArrayProgram& program_;
  std::vector<char> used_;
  std::vector<std::vector<Use>> uses_;
  std::vector<char> stored_, done_;
  std::vector<int> calls_, leaves_;
  std::vector<Place> places_;
  std::int64_t memory_ = 0;
};

}  // namespace

void add_step(const ArrayGraph& graph, const std::vector<int>& results, ArrayProgram& program) {
  StepBuilder(graph, results, program).build();
}

}  // namespace pushdown
