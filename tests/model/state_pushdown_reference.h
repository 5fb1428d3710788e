// The neural state pushdown automaton in plain loops, and an explicit smooth function around it.
// The first run records the result of every quantiser; later runs replace each by
//   (its recorded value) + smooth(x) - (smooth(x) as recorded),
// and keep every choice (stack operations, the side of max(a, 0)). At the recorded weights that
// function has the network's values, and finite differences can differentiate it.
#pragma once
#include <cmath>
#include <map>

#include "model/recognizer.h"
#include "model/state_pushdown.h"

namespace pushdown::testing_support {

class StatePushdownReference {
 public:
  using Numbers = std::vector<double>;

  std::map<std::string, Numbers> weights;
  std::vector<Numbers> hiddens;          // after each pass
  Numbers pass_weights;                  // 1 or 0
  std::vector<std::vector<int>> stacks;  // after each symbol, the top last

  explicit StatePushdownReference(const Recognizer& model)
      : network_(dynamic_cast<const StatePushdown&>(model.network())), options_(model.options()) {
    for (const auto& [name, tensor] : model.parameters()) {
      const Tensor flat = tensor.detach().to(at::kDouble).contiguous();
      weights[name] = {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
    }
    const auto& values = options_["reading_values"];
    other_ = values[0];
    top_ = values[1];
    popped_ = values[2];
  }

  // The loss of one string, given as ids of the network's inputs; `record` it, or stay near the
  // recorded run.
  double loss(const std::vector<int>& word, double label, bool record, bool every_pass = true) {
    const int states = static_cast<int>(network_.states()), symbols = symbol_count();
    const int passes = options_["passes"];
    const bool top_reading = options_["reading"] == "top";
    record_ = record;
    if (record) {
      offsets_.clear();
      choices_.clear();
    }
    next_offset_ = next_choice_ = 0;
    hiddens.clear();
    pass_weights.clear();
    stacks.clear();
    std::vector<int> stack;
    Numbers z(states, 0.0);
    z[0] = 1;
    Numbers r(symbols + 1, other_);
    r[symbols] = top_;
    double total = 0, last = 0;
    const auto score = [&](const Numbers& hidden, double weight) {
      double s = weights["output.bias"][0];
      for (int i = 0; i < states; ++i) s += weights["output.weight"][i] * hidden[i];
      last = std::log(1 + std::exp(s)) - label * s;
      total += weight * last;
      hiddens.push_back(hidden);
      pass_weights.push_back(weight);
    };
    for (const int l : word) {
      const bool again = choose(!hinted(z, stack, l)) != 0;
      const Numbers next = new_state(z, r, l);
      Numbers a;
      for (int i = 0; i < symbols; ++i) a.push_back(action(sum("action", symbols, i, z, r, l)));
      const int depth = static_cast<int>(stack.size());
      const int top = depth > 0 ? stack[depth - 1] : symbols;
      const int under = depth > 1 ? stack[depth - 2] : symbols;
      // max(a, 0) as a or 0; at 0 it counts as a.
      const double p = l < symbols && choose(a[l] >= 0) ? a[l] : 0;
      const double q = depth > 0 && choose(a[top] <= 0) ? -a[top] : 0;
      if (top_reading) {
        for (int k = 0; k <= symbols; ++k) {
          const double pushed = k == l ? top_ : other_;
          const double kept = k == top ? top_ : other_;
          const double popped = k == under ? top_ : k == top ? popped_ : other_;
          r[k] = p * pushed + (1 - p) * q * popped + (1 - p) * (1 - q) * kept;
        }
      }
      if (choose(std::abs(p - 1) < 1e-9))
        stack.push_back(l);
      else if (choose(std::abs(q - 1) < 1e-9))
        stack.pop_back();
      if (!top_reading) {
        for (int k = 0; k < symbols; ++k)
          r[k] = other_ + (choose(a[k] >= 0) ? a[k] * (top_ - other_) : 0) -
                 (choose(a[k] <= 0) ? a[k] * (popped_ - other_) : 0);
        r[symbols] = stack.empty() ? top_ : other_;
      }
      stacks.push_back(stack);
      score(next, 1);
      z = next;
      for (int k = 1; k < passes; ++k) {
        if (again) z = new_state(z, r, l);
        score(z, again ? 1 : 0);
      }
      if (options_["carry"] == "first") z = next;
    }
    if (word.empty()) {
      score(z, 1);
      hiddens.clear();
    }
    return every_pass ? total : last;
  }

 private:
  int symbol_count() const { return static_cast<int>(network_.symbols()); }

  // b_i + sum of the weights of row i
  double sum(const std::string& part, int, int i, const Numbers& z, const Numbers& r, int l) {
    const int states = static_cast<int>(network_.states()), reads = symbol_count() + 1,
              inputs = static_cast<int>(network_.inputs());
    const Numbers& w = weights[part + ".weight"];
    double total = weights[part + ".bias"][i];
    for (int j = 0; j < states; ++j) {
      if (options_["order"] == "third") {
        for (int k = 0; k < reads; ++k)
          total += w[((i * states + j) * reads + k) * inputs + l] * z[j] * r[k];
      } else {
        for (int k = 0; k < reads; ++k)
          total += w[(i * states + j) * (reads + inputs) + k] * z[j] * r[k];
        total += w[(i * states + j) * (reads + inputs) + reads + l] * z[j];
      }
    }
    return total;
  }
  Numbers new_state(const Numbers& z, const Numbers& r, int l) {
    Numbers next;
    for (int i = 0; i < network_.states(); ++i) {
      const double v = sum("state", 0, i, z, r, l), smooth = 1 / (1 + std::exp(-v));
      next.push_back(quantised(smooth > 0.5 ? 1 : 0, smooth));
    }
    return next;
  }
  double action(double u) {
    const double smooth = 2 / (1 + std::exp(-u)) - 1;
    return quantised(smooth > 0.13 ? 1 : smooth < -0.09 ? -1 : 0, smooth);
  }
  double quantised(double value, double smooth) {
    if (record_) {
      offsets_.push_back(value - smooth);
      return value;
    }
    return offsets_[next_offset_++] + smooth;
  }
  int choose(bool choice) {
    if (record_) choices_.push_back(choice);
    return choices_[next_choice_++];
  }
  bool hinted(const Numbers& z, const std::vector<int>& stack, int l) const {
    int active = -1, count = 0;
    for (int i = 0; i < network_.states(); ++i)
      if (z[i] != 0) {
        active = i;
        ++count;
      }
    return count == 1 &&
           network_.hints()[active][stack.empty() ? symbol_count() : stack.back()][l].item<bool>();
  }

  const StatePushdown& network_;
  Json options_;
  double other_ = 0, top_ = 0, popped_ = 0;
  bool record_ = true;
  Numbers offsets_;
  std::vector<char> choices_;
  std::size_t next_offset_ = 0, next_choice_ = 0;
};

}  // namespace pushdown::testing_support
