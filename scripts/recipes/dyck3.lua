-- D3, brackets of three types, by a DiffStk-RNN: 8 units and one stack of numbers, which must tell three types apart.
--
-- This recipe resembles dyck2. Networks often learn the language only on strings of up to 54 symbols, so no restart is
-- dropped before these.
local pd = require 'pushdown'
local task = pd.recipe.task('sets', { language = 'd3' })

return {
  task = task, minutes = 1,
  models = task.models(),
  search = { rungs = { 26 } },
  training = {
    { 10, epochs = 8, learning_rate = 0.01 },
    { 20, epochs = 12, learning_rate = 0.01 },
    { 54, epochs = 10, learning_rate = 0.01 },
    { 54, epochs = 8, learning_rate = 0.002, valid = { 90, 130 } },
  },
}
