// Lists of tensors of the same shapes as the rows of one matrix, so that operations cover all lists
// at once.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

class CommonRows {
 public:
  // There must be a list and a tensor, and all tensors have one type and device. From now on, the
  // tensors of a list are views of the list's row, one after the other, with the same values. If
  // they are already, nothing moves.
  explicit CommonRows(std::vector<std::vector<Tensor>> lists);

  const Tensor& all() const { return all_; }  // M x P
  // Returns whether the tensors still are views of these rows.
  bool hold() const;

 private:
  // Calls visit(list, tensor, its place in the row) for each tensor until one returns false.
  template <class Visit>
  bool every(const Visit& visit) const;

  std::vector<std::vector<Tensor>> lists_;
  std::int64_t size_ = 0;  // P
  Tensor all_;
};

}  // namespace pushdown
