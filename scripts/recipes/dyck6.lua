-- D6, brackets of six types, by a DiffStk-RNN: 8 units and three stacks of numbers.
--
-- This recipe resembles dyck2. One stack could not tell six types apart: in two trials it was right on 4 % of strings
-- of up to 54 symbols. On three stacks the types are patterns of numbers. They are learned on short strings and become
-- sharp on those of up to 54. Two restarts that are equally right up to 54 can differ at 102, so longer validation
-- strings choose.
local pd = require 'pushdown'
local task = pd.recipe.task('sets', { language = 'd6' })

return {
  task = task, minutes = 2,
  models = task.models(3),
  search = { rungs = { 26 } },
  training = {
    { 10, epochs = 8, learning_rate = 0.01 },
    { 20, epochs = 12, learning_rate = 0.01 },
    { 54, epochs = 10, learning_rate = 0.01 },
    { 54, epochs = 8, learning_rate = 0.002, valid = { 90, 130 } },
  },
}
