-- The recognizers of FLaRe on languages beyond the benchmark: formulas and their values, sets of next symbols, strings
-- that are joined, and the table of hard negatives.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local flare = pd.root .. '/scripts/experiments/flare/'
local languages, sampling = dofile(flare .. 'languages.lua'), dofile(flare .. 'sampling.lua')
local beyond, folder = dofile(flare .. 'beyond.lua'), test.folder()

local all_languages = {}
for _, list in ipairs { languages, beyond } do
  for _, language in ipairs(list) do all_languages[#all_languages + 1] = language end
end

local function words(text) return pd.tables.matches(text, '%S+') end

-- Lua computes the value of a formula, too.
local function value_in_lua(formula)
  local text = formula:gsub('%d', { ['0'] = 'false', ['1'] = 'true' })
  return assert(loadstring('return ' .. text))() and '1' or '0'
end

test('formulas are followed by their values, and hard negatives by the other ones', function()
  local formulas = beyond[3]
  test.equal(formulas.name, 'formulas')
  local hard_negatives, deepest = dofile(flare .. 'hard_negatives.lua'), 0
  local valid, hard = formulas.grammar():sampler({ lengths = { 0, 60 } }):dataset(200, { seed = 3 }),
    hard_negatives(formulas, 200, { 0, 60 }, 4, 1)
  for right, set in pairs { [true] = valid, [false] = hard } do
    for _, string in ipairs(set:strings()) do
      local text = type(string) == 'table' and table.concat(string, ' ') or string
      local formula, last = text:match '^(.*) = ([01])$'
      test.equal(last == value_in_lua(formula), right, text)
      test.equal(formulas.contains(words(text)), right, text)
      deepest = math.max(deepest, select(2, text:gsub('[(]', '')))
    end
  end
  assert(deepest > 10)
  for _, wrong in ipairs { '', '1', '1 =', '= 1', '( 1 ) = 1', '1 and 1 = 1', '( 1 and 1 = 1', '1 = 1 1',
    '( 1 or 0 ) = 0', '( 1 and and 1 ) = 1', 'or = 1', '1 = 0' } do
    test.equal(formulas.contains(words(wrong)), false, wrong)
  end
end)

test('reflections of a square find most hard negatives of reversals', function()
  local hard_negatives, found = dofile(flare .. 'hard_negatives.lua'), 0
  local reflections = { ['0'] = { 2, 1, 4, 3 }, ['1'] = { 3, 2, 1, 4 }, ['#'] = { 1, 2, 3, 4 } }
  for _, language in ipairs(languages) do
    if language.name:find 'reversal' then
      local set, right = hard_negatives(language, 400, { 0, 100 }, 7, 0.5), 0
      local labels = set:labels()
      for i, string in ipairs(set:strings()) do
        local corner = 1
        for _, symbol in ipairs(words(string)) do corner = reflections[symbol][corner] end
        -- Every string of the language passes.
        assert(corner == 1 or not labels[i], string)
        right = right + ((corner == 1) == labels[i] and 1 or 0)
      end
      assert(right > 330 and right < 380, right)
      found = found + 1
    end
  end
  test.equal(found, 2)
end)

test('sets of next symbols fit an alphabet in any order', function()
  for _, language in ipairs(all_languages) do
    local set, checked = sampling.sample(language, 60, { 0, 12 }, 5, true), 0
    local sets, labels = set:next_symbols(), set:labels()
    for i, string in ipairs(set:strings()) do
      local symbols = words(string)
      if labels[i] then
        test.equal(#sets[i], #symbols + 1, language.name)
        local place = language.name .. ': ' .. string
        for t, follow in ipairs(sets[i]) do
          local found = {}
          for _, symbol in ipairs(follow) do found[symbol] = true end
          assert(found[symbols[t] or ''], place)
          -- The string may end where a prefix of it is in the language.
          test.equal(found[''] or false, language.contains { unpack(symbols, 1, t - 1) }, place)
          checked = checked + 1
        end
      else
        test.equal(#sets[i], 0)
      end
    end
    assert(checked > 60, language.name)
  end
end)

test('strings of several datasets are joined', function()
  local a, b = sampling.sample(beyond[1], 10, { 0, 9 }, 1), sampling.sample(beyond[1], 5, { 0, 9 }, 2)
  local both = sampling.join(beyond[1], { a, b }, true)
  test.equal(both:size() .. ' ' .. both:positives(), '15 ' .. a:positives() + b:positives())
  test.equal(both:strings()[12], b:strings()[2])
  test.equal(both:labels()[12], b:labels()[2])
  test.equal(#both:next_symbols(), 15)
end)

test('lengths that have no strings are errors', function()
  for _, name in ipairs { 'marked_copy', 'marked_reversal', 'missing_duplicate_string' } do
    local lengths = name == 'missing_duplicate_string' and { 3, 3 } or { 2, 2 }
    for _, language in ipairs(languages) do
      if language.name == name then
        test.fails('no strings', function() sampling.sample(language, 4, lengths, 1) end)
      end
    end
  end
  for given, name in pairs { ['9,3'] = '--lengths', ['5'] = '--test-lengths', ['1,2,3'] = '--first-lengths',
    ['0,2.5'] = '--long-lengths' } do
    local output, status = test.run({ flare .. 'train.lua', '--smoke', name, given, '--run-folder',
      folder .. '/lengths' .. name }, { folder = folder })
    assert(status ~= 0 and output:find(name .. ': expected', 1, true), output)
  end
end)

test('the loss of next symbols and of their sets is the sum of both', function()
  dofile(flare .. 'protocol.lua')
  local data = sampling.sample(beyond[1], 40, { 2, 8 }, 3, true)
  local function step(kind, weight)
    local model = pd.model.recognizer { alphabet = data:alphabet(), controller = { kind = 'gru', hidden = 4 },
      next_symbol = true, seed = 3, dtype = 'float64' }
    return pd.train.trainer { model = model, train = data, batch = 10, seed = 1, progress = false,
      objective = { kind = 'recognition_and_' .. kind, weight = weight } }:step().loss
  end
  test.near(step('both', 0.7), step('language_model', 0.7) + step('next_symbols', 0.7) - step('language_model', 0),
    1e-12)
end)

test('the table of hard negatives: floors, means and the best of the seeds, and who is above', function()
  local arguments = { '--smoke', '--tasks', 'reversals', '--models', 'gru,selective_ssm,superposition', '--restarts',
    '2', '--workers', '1', '--folder', folder .. '/grid', '--run-folder', folder .. '/table' }
  local output, status = test.run({ flare .. 'hard_table.lua', unpack(arguments) },
    { folder = folder, environment = 'OMP_NUM_THREADS=1' })
  assert(status == 0, output)
  local of = {}
  for _, path in ipairs(files.find(folder .. '/grid', 'result%.json$')) do
    local result = json.decode(files.read(folder .. '/grid/' .. path))
    of[result.model] = of[result.model] or {}
    table.insert(of[result.model], 100 * result.hard_accuracy)
    test.equal(result.epochs, 3)  -- one of the first stage, two of the second
  end
  local function mean(model) return (of[model][1] + of[model][2]) / 2 end
  local hard = select(2, csv.read(folder .. '/table/hard.csv'))[1]
  for model, label in pairs { gru = 'GRU', selective_ssm = 'Mamba-like', superposition = 'Superposition' } do
    test.equal(hard[label], ('%.1f (%.1f)'):format(mean(model), math.max(unpack(of[model]))))
  end
  local compared = select(2, csv.read(folder .. '/table/comparison.csv'))[1]
  local without = math.max(mean 'gru', mean 'selective_ssm')
  test.near(tonumber(compared['its mean']), without, 1e-9)
  test.near(tonumber(compared.mean), mean 'superposition', 1e-9)
  test.equal(compared['above both'], mean 'superposition' > math.max(without, tonumber(compared.floor)) and 'yes'
    or 'no')
  -- Noise is for networks that read their old hidden vector, in training alone.
  for model in pairs(of) do
    local text = files.read(('%s/grid/reversals/%s/default/restart-1/config.json'):format(folder, model))
    test.equal(text:find('"noise": 0.1,', 1, true) ~= nil, model ~= 'selective_ssm', model)
  end
end)

test.finish()
