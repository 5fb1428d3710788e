-- # A stack of your own
--
-- You have an idea for another memory: cells that fade, a reading of the three top cells, a queue
-- that forgets. In Lua it takes ten lines of tensor operations and no compiler. The program records
-- these operations once and runs them without Lua. The stack works with everything that the
-- built-in stacks work with: every controller, the trainer, run folders, `help`, and the contract
-- tests of stacks.
--
-- This chapter first writes the superposition stack, which also exists as a built-in kind, and
-- compares the two digit by digit. Then it changes one line.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local plot = require 'pushdown.plot'

local options, run = experiment.start {
  name = 'own_stack',
  doc = 'A stack written in Lua beside the same one in C++, and one that exists nowhere else.',
  options = {
    { 'grammar', 'dyck', 'name of a grammar or path of a grammar file' },
    { 'lengths', { 10, 30 }, 'shortest and longest string' },
    { 'strings', 500, 'training strings' },
    { 'epochs', 8, 'passes over the training strings', minimum = 1 },
    { 'learning_rate', 0.01, 'of Adam' },
    { 'fade', 0.9, 'what remains of every cell after a step', minimum = 0, maximum = 1 },
    { 'seed', 1, 'decides data and parameters' },
  },
  smoke = { strings = 30, epochs = 2, lengths = { 4, 8 } },
}

-- ## The stack
--
-- A superposition stack is a list of vectors, the cells, with the top first. One step pushes, pops
-- and leaves the stack unchanged, all three at once, with weights from the network. Each cell
-- becomes the mixture of the three results.
--
-- - `actions` lists the inputs from the network at each step: here three weights that sum to 1, and
--   the vector to push. The program creates, trains and saves the layers that compute them from the
--   hidden state.
-- - `no_op` names the input that leaves the stack unchanged: here the third weight of `action`.
-- - `initial` returns the state before the first symbol: a tensor, or a table of tensors and
--   numbers. The first dimension is the batch. `self:zeros` creates tensors with the model's dtype
--   on its device.
-- - `update` returns the next state. It must not change the old state.
-- - `reading` returns the part of the state that the network reads: one row for each string.
--
-- `options` are declared like those of an experiment and are available in `self.options`.
local function superposition(name, fade)
  return {
    name = name,
    doc = 'Superposition of push, pop and no-op over vector cells, in Lua.',
    options = { { 'size', 20, 'size m of the vector in a cell', minimum = 1 } },
    actions = {
      { 'action', 3, activation = 'softmax' },
      { 'vector', 'size', activation = 'sigmoid' },
    },
    no_op = { 'action', 3 },
    initial = function(self, batch) return self:zeros(batch, 1, self.options.size) end,
    update = function(self, cells, actions)
      local batch, depth, size = unpack(cells:size())
      local pushed = pd.tensor.cat({ actions.vector:unsqueeze(2), cells }, 2)
      local padded = pd.tensor.cat({ cells, self:zeros(batch, 2, size) }, 2)
      local stayed, popped = padded:slice(2, 1, depth + 1), padded:slice(2, 2, depth + 2)
      local weight = actions.action:unsqueeze(3):unsqueeze(4)
      local mixed = weight[{ {}, 1 }] * pushed + weight[{ {}, 2 }] * popped + weight[{ {}, 3 }] * stayed
      return fade and fade * mixed or mixed
    end,
    reading = function(_, cells) return cells[{ {}, 1 }] end,
  }
end
pd.stack.define(superposition 'lua_superposition')
print(pd.stack.describe 'lua_superposition')

-- ## By hand
--
-- You can drive this stack without a network, like those of [chapter 3](03_stacks.md). Tensors
-- replace the network's output.
local push, pop, stay = { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }
local actions = pd.tensor({ { push, push, { 0.5, 0.5, 0 }, stay, pop } }, { dtype = 'float64' })
local vectors = pd.tensor({ { { 5 }, { 7 }, { 9 }, { 1 }, { 1 } } }, { dtype = 'float64' })
local readings = pd.stack.simulate { kind = 'lua_superposition', size = 1, action = actions, vector = vectors }
local wanted = pd.stack.simulate { kind = 'superposition', actions = actions, vectors = vectors }
local rows = {}
for t = 1, 6 do
  rows[t] = { t - 1, readings[{ 1, t, 1 }]:item(), wanted[{ 1, t, 1 }]:item() }
end
print('\nthe top after each step')
run:table('readings', { columns = { 'time', 'in Lua', 'built in' }, rows = rows })
assert(readings == wanted, 'both stacks give the same numbers')

