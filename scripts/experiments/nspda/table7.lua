-- Table 7 of Mali et al. (2019): test errors of all models.
--
--   pushdown scripts/experiments/nspda/table7.lua --tasks palindrome --rows MI
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
dofile(here .. 'models_table.lua')(7, { 'rnn', 'lstm', 'lstm_p', 'gru', 'stack', 'stack_rounding', 'list', 'mi_rnn',
  'mi_lstm', 'mi_gru', 'second_order', 'second_order_reg', 'nnpda', 'nnpda_reg', 'nspda_2', 'nspda_3' })
