#include "train/optimizing/used_rows.h"

#include <cstring>

namespace pushdown {

void TableGradients::clear(const ParameterList& parameters, const UsedRows& next) {
  for (const auto& [name, parameter] : parameters) {
    Tensor& gradient = parameter.mutable_grad();
    const auto noted = noted_.find(parameter.unsafeGetTensorImpl());
    const bool kept = next.find(parameter) != nullptr && noted != noted_.end() &&
                      gradient.is_same(noted->second.gradient) &&
                      gradient._version() == noted->second.version &&
                      gradient.strides() == parameter.strides();
    if (!kept) gradient = Tensor();
    if (next.find(parameter) == nullptr) continue;
    const Tensor cleared = stored(gradient_of(parameter));
    if (!kept) continue;
    const UsedRows::Rows& rows = *used_.find(parameter);
    const auto bytes = rows.size * cleared.element_size();
    for (const std::int64_t row : rows.numbers)
      std::memset(
          static_cast<std::byte*>(cleared.data_ptr()) + row * static_cast<std::int64_t>(bytes), 0,
          bytes);
  }
  noted_.clear();
}

void TableGradients::note(const ParameterList& parameters, UsedRows used) {
  noted_.clear();
  used_ = std::move(used);
  for (const auto& [name, parameter] : parameters)
    if (const Tensor gradient = parameter.grad(); used_.find(parameter) && gradient.defined())
      noted_[parameter.unsafeGetTensorImpl()] = {gradient,
                                                 static_cast<std::int64_t>(gradient._version())};
}

}  // namespace pushdown
