-- Compares running text in pieces with a carried stack: with programs that take the stack over from the previous piece,
-- and with tensor operations. Measures the least processor time of an epoch with stochastic gradient descent.
-- `build/release/pushdown --threads 1 tests/bench/pieces.lua`
local pd = require 'pushdown'

local alphabet, words = {}, {}
for i = 1, 200 do alphabet[i] = 'w' .. i end
local state = 7
for i = 1, 20 * 50 * 8 do
  state = (state * 1103515245 + 12345) % 2147483648
  words[i] = alphabet[math.floor(state / 65536) % 200 + 1]
end
local text = pd.task.running_text { alphabet = alphabet, words = words }

local function seconds(options, kernels)
  local model = {
    architecture = 'recurrent', alphabet = text:alphabet(), end_symbol = false, seed = 1, kernels = kernels,
  }
  for key, value in pairs(options) do model[key] = value end
  local trainer = pd.train.trainer {
    model = pd.model.language_model(model), train = text, batch = 20, chunk = 50, epochs = 5,
  }
  local least, started = math.huge, os.clock()
  for _ in trainer:epochs() do
    least = math.min(least, os.clock() - started)
    started = os.clock()
  end
  return least
end

pd.stack.define {
  name = 'bench_cells', doc = 'A superposition stack of 50 cells in Lua.',
  options = { { 'size', 20, 'size of a cell', minimum = 1 } },
  actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
  initial = function(self, batch) return self:zeros(batch, 50, self.options.size) end,
  update = function(self, cells, actions)
    local weight = actions.action:unsqueeze(3):unsqueeze(4)
    local above = pd.tensor.cat({ actions.vector:unsqueeze(2), cells:slice(2, 1, -2) }, 2)
    local below = pd.tensor.cat({ cells:slice(2, 2, -1), self:zeros(#cells, 1, self.options.size) }, 2)
    return weight[{ {}, 1 }] * above + weight[{ {}, 2 }] * below + weight[{ {}, 3 }] * cells
  end,
  reading = function(_, cells) return cells[{ {}, 1 }] end,
}

local lstm = { kind = 'lstm', hidden = 100 }
local rows = {
  { 'superposition, 20 numbers', { controller = lstm, stack = { kind = 'superposition', size = 20 } } },
  { 'parallel superposition, 10 stacks', { controller = { kind = 'elman', hidden = 100 },
    stack = { kind = 'parallel_superposition', stacks = 10, no_op = true } } },
  { 'stratification, 20 numbers', { controller = lstm, stack = { kind = 'stratification', size = 20 } } },
  { 'the same as a deque', { controller = lstm, stack = { kind = 'stratification_deque', size = 20 } } },
  { 'nondeterministic 2x2, window 35', { controller = lstm, stack = { kind = 'nondeterministic', window = 35 } } },
  { 'nondeterministic 3x3, window 35', { controller = lstm,
    stack = { kind = 'nondeterministic', states = 3, symbols = 3, window = 35 } } },
  { 'vector nondeterministic 2x2, window 35', { controller = lstm,
    stack = { kind = 'vector_nondeterministic', size = 3, window = 35 } } },
  { 'list, 10 lists', { controller = lstm, stack = { kind = 'list', lists = 10 } } },
  { 'stack that wears away, carry-forward', { controller = { kind = 'mlstm', hidden = 100 }, coupling = 'state',
    carry_forward = 'counter',
    stack = { kind = 'parallel_superposition', stacks = 1, no_op = true, no_op_keeps = 'top' } } },
}
rows[#rows + 1] = { 'superposition in Lua, 50 cells of 20 numbers', { controller = lstm,
  stack = { kind = 'bench_cells', size = 20 } } }
print('8,000 words in 20 streams, pieces of 50, 200 words to predict; seconds an epoch')
print(('%-40s %10s %10s %8s'):format('stack', 'program', 'tensors', 'ratio'))
for _, row in ipairs(rows) do
  local fast, slow = seconds(row[2], true), seconds(row[2], false)
  print(('%-40s %10.3f %10.3f %8.1f'):format(row[1], fast, slow, slow / fast))
end
