#include "model/rule_insertion.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "model/rule_margins.h"
#include "tensor/numbers.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.insert_rules";
constexpr double kLeastStrength = 0.25, kGreatestStrength = 4;
constexpr int kStrengths = 65;  // number of values tried, in geometric progression

using Tensors = std::array<Tensor, Programmed::kTensors>;
constexpr const char* kNames[Programmed::kTensors] = {
    "state.weight", "state.bias", "action.weight", "action.bias", "output.weight", "output.bias"};

const StatePushdown& network_of(const Recognizer& recognizer) {
  const auto* network = dynamic_cast<const StatePushdown*>(&recognizer.network());
  check(network != nullptr, kWhere,
        "expected a recognizer with architecture = 'nspda', got one with architecture = '{}'",
        recognizer.options()["architecture"].get<std::string>());
  check(recognizer.options()["reading"] == "top", kWhere,
        "the network must read the top of its stack (reading = 'top'), got reading = '{}'",
        recognizer.options()["reading"].get<std::string>());
  return *network;
}

class Insertion {
 public:
  Insertion(Recognizer& recognizer, const Pda& pda, const RuleOptions& options)
      : recognizer_(recognizer),
        pda_(pda),
        options_(options),
        network_(network_of(recognizer)),
        shape_{network_.order() == StatePushdown::Order::third, network_.states(),
               network_.symbols(), network_.inputs()},
        tensors_{network_.state_weight(), network_.state_bias(),      network_.action_weight(),
                 network_.action_bias(),  recognizer.output_weight(), recognizer.output_bias()},
        discrete_(network_.discrete() != StatePushdown::Discrete::never) {
    check_options();
    for (int t = 0; t < Programmed::kTensors; ++t) before_[t] = numbers_of(tensors_[t]);
    const bool known = pda.names_accepting() || pda.at_bottom();
    missing_ = options.missing.empty() ? (known ? "trap" : "keep") : options.missing;
    rules_ = rules_of(pda, recognizer.alphabet(),
                      {recognizer.end_symbol(), missing_ == "trap", options.dead == "neuron"});
    encoding_ = encode(rules_, shape_, (network_.push_threshold() + network_.pop_threshold()) / 2,
                       options.inhibition);
  }

  RuleReport run() {
    const auto given = options_.strength ? options_.strength : pda_.strength();
    scale_ = options_.weight_scale ? *options_.weight_scale
             : given               ? *given
                                   : network_.weight_scale();
    const double strength = given ? *given : chosen();
    auto report = describe(strength);
    report.strength_from = options_.strength ? "given" : given ? "hint" : "chosen";
    if (options_.check && !report.holds) refuse(report);
    write(strength);
    return report;
  }

 private:
  struct Outcome {
    Margins full, discrete;
  };

  void check_options() const {
    const auto choice = [](const char* name, const std::string& value, const char* a,
                           const char* b) {
      check(value == a || value == b, kWhere, "{} must be '{}' or '{}', got '{}'", name, a, b,
            value);
    };
    if (!options_.missing.empty()) choice("missing", options_.missing, "keep", "trap");
    choice("dead", options_.dead, "zero", "neuron");
    for (const auto& [name, value] : {std::pair{"strength", options_.strength},
                                      std::pair{"weight_scale", options_.weight_scale}})
      check(!value || (std::isfinite(*value) && *value > 0), kWhere,
            "{} must be a number above 0, got {}", name, value.value_or(0));
  }

  Numbers programmed(double strength) const {
    Numbers numbers = before_;
    for (const auto& n : encoding_.numbers)
      numbers[n.tensor][n.index] = n.times * strength + n.plus;
    return numbers;
  }

  Outcome outcome(double strength) const {
    const auto numbers = programmed(strength);
    Outcome result;
    result.full = margins(rules_, encoding_, shape_, network_, numbers);
    result.discrete = discrete_
                          ? margins(rules_, encoding_, shape_, network_, discrete(numbers, scale_))
                          : result.full;
    return result;
  }

