// The rows of the controller registry, one per file of this folder.
#pragma once
#include "controller/controller.h"

namespace pushdown {

// The list of controllers in the order shown to users: one function for each.
#define PUSHDOWN_CONTROLLER_KINDS(ROW) \
  ROW(elman_controller)                \
  ROW(lstm_controller)                 \
  ROW(gru_controller)                  \
  ROW(lstm_peephole_controller)        \
  ROW(second_order_controller)         \
  ROW(mi_rnn_controller)               \
  ROW(mi_lstm_controller)              \
  ROW(mi_gru_controller)               \
  ROW(delta_rnn_controller)            \
  ROW(mrnn_controller)                 \
  ROW(mlstm_controller)

#define PUSHDOWN_DECLARE(name) ControllerKind name();
PUSHDOWN_CONTROLLER_KINDS(PUSHDOWN_DECLARE)
#undef PUSHDOWN_DECLARE

}  // namespace pushdown
