-- Table 4 of Mali et al. (2019): test errors of all models except those with multiplicative gates.
--
--   pushdown scripts/experiments/nspda/table4.lua --tasks palindrome,an_bn --rows LSTM,GRU,NSPDA
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
dofile(here .. 'models_table.lua')(4, { 'rnn', 'lstm', 'lstm_p', 'gru', 'stack', 'stack_rounding', 'list',
  'second_order', 'second_order_reg', 'nnpda', 'nnpda_reg', 'nspda_2', 'nspda_3' })
