// Measurements by length: bin k has the lengths from k width up to the next multiple.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace pushdown {

// Returns the bins in order; `shortest` and `longest` of each become its edges.
template <class Sum>
std::vector<Sum> in_order(const std::map<std::int64_t, Sum>& bins, std::int64_t width) {
  std::vector<Sum> list;
  for (auto [bin, sum] : bins) {
    sum.shortest = bin * width;
    sum.longest = (bin + 1) * width - 1;
    list.push_back(sum);
  }
  return list;
}

}  // namespace pushdown
