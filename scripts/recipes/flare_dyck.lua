-- Dyck-(2, 3) of FLaRe (Butoi et al. 2025): brackets of two types, at most three deep. A GRU with a superposition of
-- stacks, trained on up to 40 symbols and tested on up to 500.
--
-- The recipe is that of flare_marked_reversal. Hard negatives matter here: a network that is right on 99 to 100 % of
-- the long test of the benchmark, whose invalid strings are easy, accepts 1 to 8 % of the strings in which two brackets
-- were exchanged, unless some of these are in training. Without noise it is right on 99.4 % of them.
local pd = require 'pushdown'
local task = pd.recipe.task('flare', { language = 'dyck_2_3' })

return {
  task = task, minutes = 2,
  models = {
    { name = 'Superposition', stack = { kind = 'superposition', size = 8 } },
    { name = 'Stratification', stack = { kind = 'stratification', size = 8 } },
    { name = 'LSTM', controller = 'lstm', stack = { kind = 'none' } },
  },
  search = { restarts = 4, rungs = { 8 }, keep = { 1 }, metric = 'label_cross_entropy' },
  trainer = function(seed, restart, model)
    return task:training { seed = 1000 * seed + restart,
      model = task:model { stack = model.stack, noise = 0.1, seed = 1000 * seed + restart,
        controller = { kind = model.controller or 'gru', hidden = 24 } },
      objective = { kind = 'recognition_and_language_model', weight = 10 },
      optimizer = { kind = 'adam', learning_rate = 0.01 },
      stages = {
        task:stage(0, 20, { seed = seed, strings = 5000, near = 1000, epochs = 8 }),
        task:stage(0, 40, { seed = seed, strings = 5000, near = 1000, validated = 80, epochs = 12,
          learning_rate = 0.005 }),
      } }
  end,
}
