-- Balanced brackets of two types, by an RNS-RNN.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'dyck', title = 'Dyck language' })

return {
  task = task, minutes = 10, models = task.models(2, 3),
  search = { restarts = 3, rungs = { 4, 8 }, keep = { 2, 1 }, solved = 0.004 },
  trainer = function(seed, restart, model)
    return { seed = seed, stop_patience = 0, optimizer = { kind = 'adam' },
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 20 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 80, { seed = seed, epochs = 4, learning_rate = 0.005 }),
        task:stage(40, 80, { seed = seed, epochs = 12, learning_rate = 0.002 }),
      } }
  end,
}
