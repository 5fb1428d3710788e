-- aⁿbⁿ by a neural state pushdown automaton with a hint. A hint is a set of transitions that are written into the
-- weights before training: those that push (Hint #1), or all of them, but not the behaviour at the end of the string
-- (Hint #2).
--
-- Hint #1 replaces the luck that nspda_an_bn.lua needs: at least 4 of 40 restarts had no validation error. The accuracy
-- stays at 1/2 for up to 16 epochs and then rises within a few, so no restart may be dropped early.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'an_bn' })

return {
  task = task, minutes = 5,
  models = task.hinted(3),
  training = { epochs = 24 },
}
