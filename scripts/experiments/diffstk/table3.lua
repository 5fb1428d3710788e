-- Table 3 of Mali et al. (2021): all models on D6. Mean and best share of correctly classified strings over ten
-- seeds, on the training strings and on longer test strings, and the mean on strings of 120 and 160 symbols.
-- The paper prints a mean of 99.99 and a best of 98 on the training strings for DiffStk-MIRNN.
--
--   pushdown scripts/experiments/diffstk/table3.lua
--   pushdown scripts/experiments/diffstk/table3.lua --rows DiffStk-RNN,LSTM --restarts 3
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'models_table.lua')(3, 'd6', {
  rnn = { 22.60, 25.00, 0.0, 0.0, 0.0, 0.0 },
  lstm = { 38.00, 42.80, 0.01, 0.04, 0.0, 0.0 },
  gru = { 25.00, 28.55, 0.01, 0.01, 0.0, 0.0 },
  delta_rnn = { 32.62, 38.55, 0.02, 0.04, 0.0, 0.0 },
  stack_rnn = { 99.95, 100, 99.80, 100, 92, 89 },
  stack_rnn_softmax = { 98.99, 100, 99.08, 99.58, 94.50, 89.50 },
  baby_ntm_softmax = { 99.99, 100, 99.58, 99.81, 98.50, 95.00 },
  diffstk_rnn = { 99.99, 100, 99.89, 100, 94, 91 },
  diffstk_lstm = { 99.80, 100, 98.00, 100, 90, 89.20 },
  diffstk_mrnn = { 100, 100, 100, 100, 100, 99 },
  diffstk_mlstm = { 99.90, 100, 99.99, 100, 98, 97.50 },
  diffstk_mirnn = { 99.99, 98, 99.90, 100, 91, 90.50 },
})
