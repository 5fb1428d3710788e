#include "train/optimizing/optimizer.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace pushdown {
namespace {

// Less work is not worth a thread.
constexpr std::int64_t kNumbersOfABlock = 1 << 15;
std::int64_t rows_of_a_block(std::int64_t size) {
  return std::max<std::int64_t>(1, kNumbersOfABlock / size);
}

// Calls body(first, end) for parts of 0 .. count, each of one block if there are several threads.
template <class Body>
void in_blocks(std::int64_t count, std::int64_t block, const Body& body) {
  if (thread_count() == 1 || count <= block) return body(std::int64_t{0}, count);
  parallel_for((count + block - 1) / block,
               [&](std::int64_t k) { body(k * block, std::min(count, (k + 1) * block)); });
}

}  // namespace

Optimizer::Optimizer(const ParameterList& parameters, const Json& options,
                     std::vector<std::string> slots, bool decoupled)
    : parameters_(parameters),
      slot_names_(std::move(slots)),
      learning_rate_(options["learning_rate"]),
      weight_decay_(options["weight_decay"]),
      decoupled_(decoupled) {
  for (const auto& [name, parameter] : parameters_) {
    check(parameter.is_floating_point() && stored(parameter).is_contiguous(), "optimizer",
          "parameter '{}' must be a contiguous floating-point tensor", name);
    slots_.emplace_back();
    for (std::size_t i = 0; i < slot_names_.size(); ++i)
      slots_.back().push_back(at::zeros_like(parameter).detach());
  }
  tables_.resize(parameters_.size());
}

bool Optimizer::plain(std::size_t i) const {
  const Tensor& parameter = parameters_[i].second;
  return parameter.is_cpu() &&
         (parameter.scalar_type() == at::kFloat || parameter.scalar_type() == at::kDouble);
}

void Optimizer::step(const UsedRows& used, Path path) {
  at::NoGradGuard no_grad;
  std::vector<const UsedRows::Rows*> rows(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (path == Path::fastest && lazy() && plain(i) && parameters_[i].second.grad().defined())
      rows[i] = used.find(parameters_[i].second);
    if (rows[i] != nullptr)
      catch_up(i, &rows[i]->numbers);
    else
      leave_table(i);
  }
  ++steps_;
  const Factors now = factors(learning_rate_);
  falling_ = !latest_.empty() && falls(latest_.back(), now) ? falling_ + 1 : 0;
  latest_.push_back(now);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& parameter = parameters_[i].second;
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (weight_decay_ != 0 && decoupled_)
      parameter.detach().mul_(1 - learning_rate() * weight_decay_);
    if (weight_decay_ != 0 && !decoupled_)
      gradient = gradient.add(parameter.detach(), weight_decay_);
    if (!plain(i) || path == Path::composite)
      // an alias that autograd does not track: the tensor is a leaf that requires a gradient
      parameter.detach().sub_(direction(gradient, slots_[i]), learning_rate());
    else if (parameter.scalar_type() == at::kFloat)
      update<float>(i, gradient, rows[i], now);
    else
      update<double>(i, gradient, rows[i], now);
  }
  if (std::all_of(tables_.begin(), tables_.end(), [](const Table& of) { return of.made.empty(); }))
    latest_.clear();
}

template <class T>
Optimizer::Run<T> Optimizer::run_of(std::size_t i, std::int64_t first, std::int64_t count) const {
  Run<T> run{parameters_[i].second.data_ptr<T>() + first, nullptr, {}, count};
  for (std::size_t j = 0; j < slots_[i].size(); ++j)
    run.slots[j] = slots_[i][j].data_ptr<T>() + first;
  return run;
}

template <class T>
void Optimizer::update(std::size_t i, const Tensor& given, const UsedRows::Rows* rows,
                       const Factors& now) {
  // In the order of the parameter's memory.
  const Tensor gradient =
      parameters_[i].second.is_contiguous() ? given.contiguous() : given.t().contiguous();
  const T* from = gradient.data_ptr<T>();
  const auto update_part = [&](std::int64_t first, std::int64_t count) {
    Run<T> run = run_of<T>(i, first, count);
    run.gradient = from + first;
    update(run, now);
  };
  if (rows == nullptr)
    return in_blocks(gradient.numel(), kNumbersOfABlock, [&](std::int64_t first, std::int64_t end) {
      update_part(first, end - first);
    });
  if (tables_[i].made.empty()) begin_table(i, rows->size);
  Table& table = tables_[i];
  const auto count = std::ssize(rows->numbers);
  in_blocks(count, rows_of_a_block(table.size), [&](std::int64_t first, std::int64_t end) {
    for (auto k = first; k < end; ++k) {
      const auto row = rows->numbers[k];
      update_part(row * table.size, table.size);
      table.made[row] = steps_;
      table.resting[row] = slots_[i].empty();
    }
  });
}

