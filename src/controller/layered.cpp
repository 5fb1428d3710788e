#include "controller/layered.h"

namespace pushdown {

std::vector<OptionSpec> cell_options() {
  return {
      integer_option("hidden", 20, "number of hidden units in each layer", 1)
          .between(1, 1 << 20)
          .in_small(4)
          .trying(18),
      integer_option("layers", 1, "number of layers; each reads the output of the layer below", 1)
          .between(1, 1000)
          .trying(2)};
}

}  // namespace pushdown
