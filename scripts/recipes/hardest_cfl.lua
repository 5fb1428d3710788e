-- Greibach's hardest context-free language: pieces of a bracket string hidden among decoys, by an RNS-RNN with 3 states
-- and 3 stack symbols.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'hardest_cfl', title = 'Hardest CFL', bars = { 0.02 } })

return {
  task = task, minutes = 6, models = task.models(3, 3),
  search = { restarts = 2, rungs = { 7 }, keep = { 1 }, solved = 0.012 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 64 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 3, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 80, { seed = seed, epochs = 8, learning_rate = 0.005 }),
        task:stage(20, 80, { seed = seed, epochs = 12, learning_rate = 0.002, valid = { 40, 100 } }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, decay_patience = 1, decay_factor = 0.7, stop_patience = 0,
      seed = seed,
    }
  end,
}
