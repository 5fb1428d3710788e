#include "controller/elman.h"

#include "controller/controller.h"

namespace pushdown {

ControllerKind elman_controller() {
  return {"elman", "Simple recurrent network (Elman 1990).",
          cell_options_and({activation_option()}), make_cell<Elman>};
}

}  // namespace pushdown
