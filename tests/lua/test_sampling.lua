-- What language models draw and predict, and what transducers write with a beam.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'

local function model(options)
  return pd.model.language_model(pd.tables.merged({ alphabet = { 'a', 'b' }, dtype = 'float64', seed = 1,
    controller = { kind = 'lstm', hidden = 3 } }, options))
end

-- Calls visit(string, symbols) for every string of this length.
local function each_string(symbols, length, visit)
  test.each_string(symbols, length, function(list)
    if #list == length then visit(table.concat(list, ' '), list) end
  end)
end

-- Compares counts of drawn strings with probabilities by name; all others are one class.
local function check_shares(drawn, probabilities)
  local counts, rest, sum, classes, others = {}, 1, 0, 0, #drawn
  for _, string in ipairs(drawn) do counts[string] = (counts[string] or 0) + 1 end
  local function add(count, p)
    sum, classes = sum + (count - #drawn * p) ^ 2 / (#drawn * p), classes + 1
  end
  for string, p in pairs(probabilities) do
    add(counts[string] or 0, p)
    rest, others = rest - p, others - (counts[string] or 0)
  end
  if rest > 1e-9 then add(others, rest) else test.equal(others, 0) end
  -- By Wilson and Hilferty, the cube root of chi-square / k is nearly normal; four deviations.
  local k = classes - 1
  local bound = k * (1 - 2 / (9 * k) + 4 * math.sqrt(2 / (9 * k))) ^ 3
  assert(sum < bound, ('chi-square is %.1f, with %d classes: expected below %.1f'):format(sum, classes, bound))
end

test('drawn strings have the probabilities of the model', function()
  for _, options in ipairs { {}, { stack = { kind = 'nondeterministic' } }, { stack = { kind = 'superposition' } },
    { stack = { kind = 'stratification', size = 2 }, embedding = 2 },
    { architecture = 'transformer', hidden = 8, heads = 2, feedforward = 8 } } do
    if options.architecture then options.controller = nil end
    local m = options.architecture and pd.model.language_model(pd.tables.merged({ alphabet = { 'a', 'b' },
      dtype = 'float64', seed = 1 }, options)) or model(options)
    local drawn, probabilities = m:sample { count = 20000, seed = 5 }, {}
    for length = 0, 3 do
      each_string({ 'a', 'b' }, length, function(s) probabilities[s] = math.exp(m:log_probability(s)) end)
    end
    check_shares(drawn, probabilities)
  end
end)

test('strings of a length, without an end symbol and with one', function()
  local m = model { end_symbol = false }
  local probabilities = {}
  each_string({ 'a', 'b' }, 3, function(s) probabilities[s] = math.exp(m:log_probability(s)) end)
  check_shares(m:sample { count = 20000, length = 3, seed = 2 }, probabilities)
  -- With an end symbol each symbol is drawn given that the string goes on.
  m = model()
  each_string({ 'a', 'b' }, 2, function(s, symbols)
    local p, first = 1, ''
    for _, symbol in ipairs(symbols) do
      local next = m:next(first)
      p, first = p * next[symbol] / (1 - next['<end>']), first .. ' ' .. symbol
    end
    probabilities[s] = p
  end)
  local of_two = {}
  each_string({ 'a', 'b' }, 2, function(s) of_two[s] = probabilities[s] end)
  check_shares(m:sample { count = 20000, length = 2, seed = 3 }, of_two)
  test.equal(table.concat(m:sample { count = 2, length = 0 }, '|'), '|')
end)

test('a prefix is a condition, and a temperature changes the softmax', function()
  local m = model { end_symbol = false, alphabet = { 'a', 'b', 'c' } }
  local probabilities = {}
  for _, symbol in ipairs { 'a', 'b', 'c' } do
    probabilities['b a ' .. symbol] = math.exp(m:log_probability('b a ' .. symbol) - m:log_probability 'b a')
  end
  check_shares(m:sample { count = 5000, length = 3, prefix = 'b a', seed = 1 }, probabilities)
  local logits = m:logits('b a c'):to_table()[3]
  for _, temperature in ipairs { 0.3, 2.5 } do
    local total, next = 0, m:next({ 'b', 'a' }, { temperature = temperature })
    for _, logit in ipairs(logits) do total = total + math.exp(logit / temperature) end
    for i, symbol in ipairs { 'a', 'b', 'c' } do
      probabilities['b a ' .. symbol] = math.exp(logits[i] / temperature) / total
      test.near(next[symbol], probabilities['b a ' .. symbol], 1e-12)
    end
    check_shares(m:sample { count = 5000, length = 3, prefix = 'b a', temperature = temperature, seed = 1 },
      probabilities)
  end
  local ending = model()
  local after_a = {}
  for length = 0, 2 do
    each_string({ 'a', 'b' }, length, function(s)
      local whole = length == 0 and 'a' or 'a ' .. s
      after_a[whole] = math.exp(ending:log_probability(whole)) / math.exp(-ending:surprisal('a')[1].surprisal)
    end)
  end
  check_shares(ending:sample { count = 5000, prefix = 'a', seed = 4 }, after_a)
end)

test('equal seeds give equal strings, and the first ones for every count', function()
  local m = model()
  local drawn = m:sample { count = 700, seed = 1 }
  test.equal(table.concat(drawn, '|'), table.concat(m:sample { count = 700, seed = 1 }, '|'))
  local fewer = m:sample { count = 300, seed = 1 }
  for i, string in ipairs(fewer) do test.equal(string, drawn[i]) end
  test.equal(m:sample { seed = 1 }, drawn[1])
  assert(table.concat(m:sample { count = 700, seed = 2 }, '|') ~= table.concat(drawn, '|'))
end)

test('strings that have not ended are cut', function()
  local m = model()
  m:set_parameters { ['output.bias'] = { 0, 0, -50 } }
  test.equal(#m:sample { longest = 4, seed = 1 }, #'a b a b ...')
  test.equal(m:sample { longest = 0 }, '...')
  test.equal(m:sample { longest = 1, prefix = 'b' }, 'b ...')
end)

test('the next symbol and the surprisals agree with log_probability', function()
  for _, ends in ipairs { true, false } do
    local m = model { end_symbol = ends, stack = { kind = 'nondeterministic' } }
    for _, prefix in ipairs { '', 'a', 'b a a' } do
      local sum = 0
      for _, p in pairs(m:next(prefix)) do sum = sum + p end
      test.near(sum, 1, 1e-12)
    end
    local rows, sum = m:surprisal 'a b b', 0
    test.equal(#rows, ends and 4 or 3)
    for _, row in ipairs(rows) do sum = sum + row.surprisal end
    test.near(sum, -m:log_probability 'a b b', 1e-12)
    test.near(rows.total, sum, 1e-12)
    test.near(rows[2].surprisal, -math.log(m:next('a').b), 1e-12)
  end
  local m = model()
  test.near(m:surprisal('').total, -math.log(m:next()['<end>']), 1e-12)
end)

test('the values print themselves', function()
  local m = model()
  m:set_parameters { ['output.weight'] = pd.tensor.zeros { 3, 3 }, ['output.bias'] = { 0, 1, 2 } }
  local lines = tostring(m:next 'a')
  assert(lines:find '^next symbol after a\n<end> [^\n]* 0.6652\nb     [^\n]* 0.2447\na     [^\n]* 0.0900$', lines)
  assert(tostring(m:next()):find '^first symbol\n')
  lines = tostring(m:surprisal 'b a')
  assert(lines:find('^surprisal in nats\nb     [^\n]* 1.4076\na     [^\n]* 2.4076\n<end> [^\n]* 0.4076\n'
    .. '4.2228 nats in all$'), lines)
  local many = {}
  for i = 1, 100 do many[i] = 'w' .. i end
  assert(tostring(model { alphabet = many }:next()):find '\n77 more, 0.%d+ together$')
end)

test('an alphabet may have the name of the end', function()
  local next = model { alphabet = { '<end>', 'b' } }:next()
  assert(next['<end>'] > 0 and next['<end of string>'] > 0)
end)

test('symbols outside the alphabet are read as another one when asked', function()
  local m = model { alphabet = { 'a', '<unk>' } }
  local unk = { unknown = '<unk>' }
  test.equal(m:log_probability('a x', unk), m:log_probability 'a <unk>')
  test.equal(m:log_probability('a x', { unknown = 'reject' }), -math.huge)
  test.equal(m:surprisal('a x', unk).total, m:surprisal('a <unk>').total)
  test.equal(m:next('x', { unknown = '<unk>', temperature = 2 }).a, m:next('<unk>', { temperature = 2 }).a)
  test.fails("symbol 'x' is not in the alphabet", function() m:surprisal 'a x' end)
  test.fails("unknown = 'reject': there is no answer", function() m:next('x', { unknown = 'reject' }) end)
  test.fails("unknown must be 'reject' or a symbol of the alphabet, got '<oov>'",
    m.surprisal, m, 'a', { unknown = '<oov>' })
  local r = pd.model.recognizer { alphabet = { 'a', '<unk>' }, seed = 1 }
  test.equal(r:accepts('x', { unknown = 'reject' }), false)
  test.equal(r:accepts('x', unk), r:accepts '<unk>')
end)

test('wrong calls', function()
  local m, endless = model(), model { end_symbol = false }
  test.fails("symbol 'c' is not in the alphabet", function() m:sample { prefix = 'c' } end)
  test.fails("no symbol 'c'", function() return m:next().c end)
  test.fails('predicts no end of a string: give a length', function() endless:sample {} end)
  test.fails('the length must be at least 2, that of the prefix, got 1', m.sample, m, { prefix = 'a b', length = 1 })
  test.fails("'longest' must be at least 2", function() m:sample { prefix = 'a b', longest = 1 } end)
  for _, temperature in ipairs { 0, -1, 1 / 0, 0 / 0 } do
    test.fails('temperature', function() m:sample { temperature = temperature } end)
    test.fails('temperature', function() m:next('a', { temperature = temperature }) end)
  end
  test.fails('count', function() m:sample { count = 1e9 } end)
  local r = pd.model.recognizer { alphabet = { 'a' }, controller = { kind = 'gru', hidden = 2 } }
  test.fails("a Recognizer has no method 'surprisal' %('LanguageModel' has it%)", function() r:surprisal 'a' end)
  test.fails("a Recognizer has no method 'sample' %(.*LanguageModel", function() r:sample {} end)
  test.fails('the strings take more than 4 GB',
    function() pd.grammar.load 'dyck':sample { count = 1e9, length = 2 } end)
end)

test('a model without symbols draws empty strings', function()
  local ok, m = pcall(model, { alphabet = {} })
  if not ok then return end
  test.equal(m:sample {}, '')
  test.equal(m:next()['<end>'], 1)
  test.fails('the alphabet is empty', function() m:sample { length = 2 } end)
end)

test('a beam of all targets finds the most probable one', function()
  local m = pd.model.transducer { source_alphabet = { 'a', 'b' }, target_alphabet = { 'x', 'y' }, dtype = 'float64',
    seed = 3, controller = { kind = 'lstm', hidden = 4 }, stack = { kind = 'nondeterministic' } }
  m:set_parameters { ['output.bias'] = { 1, 1.05, 0.9 } }
  for _, source in ipairs { '', 'a', 'a b b' } do
    local best, greatest = nil, -math.huge
    for length = 0, 4 do
      each_string({ 'x', 'y' }, length, function(target)
        local p = m:log_probability(source, target)
        if p > greatest then best, greatest = target, p end
      end)
    end
    test.equal(m:translate(source, { longest = 4, beam = 200 }), best)
    local greedy = m:translate(source, { longest = 4 })
    if not greedy:find '%.%.%.$' then
      assert(m:log_probability(source, greedy) <= greatest)
    end
  end
  local each = m:translate({ 'a', 'b b' }, { longest = 3, beam = 3 })
  test.equal(each[2], m:translate('b b', { longest = 3, beam = 3 }))
  m:set_parameters { ['output.bias'] = { 1, 2, -50 } }
  test.equal(select(2, m:translate('a', { longest = 3, beam = 2 }):gsub('[xy] ', '')), 3)
end)

test.finish()
