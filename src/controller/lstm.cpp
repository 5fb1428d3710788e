#include "controller/lstm.h"

#include "controller/controller.h"

namespace pushdown {

ControllerKind lstm_controller() {
  return {"lstm", "Long short-term memory (Hochreiter and Schmidhuber 1997).",
          cell_options_and({activation_option()}), make_cell<Lstm>};
}

}  // namespace pushdown
