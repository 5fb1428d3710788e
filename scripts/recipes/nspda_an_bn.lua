-- aⁿbⁿ by a neural state pushdown automaton without hints, learned from valid and invalid strings.
--
-- The stack is discrete: a gradient reaches an action only through the next reading, never a push through what is
-- popped later. So luck must provide most stack actions, and gradients the rest: 2 of 60 restarts with 4 neurons. Few
-- neurons force the network to use the stack: with 12 it counts modulo small numbers and errs on long strings; with 2,
-- most networks that count cannot forbid an a after a b. Every symbol has the label as its target (`stepwise`). Good
-- restarts show late, so none is dropped early; the search ends with the first one that is right on all validation
-- strings.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'an_bn' })

return {
  task = task, minutes = 5,
  models = { { name = 'NSPDA', states = 4 }, task.control },
  training = { epochs = 24 },
}
