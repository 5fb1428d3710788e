-- w a ... a reversed w, with one symbol a from 0 and 1, by an RNS-RNN. The difference stays near 0.1 on lengths to 40,
-- and falls to 0.03 within a few epochs on lengths to 80, which no LSTM can remember: the network has found the stack.
-- A wide controller finds it sooner: of 3 restarts with 20 units 1 fell within 10 epochs on lengths to 80, of 5 with 40
-- units 3. Training ends at 80 symbols, but the last stage is validated on 40 to 100, because a network that trains on
-- counts ever more precisely and no longer believes in longer strings.
local pd = require 'pushdown'
local task = pd.recipe.task('language', { grammar = 'padded_reversal' })

return {
  task = task, minutes = 3, models = task.models(2, 3),
  search = { restarts = 5, rungs = { 8, 11 }, keep = { 3, 1 }, solved = 0.015 },
  trainer = function(seed, restart, model)
    return {
      model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'lstm', hidden = 64 },
        stack = model.stack, seed = 1000 * seed + restart },
      stages = {
        task:stage(2, 20, { seed = seed, epochs = 5, learning_rate = 0.01 }),
        task:stage(2, 40, { seed = seed, epochs = 3, learning_rate = 0.01 }),
        task:stage(2, 80, { seed = seed, epochs = 12, learning_rate = 0.01, difference = 0.025 }),
        task:stage(20, 80, { seed = seed, epochs = 16, learning_rate = 0.004, valid = { 40, 100 } }),
      },
      optimizer = { kind = 'adam' }, clip_norm = 5, decay_patience = 2, decay_factor = 0.7, stop_patience = 0,
      seed = seed,
    }
  end,
}
