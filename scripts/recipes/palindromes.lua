-- Palindromes with a mark in the middle, by a DiffStk-RNN: 8 units and two stacks of numbers.
--
-- The learning rate matters: with 0.002, as in the paper, none of four restarts learned the language in as many epochs.
-- With noise of 0.01 instead of 0.1 one of three seeds failed. One stack did not suffice; in four trials it was right
-- on 11 to 17 % of strings of up to 55 symbols. An LSTM with a stack of vectors learned the short strings in its cells,
-- and failed on the long ones in four trials. Without growing lengths two of two other seeds were solved.
local pd = require 'pushdown'
local task = pd.recipe.task('sets', { language = 'palindrome' })

return {
  task = task, minutes = 1,
  models = task.models(2),
  search = { rungs = { 15 } },
  training = {
    { 15, epochs = 15, learning_rate = 0.01 },
    { 35, epochs = 10, learning_rate = 0.01 },
    { 55, epochs = 8, learning_rate = 0.002, valid = { 90, 130 } },
  },
}
