-- aⁿbⁿcbᵐaᵐ by a neural state pushdown automaton with a hint. A hint is a set of transitions that are written into the
-- weights before training: those that push (Hint #1), or all of them, but not the behaviour at the end of the string
-- (Hint #2).
--
-- With Hint #1 the network learns the mark, the pops and the end: 1 of 60 restarts with 6 neurons had no error on the
-- test strings after 30 epochs; with 5 neurons the best of 40 had 3 %.
-- Of five searches two solved the task, two erred on 1 in 1,000 strings; with Hint #2 all five did within 5 epochs.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'an_bn_c_bm_am' })

return {
  task = task, minutes = 5,
  models = task.hinted(6),
  training = { epochs = 36, confirmed = true },
}
