// The list of controllers.
#include "controller/controller.h"

namespace pushdown {

PUSHDOWN_REGISTRY(ControllerKind, controller_kinds, elman_controller(), lstm_controller(),
                  gru_controller(), lstm_peephole_controller(), second_order_controller(),
                  mi_rnn_controller(), mi_lstm_controller(), mi_gru_controller(),
                  delta_rnn_controller(), mrnn_controller(), mlstm_controller(),
                  deltanet_controller(), selective_ssm_controller(), scalar_lstm_controller(),
                  matrix_lstm_controller())

ControllerPtr make_controller(const Json& options, const ModuleContext& context,
                              const std::vector<ControllerKind>& kinds) {
  const auto [row, resolved] = resolve_kind("controller", kinds, options);
  return row.make(resolved, context);
}

}  // namespace pushdown
