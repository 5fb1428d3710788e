-- Table 1 of Mali et al. (2021): all models on D2. Mean and best share of correctly classified strings over ten
-- seeds, on the training strings and on longer test strings, and the mean on strings of 120 and 160 symbols.
--
--   pushdown scripts/experiments/diffstk/table1.lua
--   pushdown scripts/experiments/diffstk/table1.lua --rows DiffStk-RNN,LSTM --restarts 3
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'models_table.lua')(1, 'd2', {
  rnn = { 9.12, 14.02, 0.2, 0.4, 0.0, 0.0 },
  lstm = { 54.00, 62.80, 1.40, 4.00, 0.2, 0.0 },
  gru = { 48.00, 50.00, 1.00, 1.02, 0.2, 0.0 },
  delta_rnn = { 52.00, 60.02, 1.50, 4.00, 0.0, 0.0 },
  stack_rnn = { 71, 100, 70, 100, 85, 50 },
  stack_rnn_softmax = { 98.99, 100, 99.18, 100, 85.00, 75.10 },
  baby_ntm_softmax = { 73.59, 99.99, 67.52, 99.01, 65.50, 55.50 },
  diffstk_rnn = { 100, 100, 99.99, 100, 86.5, 79.50 },
  diffstk_lstm = { 94.20, 100, 90, 100, 83.20, 71.00 },
  diffstk_mrnn = { 100, 100, 100, 100, 92, 90 },
  diffstk_mlstm = { 96, 100, 95.69, 100, 89.50, 85.00 },
  diffstk_mirnn = { 98, 100, 98.20, 100, 81.50, 68.50 },
})
