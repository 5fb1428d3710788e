-- Modular arithmetic with brackets (Delétang et al. 2023): the value modulo 5 of an expression of up to 40 symbols; the
-- test has up to 500. An LSTM with a superposition of stacks. This recipe does not reach the bar.
--
-- Lengths that grow by about a third are what makes expressions of 10 to 20 symbols learnable in a minute: at each
-- length the network must only learn one more level of brackets. What it learns does not carry over to more levels. The
-- memory of the LSTM suffices for those of the training lengths, so that the stack is used little; networks without
-- such a memory (an Elman network, one with multiplicative integration) learn products and sums modulo 5 much slower.
local pd = require 'pushdown'
local task = pd.recipe.task('chomsky', { task = 'modular_arithmetic_brackets' })

return {
  task = task, minutes = 4,
  models = {
    { name = 'Superposition', stack = { kind = 'superposition', size = 16 } },
    { name = 'Stratification', stack = { kind = 'stratification', size = 16 } },
    { name = 'LSTM', stack = { kind = 'none' } },
  },
  search = { restarts = 2, rungs = { 20 }, keep = { 1 }, solved = 0.001 },
  trainer = function(seed, restart, model)
    return task:training { seed = 1000 * seed + restart, batch = 32, updates = 300,
      model = task:model { stack = model.stack, controller = { kind = 'lstm', hidden = 100 },
        seed = 1000 * seed + restart },
      optimizer = { kind = 'adam', learning_rate = 0.003 },
      stages = {
        task:stage(1, 5, { epochs = 10, accuracy = 0.985 }),
        task:stage(1, 8, { epochs = 10, accuracy = 0.985 }),
        task:stage(1, 11, { epochs = 20, accuracy = 0.985 }),
        task:stage(1, 15, { epochs = 15, accuracy = 0.985, learning_rate = 0.002 }),
        task:stage(1, 20, { epochs = 10, accuracy = 0.985 }),
        task:stage(1, 40, { epochs = 10, learning_rate = 0.001 }),
      } }
  end,
}
