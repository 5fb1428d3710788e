-- scripts/experiments/optimum: the processes that make strings, compared with formulas, grammars and enumeration; what
-- they draw; the numbers that are measured, compared with those of single strings; the tables.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local here = pd.root .. '/scripts/experiments/optimum/'
local addition, languages = dofile(here .. 'addition.lua'), dofile(here .. 'languages.lua')
local measure = dofile(here .. 'measure.lua')
local folder = test.folder()

local function run(...)
  return test.run({ 'optimum', ... }, { folder = folder, environment = 'OMP_NUM_THREADS=1' })
end

local function geometric(n) return n >= 1 and 0.7 ^ (n - 1) * 0.3 or 0 end

local function counts(text, ...)
  local numbers = { text:match('^' .. table.concat { ... } .. '$') }
  for i, part in ipairs(numbers) do numbers[i] = #part end
  return numbers
end

-- The probability of a string by its form.
local probability = {
  an_bn = function(text)
    local n = counts(text, '(a+)(b+)')
    return n[1] and n[1] == n[2] and geometric(n[1]) or 0
  end,
  an_bn_cn = function(text)
    local n = counts(text, '(a+)(b+)(c+)')
    return n[1] and n[1] == n[2] and n[1] == n[3] and geometric(n[1]) or 0
  end,
  an_bn_cn_dn = function(text)
    local n = counts(text, '(a+)(b+)(c+)(d+)')
    return n[1] and n[1] == n[2] and n[1] == n[3] and n[1] == n[4] and geometric(n[1]) or 0
  end,
  an_b2n = function(text)
    local n = counts(text, '(a+)(b+)')
    return n[1] and 2 * n[1] == n[2] and geometric(n[1]) or 0
  end,
  an_bm_cnm = function(text)
    local n = counts(text, '(a+)(b+)(c+)')
    return n[1] and n[1] + n[2] == n[3] and geometric(n[1]) * geometric(n[2]) or 0
  end,
}
local one = pd.grammar.parse "S -> '[' S ']' S [0.3] | [0.7]"
local two = pd.grammar.parse "S -> '[' S ']' S [0.15] | '(' S ')' S [0.15] | [0.7]"
local function of_grammar(grammar)
  return function(text) return math.exp(grammar:log_probability((text:gsub('.', '%0 ')))) end
end
probability.dyck_1, probability.dyck_2 = of_grammar(one), of_grammar(two)

