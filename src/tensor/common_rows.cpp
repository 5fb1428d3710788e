#include "tensor/common_rows.h"

#include "base/check.h"

namespace pushdown {

template <class Visit>
bool CommonRows::every(const Visit& visit) const {
  for (std::size_t m = 0; m < lists_.size(); ++m) {
    std::int64_t place = 0;
    for (const Tensor& tensor : lists_[m]) {
      if (!visit(static_cast<std::int64_t>(m), tensor, place)) return false;
      place += tensor.numel();
    }
  }
  return true;
}

CommonRows::CommonRows(std::vector<std::vector<Tensor>> lists) : lists_(std::move(lists)) {
  check(!lists_.empty() && !lists_.front().empty(), "tensor.common_rows", "there is no tensor");
  const at::NoGradGuard no_grad;
  const Tensor& first = lists_.front().front();
  for (const Tensor& tensor : lists_.front()) size_ += tensor.numel();
  const auto count = std::ssize(lists_);
  const bool rows = first.storage_offset() == 0 &&
                    static_cast<std::int64_t>(first.storage().nbytes()) ==
                        count * size_ * static_cast<std::int64_t>(first.element_size()) &&
                    every([&](std::int64_t m, const Tensor& tensor, std::int64_t place) {
                      return tensor.is_contiguous() &&
                             tensor.storage_offset() == m * size_ + place &&
                             tensor.storage().is_alias_of(first.storage());
                    });
  if (rows) {
    all_ = first.detach().as_strided({count, size_}, {size_, 1}, 0);
    return;
  }
  std::vector<Tensor> all;
  for (const auto& list : lists_) {
    std::vector<Tensor> parts;
    for (const Tensor& tensor : list) parts.push_back(tensor.detach().reshape({-1}));
    all.push_back(at::cat(parts));
    check(all.back().sizes() == all.front().sizes(), "tensor.common_rows",
          "the lists have {} and {} numbers", all.front().numel(), all.back().numel());
  }
  all_ = at::stack(all);
  every([&](std::int64_t m, Tensor tensor, std::int64_t place) {
    tensor.set_data(all_.select(0, m).narrow(0, place, tensor.numel()).view(tensor.sizes()));
    return true;
  });
}

bool CommonRows::hold() const {
  const auto* first = static_cast<const std::byte*>(all_.data_ptr());
  const auto size = static_cast<std::int64_t>(all_.element_size());
  return every([&](std::int64_t m, const Tensor& tensor, std::int64_t place) {
    return tensor.data_ptr() == first + (m * size_ + place) * size;
  });
}

}  // namespace pushdown
