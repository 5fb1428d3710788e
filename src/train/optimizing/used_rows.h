// The rows of large tables of parameters that an update uses. A table has a row for each symbol
// (Network::symbol_tables), and a batch uses those of its symbols, so that the gradient is zero in
// all others. Rows are those of stored() (tensor/torch.h).
#pragma once
#include <map>

#include "tensor/torch.h"

namespace pushdown {

class UsedRows {
 public:
  struct Rows {
    std::vector<std::int64_t> numbers;  // ascending
    std::int64_t size = 0;              // of a row
  };

  void add(const Tensor& table, std::vector<std::int64_t> numbers) {
    rows_[table.unsafeGetTensorImpl()] = {std::move(numbers), stored(table).size(1)};
  }
  // Returns the rows of a table; null for a parameter all of which may have a gradient.
  const Rows* find(const Tensor& parameter) const {
    const auto found = rows_.find(parameter.unsafeGetTensorImpl());
    return found == rows_.end() ? nullptr : &found->second;
  }
  bool empty() const { return rows_.empty(); }

 private:
  std::map<const at::TensorImpl*, Rows> rows_;
};

// The gradients of tables between two updates. New memory for a large gradient costs more than an
// update of a few rows, so the memory is kept, and only rows that were used are cleared.
class TableGradients {
 public:
  // Clears the gradients of all parameters. Those of the tables in `next` are zero afterwards, all
  // others undefined.
  void clear(const ParameterList& parameters, const UsedRows& next);
  // Notes that the gradients of these tables are zero in all other rows now.
  void note(const ParameterList& parameters, UsedRows used);

 private:
  struct Noted {
    Tensor gradient;
    std::int64_t version;  // after which nobody has written to it
  };
  UsedRows used_;
  std::map<const at::TensorImpl*, Noted> noted_;
};

}  // namespace pushdown
