// Shared by the files of the contract: words, training passes, and the collection of complaints.
#pragma once
#include "analysis/contract.h"
#include "base/check.h"
#include "base/random.h"
#include "grammar/alphabet.h"
#include "tensor/finite_differences.h"

namespace pushdown {

inline Alphabet contract_alphabet() { return Alphabet({"a", "b", "c"}); }

// Returns B x n symbols, the same each time.
inline Tensor contract_words(std::int64_t batch, std::int64_t length) {
  Random random(3);
  Tensor words = at::empty({batch, length}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
  return words;
}

// Transformers draw the masks of dropout and the positions of whole strings.
inline bool draws_for_whole_strings(const Json& options) {
  return options.value("architecture", "") == "transformer" &&
         (options.value("dropout", 0.0) > 0 || options.value("positions", "") == "randomized");
}

// Collects the complaints of a check.
class Ledger {
 public:
  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) complaints_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  // Complains unless the deviation of `got` from `wanted` is below `limit` (see deviation()).
  template <class... Args>
  void near(const Tensor& got, const Tensor& wanted, double limit,
            fmt::format_string<Args...> format, Args&&... args) {
    const double apart = deviation(got, wanted);
    if (apart < limit) return;
    const auto what = fmt::format(format, std::forward<Args>(args)...);
    complaints_.push_back(
        got.sizes() == wanted.sizes()
            ? fmt::format("{}: off by {:.2g}", what, apart)
            : fmt::format("{}: expected {}, got {}", what, shape_text(wanted), shape_text(got)));
  }
  // Complains unless `action` throws std::invalid_argument.
  template <class... Args>
  void refuses(const std::function<void()>& action, fmt::format_string<Args...> format,
               Args&&... args) {
    try {
      action();
    } catch (const std::invalid_argument&) {
      return;
    }
    complaints_.push_back(fmt::format(format, std::forward<Args>(args)...) + " is not rejected");
  }
  Complaints complaints() && { return std::move(complaints_); }

 private:
  Complaints complaints_;
};

// Returns the gradients of the parameters, 0 if there is none, and removes them.
inline std::vector<Tensor> take_gradients(const ParameterList& parameters) {
  std::vector<Tensor> gradients;
  for (const auto& [name, tensor] : parameters) {
    gradients.push_back(tensor.grad().defined() ? tensor.grad().clone() : at::zeros_like(tensor));
    tensor.mutable_grad() = Tensor();
  }
  return gradients;
}

}  // namespace pushdown
