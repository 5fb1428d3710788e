-- # A stack of your own
--
-- You have an idea for another memory: cells that fade, three tops, a queue that forgets. Written in C++ it
-- would be fast. Written in Lua, out of tensor operations, it is there in ten lines and without a compiler, and
-- everything that works for the stacks of this program works for it: every controller, the trainer, run
-- folders, `help`, and the tests that each stack has to pass.
--
-- To see that nothing is hidden, this chapter first writes a stack that exists already, superposition, and
-- compares the two down to the last digits. Then it changes one line.
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
-- A superposition stack is a list of cells, the top first, each a vector. One step pushes, pops and leaves
-- everything as it is, all three at once, with the weights that the network gives; every cell becomes the mixture
-- of what the three would put there.
--
-- - `actions` says what the network has to say at each step: here three weights that sum to 1, and the vector to
--   push. The layers between the network's hidden vector and these numbers are made, trained and saved for you.
-- - `initial` makes the state before the first symbol: any tensor, or a table of tensors and numbers. The first
--   dimension is the batch. `self:zeros` makes tensors of the model's number type, on its device.
-- - `update` makes the next state of an old one. It must not change the old one.
-- - `reading` is what the network sees of the state: one row for each string.
--
-- `options` are declared like those of an experiment and are in `self.options`.
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
-- The bare stack, without a network, is driven like those of chapter 3, with tensors in the place of what the
-- network would say.
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
-- One call runs the tests that every stack of this program passes: shapes, probabilities that sum to one,
-- gradients against finite differences, strings of a batch that do not see each other, reading in pieces, and so
-- on, in language models and in recognizers. A stack that passes can be trained; one that does not is told what
-- is wrong with it.
local contract = pd.stack.check 'lua_superposition'
print('\n' .. tostring(contract))
assert(contract:passed())

-- What if `update` forgets the gradient on its way? At the prompt, `pd.stack.check 'forgetful'` prints every
-- check; here are those that fail.
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
-- Both stacks in the same network, with the same seed: they start with the same parameters, and should take the
-- same course. Beside them is one that exists nowhere else: in `fading_superposition` whatever lies in a
-- cell loses a tenth at every step. That took one line, and its `name`.
pd.stack.define(superposition('fading_superposition', options.fade))

local grammar = pd.grammar.load(options.grammar)
local sampler = grammar:sampler { lengths = options.lengths }
local train = sampler:dataset(options.strings, { seed = options.seed })
local valid = sampler:dataset(math.ceil(options.strings / 5), { seed = options.seed + 1 })

local histories, results = {}, {}
local function learn(name, kind, fused)
  local trainer = pd.train.trainer {
    model = pd.model.language_model {
      alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 20 },
      stack = { kind = kind, size = 5 }, fused = fused, dtype = 'float64', seed = options.seed,
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

-- ![The stack in Lua, the built-in one, and one that fades](pictures/06_curves.svg)

-- The first three agree in the first epoch, digit for digit. Later they part: sums that are taken in another order
-- round otherwise, and such differences grow in every training. After some hundred updates the built-in stack no
-- longer agrees with itself either, computed the one way and the other.
--
-- They do not agree in what they cost. The built-in stack runs as one compiled function over the whole string. Written
-- in Lua it is a dozen tensor operations for each symbol, and costs about what the built-in stack costs when it is
-- made of tensor operations too (`fused = false`). For trying an idea on short strings that is good enough;
-- [Extending](../extending.md) says what to do when the idea was good.
local largest = 0
for name, tensor in pairs(my_first) do
  largest = math.max(largest, (tensor - plain_first[name]):abs():max():item())
end
print(('\nafter the first epoch, parameters in Lua and built in differ by at most %.1e'):format(largest))
assert(largest < 1e-9)

-- ## Coming back to it
--
-- A checkpoint holds numbers, not functions. To go on with a run, or to load its model, the stack has to be
-- defined first, by running this script or by a file of your own that defines it and that both scripts
-- `dofile`. The run folder keeps what you need for that: `config.json` says which script defined which kind,
-- and `definitions/` has the script as it was when the run began.
local folder = mine:run_folder()
print(('\n%s: %s'):format(folder, tostring(pd.model.load(folder))))

-- ## Controllers and objectives
--
-- A recurrent cell of your own is defined by `pd.controller.define`: its parameters by name and shape, its first
-- state, and one step. The state is a list of tensors, and the hidden vector that is returned is one of
-- them. This is a simple network with a second, slow vector beside the fast one.
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

-- What a recognizer is trained to make small is an objective; `pd.train.define_objective` makes one of a function
-- from scores and labels to one loss for each string. Here, the squared error of the last answer:
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

-- From here on they are kinds like all others: `controller = { kind = 'fast_and_slow' }` in a model,
-- `objective = 'squared_error'` in a trainer, and `help 'stack'` lists them. Change something in this script, make
-- a mistake, misspell a method: the message has the file and the line, and the session goes on.
print('\nKept in ' .. run.folder)
