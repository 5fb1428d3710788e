#include "recurrence/device/source_pass.h"

#include <algorithm>

#include "recurrence/program/step_text.h"

namespace pushdown::device_source {
namespace {

// Numbers of shared memory for the values or gradients of a step; longer ones stay in the device's
// memory.
constexpr std::int64_t kMostNearBytes = 16 * 1024;
// Weights that a thread keeps in registers.
constexpr std::int64_t kMostHeldOfProduct = 24, kMostHeld = 64;

bool conflict(const RowAccess& one, const RowAccess& other, int threads) {
  if (one.row != other.row || one.before != other.before || (!one.written && !other.written))
    return false;
  const auto thread = [&](const RowAccess& of, std::int64_t i) {
    return (i - of.owner) * of.lanes % threads;
  };
  const bool any = one.owner == kAnyThread || other.owner == kAnyThread;
  for (auto i = std::max(one.begin, other.begin); i < std::min(one.end, other.end); ++i)
    if (any || thread(one, i) != thread(other, i)) return true;
  return false;
}

}  // namespace

std::string Where::at(const std::string& index) const {
  if (offset == 0) return fmt::format("{}[{}]", base, index);
  if (offset < 0) return fmt::format("{}[{} - {}]", base, index, -offset);
  return fmt::format("{}[{} + {}]", base, offset, index);
}
std::string Where::pointer() const {
  if (offset == 0) return base;
  return offset < 0 ? fmt::format("{} - {}", base, -offset) : fmt::format("{} + {}", base, offset);
}

Pass::Pass(const DeviceProgram& program)
    : program_(program.traced()),
      options_(program.form()),
      needs_(program.needs()),
      layout_(program.layout()) {
  for (const StepNode& of : program_.nodes)
    if (of.op == StepOp::lstm_cell || of.op == StepOp::gru) gated_.insert(spot(of.a).row);
}

Spot Pass::spot(int n) const {
  Spot found{n};
  while (node(found.row).op == StepOp::slice || node(found.row).op == StepOp::previous) {
    found.before = found.before || node(found.row).op == StepOp::previous;
    found.first += node(found.row).offset;
    found.row = node(found.row).a;
  }
  return found;
}

bool Pass::is_computed(int row) const {
  return row_of(node(row).op).is_computed() && node(row).op != StepOp::memory;
}

Piece& Pass::piece(int n, std::int64_t size, std::function<void()> print) {
  Piece& added = pieces_.emplace_back();
  added.node = n;
  added.size = size;
  added.print = std::move(print);
  return added;
}

void Pass::access(Piece& to, const Spot& at, std::int64_t size, bool any_thread, bool written,
                  int lanes) {
  to.accesses.push_back({at.row, at.before, at.first, at.first + size,
                         any_thread ? kAnyThread : at.first, written, lanes});
}

void Pass::place_barriers(const Piece& first, const Piece& last, int& next) {
  struct Earlier {
    RowAccess access;
    bool of_memory;
  };
  std::vector<Earlier> since;  // the last barrier
  const auto end = pieces_.size();
  std::vector<char> waits(end + 1), plain(end);
  // Calls found(k, plainly) for each conflict of piece k, or of what follows, with earlier ones.
  const auto look = [&](std::size_t k, const auto& found) {
    const Piece& own = k < end ? pieces_[k] : last;
    for (const RowAccess& access : own.accesses)
      for (const Earlier& earlier : since)
        if (conflict(access, earlier.access, options_.threads))
          found(k, !own.of_memory && !earlier.of_memory);
  };
  const auto each_conflict = [&](const auto& found) {
    since.clear();
    // A step may need barriers because of the previous one.
    for (int step = 0; step < 3; ++step) {
      for (std::size_t k = 0; k < end; ++k) {
        look(k, found);
        if (waits[k]) since.clear();
        for (const RowAccess& access : pieces_[k].accesses)
          since.push_back({access, pieces_[k].of_memory});
      }
      look(end, found);
      // Only carried numbers have memory of their own in the next step.
      for (Earlier& earlier : since) {
        const int row = earlier.access.row;
        if (row < 0 || !is_computed(row) || node(row).carried)
          earlier.access.before = !earlier.access.before;
      }
    }
  };
  each_conflict([&](std::size_t k, bool) { waits[k] = 1; });
  // Those that are needed because of the previous step may make others unnecessary.
  for (std::size_t own = 0; own <= end; ++own) {
    if (!waits[own]) continue;
    waits[own] = 0;
    bool needed = false;
    each_conflict([&](std::size_t k, bool) { needed = needed || !waits[k]; });
    waits[own] = needed;
  }
  each_conflict([&](std::size_t k, bool plainly) {
    if (k < end && plainly) plain[k] = 1;
  });
  since.clear();
  for (const RowAccess& access : first.accesses) since.push_back({access, false});
  bool waits_first = false;
  for (std::size_t k = 0; k < end && !waits[k]; ++k)
    look(k, [&](std::size_t, bool) { waits_first = true; });
  if (waits_first) first_barrier_ = next++;
  for (std::size_t k = 0; k < end; ++k) {
    pieces_[k].barrier = waits[k] ? next++ : -1;
    pieces_[k].barrier_of_memory = waits[k] && !plain[k];
  }
  if (waits[end]) last_barrier_ = next++;
}

void Pass::print_twice(const std::function<void()>& print,
                       const std::function<bool(int)>& may_be_near) {
  may_be_near_ = may_be_near;
  for (const bool placed : {false, true}) {
    if (placed) place_near();
    placed_ = placed;
    text_.clear();
    declarations_.clear();
    declared_.clear();
    growing_.clear();
    indent_ = 2;
    print();
    close_loop();
  }
}

void Pass::print_pieces(std::size_t first, std::size_t end) {
  int shown = -1;
  for (std::size_t k = first; k < end; ++k) {
    const Piece& own = pieces_[k];
    if (own.barrier >= 0 || own.size == 0 || own.size != loop_) close_loop();
    if (own.barrier >= 0)
      put(barrier(own.barrier) + (own.barrier_of_memory ? "  // for the memory" : ""));
    if (own.node >= 0 && own.node != shown) {
      line("// v{}: {}, {} numbers", own.node, operation_name(node(own.node)), node(own.node).size);
      shown = own.node;
    }
    if (own.size > 0 && loop_ == 0) {
      open(fmt::format("each(team, Index{{{}}}, [&](Index i) {{", own.size));
      loop_ = own.size;
    }
    own.print();
  }
  close_loop();
}

void Pass::close_loop() {
  locals_.clear();
  if (loop_ == 0) return;
  loop_ = 0;
  close("});");
}

void Pass::put(const std::string& text) {
  text_ += std::string(static_cast<std::size_t>(2 * indent_), ' ') + text + "\n";
}
void Pass::open(const std::string& text) {
  put(text);
  ++indent_;
}
void Pass::close(const std::string& text) {
  --indent_;
  put(text);
}

void Pass::declare(const std::string& name, const std::string& declaration, std::int64_t step) {
  if (!declared_.insert(name).second) return;
  declarations_ += "  " + declaration + "\n";
  if (step != 0) growing_.emplace_back(name, backward_ ? -step : step);
}

void Pass::advance() {
  for (const auto& [name, step] : growing_)
    line("{} {} {};", name, step < 0 ? "-=" : "+=", step < 0 ? -step : step);
  if (carried_size_ > 0) put("exchange(now, before);");
}

std::string Pass::number(double x) { return fmt::format("F({})", x); }

std::string Pass::variable(char kind, const Spot& at) {
  std::string name = fmt::format("{}{}", kind, at.row);
  if (at.first > 0) name += fmt::format("_{}", at.first);
  return name + (at.before ? "_before" : "") + (at.raw ? "_raw" : "");
}

Where Pass::stored_value(const Spot& at) {
  const int n = at.row;
  const StepNode& of = node(n);
  const std::string place = fmt::format("value_of(p, {}, model, sequence)", n);
  // The number of the first step to be computed, counted from the step before all.
  const std::string step = backward_ ? "steps" : "1";
  if (of.op == StepOp::sequence || of.op == StepOp::memory) {
    const std::string name = fmt::format("{}{}", of.op == StepOp::sequence ? "x" : "reading", n);
    declare(name, fmt::format("F* {} = {} + {} * {};", name, place, step, of.size), of.size);
    return {name, at.first - (at.before ? of.size : 0)};
  }
  if (is_computed(n) && value_offset(n) >= 0) {
    const auto base = std::find(layout_.value.begin(), layout_.value.end(), 0);
    declare("kept",
            fmt::format("F* kept = value_of(p, {}, model, sequence) + {} * {};",
                        base - layout_.value.begin(), step, layout_.values),
            layout_.values);
    return {"kept", value_offset(n) + at.first - (at.before ? layout_.values : 0)};
  }
  const std::string name = fmt::format("{}{}", of.op == StepOp::constant ? "c" : "d", n);
  declare(name, fmt::format("F* {} = {};", name, place));
  return {name, at.first};
}

bool Pass::is_near(const Spot& at) const {
  return may_be_near_(at.row) && (!placed_ || near_.contains(key_of(at)));
}

Where Pass::near_place(const Spot& at) const {
  const auto found = near_.find(key_of(at));
  const std::int64_t offset = found == near_.end() ? 0 : found->second;
  if (!node(at.row).carried || at.raw) return {"near", offset + at.first};
  return {at.before ? "before" : "now", offset + at.first};
}

void Pass::place_near() {
  const std::int64_t most = kMostNearBytes / (options_.is_double ? 8 : 4);
  near_size_ = carried_size_ = 0;
  std::int64_t alone = 0;
  for (const int key : reads_) {
    const int row = key / 2;
    if (!may_be_near_(row)) continue;
    const bool twice = node(row).carried && key % 2 == 0;
    // Rows begin at multiples of four numbers, for wide loads.
    const std::int64_t size = (node(row).size + 3) / 4 * 4;
    if (alone + 2 * carried_size_ + (twice ? 2 : 1) * size > most) continue;
    auto& place = twice ? carried_size_ : alone;
    near_[key] = place;
    place += size;
  }
  carried_first_ = alone;
  near_size_ = alone + 2 * carried_size_;
}

std::string Pass::declare_matrix(int k) {
  const std::string name = fmt::format("m{}", k);
  declare(name, fmt::format("const F* {} = matrix_of(p, {}, model);  // {} x {}", name, k,
                            matrix(k).size(0), matrix(k).size(1)));
  declare(name + "_row", fmt::format("const Index {}_row = p.matrices[{}].row;", name, k));
  return name;
}

std::string Pass::declare_product(int k, int lanes, bool held, bool transposed) {
  const std::string from = declare_matrix(k),
                    name = fmt::format("{}{}", transposed ? "back" : "w", k);
  const auto rows = matrix(k).size(transposed ? 1 : 0),
             columns = matrix(k).size(transposed ? 0 : 1);
  declare(name,
          fmt::format("const {}Product<F, {}, {}, {}, {}> {}(team, {}, {}, {});",
                      held ? "Held" : "Read", rows, columns, lanes, options_.threads, name, from,
                      transposed ? "1" : from + "_row", transposed ? from + "_row" : "1"));
  return name;
}

int Pass::lanes_of(std::int64_t rows, std::int64_t columns, bool& held) {
  const std::int64_t threads = options_.threads;
  int lanes = 1;
  while (lanes < 32 && rows * lanes * 2 <= threads && columns > 4 * lanes) lanes *= 2;
  const auto turns = (rows * lanes + threads - 1) / threads;
  const auto own = turns * ((columns + lanes - 1) / lanes) * (options_.is_double ? 2 : 1);
  held = turns <= 4 && own <= kMostHeldOfProduct && held_ + own <= kMostHeld;
  if (held) {
    held_ += own;
    return lanes;
  }
  return columns > 64 ? 32 : 8;
}

void Pass::declare_symbols() {
  declare("symbols", "const std::int64_t* symbols = p.symbols + place * p.steps;");
}

std::string Pass::moves() const {
  return program_.shape.steps > 0 ? "t + 1 < steps || p.memory.steps > p.steps" : "true";
}

std::string Pass::kernel(const std::string& name, const std::string& before_declarations,
                         const std::string& before_loop, const std::string& loop,
                         const std::string& after_loop) const {
  const bool has_memory = program_.memory >= 0;
  std::string all;
  const auto put = [&](const std::string& text) { all += "  " + text + "\n"; };
  all += fmt::format(
      "PUSHDOWN_KERNEL void __launch_bounds__({}, {}) {}(const __grid_constant__ DeviceSteps<F> "
      "p) ",
      options_.threads, options_.is_double ? 1 : std::max(1, 512 / options_.threads), name);
  all += "{\n";
  put(fmt::format("const FixedTeam<{}> team;", options_.threads));
  put("const Index model = blockIdx.y, sequence = blockIdx.x;");
  put("const Count place = Count{model} * p.batch + sequence;");
  put("const Index steps = p.lengths == nullptr ? p.steps : p.lengths[place];");
  all += before_declarations;
  put("F* near = shared_numbers<F>();");
  if (carried_size_ > 0)
    put(fmt::format("F *now = near + {}, *before = near + {};", carried_first_,
                    carried_first_ + carried_size_));
  if (backward_) put("F* gradients = p.sequence_gradients + place * p.parameters;");
  all += declarations_;
  if (has_memory) {
    const int bottom = node(program_.memory).b;
    put("const MemoryShape whole = step_memory(p.memory, 0);");
    put("const Count tape = Memory::tape_size(whole), fast = fast_size_of<Memory>(whole);");
    put(fmt::format("const Count scratch = Memory::scratch_size(whole) + fast + {};",
                    program_.shape.actions));
    put(fmt::format(
        "Memory memory(step_memory(p.memory, steps == 0 ? 0 : p.steps - steps), "
        "{{p.tape + place * tape, p.scratch + place * scratch, {}, value_of(p, {}, model, "
        "sequence), {}}});",
        options_.near ? fmt::format("near + {}", near_size_)
                      : "p.scratch + (place + 1) * scratch - fast",
        program_.memory,
        bottom < 0 ? "nullptr" : fmt::format("value_of(p, {}, model, sequence)", bottom)));
    if (uses_actions_)
      put(fmt::format("F* actions = {};",
                      options_.near ? fmt::format("near + {}", near_size_ - padded_actions())
                                    : fmt::format("p.scratch + (place + 1) * scratch - fast - {}",
                                                  program_.shape.actions)));
  }
  all += before_loop;
  put(fmt::format("for (Index t = {}) {{", backward_ ? "steps; t-- > 0;" : "0; t < steps; ++t"));
  all += loop;
  put("}");
  return all + after_loop + "}\n";
}

}  // namespace pushdown::device_source
