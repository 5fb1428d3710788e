#include "bindings/define/recording.h"

#include <cmath>

#include "array/array_function.h"
#include "bindings/session/log.h"

namespace pushdown {

void RecordingState::refuse(const ArrayRefusal& refusal) {
  if (refused_) return;
  refused_ = true;
  reason_ =
      fmt::format("{}{}{}", refusal.position, refusal.position.empty() ? "" : ": ", refusal.reason);
  if (!told_->insert(reason_).second) return;
  log_message("warn",
              fmt::format("{} runs by tensor operations: {}; this is 10 to 30 times slower than a "
                          "recorded definition, see 'What is recorded' in docs/extending.md",
                          where_, reason_));
}

void RecordingState::fail(const std::string& message) {
  if (++failures_ > 2)
    refuse({"it fails while it is recorded: " + message.substr(0, message.find('\n')), ""});
}

Tensor recorded_numbers(const std::vector<std::int64_t>& sizes, const at::TensorOptions& options,
                        int number) {
  std::int64_t count = 1;
  for (const auto size : sizes) count *= size;
  const Tensor values = at::empty(sizes, at::kDouble);
  auto* to = values.data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = 0.5 + 0.45 * std::sin(1.7 * static_cast<double>(i) + 0.9 * number + 0.3);
  return values.to(options);
}

std::vector<double> first_numbers(const Tensor& tensor) {
  const Tensor own = tensor.select(0, 0).detach().to(at::kCPU, at::kDouble).contiguous();
  const double* from = own.data_ptr<double>();
  return {from, from + own.numel()};
}

bool computes(const ArrayProgram& program, const std::vector<std::vector<double>>& inputs,
              const std::vector<double>& wanted, const at::TensorOptions& options) {
  const auto own = std::make_shared<ArrayProgram>(program);
  own->finish();
  std::vector<Tensor> rows;
  for (const auto& input : inputs) rows.push_back(at::tensor(input, at::kDouble).unsqueeze(0));
  const auto made = first_numbers(run_array(own, rows));
  const double tolerance = options.dtype() == at::kFloat ? 1e-3 : 1e-9;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::fabs(made.at(i) - wanted[i]);
    if (std::isnan(wanted[i]) || std::isinf(wanted[i])) continue;
    if (!(difference <= tolerance * (1 + std::fabs(wanted[i])))) return false;
  }
  return true;
}

std::optional<ArrayRefusal> add_recorded(const ArrayRecorder& recorder, const ArrayGraph& graph,
                                         const std::vector<int>& nodes,
                                         const ScriptFunction& function, ArrayProgram& program,
                                         const std::function<bool()>& same) {
  if (auto refusal = recorder.refusal()) {
    // A tail call of a Lua function has no line.
    if (refusal->position.empty()) refusal->position = function.position;
    return refusal;
  }
  try {
    add_step(graph, nodes, program);
    if (same()) return std::nullopt;
    return ArrayRefusal{"the recorded program gives other numbers", function.position};
  } catch (const std::invalid_argument& error) {
    return ArrayRefusal{error.what(), function.position};
  }
}

}  // namespace pushdown
