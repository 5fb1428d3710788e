#include "bindings/tensor.h"

#include "bindings/bind.h"
#include "bindings/modules.h"
namespace pushdown {
void bind_tensor(lua_State* L) {
  Module tensor(L, "tensor", "Tensors.");
  Class<Tensor>(tensor, "A tensor.")
      .def<[](const Tensor& t) { return t.numel(); }>("numel", "numel() -> integer  Number of elements.");
}
}  // namespace pushdown
