// Natural numbers of any size as bits, the lowest first, without zeros at the high end: 0 has no
// bits. Enough arithmetic for tasks about binary notation.
#pragma once
#include <cstdint>
#include <vector>

namespace pushdown {

using Bits = std::vector<std::uint8_t>;

Bits sum_of(const Bits& a, const Bits& b);
Bits product_of(const Bits& a, const Bits& b);
// The greatest number whose square is at most n.
Bits square_root(const Bits& n);
void drop_zeros(Bits& bits);  // at the high end

}  // namespace pushdown
