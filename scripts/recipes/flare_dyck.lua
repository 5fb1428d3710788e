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
  models = task.models(8),
  training = { hidden = 24, learning_rate = 0.01, stages = {
    { 0, 20, strings = 5000, near = 1000, epochs = 8 },
    { 0, 40, strings = 5000, near = 1000, validated = 80, epochs = 12, learning_rate = 0.005 },
  } },
}
