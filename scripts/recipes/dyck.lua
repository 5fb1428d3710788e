-- Balanced brackets of two types, by an RNS-RNN.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'dyck', title = 'Dyck language' })

return {
  task = task, minutes = 2, models = task.models(2, 3),
  search = { restarts = 4, rungs = { 4 }, keep = { 1 }, solved = 0.004 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 20 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 6, learning_rate = 0.01, difference = 0.012 }),
        task:stage(2, 80, { seed = seed, epochs = 6, learning_rate = 0.005, difference = 0.01 }),
        task:stage(20, 80, { seed = seed, epochs = 10, learning_rate = 0.002 }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, stop_patience = 0, seed = seed,
    }
  end,
}
