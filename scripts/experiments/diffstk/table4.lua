-- Table 4 of Mali et al. (2021): all models on palindromes. Mean and best share of correctly classified strings over
-- ten seeds, on the training strings and on longer test strings, and the mean on strings of 120 and 160
-- symbols; palindromes with a marked centre have the next odd lengths.
--
--   pushdown scripts/experiments/diffstk/table4.lua
--   pushdown scripts/experiments/diffstk/table4.lua --rows DiffStk-RNN,LSTM --restarts 3
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''

dofile(here .. 'models_table.lua')(4, 'palindrome', {
  rnn = { 0, 0, 0, 0, 0.0, 0.0 },
  lstm = { 2.50, 5.45, 0, 0, 0.0, 0.0 },
  gru = { 0.9, 1.2, 0.3, 0.5, 0.0, 0.0 },
  delta_rnn = { 0.5, 1.0, 0.01, 0.01, 0.0, 0.0 },
  stack_rnn = { 49.50, 100, 50, 100, 50, 49 },
  stack_rnn_softmax = { 61.35, 100, 59.50, 99.99, 55, 53.50 },
  baby_ntm_softmax = { 52.50, 100, 52.80, 99.91, 46.50, 45.00 },
  diffstk_rnn = { 62.00, 100, 61.00, 100, 60.50, 60.00 },
  diffstk_lstm = { 63.50, 100, 62.20, 100, 62, 60.50 },
  diffstk_mrnn = { 64.00, 100, 63.00, 100, 62.50, 62.00 },
  diffstk_mlstm = { 65.55, 100, 64.50, 100, 64.00, 64.00 },
  diffstk_mirnn = { 61.55, 99.99, 61.50, 99.99, 60.50, 60 },
})
