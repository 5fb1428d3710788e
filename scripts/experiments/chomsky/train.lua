-- One task, one model: trains by the protocol of Delétang et al. (2023) and measures the accuracy of a symbol at every
-- length of the source.
--
--   pushdown scripts/experiments/chomsky/train.lua --task reverse_string --model stack_rnn --learning-rate 1e-3
--
-- Started again on the same --run-folder it goes on where it stopped.
local protocol = require 'pushdown.protocol'

protocol.train(dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua'), {
  name = 'chomsky', doc = 'Trains one model on one task of Delétang et al. (2023).',
  task = 'reverse_string', model = 'stack_rnn', batch = 128,
  score = function(first, last) return ('mean accuracy of a symbol over the lengths %d to %d'):format(first, last) end,
  y_label = 'accuracy of a symbol (%)' })
