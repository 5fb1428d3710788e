// The list of controllers.
#include "controller/kinds.h"

namespace pushdown {

const std::vector<ControllerKind>& controller_kinds() {
  static const std::vector<ControllerKind> kinds{
      elman_controller(),         lstm_controller(),         gru_controller(),
      lstm_peephole_controller(), second_order_controller(), mi_rnn_controller(),
      mi_lstm_controller(),       mi_gru_controller(),       delta_rnn_controller(),
      mrnn_controller(),          mlstm_controller(),
  };
  return kinds;
}

ControllerPtr make_controller(const Json& options, const ModuleContext& context,
                              const std::vector<ControllerKind>& kinds) {
  const auto [row, resolved] = resolve_kind("controller", kinds, options);
  return row.make(resolved, context);
}

}  // namespace pushdown
