// The backward pass of program.h: gradients of numbers.
#include "recurrence/device/source_backward.h"

#include <algorithm>

namespace pushdown::device_source {

std::string Backward::text(std::int64_t& shared, int& barriers) {
  collect();
  Piece first, last;  // what is before and after the loop
  for (int row = 0; row < count(); ++row)
    if (node(row).gradient && (node(row).carried || !owns_gradient(row)))
      access(first, {row}, node(row).size, false, true);
  if (program_.memory >= 0) access(first, {count()}, 1, true, true);
  for (int row = 0; row < count(); ++row) {
    if (!owns_gradient(row)) continue;
    if (slope_offset(row) >= 0)
      for (const Spot at : {Spot{row}, record_of({row})})
        access(last, at, node(row).size, true, false);
    if (wants_first(row)) access(last, {row, 0, true}, node(row).size, false, false);
  }
  if (program_.memory >= 0 && node(program_.memory).b >= 0) {
    access(last, {count()}, 1, true, true);
    access(last, {program_.memory, 0, true}, node(program_.memory).size, true, false);
  }
  place_barriers(first, last, barriers);
  std::string after;
  print_twice([&] { after = print_loop(); },
              [&](int row) {
                return (is_computed(row) || node(row).op == StepOp::memory) &&
                       !of_arrays_.contains(row);
              });
  if (uses_actions_ && options_.near) near_size_ += padded_actions();
  shared = std::max(shared, near_size_);
  return kernel("step_backward", "", before_loop(), text_, after);
}

// ---- Which gradients are set, and which are added to. ----

void Backward::collect() {
  for (int n = 0; n < count(); ++n)
    if (node(n).op == StepOp::array && node(n).gradient) {
      of_arrays_.insert(n);
      for (int k = 0; k < node(n).operands; ++k) of_arrays_.insert(spot(operand(node(n), k)).row);
    }
  add_given();
  const int after = options_.windowed ? program_.after : 0;
  for (int n = count(); n-- > after;) add(n);
  if (options_.windowed) {
    add_border();
    for (int n = after; n-- > 0;) add(n);
  }
  for (int row = 0; row < count(); ++row)
    if (owns_gradient(row) && (node(row).carried || node(row).op == StepOp::sequence))
      require(Spot{row, 0, node(row).carried});
  add_clears();
}

bool Backward::owns_gradient(int row) const {
  return node(row).gradient && row_of(node(row).op).owns_rows();
}

Mode Backward::reach(const Spot& at, std::int64_t size, bool in_loop) {
  if (!owns_gradient(at.row)) {
    if (!in_loop || at.first > 0 || size != node(at.row).size) in_memory_.insert(at.row);
    return Mode::add;
  }
  if (node(at.row).carried && !at.before) return Mode::add;
  Reached& reached = reached_[at.before ? at.row + count() : at.row];
  const auto end = at.first + size;
  std::int64_t covered = 0;
  for (const auto& [begin, other] : reached.parts)
    covered += std::max<std::int64_t>(0, std::min(end, other) - std::max(begin, at.first));
  reached.parts.emplace_back(at.first, end);
  if (covered == 0) return Mode::set;
  // Parts that were counted twice do not matter: then the row is added to.
  if (covered < size) reached.cleared = true;
  return Mode::add;
}
void Backward::require(const Spot& at) {
  if (node(at.row).carried && !at.before) return;
  Reached& reached = reached_[at.before ? at.row + count() : at.row];
  std::vector<char> covered(static_cast<std::size_t>(node(at.row).size));
  for (const auto& [begin, end] : reached.parts)
    std::fill(covered.begin() + begin, covered.begin() + end, 1);
  if (std::find(covered.begin(), covered.end(), 0) != covered.end()) reached.cleared = true;
}
bool Backward::sets(const Spot& at, Mode mode) const {
  const auto found = reached_.find(at.before ? at.row + count() : at.row);
  return mode == Mode::set && (found == reached_.end() || !found->second.cleared);
}

void Backward::add_clears() {
  std::vector<Piece> all;
  for (auto& [key, reached] : reached_) {
    if (!reached.cleared) continue;
    const Spot at{key % count(), 0, key >= count()};
    Piece clear;
    clear.size = node(at.row).size;
    clear.print = [this, at] {
      const std::string name = variable('s', at);
      line("F {} = 0;", name);
      locals_[at] = name;
      dirty_.insert(at);
    };
    access(clear, at, clear.size, false, true);
    all.push_back(std::move(clear));
  }
  std::move(pieces_.begin(), pieces_.end(), std::back_inserter(all));
  pieces_ = std::move(all);
}

void Backward::add_given() {
  const int output = program_.output;
  if (!node(output).gradient) return;
  const Spot at = spot(output);
  const Mode mode = reach(at, node(output).size, !options_.windowed);
  if (options_.windowed) {
    // At a border, nodes after the step come first.
    if (!node(at.row).carried) reached_[at.row].cleared = true;
    Piece& own = piece(-1, 0, [this, at, mode] {
      open("if (!border) {");
      print_given(at, mode);
      close();
    });
    access(own, at, node(output).size, false, true);
    return;
  }
  Piece& own = piece(-1, node(output).size, [this, at, mode] { contribute(at, mode, "given[i]"); });
  access(own, at, node(output).size, false, true);
}
void Backward::print_given(const Spot& at, Mode mode) {
  open(fmt::format("each(team, Index{{{}}}, [&](Index i) {{", node(program_.output).size));
  store(at, mode, "i", "given[i]");
  close("});");
}

// Nodes after the step belong to the next step, for which the rest are constants.
void Backward::add_border() {
  std::vector<Spot> cleared;
  for (int row = 0; row < count(); ++row) {
    if (!owns_gradient(row) || node(row).op == StepOp::sequence) continue;
    if (row < program_.after && (node(row).carried || reached_.contains(row)))
      cleared.push_back({row});
    if (row >= program_.after && node(row).carried) cleared.push_back({row, 0, true});
  }
  std::vector<Spot> rooms;
  for (int row = 0; row < count(); ++row)
    if (node(row).op == StepOp::room && node(row).gradient) rooms.push_back({row});
  Piece& cut = piece(-1, 0, [this, cleared, rooms] {
    open("if (border) {");
    const auto clear = [&](const Spot& at, const auto& set) {
      open(fmt::format("each(team, Index{{{}}}, [&](Index i) {{", node(at.row).size));
      set();
      close("});");
    };
    for (const Spot& at : cleared) clear(at, [&] { store(at, Mode::set, "i", "0", true); });
    for (const Spot& at : rooms) clear(at, [&] { line("{} = 0;", place(at).at("i")); });
    if (program_.memory >= 0) put("memory.cut(team);");
    close();
  });
  for (const auto* all : {&cleared, &rooms})
    for (const Spot& at : *all) access(cut, at, node(at.row).size, false, true);
  if (program_.memory >= 0) access(cut, {count()}, 1, true, true);
  if (!node(program_.output).gradient) return;
  const Spot at = spot(program_.output);
  Piece& given = piece(-1, 0, [this, at] {
    open("if (border) {");
    print_given(at, Mode::add);
    close();
  });
  access(given, at, node(program_.output).size, false, true);
}

// ---- Numbers. ----

Where Backward::place(const Spot& at) {
  const int row = at.row;
  const std::string first = fmt::format("gradient_of(p, {}, model, sequence)", row);
  if (!owns_gradient(row)) {
    const std::string name = fmt::format("g{}", row);
    declare(name, fmt::format("F* {} = {};", name, first));
    return {name, at.first};
  }
  note_read(at);
  if (is_near(at)) return near_place(at);
  if (slope_offset(row) >= 0) return record(at);
  const std::string name = fmt::format("g{}", row), before = name + "_before";
  if (!node(row).carried) {
    declare(name, fmt::format("F* {} = {};", name, first));
    return {name, at.first};
  }
  const auto size = node(row).size;
  declare(name, fmt::format("F* {} = {} + steps % 2 * {};", name, first, size));
  declare(before, fmt::format("F* {} = {} + (steps + 1) % 2 * {};", before, first, size));
  exchanged_.insert(row);
  return {at.before ? before : name, at.first};
}
Where Backward::record(const Spot& at) {
  const auto base = std::find(layout_.slope.begin(), layout_.slope.end(), 0);
  declare("slopes",
          fmt::format("F* slopes = gradient_of(p, {}, model, sequence) + steps * {};",
                      base - layout_.slope.begin(), layout_.slopes),
          layout_.slopes);
  return {"slopes", slope_offset(at.row) + at.first - (at.before ? layout_.slopes : 0)};
}

std::string Backward::slope(const Spot& at) {
  if (const auto found = locals_.find(at); found != locals_.end()) return found->second;
  const std::string name = variable('s', at);
  line("F {} = {};", name, place(at).at("i"));
  return locals_[at] = name;
}
std::string Backward::value(int n) {
  const Spot at = spot(n);
  if (const auto found = values_.find(at); found != values_.end()) return found->second;
  const std::string name = variable('v', at);
  line("const F {} = {};", name, stored_value(at).at("i"));
  return values_[at] = name;
}

void Backward::contribute(const Spot& at, Mode mode, const std::string& what) {
  if (is_summed(at.row)) {
    const std::string name = fmt::format("sum{}", at.row);
    declare(name, fmt::format("F {} = 0;", name));
    summed_.insert(at.row);
    return line("{} += {};", name, what);
  }
  const auto found = locals_.find(at);
  if (found != locals_.end()) {
    line("{} += {};", found->second, what);
  } else {
    const std::string name = variable('s', at);
    if (sets(at, mode))
      line("F {} = {};", name, what);
    else
      line("F {} = {} + {};", name, place(at).at("i"), what);
    locals_[at] = name;
  }
  dirty_.insert(at);
}
void Backward::store(const Spot& at, Mode mode, const std::string& index, const std::string& what,
                     bool always) {
  const bool recorded = owns_gradient(at.row) && slope_offset(at.row) >= 0;
  const bool set = always || sets(at, mode);
  if (set && !is_read(at) && owns_gradient(at.row)) {
    if (recorded) line("{} = {};", record(at).at(index), what);
    return;
  }
  const Where to = place(at);
  line("{} {} {};", to.at(index), set ? "=" : "+=", what);
  if (recorded && is_near(at)) line("{} = {};", record(at).at(index), to.at(index));
}
void Backward::flush(const Spot& at, const std::string& name) {
  if (!owns_gradient(at.row)) return line("{} = {};", place(at).at("i"), name);
  const bool recorded = slope_offset(at.row) >= 0;
  if (recorded) line("{} = {};", record(at).at("i"), name);
  // Nothing reads it any more.
  if (done_.contains(at.row) && !at.before) return;
  if (is_read(at) && (is_near(at) || !recorded)) line("{} = {};", place(at).at("i"), name);
}
void Backward::close_loop() {
  for (const Spot& at : dirty_) flush(at, locals_.at(at));
  dirty_.clear();
  values_.clear();
  Pass::close_loop();
}

// Whether the gradient of the value before the first step is a result, which is not in a record.
bool Backward::wants_first(int row) const {
  if (!owns_gradient(row) || !node(row).carried || slope_offset(row) >= 0) return false;
  for (int n = 0; n < count(); ++n)
    if (const Tensor& initial = program_.initial[static_cast<std::size_t>(n)];
        initial.defined() && initial.requires_grad() && spot(n).row == row)
      return true;
  return false;
}
// A constant whose gradient each thread adds up in a variable.
bool Backward::is_summed(int row) const {
  return node(row).op == StepOp::constant && !in_memory_.contains(row) && row != bottom_row() &&
         node(row).size <= options_.threads;
}
int Backward::bottom_row() const {
  if (program_.memory < 0 || node(program_.memory).b < 0) return -1;
  return spot(node(program_.memory).b).row;
}

// ---- Around the loop over the steps. ----

std::string Backward::before_loop() {
  std::string all;
  const auto clear = [&](const Where& to, std::int64_t size) {
    all +=
        fmt::format("  each(team, Index{{{}}}, [&](Index i) {{ {} = 0; }});\n", size, to.at("i"));
  };
  if (program_.memory >= 0) {
    all += "  if (steps > 0) {\n";
    if (program_.left >= 0)
      all += fmt::format(
          "    if constexpr (requires(F* to) {{ memory.leave(team, to); }}) {{\n"
          "      if (p.left_used)\n"
          "        memory.begin_backward(team, gradient_of(p, {}, model, sequence));\n"
          "      else\n"
          "        memory.begin_backward(team);\n"
          "    }} else {{\n"
          "      memory.begin_backward(team);\n"
          "    }}\n",
          program_.left);
    else
      all += "    memory.begin_backward(team);\n";
    all += "  }\n";
  }
  for (int row = 0; row < count(); ++row) {
    if (!node(row).gradient) continue;
    const StepOp op = node(row).op;
    if ((op == StepOp::constant && !summed_.contains(row)) || op == StepOp::room)
      clear({fmt::format("gradient_of(p, {}, model, sequence)", row)}, node(row).size);
    if (!owns_gradient(row) || !node(row).carried) continue;
    clear(place({row}), node(row).size);
    if (slope_offset(row) >= 0 && is_near({row})) clear(record({row}), node(row).size);
  }
  return all + first_barrier();
}

// Returns what follows the loop.
std::string Backward::print_loop() {
  exchanged_.clear();
  done_.clear();
  summed_.clear();
  put("const F* given = p.given + model * p.given_model + sequence * p.given_row + "
      "t * p.given_step;");
  if (options_.windowed)
    put("const bool border = p.window > 0 && t + 1 < steps && (t + 1) % p.window == 0;");
  print_pieces(0, pieces_.size());
  advance();
  for (const int row : exchanged_) line("exchange(g{0}, g{0}_before);", row);
  return after_loop();
}

std::string Backward::after_loop() {
  std::string all = last_barrier();
  if (const int bottom = bottom_row(); bottom >= 0 && node(node(program_.memory).b).gradient)
    all += fmt::format(
        "  if constexpr (requires(F* to) {{ memory.end_backward(team, to, to); }})\n"
        "    if (steps > 0)\n"
        "      memory.end_backward(team, {}, gradient_of(p, {}, model, sequence));\n",
        place({program_.memory}).pointer(), node(program_.memory).b);
  for (int row = 0; row < count(); ++row) {
    if (!wants_first(row)) continue;
    all += fmt::format(
        "  each(team, Index{{{}}}, [&](Index i) {{ gradient_of(p, {}, model, sequence)[i] = {}; "
        "}});\n",
        node(row).size, row, place({row}).at("i"));
  }
  for (const int row : summed_)
    all += fmt::format(
        "  if (team.id() < {}) gradient_of(p, {}, model, sequence)[team.id()] = "
        "sum{};\n",
        node(row).size, row, row);
  for (int n = 0; n < count(); ++n)
    if (node(n).op == StepOp::affine && node(n).gradient) all += matrix_sums(n);
  return all;
}

// The gradients of the matrices of an affine node.
std::string Backward::matrix_sums(int n) {
  std::string all;
  const StepNode& of = node(n);
  for (int k = 0; k < of.terms; ++k) {
    const StepTerm& one = term(of, k);
    const auto rows = matrix(one.matrix).size(0), columns = matrix(one.matrix).size(1);
    const std::string slopes = fmt::format("gradient_of(p, {}, model, sequence) + {}, {}", n,
                                           layout_.slopes, layout_.slopes);
    if (one.table >= 0) all += table_sums(one, slopes);
    if (one.table >= 0 || !matrix(one.matrix).requires_grad()) continue;
    if (one.lookup) {
      declare_symbols();
      all += fmt::format(
          "  sum_lookups<{}, {}>(team, steps, {}, symbols, gradients + "
          "p.matrices[{}].gradient);\n",
          rows, columns, slopes, one.matrix);
      continue;
    }
    const Spot at = spot(one.operand);
    const auto own = node(at.row).op == StepOp::constant ? 0
                     : value_offset(at.row) >= 0         ? layout_.values
                                                         : node(at.row).size;
    all += fmt::format(
        "  sum_matrix<{}, {}>(team, steps, {},\n      value_of(p, {}, model, sequence) + {}, {}, "
        "gradients + p.matrices[{}].gradient);\n",
        rows, columns, slopes, at.row, at.first + (at.before ? 0 : own), own, one.matrix);
  }
  return all;
}

// Those of a matrix and of the table with which it is multiplied.
std::string Backward::table_sums(const StepTerm& of, const std::string& slopes) {
  std::string all;
  declare_symbols();
  const auto add = [&](const char* function, int wanted, int other) {
    if (!matrix(wanted).requires_grad()) return;
    const std::string from = declare_matrix(other);
    all += fmt::format(
        "  {}<{}, {}, {}>(team, steps, {}, symbols, {}, {}_row,\n      gradients + "
        "p.matrices[{}].gradient);\n",
        function, matrix(of.matrix).size(0), matrix(of.matrix).size(1), matrix(of.table).size(1),
        slopes, from, from, wanted);
  };
  add("sum_of_table", of.matrix, of.table);
  add("sum_to_table", of.table, of.matrix);
  return all;
}

std::string print_backward(const DeviceProgram& program, std::int64_t& shared, int& barriers) {
  return Backward(program).text(shared, barriers);
}

}  // namespace pushdown::device_source
