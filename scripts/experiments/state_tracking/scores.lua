-- State tracking: the scaled accuracy on strings longer than those of training, of every model on every task, by random
-- search over the learning rate.
--
--   pushdown scripts/experiments/state_tracking/scores.lua --tasks parity_check,s3 --models lstm,deltanet_negative
--   pushdown scripts/experiments/state_tracking/scores.lua --learning-rates 1e-4,3e-4,1e-3 --restarts 3
--
-- Runs that are not finished are trained first; started again it goes on.
local protocol = require 'pushdown.protocol'
local here = arg[0]:match('^(.*/)') or ''

protocol.scores(dofile(here .. 'protocol.lua'), {
  name = 'state_tracking', folder = here,
  doc = 'Scaled accuracies on long strings of models on tasks of state tracking.',
  restarts = 3, learning_rates = { 1e-4, 1e-2 }, batches = { 64, 64 },
  quick = { samples = 2 }, smoke = { samples = 1, batches = { 2, 2 }, tasks = { 'parity_check', 's3' } },
  score = function(first, last)
    return ('scaled accuracy (0: guesses, 100: no errors) over the lengths %d to %d'):format(first, last)
  end,
  y_label = 'accuracy of the answer (%)' })
