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
  models = task.models(8),
  search = { restarts = 2, rungs = { 8 }, keep = { 1 } },
  training = { hidden = 48, learning_rate = 0.005, updates = 200, stages = {
    { 1, 10, epochs = 10, accuracy = 0.99 },
    { 1, 20, epochs = 10, accuracy = 0.99 },
    { 1, 40, epochs = 12 },
  } },
}