  // Returns the margin by which a transition with a weight of this size alone fires.
  double learnable(double strength, double weight) const {
    const double threshold = strength * (shape_.third ? 0.5 : 1.5);
    return weight * (network_.least_values().top + (shape_.third ? 0 : 1)) - threshold;
  }

  double chosen() const {
    double best = 0;
    std::vector<double> best_margins;
    for (int i = 0; i < kStrengths; ++i) {
      const double strength = kLeastStrength * std::pow(kGreatestStrength / kLeastStrength,
                                                        static_cast<double>(i) / (kStrengths - 1));
      const auto both = outcome(strength);
      std::vector<double> sorted{learnable(strength, strength)};
      sorted.insert(sorted.end(), both.full.kinds.begin(), both.full.kinds.end());
      if (discrete_) {
        sorted.push_back(learnable(strength, scale_));
        sorted.insert(sorted.end(), both.discrete.kinds.begin(), both.discrete.kinds.end());
      }
      // Ignores differences that are due to rounding.
      for (double& margin : sorted) margin = std::round(margin * 1e9) / 1e9;
      std::sort(sorted.begin(), sorted.end());
      if (best_margins.empty() || sorted > best_margins) {
        best_margins = sorted;
        best = strength;
      }
    }
    return best;
  }

  RuleReport describe(double strength) const {
    RuleReport report;
    const auto both = outcome(strength);
    report.strength = strength;
    report.margin = both.full.least();
    if (discrete_) report.discrete_margin = both.discrete.least();
    report.weight_scale = scale_;
    report.holds = both.full.least() > 0 && both.discrete.least() > 0;
    for (std::size_t q = 0; q < rules_.states.size(); ++q)
      report.neurons.emplace_back(rules_.states[q], encoding_.neurons[q]);
    report.needed = encoding_.needed;
    report.available = static_cast<int>(shape_.states);
    const auto& transitions = pda_.transitions();
    for (std::size_t i = 0; i < transitions.size(); ++i) {
      RuleLine line;
      line.text = pda_.transition_text(transitions[i]);
      line.reason = rules_.refusals[i];
      report.transitions.push_back(line);
    }
    for (std::size_t r = 0; r < rules_.rules.size(); ++r) {
      const auto& rule = rules_.rules[r];
      if (rule.transition < 0) continue;
      auto& line = report.transitions[rule.transition];
      line.programmed = true;
      line.from = encoding_.neurons[rule.state];
      if (encoding_.targets[r] >= 0) line.to = {encoding_.targets[r]};
      line.margin = std::min(both.full.rules[r], both.discrete.rules[r]);
      line.holds = line.margin > 0;
    }
    for (auto& line : report.transitions)
      if (!line.programmed && line.reason.empty()) line.reason = "it repeats other transitions";
    report.missing = missing_;
    report.acceptance = rules_.output;
    report.acceptance_reason = rules_.output_refusal;
    report.triples = static_cast<std::int64_t>(rules_.rules.size());
    report.numbers = static_cast<std::int64_t>(encoding_.numbers.size());
    report.frozen = options_.frozen;
    return report;
  }

  [[noreturn]] void refuse(const RuleReport& report) const {
    std::string worst;
    double least = 0;
    for (const auto& line : report.transitions)
      if (line.programmed && (worst.empty() || line.margin < least)) {
        worst = line.text;
        least = line.margin;
      }
    fail(kWhere, "the strength {:.4g} does not hold: smallest margin {:.4g}{}{}; {}",
         report.strength, report.margin,
         report.discrete_margin ? fmt::format(", with discrete weights of size {:.4g} {:.4g}",
                                              scale_, *report.discrete_margin)
                                : "",
         worst.empty() ? "" : fmt::format(" (of the transitions, {:.4g}: {})", least, worst),
         report.strength_from == "chosen"
             ? "no strength is sufficient; the network's other weights may be too large (option "
               "range)"
             : "omit it to let the program choose it, or insert with check = false");
  }

