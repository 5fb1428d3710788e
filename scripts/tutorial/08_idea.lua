-- # An idea, from a sentence to a figure
--
-- The sentence: *a push should cost more, the deeper the stack is already.* A stack that must save
-- its depth may learn to forget what it does not need. This chapter turns the sentence into a
-- stack, looks at its recorded program, trains it at several costs, and draws the figure. Each step
-- takes seconds.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local plot = require 'pushdown.plot'

local options, run = experiment.start {
  name = 'idea', doc = 'A stack whose depth is penalised, from a sentence to a figure.',
  options = {
    { 'grammar', 'marked_reversal', 'name of a grammar or path of a grammar file' },
    { 'lengths', { 11, 41 }, 'shortest and longest string' },
    { 'strings', 400, 'training strings' },
    { 'epochs', 10, 'passes over the training strings', minimum = 1 },
    { 'costs', { 0, 0.1, 0.5, 2 }, 'of each cell of depth' },
    { 'learning_rate', 0.01, 'of Adam' },
    { 'seed', 1, 'decides data and parameters' },
  },
  smoke = { strings = 30, epochs = 2, lengths = { 5, 9 }, costs = { 0, 0.5 } },
}

-- ## The stack
--
-- The state has the cells of a superposition stack and the expected depth. The depth grows with the
-- weight of pushes and shrinks with that of pops, but not below 0. The weight of a push is
-- multiplied by `exp(-cost * depth)`, and the difference is added to the action that leaves the
-- stack unchanged.
pd.stack.define {
  name = 'thrifty', doc = 'A superposition stack whose pushes cost more the deeper it is.',
  options = { { 'size', 5, 'size of a cell', minimum = 1 },
    { 'cost', 0.1, 'of each cell of depth', type = 'number', minimum = 0 } },
  actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
  initial = function(self, batch)
    return { cells = self:zeros(batch, 1, self.options.size), depth = self:zeros(batch, 1) }
  end,
  update = function(self, state, actions)
    local batch, depth, size = unpack(state.cells:size())
    local share = (state.depth * -self.options.cost):exp()
    local push = actions.action:slice(2, 1, 1) * share
    local pop = actions.action:slice(2, 2, 2)
    local rest = 1 - push - pop
    local padded = pd.tensor.cat({ state.cells, self:zeros(batch, 2, size) }, 2)
    local above = pd.tensor.cat({ actions.vector:unsqueeze(2), state.cells }, 2)
    local cells = push:unsqueeze(3) * above + pop:unsqueeze(3) * padded:slice(2, 2, depth + 2)
      + rest:unsqueeze(3) * padded:slice(2, 1, depth + 1)
    return { cells = cells, depth = (state.depth + push - pop):relu() }
  end,
  reading = function(_, state) return pd.tensor.cat({ state.cells[{ {}, 1 }], state.depth:tanh() }, 2) end,
}

-- Does this stack work with everything else? `check` runs the contract tests of the built-in
-- stacks.
local clock = os.clock()
local contract = pd.stack.check 'thrifty'
assert(contract:passed(), tostring(contract))
print(('checked in %.1f s\n'):format(os.clock() - clock))

-- ## The recorded program
--
-- Pushdown calls the functions a few times and records their operations. Training runs the
-- recording and calls no Lua. If something could not be recorded, a line in the log would name the
-- file and the line, and the stack would run by tensor operations. `program` shows the recording.
-- Each step has one loop for each part of the cells, because `cat` and the padding need not be
-- executed. The last steps compute fewer cells, because the others can no longer reach the top.
print(pd.stack.program { kind = 'thrifty', size = 3, hidden = 4, steps = 4 })

-- ## A figure
--
-- There is one training for each cost, and one by tensor operations to compare the times.
local grammar = pd.grammar.load(options.grammar)
local sampler = grammar:sampler { lengths = options.lengths }
local train = sampler:dataset(options.strings, { seed = options.seed })
local valid = sampler:dataset(math.ceil(options.strings / 4), { seed = options.seed + 1 })

local function learn(cost, epochs, kernels)
  local trainer = pd.train.trainer {
    model = pd.model.language_model {
      alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 20 }, seed = options.seed,
      stack = { kind = 'thrifty', size = 5, cost = cost }, kernels = kernels,
    },
    train = train, valid = valid, epochs = epochs, seed = options.seed, progress = false,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate },
  }
  local least = math.huge
  for epoch in trainer:epochs() do least = math.min(least, 1000 / epoch.updates_per_second) end
  return trainer:history(), least
end

local rows, histories = {}, {}
for _, cost in ipairs(options.costs) do
  local history, ms = learn(cost, options.epochs)
  histories[#histories + 1] = { name = ('cost %g'):format(cost), history = history }
  rows[#rows + 1] = { cost, history[#history].best_cross_entropy, ms }
end
local _, slow = learn(options.costs[1], 1, false)
run:table('results', {
  columns = { { 'cost', format = '%g' }, { 'best cross-entropy, validation', format = '%.4f' },
    { 'ms per update', format = '%.2f' } },
  rows = rows,
})
run:lines('curves', plot.learning_curves(histories, grammar:name()))
print(('\nan update takes %.2f ms recorded, %.1f ms by tensor operations'):format(rows[1][3], slow))

-- ![Cross-entropy by epoch, one curve for each cost of a push](pictures/08_curves.svg)
--
-- The curves show whether thrift helps. One run for each cost proves little: [a
-- grid](07_grid_and_report.md) over costs and seeds is the next step, and it needs no change to the
-- stack.
