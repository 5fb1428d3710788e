-- Common parts of the tests of definitions: kinds that are written in Lua next to the built-in ones, and models and
-- trainings with them.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

-- The path of a new run folder.
local function folder() return test.folder() .. '/run' end

-- The superposition stack (docs/reference/stacks.md) in Lua.
local function superposition(name)
  return {
    name = name,
    doc = 'Superposition of push, pop and no_op over vector cells.',
    options = { { 'size', 20, 'size m of the vector in a cell', minimum = 1 } },
    actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
    no_op = { 'action', 3 },
    initial = function(self, batch) return self:zeros(batch, 1, self.options.size) end,
    update = function(self, cells, actions) -- cells : B x D x m -> B x (D+1) x m
      local batch, depth, size = unpack(cells:size())
      local padded = pd.tensor.cat({ cells, self:zeros(batch, 2, size) }, 2)
      local above = pd.tensor.cat({ actions.vector:unsqueeze(2), cells }, 2)
      local weight = actions.action:unsqueeze(3):unsqueeze(4) -- B x 3 x 1 x 1
      return weight[{ {}, 1 }] * above + weight[{ {}, 2 }] * padded:slice(2, 2, depth + 2)
        + weight[{ {}, 3 }] * padded:slice(2, 1, depth + 1)
    end,
    reading = function(_, cells) return cells[{ {}, 1 }] end,
  }
end
local mine = pd.stack.define(superposition 'lua_superposition')

-- A long short-term memory in Lua.
local function lstm(name)
  return {
    name = name, doc = 'Long short-term memory.',
    parameters = function(options, input)
      local gates = 4 * options.hidden
      return { { 'weight_ih_l0', { gates, input } }, { 'weight_hh_l0', { gates, options.hidden } },
        { 'bias_ih_l0', gates }, { 'bias_hh_l0', gates } }
    end,
    initial = function(self, batch) return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden) } end,
    step = function(self, input, state)
      local p, size = self.parameters, self.hidden
      local gates = input:matmul(p.weight_ih_l0:transpose()) + p.bias_ih_l0
        + state[1]:matmul(p.weight_hh_l0:transpose()) + p.bias_hh_l0
      local function gate(k) return gates:slice(2, (k - 1) * size + 1, k * size) end
      local cell = gate(2):sigmoid() * state[2] + gate(1):sigmoid() * gate(3):tanh()
      local hidden = gate(4):sigmoid() * cell:tanh()
      return hidden, { hidden, cell }
    end,
  }
end
pd.controller.define(lstm 'lua_lstm')

-- The cross-entropy of the label after every symbol (kind 'stepwise').
pd.train.define_objective {
  name = 'lua_stepwise', doc = 'Cross-entropy of the label after every symbol.',
  options = { { 'factor', 1, 'of every loss', type = 'number', minimum = 0 } },
  losses = function(self, batch)
    local losses = batch.scores:softplus() - batch.scores * batch.labels:unsqueeze(2)
    return losses:sum(2) * self.options.factor
  end,
}

local grammar = pd.grammar.load('marked_reversal')
local sampler = grammar:sampler { lengths = { 3, 9 } }
local train, valid = sampler:dataset(40, { seed = 1 }), sampler:dataset(20, { seed = 2 })
local labelled = pd.task.labelled { grammar = grammar, lengths = { 1, 9 }, positives = 15, negatives = 15, seed = 1 }

local function model(options)
  return pd.model.language_model(pd.tables.merged({ alphabet = grammar:alphabet(), controller = { kind = 'lstm',
    hidden = 5 }, stack = { kind = mine, size = 3 }, seed = 3, dtype = 'float64' }, options))
end

local function trainer(options)
  return pd.train.trainer(pd.tables.merged({ model = model(), train = train, valid = valid, epochs = 3, seed = 1,
    progress = false, optimizer = { kind = 'adam', learning_rate = 0.01 } }, options))
end

local function recognizer(options)
  return pd.model.recognizer(pd.tables.merged({ alphabet = labelled:alphabet(), controller = { kind = 'elman',
    hidden = 4 }, stack = { kind = mine, size = 2 }, seed = 3, dtype = 'float64' }, options))
end

local function same_numbers(got, wanted, tolerance)
  local count = 0
  local own = got:parameters()
  for name, tensor in pairs(wanted:parameters()) do
    test.near(own[name], tensor, tolerance)
    count = count + 1
  end
  assert(count > 0)
end

local function lines(trained)
  local all = {}
  for i, epoch in ipairs(trained:history()) do
    all[i] = { epoch.cross_entropy or epoch.accuracy or 0, epoch.train_cross_entropy or epoch.train_loss,
      epoch.gradient_norm }
  end
  return all
end

local function run(t)
  for _ in t:epochs() do end
  return lines(t)
end

-- Runs a script in a separate session. Returns its output and its status.
local shell = test.program
local function session(code)
  local path = test.folder() .. '/script.lua'
  files.write(path, code)
  return test.run({ path }, { environment = 'timeout ' .. test.patience })
end

-- Runs scripts one after the other in a separate session, each as script.lua. Returns the output of each, with the
-- error that ended it, and whether there was one.
local function sessions(codes)
  local quoted = {}
  for i, code in ipairs(codes) do quoted[i] = ('%q'):format(code) end
  local output = test.succeeds(session(([[
io.stdout:setvbuf 'no'
for _, code in ipairs { %s } do
  local fine, message = pcall(assert(loadstring(code, '@script.lua')))
  if not fine then print(message) end
  print('END', fine)
end]]):format((table.concat(quoted, ', ')))))
  local list = {}
  for said, fine in output:gmatch '(.-)END\t(%a+)\n' do list[#list + 1] = { said, fine == 'false' } end
  test.equal(#list, #codes)
  return list
end

return { folder = folder, superposition = superposition, mine = mine, lstm = lstm,
  labelled = labelled, train = train, valid = valid, model = model, trainer = trainer, recognizer = recognizer,
  same_numbers = same_numbers, lines = lines, run = run, shell = shell, session = session, sessions = sessions }
