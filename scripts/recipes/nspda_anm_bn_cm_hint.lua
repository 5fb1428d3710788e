-- aⁿ⁺ᵐbⁿcᵐ by a neural state pushdown automaton with a hint. A hint is a set of transitions that are written into the
-- weights before training: those that push (Hint #1), or all of them, but not the behaviour at the end of the string
-- (Hint #2).
--
-- With Hint #1 the network learns the pops, the order of the symbols and the end; 2 of 40 restarts had no validation
-- error. With the label of the whole string alone (`final`) none of 40 had fewer than 3 %.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'anm_bn_cm' })

return {
  task = task, minutes = 5,
  models = task.hinted(4),
  training = { epochs = 30, confirmed = true },
}
