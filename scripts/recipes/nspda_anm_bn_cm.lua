-- aⁿ⁺ᵐbⁿcᵐ by a neural state pushdown automaton without hints.
--
-- Not solved: the best of 300 restarts had an error of 1.8 % on validation strings. It pushes and pops correctly, but
-- not in every state, and confuses b and c. With 6 neurons the best of 120 had 4.1 %. Two pushes and two kinds of pops
-- must be right from the start before any string rewards them. nspda_anm_bn_cm_hint.lua learns it with Hint #1.
local pd = require 'pushdown'
local task = pd.recipe.task('acceptance', { grammar = 'anm_bn_cm', longest = 15 })

return {
  task = task, minutes = 5,
  models = { { name = 'NSPDA', states = 4 }, task.control },
  search = { restarts = 300 },
  training = { epochs = 8, strings = 3000 },
}
