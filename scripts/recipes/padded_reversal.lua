-- w a ... a reversed w, with one symbol a of 0 and 1, by an RNS-RNN. A wide controller finds the stack soon: with 64
-- units 4 of 5 restarts fell to 0.03 within 10 epochs, with 40 units 3 of 5 within 18, with 20 units 1 of 3. Lengths to
-- 80, which the controller cannot remember, make them fall. Nothing longer is trained on, but the last stage is
-- validated on 40 to 100 and ends early: a network that goes on counts ever more precisely, no longer expects the
-- middle of a longer string, and loses there (from 0.017 to 0.04 in ten epochs).
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'padded_reversal' })

return {
  task = task, minutes = 3, models = task.models(2, 3),
  search = { restarts = 6, rungs = { 7, 10 }, keep = { 3, 1 }, solved = 0.013 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 96 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 4, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 3, learning_rate = 0.01 }),
        task:stage(2, 80, { seed = seed, epochs = 12, learning_rate = 0.01, difference = 0.025 }),
        task:stage(20, 80, { seed = seed, epochs = 5, learning_rate = 0.003, valid = { 40, 100 } }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, decay_patience = 3, decay_factor = 0.7, stop_patience = 0,
      seed = seed,
    }
  end,
}