-- ## The contract
--
-- One call runs the tests that every built-in stack passes, in language models and in recognizers.
-- They check shapes, probabilities that sum to one, gradients against finite differences, the
-- independence of the strings in a batch, reading in pieces, and more. A stack that passes can be
-- trained. For one that fails, the report says what is wrong.
local contract = pd.stack.check 'lua_superposition'
print('\n' .. tostring(contract))
assert(contract:passed())

-- What happens if `update` loses the gradient? At the prompt, `pd.stack.check 'forgetful'` prints
-- every check. These fail:
local forgetful = superposition 'forgetful'
local update = forgetful.update
forgetful.update = function(self, cells, acts) return update(self, cells:detach(), acts) end
contract = pd.stack.check(pd.stack.define(forgetful))
print(tostring(contract))
for _, result in ipairs(contract:results()) do
  if not result.passed then print(('- %s: %s'):format(result.promise, result.complaints[1])) end
end

-- ## Training
--
-- Now the same network is trained with each stack, always with the same seed. The stack in Lua and
-- the built-in stack start with the same parameters, so their curves should agree. The built-in
-- stack is trained twice: once as one compiled function, and once step by step with tensor
-- operations (`kernels = false`). A third stack is new: in `fading_superposition`, every cell loses
-- a tenth of its value at each step. It differs from the first in one line and in its `name`.
pd.stack.define(superposition('fading_superposition', options.fade))

local grammar = pd.grammar.load(options.grammar)
local sampler = grammar:sampler { lengths = options.lengths }
local train = sampler:dataset(options.strings, { seed = options.seed })
local valid = sampler:dataset(math.ceil(options.strings / 5), { seed = options.seed + 1 })

