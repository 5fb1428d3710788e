-- Balanced parentheses of two types by a neural state pushdown automaton without hints.
--
-- The automaton needs a single state, so two neurons suffice: 2 of 16 restarts had no validation error, with four and
-- with eight neurons none. The label must be the target of every symbol (`stepwise`), which shows at once where a
-- string goes wrong: with the label of the whole string alone (`final`), the best of 16 had 14 % errors.
-- The second stage confirms with more validation strings what the first one has found; without it, a search ended with
-- networks that err on one string in a thousand. nspda_an_bn.lua explains the rest.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'parenthesis', longest = 16 })

return {
  task = task, minutes = 5,
  models = { { name = 'NSPDA', states = 2 }, task.control },
  training = { epochs = 24, confirmed = true },
}
