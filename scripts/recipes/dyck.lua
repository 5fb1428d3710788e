-- Balanced brackets of two types, by an RNS-RNN. Short strings teach the stack within four epochs; the stages on longer
-- ones end as soon as the difference is small. The last stage is validated on lengths from 40 to 100, see
-- padded_reversal.lua.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'dyck', title = 'Dyck language' })

return {
  task = task, minutes = 1, models = task.models(2, 3),
  search = { restarts = 3, rungs = { 4 }, keep = { 1 }, solved = 0.012 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 20 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 6, learning_rate = 0.01, difference = 0.012 }),
        task:stage(2, 80, { seed = seed, epochs = 6, learning_rate = 0.005, difference = 0.01 }),
        task:stage(20, 80, { seed = seed, epochs = 8, learning_rate = 0.002, valid = { 40, 100 } }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, decay_patience = 2, decay_factor = 0.7, stop_patience = 0,
      seed = seed,
    }
  end,
}
