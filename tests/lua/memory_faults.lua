-- memory_faults.lua LEAST [MOST [JOB]], which tests/lua/test_memory_faults.lua runs with tests/faults/memory.cpp.
-- Each job consists of a few calls. The k-th allocation of LEAST bytes and more fails, for every k or for MOST values
-- of k spread over all. The call with this allocation must fail with a sentence or succeed without it. The repeated
-- call must work, and the result of the job must equal that of an undisturbed job.
local pd = require 'pushdown'
local ffi = require 'ffi'
local files = require 'pushdown.files'

local least, most, only = tonumber(arg[1]), tonumber(arg[2] or math.huge), arg[3]
ffi.cdef 'long pushdown_fail_allocation(long at, size_t least);'
local none = 2 ^ 62
local function fail_allocation(at, bytes) return tonumber(ffi.C.pushdown_fail_allocation(at, bytes)) end

local folder = os.tmpname()
os.remove(folder)
files.make_folder(folder)

-- The messages of failing calls.
local said = {}

-- Makes a call, and repeats it if it failed.
local function again(f, ...)
  local results = { pcall(f, ...) }
  if results[1] then return unpack(results, 2) end
  fail_allocation(0, none)
  said[#said + 1] = tostring(results[2])
  return f(...)
end

local function numbers(tensor)
  local text = {}
  for i, number in ipairs(tensor:reshape { -1 }:to_table()) do text[i] = ('%.17g'):format(number) end
  return table.concat(text, ' ')
end

local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = { 21, 41 } }
local data = sampler:dataset(20, { seed = 1, batch = 5 })
local dyck = pd.grammar.load 'dyck'
local run = folder .. '/run'

local function model(stack)
  return pd.model.language_model { alphabet = grammar:alphabet(), seed = 3, stack = stack,
    controller = { kind = 'lstm', hidden = 24 } }
end

local function training(stack)
  return function()
    local m = again(model, stack)
    local t = again(pd.train.trainer, { model = m, train = data, valid = data, batch = 5, epochs = 1, seed = 1,
      progress = false })
    local losses = {}
    while t:updates() < 3 do losses[#losses + 1] = again(t.step, t).loss end
    local text = { table.concat(losses, ' ') }
    local parameters, names = again(m.parameters, m), {}
    for name in pairs(parameters) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do text[#text + 1] = again(numbers, parameters[name]) end
    return table.concat(text, '\n')
  end
end

local jobs = {
  { 'training', training { kind = 'nondeterministic', states = 2, symbols = 3 } },
  { 'training_superposition', training { kind = 'superposition', size = 10 } },
  { 'checkpoint', function()
    os.execute('rm -rf ' .. files.quoted(run))
    local t = again(pd.train.trainer, { model = again(model), train = data, batch = 5, epochs = 1, seed = 1,
      progress = false })
    again(t.step, t)
    again(t.save, t, run, { overwrite = true })
    local loaded = again(pd.model.load, run, { which = 'last' })
    return ('%.17g'):format(again(loaded.log_probability, loaded, '0 1 # 1 0'))
  end },
  { 'sampling', function()
    local s = again(dyck.sampler, dyck, { lengths = { 100, 120 } })
    return table.concat(again(s.sample, s, { count = 20, seed = 4 }), '\n')
  end },
  { 'parsing', function()
    local text = again(dyck.sample, dyck, { length = 60, seed = 2 })
    local derivation = again(dyck.parse, dyck, text)
    return again(derivation.text, derivation) .. ('%.17g'):format(again(dyck.log_probability, dyck, text))
  end },
  { 'grammar', function()
    local g = again(pd.grammar.load, 'dyck', { bracket_types = 200 })
    return again(g.text, g)
  end },
  { 'automaton', function()
    local p = again(pd.pda.load, 'dyck_pda', { bracket_types = 30 })
    return again(p.text, p)
  end },
  { 'tensors', function()
    local a = again(pd.tensor.randn, { 60, 70 }, { seed = 1 })
    local product = again(a.matmul, a, again(a.transpose, a, 1, 2))
    return again(numbers, again(function() return product:softmax(1):exp():sum(2) end))
  end },
  { 'trees', function()
    local text = '(S (NP (D the) (N cat)) (VP (V sat) (PP (P on) (NP (D the) (N mat)))))\n'
    local trees = again(pd.tree.parse, text:rep(200))
    return tostring(again(pd.tree.score, trees, trees))
  end },
}

-- Messages must not contain C++ names or places in LibTorch.
local function complaint(message)
  for _, words in ipairs { 'std::', 'bad_alloc', '%.cpp', 'c10' } do
    if message:find(words) then return message end
  end
  if not message:find 'memory' then return message end
end

collectgarbage()
local failures = 0
for _, job in ipairs(jobs) do
  local name, run_job = job[1], job[2]
  run_job()
  local wanted = run_job()
  fail_allocation(0, least)
  run_job()
  local count = only and only ~= name and 0 or fail_allocation(0, none)
  local tried, told = 0, 0
  for i = 1, math.min(count, most) do
    local at = count <= most and i or math.ceil((i - 0.5) * count / most)
    said = {}
    io.write(('\r%s %d of %d'):format(name, at, count))
    io.flush()
    fail_allocation(at, least)
    local ok, got = pcall(run_job)
    fail_allocation(0, none)
    tried = tried + 1
    if #said > 0 then told = told + 1 end
    local wrong = not ok and 'it fails again: ' .. tostring(got) or got ~= wanted and 'another outcome' or nil
    for _, message in ipairs(said) do
      if complaint(message) then wrong = (wrong and wrong .. '; ' or '') .. 'no sentence: ' .. message end
    end
    if wrong then
      failures = failures + 1
      print(('\nFAILED %s, allocation %d of %d: %s'):format(name, at, count, wrong))
    end
  end
  print(('\r%s: %d of %d allocations failed, %d were told of'):format(name, tried, count, told))
end
os.execute('rm -rf ' .. files.quoted(folder))
os.exit(failures == 0 and 0 or 1)
