-- w # reversed w, by an RNS-RNN. On lengths to 20 a network that remembers is as good as one with a stack, so restarts
-- are compared after two epochs on lengths to 40: there the ones with a stack are at 0.01 and the others at 0.1. (With
-- the choice after lengths to 20 and 20 units, one of two seeds stayed at 0.1.) The last stage is validated on lengths
-- from 40 to 100, see padded_reversal.lua.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'marked_reversal' })

return {
  task = task, minutes = 2, models = task.models(2, 3),
  search = { restarts = 4, rungs = { 6 }, keep = { 1 }, solved = 0.012 },
  training = { hidden = 64, stages = {
    { 2, 20, epochs = 4, learning_rate = 0.01 },
    { 2, 40, epochs = 6, learning_rate = 0.01, difference = 0.012 },
    { 2, 80, epochs = 6, learning_rate = 0.005, difference = 0.01 },
    { 20, 80, epochs = 8, learning_rate = 0.002, valid = { 40, 100 } },
  } },
}
