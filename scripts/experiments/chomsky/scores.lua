-- The tasks of Delétang et al. (2023): the mean accuracy over the lengths 41 to 500 of every model on every task, with
-- the three learning rates and ten seeds of the paper, or by random search over learning rate and batch.
--
--   pushdown scripts/experiments/chomsky/scores.lua --tasks reverse_string,parity_check --models lstm,stack_rnn
--   pushdown scripts/experiments/chomsky/scores.lua --learning-rates 1e-4,1e-2 --samples 10 --restarts 1
--
-- Runs that are not finished are trained first; started again it goes on.
local protocol = require 'pushdown.protocol'
local here = arg[0]:match('^(.*/)') or ''
local own = dofile(here .. 'protocol.lua')

local drawn = { 1e-4, 1e-2 }
protocol.scores(own, {
  name = 'chomsky', folder = here,
  doc = 'Accuracies on long strings of models on the tasks of Delétang et al. (2023).',
  restarts = 10, learning_rates = { 1e-4, 3e-4, 5e-4 }, batches = { 128, 128 },
  quick = { samples = 3, learning_rates = drawn, batches = { 16, 64 } },
  smoke = { samples = 2, learning_rates = drawn, batches = { 1, 3 }, tasks = { 'reverse_string', 'stack_manipulation' },
    models = { 'lstm', 'transformer', 'baby_ntm' } },
  score = function(first, last) return ('mean accuracy of a symbol over the lengths %d to %d'):format(first, last) end,
  y_label = 'accuracy of a symbol (%)',
  columns = { { name = 'level', of = function(task) return own.levels[task] end } } })
