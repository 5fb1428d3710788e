#include "controller/lstm.h"

#include "controller/kinds.h"

namespace pushdown {

ControllerKind lstm_controller() {
  return {"lstm", "Long short-term memory (Hochreiter and Schmidhuber 1997).", cell_options(),
          make_cell<Lstm>};
}

}  // namespace pushdown
