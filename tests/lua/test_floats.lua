-- Denormal numbers are zero inside bound functions; scripts and their host keep their own setting (docs/adr/0021).
local pd = require 'pushdown'
local test = require 'pushdown.test'
local program = dofile(pd.root .. '/tests/lua/shell_program.lua')

-- Whether arithmetic in Lua keeps denormal numbers.
local function kept()
  local x = tonumber('1e-300')
  return x * 1e-15 > 0
end

local small = pd.tensor({ 1e-30 }, { dtype = 'float32' })
-- Whether the arithmetic of bound functions takes them for zero.
local function flushed() return (small * 1e-10):to_table()[1] == 0 end

test('bound functions flush denormal numbers and scripts do not', function()
  assert(kept())
  assert(flushed())
  assert(kept())
end)

test('errors, iterators and callbacks keep the setting of the script', function()
  local seen = 0
  local function look()
    assert(kept() and flushed() and kept())
    seen = seen + 1
  end
  pcall(pd.tensor.zeros, 'x')
  look()
  pd.tensor.no_grad(look)
  pcall(pd.tensor.no_grad, function() look() error 'an error' end)
  look()
  pcall(pd.tensor.no_grad, function() pd.tensor.zeros('x') end)
  look()
  coroutine.wrap(function() pd.tensor.no_grad(look) end)()
  look()
  test.equal(seen, 7)
end)

test('functions of definitions and of trainings keep the setting of the script', function()
  local calls, wrong = 0, 0
  local function look()
    calls = calls + 1
    if not kept() then wrong = wrong + 1 end
  end
  pd.stack.define {
    name = 'looking', doc = 'A counter that looks at the arithmetic.',
    actions = { { 'push', 1, activation = 'sigmoid' } },
    initial = function(self, batch) look() return self:zeros(batch, 1) end,
    update = function(_, cells, actions) look() return cells + actions.push end,
    reading = function(_, cells) look() return cells end,
  }
  local g = pd.grammar.load 'marked_reversal'
  local data = g:sampler { lengths = { 3, 9 } }:dataset(20, { seed = 1 })
  for _, kernels in ipairs { true, false } do
    local model = pd.model.language_model { alphabet = g:alphabet(), seed = 1, kernels = kernels,
      controller = { kind = 'elman', hidden = 3 }, stack = { kind = 'looking' } }
    local trainer = pd.train.trainer { model = model, train = data, seed = 1, epochs = 2, progress = false }
    for _ in trainer:epochs() do look() end
  end
  assert(calls > 8, calls)
  test.equal(wrong, 0)
  assert(kept())
end)

-- Step 1 leads to symbol 0 with e^-100; step 2 makes everything from symbol 1 e^-300.
local far_apart = [[
local pd = require 'pushdown'
local none = -1000
local weights = { {
  { { -100, 0, none, none, none }, { none, none, none, none, none } },
  { { 0, none, none, none, none }, { none, -300, none, none, none } },
} }
for _ = 1, 2 do
  local read = pd.stack.simulate { kind = 'nondeterministic', states = 1, symbols = 2,
    log_weights = pd.tensor(weights, { dtype = DTYPE }) }
  io.write(read[{ 1, 3, 1 }]:item(), ' ')
end]]
test('runs that single precision loses and that later steps need are a warning, once', function()
  local out, err = program.run { '-e', (far_apart:gsub('DTYPE', "'float32'")) }
  test.equal(out, '0 0 ')
  local _, times = err:gsub('loses runs on which later readings may depend', '')
  test.equal(times, 1)
  assert(err:find('warn', 1, true) and err:find("dtype = 'float64'", 1, true), err)
  out, err = program.run { '-e', (far_apart:gsub('DTYPE', "'float64'")) }
  test.equal(out, '1 1 ')
  test.equal(err, '')
end)

test.finish()
