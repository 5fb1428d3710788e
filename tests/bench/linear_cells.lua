-- Compares the cells with linear recurrences or exponential gates with the same by tensor operations, and DeltaNet with
-- the same cell in Lua: the least processor time of one update of a language model with Adam.
-- `build/release/pushdown --threads 1 tests/bench/linear_cells.lua`
local pd = require 'pushdown'

pd.controller.define {
  name = 'bench_deltanet', doc = 'DeltaNet with one head in Lua.',
  parameters = function(options, input)
    local hidden = options.hidden
    return { { 'weight_ih', { 3 * hidden + 1, input } }, { 'gain', hidden }, { 'weight_ho', { hidden, hidden } } }
  end,
  initial = function(self, batch)
    return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden * self.hidden) }
  end,
  step = function(self, input, state)
    local p, size = self.parameters, self.hidden
    local map = state[2]:reshape(-1, size, size)
    local all = input:matmul(p.weight_ih:transpose())
    local function part(k)
      local x = all:slice(2, (k - 1) * size + 1, k * size)
      return x * x:sigmoid()
    end
    local function scaled(x, factor, epsilon) return x / ((x * x):sum(2, true) * factor + epsilon):sqrt() end
    local query, key = scaled(part(1), 1, 1e-6), scaled(part(2), 1, 1e-6)
    local rate = all:slice(2, 3 * size + 1, 3 * size + 1):sigmoid()
    local error = (part(3) - map:matmul(key:unsqueeze(3)):squeeze(3)) * rate
    local next_map = map + error:unsqueeze(3) * key:unsqueeze(2)
    local read = scaled(next_map:matmul(query:unsqueeze(3)):squeeze(3), 1 / size, 1e-5)
    local hidden = (p.gain * read):matmul(p.weight_ho:transpose())
    return hidden, { hidden, next_map:reshape(-1, size * size) }
  end,
}

local grammar = pd.grammar.load 'marked_reversal'
local train = grammar:sampler { lengths = { 63, 63 } }:dataset(32, { seed = 1 })

local function trainer(controller, kernels)
  local t = pd.train.trainer { train = train, epochs = 10000, seed = 1, progress = false, batch = 16,
    optimizer = { kind = 'adam', learning_rate = 0.001 },
    model = pd.model.language_model { alphabet = grammar:alphabet(), controller = controller, seed = 3,
      dtype = 'float32', kernels = kernels } }
  t:step()
  return t
end
local function milliseconds(t, least)
  local start = os.clock()
  t:step()
  return math.min(least, 1000 * (os.clock() - start))
end

print 'One update of a language model: strings of 63 symbols, batch 16, float32, processor time'
for _, hidden in ipairs { 32, 64 } do
  for _, controller in ipairs { { kind = 'lstm' }, { kind = 'deltanet' }, { kind = 'deltanet', heads = 4 },
    { kind = 'bench_deltanet' }, { kind = 'selective_ssm' }, { kind = 'scalar_lstm' },
    { kind = 'scalar_lstm', heads = 4 }, { kind = 'matrix_lstm' }, { kind = 'matrix_lstm', heads = 4 } } do
    controller.hidden = hidden
    local fast, plain = trainer(controller, true), trainer(controller, false)
    local own, operations = math.huge, math.huge
    -- The measurements alternate, so that other work of the machine affects both.
    for i = 1, 20 do
      own = milliseconds(fast, own)
      if i % 5 == 1 then operations = milliseconds(plain, operations) end
    end
    print(('cell=%s hidden=%d heads=%s ms=%.2f tensor_operations_ms=%.1f ratio=%.1f'):format(controller.kind, hidden,
      controller.heads or 1, own, operations, operations / own))
  end
end
