-- The lower bound of a language model is that of the event that it predicts, or results say that it is not, and a
-- cross-entropy significantly below it is explained.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local top = test.folder()

-- The strings a, aa, aaa and aaaa. Only their ends carry information.
local grammar = pd.grammar.parse "S -> 'a' S | 'a'"
local sampler = grammar:sampler { lengths = { 1, 4 } }
local data = sampler:dataset(60, { seed = 1, batch = 1 })
local function model(end_symbol)
  return pd.model.language_model { alphabet = { 'a' }, controller = { kind = 'lstm', hidden = 3 }, seed = 1,
    end_symbol = end_symbol }
end

test('without an end symbol nothing is left to predict', function()
  local found = pd.train.evaluate(model(false), data)
  test.near(found.cross_entropy, 0, 1e-12)
  test.near(found.lower_bound, 0, 1e-12)
  test.near(found.cross_entropy_difference, 0, 1e-12)
  test.equal(found.bound_includes_end, nil)
  test.near(sampler:lower_bound(data, { end_symbol = false }), 0, 1e-12)
  test.near(sampler:log_probability('a a', { end_symbol = false }), 0, 1e-12)
  for _, value in ipairs(data:log_probabilities { end_symbol = false }) do test.near(value, 0, 1e-12) end
end)

test('the bound of whole strings is used on request, or where no other is known, and says so', function()
  local asked = pd.train.evaluate(model(false), data, { bound = 'string' })
  test.near(asked.lower_bound, 60 * math.log(4) / data:symbol_count(), 1e-12)
  test.near(asked.cross_entropy_difference, -asked.lower_bound, 1e-12)
  test.equal(asked.bound_includes_end, true)
  local own = pd.task.dataset { alphabet = { 'a' }, strings = data:strings(),
    log_probabilities = data:log_probabilities() }
  local known = pd.train.evaluate(model(false), own)
  test.equal(known.lower_bound, asked.lower_bound)
  test.equal(known.bound_includes_end, true)
  test.fails('only the probabilities of whole strings', function() own:lower_bound { end_symbol = false } end)
  -- With an end symbol there is only one bound.
  local whole = pd.train.evaluate(model(true), own)
  test.equal(whole.lower_bound, asked.lower_bound)
  test.equal(whole.bound_includes_end, nil)
  assert(whole.cross_entropy_difference > 0)
end)

-- The standard error of the difference, from its definition: consecutive strings of one length are one observation.
test('the standard error is that of a ratio of sums', function()
  local m = model(true)
  local function check(strings_of)
    local found = pd.train.evaluate(m, strings_of)
    local sources, lengths, groups = strings_of:log_probabilities(), strings_of:lengths(), {}
    for i, text in ipairs(strings_of:strings()) do
      if lengths[i] ~= lengths[i - 1] then groups[#groups + 1] = 0 end
      groups[#groups] = groups[#groups] + sources[i] - m:log_probability(text)
        - found.cross_entropy_difference * lengths[i]
    end
    local sum = 0
    for _, residual in ipairs(groups) do sum = sum + residual ^ 2 end
    local n = #groups
    test.near(found.difference_error, math.sqrt(sum * n / (n - 1)) / strings_of:symbol_count(), 1e-9)
    return found.difference_error, n
  end
  local single, many = check(data)
  local grouped, few = check(sampler:dataset(60, { seed = 1, batch = 10 }))
  assert(grouped > single and few < 7 and many > 30)
end)

-- Runs statements in a shell of their own; returns all that it prints.
local function said(code)
  local path = top .. '/script.lua'
  files.write(path, code)
  return (test.run { path })
end

local setting = [[
local pd = require 'pushdown'
local sampler = pd.grammar.parse("S -> 'a' S | 'a'"):sampler { lengths = { 1, 4 } }
local data = sampler:dataset(60, { seed = 1, batch = 1 })
local m = pd.model.language_model { alphabet = { 'a' }, controller = { kind = 'lstm', hidden = 3 }, seed = 1,
  end_symbol = false }
]]

test('a cross-entropy significantly below its bound is explained', function()
  local clear = said(setting .. 'pd.train.evaluate(m, data)')
  test.equal(clear, '')
  local ends = said(setting .. "pd.train.evaluate(m, data, { bound = 'string' })")
  test.equal(ends:find('warning the cross%-entropy is 0.%d+ below the lower bound %(standard error 0.%d+%): the bound '
    .. 'includes the ends of the strings') ~= nil, true)
  -- Strings that are less likely in their alleged source than in the model.
  local foreign = said(setting .. [[
    pd.train.evaluate(pd.model.language_model { alphabet = { 'a' }, seed = 1 }, pd.task.dataset { alphabet = { 'a' },
      strings = data:strings(), log_probabilities = pd.tensor.full({ 60 }, -20):to_table() })]])
  test.equal(foreign:find('probably not drawn from the distribution of the bound', 1, true) ~= nil, true)
  -- Two strings are no evidence.
  local luck = said(setting .. [[
    local two = { 'a', 'a a' }
    pd.train.evaluate(m, pd.task.dataset { alphabet = { 'a' }, strings = two, log_probabilities = { -0.001, -1 } })]])
  test.equal(luck, '')
end)

test('a training says it once, and has the bound in its files', function()
  local function trainer(folder, bound)
    return pd.train.trainer { model = model(false), train = data, valid = data, epochs = 3, bound = bound, seed = 1,
      progress = false, run_folder = folder }
  end
  for _, bound in ipairs { 'model', 'string' } do
    local whole = trainer(top .. '/whole-' .. bound, bound)
    for _ in whole:epochs() do end
    for _, epoch in ipairs(whole:history()) do
      test.equal(epoch.bound_includes_end, bound == 'string' or nil)
      test.near(epoch.lower_bound, bound == 'string' and data:lower_bound() or 0, 1e-12)
    end
    local config = json.decode(files.read(top .. '/whole-' .. bound .. '/config.json'))
    test.near(config.data.valid.lower_bound, bound == 'string' and data:lower_bound() or 0, 1e-12)
    local log, warnings = files.read(top .. '/whole-' .. bound .. '/log.txt'), 0
    for _ in log:gmatch 'warning' do warnings = warnings + 1 end
    test.equal(warnings, bound == 'string' and 1 or 0)
    local kept = pd.task.load_dataset(top .. '/whole-' .. bound .. '/data/valid.txt')
    test.equal(kept:lower_bound(), data:lower_bound())
    if bound == 'model' then test.near(kept:lower_bound { end_symbol = false }, 0, 1e-12) end
  end
end)

test.finish()
