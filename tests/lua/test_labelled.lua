-- Labelled strings from Lua: made from every grammar of the recognition tasks, compared with the definitions of the
-- languages, saved, divided; and errors.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local function balanced(text)
  local closes = { [')'] = '(', [']'] = '[', ['}'] = '{', ['>'] = '<', [')5'] = '(5', [')6'] = '(6' }
  local open = {}
  for symbol in text:gmatch '%S+' do
    if closes[symbol] then
      if table.remove(open) ~= closes[symbol] then return false end
    else
      open[#open + 1] = symbol
    end
  end
  return #open == 0
end

-- Definitions of the languages, as tests of a text without blanks.
local function is_palindrome(text) return text == text:reverse() end
local languages = {
  { 'palindrome', {}, function(s)
    local w = s:match '^([ab]*)c([ab]*)$'
    return w ~= nil and is_palindrome(s)
  end },
  { 'palindrome', { centre = 'even' }, function(s) return #s % 2 == 0 and is_palindrome(s) end },
  { 'palindrome', { centre = 'any', symbols = 3 }, is_palindrome },
  { 'an_bn', {}, function(s)
    local a, b = s:match '^(a+)(b+)$'
    return a ~= nil and #a == #b
  end },
  { 'an_bn', { minimum = 0 }, function(s)
    local a, b = s:match '^(a*)(b*)$'
    return a ~= nil and #a == #b
  end },
  { 'an_bn_c_bm_am', {}, function(s)
    local a, b, c, d = s:match '^(a+)(b+)c(b+)(a+)$'
    return a ~= nil and #a == #b and #c == #d
  end },
  { 'an_bn_c_bm_am', { minimum = 0 }, function(s)
    local a, b, c, d = s:match '^(a*)(b*)c(b*)(a*)$'
    return a ~= nil and #a == #b and #c == #d
  end },
  { 'anm_bn_cm', {}, function(s)
    local a, b, c = s:match '^(a+)(b+)(c+)$'
    return a ~= nil and #a == #b + #c
  end },
  { 'anm_bn_cm', { minimum = 0 }, function(s)
    local a, b, c = s:match '^(a*)(b*)(c*)$'
    return a ~= nil and #a == #b + #c
  end },
  { 'parenthesis', {}, nil, balanced },
  { 'parenthesis', { bracket_types = 1 }, nil, balanced },
  { 'dyck_n', {}, nil, balanced },
  { 'dyck_n', { bracket_types = 6, p = 0.6, p1 = 0.2 }, nil, balanced },
}

local function show(options)
  local parts = {}
  for key, value in pairs(options) do parts[#parts + 1] = key .. ' ' .. value end
  table.sort(parts)
  return table.concat(parts, ', ')
end

for _, case in ipairs(languages) do
  local name, options, plain, spaced = unpack(case)
  local member = spaced or function(text) return plain((text:gsub(' ', ''))) end
  test(name .. ' ' .. show(options), function()
    local grammar = pd.grammar.load(name, options)
    -- Every string of up to 6 symbols (fewer if the alphabet is large).
    local symbols = grammar:alphabet():symbols()
    local longest = #symbols <= 3 and 6 or #symbols <= 4 and 5 or 3
    test.each_string(symbols, longest, function(list)
      local text = table.concat(list, ' ')
      test.equal(grammar:contains(text), member(text))
      test.equal(grammar:log_probability(text) > -math.huge, member(text))
    end)
    local data = pd.task.labelled { grammar = grammar, lengths = { 1, 21 }, positives = 400, negatives = 410,
      difficult = { 0.15, 0.3 }, distinct = 'none', seed = 1 }
    test.equal(data:size(), 810)
    local strings, labels, lengths = data:strings(), data:labels(), data:lengths()
    local positives = 0
    test.equal(grammar:unambiguous(), name ~= 'dyck_n')
    for i, text in ipairs(strings) do
      if labels[i] then positives = positives + 1 end
      if labels[i] and i <= 30 and grammar:unambiguous() then
        test.near(grammar:log_probability(text), grammar:parse(text):log_probability(), 1e-9)
      end
      test.equal(member(text), labels[i])
      assert(lengths[i] >= 1 and lengths[i] <= 21, lengths[i])
    end
    test.equal(positives, 400)
    test.equal(data:positives(), 400)
    test.equal(data:negatives(), 410)
    test.equal(#data:wrong_labels(grammar), 0)
    -- Longer strings, none of which is in the training set.
    local long = pd.task.labelled { grammar = grammar, lengths = { 120, 160 }, positives = 30, negatives = 30,
      difficult = 1, distinct = 'none', seed = 2, exclude = data }
    for i, text in ipairs(long:strings()) do test.equal(member(text), long:labels()[i]) end
  end)
end

local dyck = pd.grammar.load 'dyck_n'

test('training and test set share no string, and the seed determines both', function()
  local options = { grammar = dyck, lengths = { 2, 12 }, positives = 200, negatives = 200, difficult = 0.3, seed = 3 }
  local train = pd.task.labelled(options)
  local again = pd.task.labelled(options)
  test.equal(table.concat(train:strings(), '\n'), table.concat(again:strings(), '\n'))
  local seen = {}
  for _, text in ipairs(train:strings()) do
    assert(not seen[text], 'distinct')
    seen[text] = true
  end
  options.seed, options.exclude = 4, { train, again }
  for _, text in ipairs(pd.task.labelled(options):strings()) do assert(not seen[text], text) end
end)

test('the floor: simple classifiers against strings and against matched ones', function()
  local grammar = pd.grammar.load 'an_bn'
  local function set(kind, lengths)
    return pd.task.labelled { grammar = grammar, lengths = lengths, positives = 300, negatives = 300, seed = 1,
      distinct = 'none', difficult = kind == 'usual' and 0.5 or nil, negative_kind = kind }
  end
  local train, usual, matched = set('usual', { 1, 21 }), set('usual', { 22, 60 }), set('matched', { 22, 60 })
  test.equal(#matched:wrong_labels(grammar), 0)
  local floor = train:floor(usual)
  test.near(floor.error, floor.errors[floor.classifier], 1e-9)
  assert(floor.error <= floor.errors.bigrams, floor.error)
  assert(train:floor(matched).error > 45, train:floor(matched).error)
end)

test('saving and loading', function()
  local data = pd.task.labelled { grammar = dyck, lengths = { 0, 8 }, positives = 20, negatives = 20, seed = 1 }
  local path = os.tmpname()
  data:save(path)
  local again = pd.task.load_labelled(path)
  test.equal(table.concat(again:strings(), '\n'), table.concat(data:strings(), '\n'))
  for i, label in ipairs(again:labels()) do test.equal(label, data:labels()[i]) end
  test.equal(tostring(again), tostring(data))
  local file = io.open(path, 'a')
  file:write('maybe\t( )\n')
  file:close()
  test.fails(':43: expected the label 1 %(valid%) or 0 %(invalid%), got \'maybe\'', pd.task.load_labelled, path)
  os.remove(path)
  test.fails('No such file', function() pd.task.load_labelled(path) end)
end)

test('given strings, step targets and wrong labels', function()
  local data = pd.task.labelled_dataset { alphabet = dyck:alphabet(), labels = { true, false, true },
    strings = { '( ) [ ]', '( ] )', { '(', '(' } } }
  test.equal(tostring(data), 'LabelledDataset: 2 valid and 1 invalid strings of length 2 to 4')
  local targets = data:step_targets(dyck)
  test.near(targets.viable, { { 1, 1, 1, 1, 1 }, { 1, 1, 0, 0 }, { 1, 1, 1 } })
  test.near(targets.member, { { 1, 0, 1, 0, 1 }, { 1, 0, 0, 0 }, { 1, 0, 0 } })
  test.near(data:wrong_labels(dyck), { 3 })
  test.equal(#data:dead_ends(), 0)
  test.near(data:with_dead_ends(dyck):dead_ends(), { 0, 2, 0 })
  test.equal(data:valid_strings():size(), 2)
  assert(dyck:viable_prefix '( [' and not dyck:viable_prefix '( ]' and dyck:viable_prefix '')
  test.fails("the dataset and the grammar have different symbols", data.step_targets, data, pd.grammar.load 'an_bn')
end)

test('parts and curricula', function()
  local data = pd.task.labelled { grammar = dyck, lengths = { 1, 21 }, positives = 300, negatives = 300,
    distinct = 'none', seed = 1 }
  local parts = data:split({ 0.5, 0.5 }, { seed = 1 })
  test.equal(#parts, 2)
  test.equal(parts[1]:size() + parts[2]:size(), 600)
  local seen = {}
  for _, text in ipairs(parts[1]:strings()) do seen[text] = true end
  for _, text in ipairs(parts[2]:strings()) do assert(not seen[text], text) end
  test.equal(data:of_length(1, 21):size(), 600)
  for _, length in ipairs(data:of_length(3, 6):lengths()) do assert(length == 4 or length == 6) end
  test.fails('no strings of length 3', function() data:of_length(3, 3) end)

  local phases = data:curriculum { kind = 'two_stage', threshold = 14, epochs = { 200, 350 } }
  -- The shortest strings have length 2, the longest 20.
  test.equal(#phases, 13 + 1 + 19 + 1)
  test.equal(phases[14].random, true)
  test.equal(phases[14].epochs, 200)
  test.equal(phases[14].data:size(), data:of_length(1, 14):size())
  test.equal(phases[34].stage, 2)
  test.equal(phases[34].epochs, 150)
  test.equal(phases[34].data:size(), 600)
  test.equal(#data:curriculum { kind = 'incremental', epochs = 30 }, 20)
  test.equal(data:curriculum { epochs = 30 }[1].epochs, 30)
  phases = data:curriculum { kind = 'two_stage', stage_end = 'last_open' }
  test.equal(phases[#phases].epochs, nil)
  test.equal(phases[1].epochs, 1)
  test.fails('increasing', function() data:curriculum { kind = 'two_stage', epochs = { 3, 2 } } end)
end)

test('errors', function()
  local function with(options) return function()
    return pd.task.labelled(pd.tables.merged({ grammar = dyck, lengths = { 2, 8 }, positives = 5, negatives = 5,
      seed = 1 }, options))
  end end
  test.fails('options.lengths%): expected a list of 2, got one of 1', with { lengths = { 3 } })
  test.fails("'difficult' must be between 0 and 1, got 2", with { difficult = 2 })
  test.fails('options.difficult%): expected a number or a list of 2, got a table', with { difficult = { .1, .2, .3 } })
  test.fails("'edits' must be one of 'replace'", with { edits = { 'swap' } })
  test.fails('requested 1000 positives of length 2 to 8, but the language has only 274',
    with { positives = 1000 })
  test.fails("10 random negatives .* there are only 0", function()
    pd.task.labelled { grammar = pd.grammar.parse "S -> 'a' S | 'a'", lengths = { 1, 30 }, positives = 5,
      negatives = 10, seed = 1 }
  end)
  test.fails('p %+ p1 must be below 1', function() pd.grammar.load('dyck_n', { p = 0.8, p1 = 0.2 }) end)
end)

test.finish()
