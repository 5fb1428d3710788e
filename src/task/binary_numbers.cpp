#include "task/binary_numbers.h"

#include <algorithm>

namespace pushdown {
namespace {

bool at_least(const Bits& a, const Bits& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return !std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// Returns a - b, for a >= b.
Bits difference_of(Bits a, const Bits& b) {
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int digit = a[i] - (i < b.size() ? b[i] : 0) - borrow;
    borrow = digit < 0;
    a[i] = static_cast<std::uint8_t>(digit + 2 * borrow);
  }
  drop_zeros(a);
  return a;
}

}  // namespace

void drop_zeros(Bits& bits) {
  while (!bits.empty() && bits.back() == 0) bits.pop_back();
}

Bits sum_of(const Bits& a, const Bits& b) {
  Bits sum;
  int carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    const int digit = carry + (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
    sum.push_back(static_cast<std::uint8_t>(digit % 2));
    carry = digit / 2;
  }
  drop_zeros(sum);
  return sum;
}

Bits product_of(const Bits& a, const Bits& b) {
  std::vector<std::uint32_t> columns(a.size() + b.size() + 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) columns[i + j] += a[i] & b[j];
  Bits product;
  std::uint32_t carry = 0;
  for (const auto column : columns) {
    carry += column;
    product.push_back(static_cast<std::uint8_t>(carry % 2));
    carry /= 2;
  }
  for (; carry > 0; carry /= 2) product.push_back(static_cast<std::uint8_t>(carry % 2));
  drop_zeros(product);
  return product;
}

// Processes two digits of n at a time from the top, as by hand: the next digit d of the root is 1
// if the remainder is at least (root 0 1).
Bits square_root(const Bits& n) {
  Bits root, remainder;
  for (auto pair = (n.size() + 1) / 2; pair-- > 0;) {
    const std::uint8_t high = 2 * pair + 1 < n.size() ? n[2 * pair + 1] : 0;
    remainder.insert(remainder.begin(), {n[2 * pair], high});
    drop_zeros(remainder);
    Bits trial = root;
    trial.insert(trial.begin(), {1, 0});
    drop_zeros(trial);
    const bool fits = at_least(remainder, trial);
    if (fits) remainder = difference_of(remainder, trial);
    root.insert(root.begin(), fits ? 1 : 0);
    drop_zeros(root);
  }
  return root;
}

}  // namespace pushdown
