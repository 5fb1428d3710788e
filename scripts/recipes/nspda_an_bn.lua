-- aⁿbⁿ by a neural state pushdown automaton without hints, learned from valid and invalid strings.
--
-- The stack is discrete: a gradient reaches an action only through the next reading, never a push through what is
-- popped later. So luck must provide most stack actions, and gradients the rest: 2 of 60 restarts with 4 neurons. Few
-- neurons force the network to use the stack: with 12 it counts modulo small numbers and errs on long strings; with 2,
-- most networks that count cannot forbid an a after a b. Every symbol has the label as its target (`stepwise`). Good
-- starts show late, so none is left out; the search ends with the first that is right on all validation strings.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'an_bn' })

return {
  task = task, minutes = 5,
  models = {
    { name = 'NSPDA', states = 4 },
  },
  search = { restarts = 200, together = 20, solved = 0 },
  trainer = function(seed, restart, model)
    return {
      model = task:nspda(model, 1000 * seed + restart), seed = seed,
      train = task:train(1000, seed), valid = task:valid(1000, seed), epochs = 24, batch = 10,
      objective = { kind = 'stepwise', average = true }, optimizer = { kind = 'adam', learning_rate = 0.003 },
      clip_norm = 5, decay_patience = 0, stop_patience = 0, stop_accuracy = 0,
    }
  end,
}
