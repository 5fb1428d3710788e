-- Reverse string (Delétang et al. 2023): a network reads up to 40 bits and then writes them backwards; the test has up
-- to 500. An Elman network with a stack that is a superposition of stacks (Joulin and Mikolov 2015).
--
-- On short strings push and pop are found within a few hundred updates. The noise on the state, and a last stage that
-- is longer than the training strings need, make the actions of the stack sharp: without noise, a network with a
-- perplexity of 1.0001 is right up to 120 symbols and 94 to 99 % right up to 500. The strengths of a stratified stack
-- become sharp later. An LSTM as the controller remembers short strings without its stack.
local pd = require 'pushdown'
local task = pd.recipe.task('chomsky', { task = 'reverse_string' })

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
