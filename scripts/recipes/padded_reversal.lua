-- w a ... a reversed w, with one symbol a of 0 and 1, by an RNS-RNN. The difference stays at 0.1 on lengths to 40 until
-- a network finds the stack and falls to 0.03 within a few epochs. Which network falls cannot be predicted, so there
-- are several restarts: of 30 in five searches 14 fell within ten epochs. Wide controllers fall sooner; with 20 units 1
-- of 3 fell within 36 epochs. Lengths to 80, which no controller remembers, help. Nothing longer is trained on, but the
-- last stage is validated on 40 to 100 and ends early: a network that goes on counts ever more precisely, no longer
-- expects the middle of a longer string, and loses there (from 0.017 to 0.04 in ten epochs, seen with 64 units).
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'padded_reversal' })

return {
  task = task, minutes = 4, models = task.models(2, 3),
  search = { restarts = 6, rungs = { 7, 10 }, keep = { 3, 1 }, solved = 0.013 },
  training = { hidden = 96, decay_patience = 3, stages = {
    { 2, 20, epochs = 4, learning_rate = 0.01 },
    { 2, 40, epochs = 3, learning_rate = 0.01 },
    { 2, 80, epochs = 12, learning_rate = 0.01, difference = 0.025 },
    { 20, 80, epochs = 5, learning_rate = 0.003, valid = { 40, 100 } },
  } },
}