test('the optimum of every short string is that of its formula or grammar', function()
  for _, language in ipairs(languages.list) do
    local strings, sum, bits, symbols_in_all = {}, 0, 0, 0
    test.each_string(language.alphabet, ({ [2] = 10, [3] = 8, [4] = 8 })[#language.alphabet], function(symbols)
      local wanted, found = probability[language.name](table.concat(symbols)), languages.bits(language, symbols)
      if wanted == 0 then
        test.equal(found, math.huge, table.concat(symbols))
      else
        test.near(found, -math.log(wanted) / math.log(2), 1e-9)
        strings[#strings + 1] = { unpack(symbols) }
        sum, bits, symbols_in_all = sum + wanted, bits + found, symbols_in_all + #symbols + 1
      end
    end)
    assert(#strings > 1 and sum < 1 and sum > 0.05, language.name)
    test.near(languages.optimum(language, { strings = strings }), bits / symbols_in_all, 1e-12)
  end
  -- A weight counts as that many strings.
  local language = languages.an_bn
  local ab, aabb = { 'a', 'b' }, { 'a', 'a', 'b', 'b' }
  test.near(languages.optimum(language, { strings = { ab, aabb }, weights = { 2, 1 } }),
    languages.optimum(language, { strings = { ab, ab, aabb } }), 1e-12)
end)

test('drawn brackets have the probabilities of the grammar, however often the process was walked', function()
  for name, grammar in pairs { dyck_1 = one, dyck_2 = two } do
    local language = languages[name]
    local set = language.test(0, { test_draws = 3000, random = languages.generator(3) })
    local own = languages.estimate(language, set.strings)
    assert(own > 0 and own < 1)
    for _ = 1, 3 do
      for _, symbols in ipairs(set.strings) do
        local found = languages.bits(language, symbols)
        if #symbols <= 30 then
          test.near(found, -grammar:log_probability(table.concat(symbols, ' ')) / math.log(2), 1e-6)
        end
      end
    end
  end
end)

test('the optima are those that the paper prints', function()
  local options = { beyond = 1000, test_strings = 62500, test_draws = 20000 }
  local wanted = { an_bn = 0.258, an_bn_cn = 0.172, an_bn_cn_dn = 0.129, an_b2n = 0.172, an_bm_cnm = 0.269,
    dyck_1 = 0.882, dyck_2 = 1.18 }
  for _, language in ipairs(languages.list) do
    options.random = languages.generator(3)
    local set = language.test(20, options)
    -- Strings of brackets are drawn, and the paper's are others: 0.881 is the entropy of a step.
    test.near(languages.optimum(language, set), wanted[language.name],
      language.accuracy == 'categorical' and 0.01 or 0.001)
  end
  test.equal(#languages.an_bn.test(20, options).strings, 1000)
  test.equal(languages.an_bn.size(languages.an_bn.test(20, options).strings[1]), 21)
  test.equal(#languages.an_bm_cnm.test(20, options).strings, 49 * 49)
  options.test_strings = 10
  local few = languages.an_bn.test(20, options).strings
  test.equal(#few, 10)
  test.equal(languages.an_bn.size(few[10]), 1020)
end)

test('probabilities are estimated from the choices of strings', function()
  local function symbols(text) return pd.tables.matches(text, '.') end
  -- Four runs of a's, 8 in all: after each a the run may end. Of brackets, 3 of 8 steps open one.
  local strings = { symbols 'ab', symbols 'aabb', symbols 'aaabbb', symbols 'aabb' }
  local last = languages.estimate(languages.an_bn, strings)
  test.near(last, 4 / 8, 1e-12)
  test.near(languages.bits(languages.an_bn, strings[3], last), 3, 1e-12)
  last = languages.estimate(languages.dyck_2, { symbols '[()]', symbols '()' })
  test.near(last, 5 / 8, 1e-12)
  test.near(2 ^ -languages.bits(languages.dyck_2, symbols '[]', last), 3 / 16 * (5 / 8) ^ 2, 1e-12)
  -- The estimate of its own strings is better than the process itself.
  local set = { strings = languages.strings(languages.an_bm_cnm, 50, 3) }
  local own = languages.estimate(languages.an_bm_cnm, set.strings)
  assert(languages.optimum(languages.an_bm_cnm, set, own) < languages.optimum(languages.an_bm_cnm, set))
end)

test('strings are drawn from the processes', function()
  local count = 20000
  for name, numbers in pairs { an_bn = 1, an_bm_cnm = 2 } do
    local seen = {}
    for _, symbols in ipairs(languages.strings(languages[name], count, 1)) do
      local n = counts(table.concat(symbols), numbers == 1 and '(a+)b+' or '(a+)(b+)c+')
      for i = 1, numbers do seen[n[i]] = (seen[n[i]] or 0) + 1 end
    end
    for n = 1, 12 do
      local p, all = geometric(n), count * numbers
      assert(math.abs((seen[n] or 0) - all * p) < 4.5 * math.sqrt(all * p * (1 - p)), name .. n)
    end
  end
  local seen = {}
  for _, symbols in ipairs(languages.strings(languages.dyck_2, count, 2)) do
    local text = table.concat(symbols)
    seen[text] = (seen[text] or 0) + 1
  end
  for _, text in ipairs { '', '[]', '()', '[]()', '[()]', '(())' } do
    local p = probability.dyck_2(text)
    assert(math.abs((seen[text] or 0) - count * p) < 4.5 * math.sqrt(count * p * (1 - p)), text)
  end
  test.equal(seen['[)'], nil)
  -- The seed decides the strings, and the first ones do not depend on their number.
  local few = languages.strings(languages.dyck_1, 20, 7)
  for i, symbols in ipairs(languages.strings(languages.dyck_1, 10, 7)) do
    test.equal(table.concat(few[i]), table.concat(symbols))
  end
end)

test('measures of a set are those of its strings one by one, whatever the batches and pieces', function()
  local epsilon, mixed = 0.2, 0
  for _, stack in ipairs { { kind = 'none' }, { kind = 'superposition', size = 2 },
    { kind = 'nondeterministic', states = 1, symbols = 2 } } do
    for _, language in ipairs { languages.an_bn_cn, languages.dyck_2 } do
      local model = pd.model.language_model { alphabet = language.alphabet, stack = stack, seed = 3, dtype = 'float64',
        controller = { kind = 'elman', hidden = 5 } }
      -- Weights that are large enough that some steps are right and others are not.
      for _, tensor in pairs(model:parameters()) do tensor:assign(4 * tensor:detach()) end
      if language.accuracy == 'categorical' then model:set_parameters { ['output.bias'] = { 2, -4, 2, -4, 2 } } end
      local set = { strings = languages.strings(language, 12, 4), weights = {} }
      local nats, symbols_in_all, judged, right, whole, all = 0, 0, 0, 0, 0, 0
      local flags = {}
      for i, symbols in ipairs(set.strings) do
        local weight = 1 + i % 3
        set.weights[i] = weight
        local text = table.concat(symbols, ' ')
        nats = nats - weight * model:log_probability(text)
        symbols_in_all, all = symbols_in_all + weight * (#symbols + 1), all + weight
        local walk, good = language.walk(), true
        for t = 1, #symbols + 1 do
          local following, predicted = walk.next(), model:next(table.concat(symbols, ' ', 1, t - 1))
          local possible, best, hit = {}, nil, true
          for _, outcome in ipairs(following) do possible[outcome[1] == '' and '<end>' or outcome[1]] = true end
          for symbol, p in pairs(predicted) do
            if not best or p > predicted[best] then best = symbol end
            if (p > epsilon) ~= (possible[symbol] or false) then hit = false end
          end
          if language.accuracy == 'deterministic' then hit = possible[best] or false end
          if language.accuracy == 'categorical' or #following == 1 then
            judged, right = judged + weight, right + (hit and weight or 0)
            good = good and hit
          end
          if symbols[t] then walk.read(symbols[t]) end
        end
        flags[i], whole = good, whole + (good and weight or 0)
      end
      for _, sizes in ipairs { { 50, 100 }, { 5, 3 }, { 1, 1 } } do
        local found = measure.measure(model, language, set, { batch = sizes[1], piece = sizes[2], epsilon = epsilon })
        test.near(found.cross_entropy, nats / math.log(2) / symbols_in_all, 1e-6)
        test.near({ found.accuracy, found.right_share }, { right / judged, whole / all }, 1e-9)
        for i, flag in ipairs(flags) do test.equal(found.right[i], flag) end
      end
      mixed = mixed + (right > 0 and right < judged and 1 or 0)
    end
  end
  -- Some steps of most models are right, and others are not.
  assert(mixed >= 3, mixed)
end)

test('a network counts up to the last size before the first error', function()
  test.equal(measure.reach({ 3, 1, 2, 2, 5 }, { true, true, true, false, true }), 1)
  test.equal(measure.reach({ 3, 1, 2 }, { true, true, true }), 3)
  test.equal(measure.reach({ 3, 1 }, { true, false }), 0)
end)

test('sums of addition are those of numbers, and its measures those of single pairs', function()
  local set = addition.set(0, 9, 100, languages.spread)
  test.equal(#set.pairs, 100)
  test.equal(set.sizes[100], 9)
  for i, pair in ipairs(set.pairs) do
    local x, y, sum, place = 0, 0, 0, 1
    for bits in pair[1]:gmatch '%S+' do
      x, y, place = x + place * tonumber(bits:sub(1, 1)), y + place * tonumber(bits:sub(2)), 2 * place
    end
    test.equal(place, 64)
    place = 1
    for bit in pair[2]:gmatch '%S+' do sum, place = sum + place * tonumber(bit), 2 * place end
    test.equal(x .. '+' .. y, math.floor((i - 1) / 10) .. '+' .. (i - 1) % 10)
    test.equal(sum, x + y)
  end
  -- 62,500 pairs of 11 bits, as in the paper.
  local whole = addition.set(11, 260, 62500, languages.spread)
  test.equal(#whole.pairs, 62500)
  test.equal(#whole.pairs[1][2], 21)

  local model = pd.model.transducer { source_alphabet = addition.source_alphabet,
    target_alphabet = addition.target_alphabet, alignment = 'along', output_embedding = 0, seed = 2,
    controller = { kind = 'elman', hidden = 4 } }
  local found = addition.measure(model, set)
  local nats, right, whole_right = 0, 0, 0
  for i, pair in ipairs(set.pairs) do
    nats = nats - model:log_probability(pair[1], pair[2])
    local written, good = pd.tables.matches(model:translate(pair[1], { longest = 6 }), '%S+'), true
    for t, bit in ipairs(pd.tables.matches(pair[2], '%S+')) do
      if written[t] == bit then right = right + 1 else good = false end
    end
    test.equal(found.right[i], good)
    whole_right = whole_right + (good and 1 or 0)
  end
  test.near({ found.cross_entropy, found.accuracy, found.right_share },
    { nats / math.log(2) / 600, right / 600, whole_right / 100 }, 1e-6)
end)

test('the recipe finds the counters of aⁿbⁿ', function()
  local place = folder .. '/counters'
  local output, status = run('--task', 'an_bn_100', '--model', 'counters_recipe', '--recipe-epochs', '60',
    '--beyond', '200', '--test-strings', '20', '--run-folder', place)
  assert(status == 0, output)
  local result = json.decode(files.read(place .. '/result.json'))
  test.near({ result.score, result.right_share }, { 1, 1 }, 0)
  test.equal(result.reach, result.largest + 200)
  test.near(result.difference, result.cross_entropy - result.optimum, 1e-12)
  -- What was measured is the saved network.
  local model = pd.model.load(place .. '/network.safetensors')
  test.equal(model:options().stack.rounding, true)
  local shares = {}
  for _, row in ipairs(select(2, csv.read(place .. '/lengths.csv'))) do shares[#shares + 1] = tonumber(row.accuracy) end
  assert(#shares >= 5)
  for _, share in ipairs(shares) do test.equal(share, 1) end
  local again, code = run('--task', 'an_bn_100', '--model', 'counters_recipe', '--recipe-epochs', '60',
    '--beyond', '200', '--test-strings', '20', '--run-folder', place)
  assert(code == 0 and files.read(place .. '/result.json'):find(('%.10g'):format(result.seconds):sub(1, 6), 1, true),
    again)
end)

test('the tables show the run with the best validation beside the published differences', function()
  local place, grid = folder .. '/scores', folder .. '/grid'
  local arguments = { '--smoke', '--restarts', '2', '--workers', '1', '--folder', grid }
  local output, status = run('scores', '--run-folder', place, unpack(arguments))
  assert(status == 0, output)
  assert(output:find('12 runs', 1, true), output)
  local best = {}
  for _, file in ipairs(files.find(grid, 'result%.json$')) do
    local result = json.decode(files.read(grid .. '/' .. file))
    local key = result.task .. ' ' .. result.model
    if not best[key] or result.valid_loss < best[key].valid_loss then best[key] = result end
  end
  local rows = select(2, csv.read(place .. '/differences.csv'))
  for i, task in ipairs { 'an_bn_100', 'dyck_2_100', 'addition_100' } do
    test.near(tonumber(rows[i].LSTM), best[task .. ' lstm'].difference, 1e-9)
    test.near(tonumber(rows[i]['Counters, recipe']), best[task .. ' counters_recipe'].difference, 1e-9)
  end
  test.near(tonumber(rows[1]['MDLRNN (published)']), 0.294 - 0.258, 1e-9)
  test.equal(rows[2]['MDLRNN (published)'], '')
  for _, name in ipairs { 'reach.csv', 'accuracies.csv', 'scores.csv', 'right_strings.csv', 'settings.csv',
    'lengths-an_bn_100.svg' } do
    assert(files.exists(place .. '/' .. name), name)
  end
  output, status = run('scores', '--run-folder', folder .. '/again', unpack(arguments))
  assert(status == 0 and output:find('12 were finished before', 1, true), output)
end)

test('wrong options and files are errors before anything is trained', function()
  local function fails(expected, ...)
    local output, status = run(...)
    assert(status ~= 0 and output:find(expected, 1, true), output)
  end
  fails("did you mean 'an_bn_100'", '--task', 'an_bn_10')
  fails('test-strings', '--smoke', '--test-strings', '0')
  fails('epsilon', '--smoke', '--epsilon', '2')
  local path = folder .. '/published.csv'
  files.write(path, 'task,model,source\nan_bn_100,Theirs,a paper\n')
  fails('has no column score', 'scores', '--smoke', '--published', path, '--folder', folder .. '/none')
  files.write(path, 'task,model,score,source\nan_bn_100,Theirs,101,a paper\n')
  fails('row 1: score must be a number from 0 to 100', 'scores', '--smoke', '--published', path, '--folder',
    folder .. '/none')
  assert(not files.exists(folder .. '/none'))
end)

test.finish()
