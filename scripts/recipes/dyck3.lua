-- D3, brackets of three types, by a DiffStk-RNN: 8 units and one stack of numbers, which must tell three types apart.
--
-- This recipe resembles dyck2. Networks often learn the language only on strings of up to 54 symbols, so no restart is
-- dropped before these.
local pd = require 'pushdown'
local task = pd.recipe.task('sets', { language = 'd3' })

return {
  task = task, minutes = 1,
  models = {
    { name = 'DiffStk-RNN', network = 'diffstk_rnn', noise = 0.1 },
    { name = 'Stack-RNN+Softmax', network = 'stack_rnn_softmax', noise = 0.1 },
    { name = 'DiffStk-RNN, noise 0.01', network = 'diffstk_rnn' },
    { name = 'LSTM', network = 'lstm' },
  },
  search = { restarts = 4, rungs = { 26 }, keep = { 2 }, solved = 1, metric = 'next_symbol_ranking' },
  trainer = function(seed, restart, model)
    return task:training(seed, restart, model, {
      { 10, epochs = 8, learning_rate = 0.01 },
      { 20, epochs = 12, learning_rate = 0.01 },
      { 54, epochs = 10, learning_rate = 0.01 },
      { 54, epochs = 8, learning_rate = 0.002, valid = { 90, 130 } },
    })
  end,
}
