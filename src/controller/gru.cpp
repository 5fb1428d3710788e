#include "controller/gru.h"

#include "controller/controller.h"

namespace pushdown {

ControllerKind gru_controller() {
  return {"gru", "Gated recurrent unit (Cho et al. 2014).", cell_options(), make_cell<Gru>};
}

}  // namespace pushdown
