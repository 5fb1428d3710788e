#include "tensor/embedding.h"

#include "tensor/autograd.h"

namespace pushdown {
namespace {

thread_local int row_gradients = 0;

template <class F>
void add_rows(const Tensor& gradient, const Tensor& ids, const Tensor& slopes) {
  const auto* id = ids.data_ptr<std::int64_t>();
  const F* from = slopes.data_ptr<F>();
  const auto size = gradient.size(1), row = gradient.stride(0), column = gradient.stride(1);
  for (std::int64_t k = 0; k < ids.numel(); ++k, from += size) {
    F* to = gradient.data_ptr<F>() + id[k] * row;
    for (std::int64_t i = 0; i < size; ++i) to[i * column] += from[i];
  }
}

struct Lookup final : AutogradNode {
  Tensor parameter;  // a leaf
  // The table's place in the parameter.
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  Tensor ids;

  std::string name() const override { return "Lookup"; }
  variable_list apply(variable_list&& given) override {
    at::AutoGradMode no_gradient(false);
    if (!given[0].defined()) return {Tensor()};
    const Tensor slopes = given[0].contiguous();
    const Tensor& gradient = gradient_of(parameter);
    const Tensor rows = gradient.as_strided(sizes, strides, gradient.storage_offset() + offset);
    if (slopes.scalar_type() == at::kFloat)
      add_rows<float>(rows, ids, slopes);
    else
      add_rows<double>(rows, ids, slopes);
    return {Tensor()};
  }
};

}  // namespace

Tensor embedded(const Tensor& table, const Tensor& ids) {
  const auto type = table.scalar_type();
  const Tensor parameter = table.is_view() ? Tensor(table._base()) : table;
  if (!RowGradients::wanted() || !gradients_wanted({table}) || !parameter.is_leaf() ||
      !table.is_cpu() || (type != at::kFloat && type != at::kDouble))
    return at::embedding(table, ids);
  const auto node = make_node<Lookup>();
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    result = at::embedding(table.detach(), ids);
    node->parameter = parameter;
    node->sizes = table.sizes().vec();
    node->strides = table.strides().vec();
    node->offset = table.storage_offset() - parameter.storage_offset();
    node->ids = ids.contiguous();
  }
  connect(node, result, {table});
  return result;
}

RowGradients::RowGradients() { ++row_gradients; }
RowGradients::~RowGradients() { --row_gradients; }
bool RowGradients::wanted() { return row_gradients > 0; }

}  // namespace pushdown
