// Natural numbers of any size as bits, lowest bit first, without leading zeros: 0 has no bits.
// Provides the arithmetic needed for tasks on binary notation.
#pragma once
#include <cstdint>
#include <vector>

namespace pushdown {

using Bits = std::vector<std::uint8_t>;

Bits sum_of(const Bits& a, const Bits& b);
Bits product_of(const Bits& a, const Bits& b);
// Returns the greatest number whose square is at most n.
Bits square_root(const Bits& n);
void drop_zeros(Bits& bits);  // at the high end

}  // namespace pushdown
