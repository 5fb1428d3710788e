-- Dyck-(2, 3) of FLaRe (Butoi et al. 2025): brackets of two types, at most three deep. A GRU with a superposition of
-- stacks, trained on up to 40 symbols and tested on up to 500.
--
-- Two things matter. The invalid strings of the benchmark are easy: a network that is right on 99 % of its long test
-- accepts 2 to 8 % of the strings with one exchange of two symbols, so some of these are in training. And of the
-- restarts one is chosen by validation strings of twice the length.
local pd = require 'pushdown'
local task = pd.recipe.task('flare', { language = 'dyck_2_3' })

return {
  task = task, minutes = 3,
  models = {
    { name = 'Superposition', stack = { kind = 'superposition', size = 8 } },
    { name = 'Stratification', stack = { kind = 'stratification', size = 8 } },
    { name = 'LSTM', controller = 'lstm', stack = { kind = 'none' } },
  },
  search = { restarts = 3, rungs = { 10 }, keep = { 1 }, metric = 'label_cross_entropy' },
  trainer = function(seed, restart, model)
    return task:training { seed = 1000 * seed + restart,
      model = task:model { stack = model.stack, controller = { kind = model.controller or 'gru', hidden = 24 },
        seed = 1000 * seed + restart },
      optimizer = { kind = 'adam', learning_rate = 0.01 },
      stages = {
        task:stage(0, 20, { seed = seed, strings = 5000, near = 1000, validated = 40, epochs = 8 }),
        task:stage(0, 40, { seed = seed, strings = 10000, near = 1000, validated = 80, epochs = 12,
          learning_rate = 0.005 }),
      } }
  end,
}