local histories, results = {}, {}
local function learn(name, kind, kernels)
  local trainer = pd.train.trainer {
    model = pd.model.language_model {
      alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 20 },
      stack = { kind = kind, size = 5 }, kernels = kernels, dtype = 'float64', seed = options.seed,
    },
    train = train, valid = valid, epochs = options.epochs, seed = options.seed, progress = false,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate },
    run_folder = run:path(name:gsub('%W+', '_')),
  }
  local speed, first = 0, nil
  for epoch in trainer:epochs() do
    speed = math.max(speed, epoch.updates_per_second)
    if not first then
      first = {}
      for parameter, tensor in pairs(trainer:model():parameters()) do first[parameter] = tensor:detach():clone() end
    end
  end
  local history = trainer:history()
  histories[#histories + 1] = { name = name, history = history }
  results[#results + 1] = { name, history[1].train_cross_entropy, history[#history].best_cross_entropy, 1000 / speed }
  return trainer, first
end
print()
local mine, my_first = learn('superposition in Lua', 'lua_superposition', true)
local _, plain_first = learn('built in, step by step', 'superposition', false)
learn('built in', 'superposition', true)
learn('fading, in Lua', 'fading_superposition', true)
run:table('results', {
  columns = { 'stack', { 'cross-entropy of the first epoch', format = '%.12f' },
    { 'best of all, validation', format = '%.4f' }, { 'ms per update', format = '%.2f' } },
  rows = results,
})
run:lines('curves', plot.learning_curves(histories, grammar:name()))

-- ![The stack in Lua, the built-in one, and one that fades, one run each](pictures/06_curves.svg)

-- The first three rows agree digit for digit in the first epoch. Later they diverge: sums in a
-- different order round differently, and such differences grow during training. After a few hundred
-- updates even the two ways of computing the built-in stack no longer agree.
--
-- The stacks differ in cost. The built-in stack runs as one compiled function over the whole
-- string. The operations of the stack in Lua are recorded, and an update costs 1.4 times as much.
-- Step by step, with a dozen tensor operations for each symbol, an update with the built-in stack
-- costs 19 times as much. [Extending](../extending.md#what-is-recorded) lists what can be recorded,
-- and describes how to write a good idea in C++.
local largest = 0
for name, tensor in pairs(my_first) do
  largest = math.max(largest, (tensor - plain_first[name]):abs():max():item())
end
print(('\nafter the first epoch, parameters in Lua and built in differ by at most %.1e'):format(largest))
assert(largest < 1e-9)

-- ## Loading a checkpoint
--
-- A checkpoint contains numbers, not functions. Define the stack before you resume a run or load
-- its model: run this script, or put the definition into a file that both scripts run with
-- `dofile`. The run folder keeps what you need: `config.json` names the script that defined each
-- kind, and `definitions/` has the text of the script at the start of the run.
local folder = mine:run_folder()
print(('\n%s: %s'):format(folder, tostring(pd.model.load(folder))))

-- ## Two stacks at once
--
-- With two stacks a network can do more than with one: two stacks can simulate the tape of a Turing
-- machine. A state may be a table of tables, so a single definition can contain several memories.
-- Here each stack holds vectors with strengths, as in Grefenstette et al. (2015): a pop removes
-- strength from the top, and the reading sums vectors from the top down until their strengths add up
-- to 1.
local function moved(stack, strength, taken, vector)
  local above = stack.strengths:sum(2):unsqueeze(2) - stack.strengths:cumsum(2)
  local left = (stack.strengths - (taken - above):relu()):relu()
  return { values = pd.tensor.cat({ stack.values, vector:unsqueeze(2) }, 2),
    strengths = pd.tensor.cat({ left, strength }, 2) }
end
local function top_of(stack)
  local above = stack.strengths:sum(2):unsqueeze(2) - stack.strengths:cumsum(2)
  local share = pd.tensor.minimum(stack.strengths, (1 - above):relu())
  return share:unsqueeze(2):matmul(stack.values)[{ {}, 1 }]
end

pd.stack.define {
  name = 'two_stacks',
  doc = 'Two stacks of vectors with strengths.',
  options = { { 'size', 4, 'size of a vector', minimum = 1 } },
  actions = { { 'push', 2, activation = 'sigmoid' }, { 'pop', 2, activation = 'sigmoid' },
    { 'left_vector', 'size', activation = 'tanh' }, { 'right_vector', 'size', activation = 'tanh' } },
  initial = function(self, batch)
    local function empty()
      return { values = self:zeros(batch, 1, self.options.size), strengths = self:zeros(batch, 1) }
    end
    return { left = empty(), right = empty() }
  end,
  update = function(_, state, a)
    return {
      left = moved(state.left, a.push:slice(2, 1, 1), a.pop:slice(2, 1, 1), a.left_vector),
      right = moved(state.right, a.push:slice(2, 2, 2), a.pop:slice(2, 2, 2), a.right_vector),
    }
  end,
  reading = function(_, state) return pd.tensor.cat({ top_of(state.left), top_of(state.right) }, 2) end,
}
print('\n' .. tostring(pd.stack.check 'two_stacks'))
plot.program { stack = 'two_stacks', title = 'Two stacks', path = run.folder .. '/two_stacks.svg' }

-- Recorded, this definition takes three times as long as the built-in `stratification` with
-- `memories = 2`. It takes one sixteenth of the time of its own tensor operations
-- ([Measurements](../development/speed.md#parts-written-in-lua)). `plot.program` draws the recorded
-- program. Boxes are operations with their sizes and multiply-adds, and dashed lines lead to the
-- next step.

-- ## Controllers and objectives
--
-- `pd.controller.define` defines a recurrent cell: its parameters by name and shape, its initial
-- state, and one step. The state is a list of tensors, and the returned hidden state is one of
-- them. This example is a simple recurrent network with two vectors: the slow one follows the fast
-- one.
pd.controller.define {
  name = 'fast_and_slow',
  doc = 'A simple recurrent network with a slow copy of its hidden vector.',
  options = { { 'pace', 0.1, 'how fast the slow vector follows', minimum = 0, maximum = 1 } },
  parameters = function(opts, input)
    return { { 'weight', { opts.hidden, input + 2 * opts.hidden } }, { 'bias', opts.hidden, constant = 0 } }
  end,
  initial = function(self, batch) return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden) } end,
  step = function(self, input, state)
    local all = pd.tensor.cat({ input, state[1], state[2] }, 2)
    local fast = (all:matmul(self.parameters.weight:transpose()) + self.parameters.bias):tanh()
    local slow = state[2] + self.options.pace * (fast - state[2])
    return fast, { fast, slow }
  end,
}
print('\n' .. tostring(pd.controller.check 'fast_and_slow'))

-- An objective is the loss that the training of a recognizer minimizes. (A recognizer decides
-- whether a string is valid.) `pd.train.define_objective` makes one from a function of scores and
-- labels that returns one loss for each string. This example is the squared error of the last
-- score:
pd.train.define_objective {
  name = 'squared_error',
  doc = 'The squared error of the answer behind the last symbol.',
  losses = function(self, batch)
    local passes = batch.scores:size()[2]
    if not batch.ends then return self:zeros(#batch.labels) end
    return (batch.scores[{ {}, passes }]:sigmoid() - batch.labels) ^ 2
  end,
}
print(tostring(pd.train.check_objective 'squared_error'))

-- Both are now kinds like the built-in ones: use `controller = { kind = 'fast_and_slow' }` in a
-- model and `objective = 'squared_error'` in a trainer. Change this script and make a mistake, for
-- example a misspelt method: the message names the file and the line, and the session continues.
print('\nKept in ' .. run.folder)
