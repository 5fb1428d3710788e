-- Table 2 of Mali et al. (2021): all models on D3. Mean and best share of correctly classified strings over ten
-- seeds, on the training strings and on longer test strings, and the mean on strings of 120 and 160 symbols.
--
--   pushdown scripts/experiments/diffstk/table2.lua
--   pushdown scripts/experiments/diffstk/table2.lua --rows DiffStk-RNN,LSTM --restarts 3
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'models_table.lua')(2, 'd3', {
  rnn = { 9.60, 15.02, 0.0, 0.0, 0.0, 0.0 },
  lstm = { 30.88, 35.00, 0.02, 0.04, 0.0, 0.0 },
  gru = { 10.00, 15.00, 0.0, 0.0, 0.0, 0.0 },
  delta_rnn = { 20.00, 21.00, 0.02, 0.04, 0.0, 4.00 },
  stack_rnn = { 80, 100, 69, 100, 67, 60 },
  stack_rnn_softmax = { 80.25, 99.99, 78.99, 99.99, 78.30, 59.50 },
  baby_ntm_softmax = { 59.50, 99.99, 43.50, 99.21, 40.50, 51.80 },
  diffstk_rnn = { 82.60, 100, 82.00, 100, 78.20, 60 },
  diffstk_lstm = { 76.75, 100, 57.50, 99.50, 55, 44.50 },
  diffstk_mrnn = { 84.02, 100, 84.00, 100, 81, 80 },
  diffstk_mlstm = { 77, 100, 59.00, 100, 59, 49.99 },
  diffstk_mirnn = { 78.60, 99.50, 83.00, 97.50, 73.00, 58.50 },
})
