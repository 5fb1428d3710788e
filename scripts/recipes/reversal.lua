-- Reversal by an LSTM with a stack: it pushes every symbol of the source, and then pops one symbol a step.
--
-- The training begins with sources of 8 to 32 symbols: from shorter ones (1 to 4, or 8 to 16) the LSTM learned the
-- sources by heart, left the stack empty, and still did so on longer ones. Initial pops are weak (bias -3). A restart
-- falls from the loss of guessing to no errors in about 200 updates. 10 of 20 restarts fell within 1,000 updates, so
-- the best one after 1,000 goes on. One run with Adam at the same rate took 2,000 updates, and was right on 36 % of
-- sources of 65 to 128 symbols.
local pd = require 'pushdown'
local task = pd.recipe.task('transduction', { kind = 'reversal' })

return {
  task = task, minutes = 10,
  models = {
    { name = 'Stack-LSTM', stack = { kind = 'stratification', pop_bias = -3 } },
    { name = 'DeQue-LSTM', stack = { kind = 'stratification_deque', pop_bias = -3 } },
    { name = 'Queue-LSTM', stack = { kind = 'stratification_queue', pop_bias = -3 } },
    { name = 'LSTM', stack = { kind = 'none' } },
  },
  search = { restarts = 4, rungs = { 10 }, keep = { 1 } },
  training = {
    { 8, 32, epochs = 40, accuracy = 0.98 },
    { 8, 64, epochs = 80, longer = true, learning_rate = 0.001 },
  },
}
