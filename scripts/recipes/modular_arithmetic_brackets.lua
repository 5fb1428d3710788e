-- Modular arithmetic with brackets (Delétang et al. 2023): the value modulo 5 of an expression of up to 40 symbols; the
-- test has up to 500. An LSTM with a superposition of stacks. This recipe does not reach the bar.
--
-- With lengths that grow by about a third, expressions of up to 20 symbols are 96 % right after a minute. What the
-- network has learned does not carry over to longer ones: 77 % on up to 40, after more training on these. Networks that
-- remember less without their stack learn slower and do not generalize either: a GRU with noise on its state, which
-- solves the other tasks (93 % up to 20 symbols, 45 % of 21 to 40, 20 % beyond), an RNN with multiplicative integration
-- (74 % up to 20), and two layers of an LSTM are no faster than one. An expression of 270 symbols, the mean of the
-- test, has about 50 operations, so that each must be right to 99.9 %.
local pd = require 'pushdown'
local task = pd.recipe.task('chomsky', { task = 'modular_arithmetic_brackets' })

return {
  task = task, minutes = 4,
  models = task.models(16),
  search = { restarts = 2, rungs = { 12 }, keep = { 1 }, solved = 0.001 },
  training = { hidden = 100, learning_rate = 0.003, updates = 300, controller = 'lstm', noise = 0, stages = {
    { 1, 5, epochs = 10, accuracy = 0.985 },
    { 1, 8, epochs = 10, accuracy = 0.985 },
    { 1, 11, epochs = 20, accuracy = 0.985 },
    { 1, 15, epochs = 12, accuracy = 0.985, learning_rate = 0.002 },
    { 1, 20, epochs = 10, accuracy = 0.985 },
    { 1, 40, epochs = 8, learning_rate = 0.001 },
  } },
}