  void write(double strength) const {
    at::NoGradGuard guard;
    const auto numbers = programmed(strength);
    for (int t = 0; t < Programmed::kTensors; ++t)
      tensors_[t].copy_(at::tensor(numbers[t], at::kDouble).view(tensors_[t].sizes()));
    const auto flags = at::TensorOptions(at::kBool);
    Tensor hints = at::zeros({shape_.states, shape_.readings(), shape_.inputs}, flags);
    for (const auto& rule : rules_.rules)
      for (const int j : encoding_.neurons[rule.state]) hints[j][rule.top][rule.symbol] = true;
    network_.set_hints(hints);
    if (scale_ != network_.weight_scale()) network_.set_weight_scale(scale_);
    std::array<Tensor, Programmed::kTensors> masks;
    for (int t = 0; t < Programmed::kTensors; ++t)
      masks[t] = at::zeros({tensors_[t].numel()}, flags);
    if (options_.frozen)
      for (const auto& n : encoding_.numbers) masks[n.tensor].data_ptr<bool>()[n.index] = true;
    for (int t = 0; t < Programmed::kTensors; ++t)
      if (options_.frozen || recognizer_.frozen().contains(kNames[t]))
        recognizer_.freeze(kNames[t], masks[t].view(tensors_[t].sizes()));
  }

  Recognizer& recognizer_;
  const Pda& pda_;
  RuleOptions options_;
  const StatePushdown& network_;
  NetworkShape shape_;
  Tensors tensors_;
  bool discrete_;
  double scale_ = 1;
  std::string missing_;
  RuleSet rules_;
  Encoding encoding_;
  Numbers before_;
};

std::string neurons_text(const std::vector<int>& neurons) {
  std::string text;
  for (const int i : neurons) text += fmt::format("{}{}", text.empty() ? "" : ",", i + 1);
  return text.empty() ? "trap" : text;
}

std::size_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

RuleReport insert_rules(Recognizer& recognizer, const Pda& pda, const RuleOptions& options) {
  return Insertion(recognizer, pda, options).run();
}

std::string to_text(const RuleReport& report) {
  const auto programmed = std::count_if(report.transitions.begin(), report.transitions.end(),
                                        [](const auto& line) { return line.programmed; });
  auto text = fmt::format(
      "Rules: {} of {} transitions programmed, strength {:.4g} ({}), margin {:.4g}{}{}\n",
      programmed, report.transitions.size(), report.strength, report.strength_from, report.margin,
      report.discrete_margin ? fmt::format(", discrete {:.4g}", *report.discrete_margin) : "",
      report.holds ? "" : ": DOES NOT HOLD");
  text += fmt::format(
      "{} triples checked, {} numbers programmed{}; {} of {} state neurons:", report.triples,
      report.numbers, report.frozen ? " and frozen" : "", report.needed, report.available);
  for (const auto& [name, neurons] : report.neurons)
    text += fmt::format(" {}={}", name, neurons_text(neurons));
  text +=
      fmt::format("\nwithout a transition: {}; acceptance: {}\n",
                  report.missing == "trap" ? "into the trap" : "weights kept",
                  report.acceptance ? "programmed" : "not programmed, " + report.acceptance_reason);
  std::size_t widest = 0;
  for (const auto& line : report.transitions) widest = std::max(widest, characters(line.text));
  for (const auto& line : report.transitions) {
    text += "  " + line.text + std::string(widest - characters(line.text) + 2, ' ');
    text += line.programmed ? fmt::format("{} -> {}  margin {:.4g}{}\n", neurons_text(line.from),
                                          neurons_text(line.to), line.margin,
                                          *line.holds ? "" : "  does not hold")
                            : "not programmed: " + line.reason + "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace pushdown
