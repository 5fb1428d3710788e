-- D2, brackets of two types, by a DiffStk-RNN: 8 units and one stack of numbers.
--
-- No trick is needed: a language model of valid strings, the learning rate 0.01 (the paper has 0.002), and the best of
-- four restarts. Lengths that grow save time. Without them two of two other seeds were solved as well, and with the
-- noise of the paper, 0.01, all seeds of the table are. 8 units without a stack fail on all long strings.
local pd = require 'pushdown'
local task = pd.recipe.task('sets', { language = 'd2' })

return {
  task = task, minutes = 1,
  models = task.models(),
  search = { rungs = { 10 } },
  training = {
    { 20, epochs = 10, learning_rate = 0.01 },
    { 54, epochs = 10, learning_rate = 0.01 },
    { 54, epochs = 8, learning_rate = 0.002, valid = { 90, 130 } },
  },
}
