-- Bigram flipping by an LSTM with two queues side by side: a2 a1 a4 a3 ... for a1 a2 a3 a4 ...
--
-- With the paper's one queue, both symbols of a pair must be read from one vector or from two halves: in 5,000 updates
-- on 8 to 32 symbols only the first pair became right (training perplexity 51; the paper's queue: 55 % of the test).
-- With two queues the loss falls after 1,000 to 3,000 updates on 8 to 16 symbols, if it falls at all: one restart of
-- three, chosen after 1,400, stayed at a training perplexity of 6. Biases and penalty are those of copying.
local pd = require 'pushdown'
local task = pd.recipe.task('transduction', { kind = 'bigram_flipping' })

return {
  task = task, minutes = 10,
  models = {
    { name = 'Queue-LSTM, two queues', stack = { kind = 'stratification_queue', memories = 2, pop_bias = -3 } },
    { name = 'Queue-LSTM', stack = { kind = 'stratification_queue', pop_bias = -3 } },
    { name = 'DeQue-LSTM', stack = { kind = 'stratification_deque', pop_bias = -3, bottom_push_bias = -6 } },
    { name = 'Stack-LSTM', stack = { kind = 'stratification', pop_bias = -3 } },
    { name = 'LSTM', stack = { kind = 'none' } },
  },
  search = { restarts = 4, rungs = { 20, 32 }, keep = { 2, 1 } },
  training = {
    { 8, 16, epochs = 40, accuracy = 0.98 },
    { 8, 32, epochs = 20, accuracy = 0.98 },
    { 8, 64, epochs = 25, learning_rate = 0.001 },
    { 8, 64, epochs = 60, longer = true, learning_rate = 0.0003 },
  },
}
