-- One seed of one recipe: a search, and the tests of the network that it has found.
--
--   pushdown scripts/experiments/recipes/train.lua --recipe unmarked_reversal --seed 1
--
-- Started again on the same --run-folder it goes on where it stopped.
require('pushdown.recipe').start(arg)
