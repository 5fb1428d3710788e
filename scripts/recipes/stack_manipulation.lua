-- Stack manipulation (Delétang et al. 2023): a network reads a stack of bits and actions on it, up to 40 symbols, and
-- then writes what is left, the top first; the test has up to 500. An Elman network with a superposition of stacks.
--
-- The recipe is that of chomsky_reverse_string: short strings until they are right, then updates and noise that make
-- the actions of the stack sharp. Without noise a superposition was 99 % right up to 500 symbols after twice as many
-- epochs, and a stratified stack, which was right on all strings of up to 80, only 52 to 82 %.
local pd = require 'pushdown'
local task = pd.recipe.task('chomsky', { task = 'stack_manipulation' })

return {
  task = task, minutes = 2,
  models = {
    { name = 'Superposition', stack = { kind = 'superposition', size = 8 } },
    { name = 'Stratification', stack = { kind = 'stratification', size = 8 } },
    { name = 'LSTM', controller = 'lstm', stack = { kind = 'none' } },
  },
  search = { restarts = 2, rungs = { 8 }, keep = { 1 } },
  trainer = function(seed, restart, model)
    return task:training { seed = 1000 * seed + restart, batch = 32, updates = 200,
      model = task:model { stack = model.stack, noise = 0.1, seed = 1000 * seed + restart,
        controller = { kind = model.controller or 'elman', hidden = 48 } },
      optimizer = { kind = 'adam', learning_rate = 0.005 },
      stages = {
        task:stage(1, 10, { epochs = 10, accuracy = 0.99 }),
        task:stage(1, 20, { epochs = 10, accuracy = 0.99 }),
        task:stage(1, 40, { epochs = 12 }),
      } }
  end,
}
