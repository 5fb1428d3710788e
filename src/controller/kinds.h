// The rows of the controller registry, one per file of this folder.
#pragma once
#include "controller/controller.h"

namespace pushdown {

ControllerKind elman_controller();
ControllerKind lstm_controller();
ControllerKind gru_controller();
ControllerKind second_order_controller();
ControllerKind lstm_peephole_controller();
ControllerKind mi_rnn_controller();
ControllerKind mi_lstm_controller();
ControllerKind mi_gru_controller();
ControllerKind delta_rnn_controller();
ControllerKind mrnn_controller();
ControllerKind mlstm_controller();

}  // namespace pushdown
