-- Balanced brackets of two types, by an RNS-RNN. Short strings teach the stack within four epochs; the stages on longer
-- ones end as soon as the difference is small. The last stage is validated on lengths from 40 to 100, see
-- padded_reversal.lua.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'dyck', title = 'Dyck language' })

return {
  task = task, minutes = 1, models = task.models(2, 3),
  search = { restarts = 3, rungs = { 4 }, keep = { 1 }, solved = 0.012 },
  training = { hidden = 20, stages = {
    { 2, 20, epochs = 4, learning_rate = 0.01 },
    { 2, 40, epochs = 6, learning_rate = 0.01, difference = 0.012 },
    { 2, 80, epochs = 6, learning_rate = 0.005, difference = 0.01 },
    { 20, 80, epochs = 8, learning_rate = 0.002, valid = { 40, 100 } },
  } },
}
