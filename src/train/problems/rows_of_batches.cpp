#include "train/problems/rows_of_batches.h"

namespace pushdown {
namespace {

// Returns the symbols of the batches in ascending order; none if they are not known.
std::vector<std::int64_t> symbols_of_batches(
    const Problem& problem, const std::vector<std::vector<std::int64_t>>& batches) {
  std::vector<char> read(problem.model()->alphabet().size());
  for (const auto& batch : batches) {
    const Tensor words = problem.symbols_read(batch);
    // Without symbols, tables have no gradient at all, which is not the same as one of zeros.
    if (!words.defined() || words.numel() == 0) return {};
    const Tensor ids = words.contiguous();
    const auto* first = ids.data_ptr<std::int64_t>();
    for (const auto* id = first; id != first + ids.numel(); ++id) read[*id] = 1;
  }
  std::vector<std::int64_t> symbols;
  for (std::size_t id = 0; id < read.size(); ++id)
    if (read[id]) symbols.push_back(static_cast<std::int64_t>(id));
  return symbols;
}

}  // namespace

UsedRows rows_of_batches(const Problem& problem,
                         const std::vector<std::vector<std::int64_t>>& batches) {
  // A step over fewer numbers takes less than finding the rows.
  constexpr std::int64_t kLarge = 1 << 16;
  UsedRows used;
  auto tables = problem.model()->network().symbol_tables();
  std::erase_if(tables,
                [](const Tensor& table) { return !table.is_cpu() || table.numel() < kLarge; });
  if (tables.empty()) return used;
  const auto symbols = symbols_of_batches(problem, batches);
  if (symbols.empty()) return used;
  for (const Tensor& table : tables) {
    auto numbers = symbols;
    const auto rows = stored(table).size(0);
    for (std::int64_t row = problem.model()->alphabet().size(); row < rows; ++row)
      numbers.push_back(row);
    if (std::ssize(numbers) <= rows / 2) used.add(table, std::move(numbers));
  }
  return used;
}

}  // namespace pushdown