void Optimizer::begin_table(std::size_t i, std::int64_t size) {
  Table& table = tables_[i];
  const auto rows = parameters_[i].second.numel() / size;
  table.size = size;
  table.made.assign(rows, steps_ - 1);
  table.resting.assign(rows, 1);
  const bool single = parameters_[i].second.scalar_type() == at::kFloat;
  in_blocks(rows, rows_of_a_block(size), [&](std::int64_t first, std::int64_t end) {
    for (auto row = first; row < end; ++row)
      table.resting[row] = single ? rests<float>(i, row) : rests<double>(i, row);
  });
}

void Optimizer::leave_table(std::size_t i) {
  catch_up(i, nullptr);
  tables_[i] = {};
}

template <class T>
bool Optimizer::rests(std::size_t i, std::int64_t row) const {
  const auto size = tables_[i].size;
  return std::all_of(slots_[i].begin(), slots_[i].end(), [&](const Tensor& slot) {
    const T* first = slot.data_ptr<T>() + row * size;
    return std::all_of(first, first + size, [](T number) { return number == 0; });
  });
}

void Optimizer::catch_up() {
  for (std::size_t i = 0; i < tables_.size(); ++i) catch_up(i, nullptr);
  latest_.clear();
}

void Optimizer::catch_up(const UsedRows& used) {
  for (std::size_t i = 0; i < tables_.size(); ++i)
    if (const auto* rows = used.find(parameters_[i].second)) catch_up(i, &rows->numbers);
}

void Optimizer::catch_up(std::size_t i, const std::vector<std::int64_t>* rows) {
  Table& table = tables_[i];
  if (table.made.empty()) return;
  const bool single = parameters_[i].second.scalar_type() == at::kFloat;
  const auto count = rows != nullptr ? std::ssize(*rows) : std::ssize(table.made);
  in_blocks(count, rows_of_a_block(table.size), [&](std::int64_t first, std::int64_t end) {
    for (auto k = first; k < end; ++k) {
      const auto row = rows != nullptr ? (*rows)[k] : k;
      auto& made = table.made[row];
      const auto missed = static_cast<std::size_t>(steps_ - std::exchange(made, steps_));
      auto& resting = table.resting[row];
      if (missed == 0 || resting) continue;
      const std::span<const Factors> steps = std::span(latest_).last(missed);
      if (single)
        make_up<float>(i, row, steps);
      else
        make_up<double>(i, row, steps);
      resting = single ? rests<float>(i, row) : rests<double>(i, row);
    }
  });
}

template <class T>
void Optimizer::make_up(std::size_t i, std::int64_t row, std::span<const Factors> steps) const {
  rest(run_of<T>(i, row * tables_[i].size, tables_[i].size), steps, falling_);
}

ParameterList Optimizer::state() const {
  ParameterList state{{"steps", at::scalar_tensor(steps_, at::kLong)}};
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t j = 0; j < slot_names_.size(); ++j)
      state.emplace_back(slot_names_[j] + "." + parameters_[i].first, slots_[i][j]);
  return state;
}

void Optimizer::set_state(const ParameterList& given) {
  constexpr const char* kWhere = "optimizer.set_state";
  ParameterList own = state();
  check(given.size() == own.size(), kWhere, "expected {} tensors, got {}", own.size(),
        given.size());
  // Everything is checked before anything changes.
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : own) {
    const auto same = [&](const auto& entry) { return entry.first == name; };
    const auto at = std::find_if(given.begin(), given.end(), same);
    check(at != given.end(), kWhere, "the tensor '{}' is missing", name);
    check(at->second.sizes() == tensor.sizes() && at->second.scalar_type() == tensor.scalar_type(),
          kWhere, "'{}' must be {} of {}, got {} of {}", name, shape_text(tensor),
          dtype_name(tensor.scalar_type()), shape_text(at->second),
          dtype_name(at->second.scalar_type()));
    found.push_back(at->second);
  }
  at::NoGradGuard no_grad;
  tables_.assign(parameters_.size(), {});
  latest_.clear();
  steps_ = found[0].item<std::int64_t>();
  for (std::size_t i = 1; i < own.size(); ++i) own[i].second.copy_(found[i]);
}

}  // namespace pushdown
