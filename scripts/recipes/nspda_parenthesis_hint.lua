-- Balanced parentheses of two types by a neural state pushdown automaton with a hint. A hint is a set of transitions
-- that are written into the weights before training: those that push (Hint #1), or all of them, but not the behaviour
-- at the end of the string (Hint #2).
--
-- With Hint #1 the network learns the pops and the end; 1 of 20 restarts had no validation error.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'parenthesis', longest = 16 })

return {
  task = task, minutes = 5,
  models = task.hinted(2),
  training = { epochs = 24, confirmed = true },
}
