-- One task, one model: trains on short strings and measures the accuracy of the answer at every length.
--
--   pushdown scripts/experiments/state_tracking/train.lua --task s3 --model deltanet_negative --learning-rate 1e-3
--
-- Started again on the same --run-folder it goes on where it stopped.
local protocol = require 'pushdown.protocol'

protocol.train(dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua'), {
  name = 'state_tracking', doc = 'Trains one model on one task of state tracking.',
  task = 's3', model = 'deltanet_negative', batch = 64,
  score = function(first, last)
    return ('scaled accuracy, 0 for guesses and 1 for no errors, over the lengths %d to %d'):format(first, last)
  end,
  y_label = 'accuracy of the answer (%)' })
