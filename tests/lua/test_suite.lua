-- Suites: the languages of FLaRe compared with their grammars, the loss compared with the built-in ones, the results
-- and tables of the search, and published numbers.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local suite = require 'pushdown.suite'
local test = require 'pushdown.test'

local flare = pd.root .. '/scripts/experiments/flare/'
local languages, sampling = dofile(flare .. 'languages.lua'), dofile(flare .. 'sampling.lua')
local beyond, rules = dofile(flare .. 'beyond.lua'), dofile(pd.root .. '/tests/lua/flare_rules.lua')
local folder = test.folder()

-- Those of the benchmark and ours.
local all_languages = {}
for _, list in ipairs { languages, beyond } do
  for _, language in ipairs(list) do all_languages[#all_languages + 1] = language end
end

local function run(script, ...)
  return test.run({ pd.root .. '/scripts/experiments/' .. script, ... },
    { folder = folder, environment = 'OMP_NUM_THREADS=1' })
end

local function words(text) return pd.tables.matches(text, '%S+') end

test('grammars and predicates of the languages agree on every short string', function()
  local valid = 0
  for _, language in ipairs(all_languages) do
    if language.grammar then
      local grammar, longest = language.grammar(), ({ 12, 12, 8, 6, 6, [7] = 5, [8] = 4, [9] = 4 })[#language.alphabet]
        or 9
      test.each_string(language.alphabet, longest, function(symbols)
        local there = language.contains(symbols)
        if there then valid = valid + 1 end
        if grammar:contains(table.concat(symbols, ' ')) ~= there then
          error(('%s: %s'):format(language.name, table.concat(symbols, ' ')))
        end
      end)
    end
  end
  assert(valid > 1000)
end)

test('the languages of the benchmark are those of the published labels', function()
  local hard_negatives = dofile(flare .. 'hard_negatives.lua')
  for _, language in ipairs(languages) do
    local valid, rule = 0, assert(rules[language.name], language.name)
    for _, set in ipairs { sampling.sample(language, 300, { 0, 40 }, 3),
      language.counted and sampling.sample(language, 100, { 0, 40 }, 4)
        or hard_negatives(language, 100, { 0, 40 }, 4, 0.8) } do
      local labels = set:labels()
      for i, string in ipairs(set:strings()) do
        local text = type(string) == 'table' and table.concat(string) or string:gsub(' ', '')
        test.equal(labels[i], rule(text), ('%s: %s'):format(language.name, text))
        valid = valid + (labels[i] and 1 or 0)
      end
    end
    assert(valid > 100, language.name)
  end
end)

test('computed languages have the right short strings, and the symbols that may follow', function()
  local checked = 0
  for _, language in ipairs(languages) do
    local right = language.draw and rules[language.name]
    if right then
      local longest = ({ [3] = 9, [4] = 8, [6] = 5 })[#language.alphabet]
      local strings, follow = {}, {}
      test.each_string(language.alphabet, longest, function(symbols)
        local there = right(table.concat(symbols))
        if language.contains(symbols) ~= there then
          error(('%s: %s'):format(language.name, table.concat(symbols, ' ')))
        end
        if not there then return end
        strings[#strings + 1] = { unpack(symbols) }
        for i = 0, #symbols do
          local prefix = table.concat(symbols, ' ', 1, i)
          follow[prefix] = follow[prefix] or {}
          follow[prefix][symbols[i + 1] or ''] = true
        end
      end)
      for _, symbols in ipairs(strings) do
        local sets = language.next(symbols)
        test.equal(#sets, #symbols + 1)
        for i, set in ipairs(sets) do
          local found, prefix, more = {}, table.concat(symbols, ' ', 1, i - 1), 0
          for _, symbol in ipairs(set) do found[symbol] = true end
          for symbol in pairs(follow[prefix]) do assert(found[symbol], language.name .. ': ' .. prefix) end
          for symbol in pairs(found) do
            if not follow[prefix][symbol] then more = more + 1 end
          end
          -- What follows a short prefix is in some short string.
          if i <= 2 then test.equal(more, 0, language.name .. ': ' .. prefix) end
          checked = checked + 1
        end
      end
    end
  end
  assert(checked > 1000, checked)
end)

test('computed languages draw strings of every length that they have, also long ones', function()
  for _, language in ipairs(languages) do
    if language.draw then
      local random, lengths = sampling.generator(5), {}
      for length = 0, 120 do
        local drawn = language.draw(random, length)
        if drawn then
          test.equal(#drawn, length)
          assert(language.contains(drawn), language.name .. ': ' .. table.concat(drawn, ' '))
          test.equal(#language.next(drawn), length + 1)
          lengths[#lengths + 1] = length
        end
      end
      -- Three digits and a sign, five digits and two signs, or every second length.
      test.equal(#lengths, ({ compute_sqrt = 118, binary_addition = 116, binary_multiplication = 116 })[language.name]
        or 60, language.name)
    end
  end
end)

test('numbers of any size: the root, the quotient and the product of 400 digits fit together', function()
  local binary = dofile(flare .. 'binary.lua')
  local random = sampling.generator(9)
  for _ = 1, 40 do
    local a, b = binary.draw(random, binary.ones(400)), binary.draw(random, binary.ones(150))
    local q, r = binary.quotient(a, b), binary.root(a)
    local rest = binary.difference(a, binary.product(q, b))
    assert(binary.compare(rest, b) < 0)
    test.equal(binary.compare(binary.sum(binary.product(q, b), rest), a), 0)
    local above = binary.sum(r, { 1 })
    assert(binary.compare(binary.product(r, r), a) <= 0 and binary.compare(binary.product(above, above), a) > 0)
  end
end)

-- The numbers are those of Python: int(math.sqrt(x)) and math.isqrt(x).
test('published labels of Compute Sqrt have the roots of numbers in double precision', function()
  local binary = dofile(flare .. 'binary.lua')
  local function root_of(name, ...)
    local symbols = {}
    binary.write(symbols, binary[name](...), 40)
    local sum = 0
    for i = #symbols, 1, -1 do sum = 2 * sum + tonumber(symbols[i]) end
    return sum
  end
  local function bits(number)
    local list = {}
    while number > 0 do
      list[#list + 1] = number % 2
      number = math.floor(number / 2)
    end
    return list
  end
  -- 94906267² - 1 has 54 digits; the double next to it is 94906267².
  local below = binary.difference(binary.product(bits(94906267), bits(94906267)), { 1 })
  test.equal(root_of('root', below), 94906266)
  test.equal(root_of('double_root', below), 94906267)
  test.equal(root_of('root', binary.ones(60)), 2 ^ 30 - 1)
  test.equal(root_of('double_root', binary.ones(60)), 2 ^ 30)
  for _, x in ipairs { 0, 1, 2, 15, 16, 2 ^ 52 - 1, 2 ^ 52 } do
    test.equal(root_of('double_root', bits(x)), math.floor(math.sqrt(x)), x)
    test.equal(root_of('root', bits(x)), math.floor(math.sqrt(x)), x)
  end
  test.fails('at most 1,023 digits, got 1100', function() binary.double_root(binary.ones(1100)) end)
  local protocol = dofile(flare .. 'protocol.lua')
  local options = {}
  for _, option in ipairs(protocol.with_options(protocol.run_options)) do options[option[1]] = option[2] end
  local published = protocol.languages.compute_sqrt.published
  options = pd.tables.merged(options, protocol.smoke, { task = 'compute_sqrt', lengths = { 150, 160 }, strings = 60 })
  for labels, language in pairs { [true] = published, [false] = protocol.languages.compute_sqrt } do
    options.published_labels = labels
    local set, right = protocol.sets(options).train, 0
    for i, string in ipairs(set:strings()) do
      right = right + (language.contains(words(string)) == set:labels()[i] and 1 or 0)
    end
    test.equal(right, 60)
  end
end)

test('strings are labelled by the language, about half of them valid, of all lengths', function()
  for _, language in ipairs(all_languages) do
    local set = sampling.sample(language, 401, { 0, 60 }, 7)
    local labels, shortest, longest = set:labels(), math.huge, 0
    for i, string in ipairs(set:strings()) do
      local symbols = words(string)
      test.equal(language.contains(symbols), labels[i])
      shortest, longest = math.min(shortest, #symbols), math.max(longest, #symbols)
    end
    test.equal(set:size(), 401)
    assert(math.abs(set:positives() - 200.5) < 40, set:positives())
    assert(shortest <= 3 and longest >= 55 and longest <= 60, language.name)
    test.equal(table.concat(sampling.sample(language, 20, { 0, 9 }, 1):strings(), '/'),
      table.concat(sampling.sample(language, 20, { 0, 9 }, 1):strings(), '/'))
  end
end)

test('edits keep the lengths and replace a symbol by another one', function()
  local lengths = { 2, 5 }
  local strings = sampling.sample({ name = 'ones', alphabet = { '0', '1' }, draw = function(_, length)
    local symbols = {}
    for i = 1, length do symbols[i] = '1' end
    return symbols
  end, contains = function(symbols) return not table.concat(symbols):find '0' end }, 400, lengths, 3):strings()
  local one_edit = 0
  for _, string in ipairs(strings) do
    local symbols = words(string)
    assert(#symbols >= lengths[1] and #symbols <= lengths[2], string)
    if select(2, string:gsub('0', '')) == 1 then one_edit = one_edit + 1 end
  end
  assert(one_edit > 60, one_edit)
  -- Nothing can be edited: a single symbol, and a single length.
  test.fails('no invalid string', function()
    sampling.sample({ name = 'all', alphabet = { 'a' }, draw = function() return { 'a' } end,
      contains = function() return true end }, 4, { 1, 1 }, 1)
  end)
end)

-- How often each symbol occurs.
local function counts(symbols)
  local out = {}
  for _, symbol in ipairs(symbols) do out[symbol] = (out[symbol] or 0) + 1 end
  return out
end

test('hard negatives differ from the strings of the language by one exchange', function()
  local hard_negatives = dofile(flare .. 'hard_negatives.lua')
  local of = {}
  for _, language in ipairs(languages) do of[language.name] = language end
  local near, far = 0, 0
  for i, string in ipairs(hard_negatives(of.marked_reversal, 300, { 0, 40 }, 5, 1):strings()) do
    local symbols, mismatches, count = words(string), {}, counts(words(string))
    test.equal(of.marked_reversal.grammar():contains(string), false)
    test.equal(symbols[(#symbols + 1) / 2] .. count['#'], '#1')
    test.equal((count['0'] or 0) % 2 + (count['1'] or 0) % 2, 0)
    for k = 1, (#symbols - 1) / 2 do
      if symbols[k] ~= symbols[#symbols + 1 - k] then mismatches[#mismatches + 1] = k end
    end
    test.equal(#mismatches, 2, i)
    if mismatches[2] == mismatches[1] + 1 then near = near + 1 else far = far + 1 end
  end
  assert(near > 100 and far > 60, near)
  local dyck, longest = hard_negatives(of.dyck_2_3, 300, { 2, 60 }, 6, 1), 0
  for _, string in ipairs(dyck:strings()) do
    local count = counts(words(string))
    test.equal(of.dyck_2_3.grammar():contains(string), false)
    test.equal(count['('], count[')'])
    test.equal(count['['], count[']'])
    longest = math.max(longest, #words(string))
  end
  assert(longest > 54 and longest <= 60, longest)
  test.equal(dyck:positives(), 0)
  -- The others are of the language, and the seed decides all.
  local mixed = hard_negatives(of.dyck_2_3, 40, { 0, 20 }, 7, 0.25)
  test.equal(mixed:positives(), 30)
  local labels = mixed:labels()
  for i, string in ipairs(mixed:strings()) do test.equal(of.dyck_2_3.contains(words(string)), labels[i]) end
  local function text(seed)
    return table.concat(hard_negatives(of.dyck_2_3, 40, { 0, 20 }, seed, 0.25):strings(), '/')
  end
  test.equal(text(7), table.concat(mixed:strings(), '/'))
  assert(text(8) ~= text(7))
  for _, language in ipairs(all_languages) do
    if language.counted then
      test.fails(language.name .. ' has no hard negatives', function() hard_negatives(language, 1, { 0, 9 }, 1, 1) end)
    else
      local set = hard_negatives(language, 40, { 0, 40 }, 4, 0.5)
      local marks = { {}, {} }
      for i, string in ipairs(set:strings()) do
        local symbols = words(string)
        test.equal(language.contains(symbols), i > 20, language.name .. ': ' .. string)
        -- As many marks as in the strings of the language.
        local count = 0
        for _, symbol in ipairs(symbols) do count = count + ((language.marks or {})[symbol] and 1 or 0) end
        marks[i > 20 and 1 or 2][count] = true
      end
      for count in pairs(marks[2]) do assert(marks[1][count], language.name) end
    end
  end
  test.fails('no hard negative of marked_reversal of length 0 to 3', function()
    hard_negatives(of.marked_reversal, 1, { 0, 3 }, 1, 1)
  end)
end)

test('the loss of recognition and next symbols is that of final and joint', function()
  dofile(flare .. 'protocol.lua')
  local function loss(objective, strings, labels)
    local data = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = strings, labels = labels }
    local model = pd.model.recognizer { alphabet = { 'a', 'b' }, controller = { kind = 'lstm', hidden = 5 },
      next_symbol = true, seed = 3, dtype = 'float64' }
    return pd.train.trainer { model = model, train = data, batch = 10, objective = objective, seed = 1,
      progress = false }:step()
  end
  local function ours(weight) return { kind = 'recognition_and_language_model', weight = weight } end
  for _, set in ipairs { { { 'a b b a' }, { true } }, { { 'a b b a' }, { false } }, { { '' }, { true } },
    { { 'a b', 'b b', 'a a' }, { true, false, true } } } do
    local recognition, length = loss('final', set[1], set[2]), #words(set[1][1])
    test.near(loss(ours(0), set[1], set[2]).loss, recognition.loss, 1e-12)
    test.near(loss(ours(0), set[1], set[2]).gradient_norm, recognition.gradient_norm, 1e-12)
    local next_symbols = loss({ kind = 'joint', symbol_weight = 1, validity_weight = 0, negatives = false }, set[1],
      set[2])
    test.near(loss(ours(0.3), set[1], set[2]).loss, recognition.loss + 0.3 * next_symbols.loss / (length + 1), 1e-12)
  end
end)

test('the loss of sets of next symbols, with and without an end symbol that is read', function()
  dofile(flare .. 'protocol.lua')
  local sets = { { { 'a', 'b' }, { 'b' }, { 'a', '' } }, {} }
  local data = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = { 'a b', 'b b' }, labels = { true, false },
    next_symbols = sets }
  local function softplus(x) return math.log(1 + math.exp(x)) end
  local bias = { 0.7, -1.2, 0.3 }  -- of a, b and the end, the scores of an output layer with weights of zero
  local function cross_entropy(there)
    local sum = 0
    for i, score in ipairs(bias) do sum = sum + softplus(score) - (there[i] and score or 0) end
    return sum / 3
  end
  for _, end_symbol in ipairs { true, false } do
    local norms, by_tensors = {}, pd.train.define_objective { name = 'sets_by_tensors', needs_next_sets = true,
      losses = function(_, batch)
        local member = batch.next_sets:eq(2):to 'float64'
        local each = batch.next_scores:softplus() - batch.next_scores * member
        return (each * batch.next_sets:ne(0):to 'float64'):sum(3):sum(2) / (3 * batch.length)
      end }
    for _, objective in ipairs { { kind = 'recognition_and_next_symbols', weight = 1 }, by_tensors } do
      for _, learning in ipairs { 'bptt', 'rtrl' } do
        local model = pd.model.recognizer { alphabet = { 'a', 'b' }, controller = { kind = 'lstm', hidden = 3 },
          next_symbol = true, end_symbol = end_symbol, end_outcome = not end_symbol, seed = 3, dtype = 'float64' }
        model:set_parameters { ['next_symbol.weight'] = pd.tensor.zeros { 3, 3 },
          ['next_symbol.bias'] = bias, ['output.weight'] = pd.tensor.zeros { 1, 3 },
          ['output.bias'] = pd.tensor.zeros { 1 } }
        local step = pd.train.trainer { model = model, train = data, batch = 10, objective = objective, seed = 1,
          learning = learning, progress = false }:step()
        local of_sets = cross_entropy { false, true } + cross_entropy { true, false, true }
        of_sets = of_sets / (end_symbol and 3 or 2)
        local label = type(objective) == 'table' and math.log(2) or 0
        test.near(step.loss, label + of_sets / 2, 1e-12)
        norms[#norms + 1] = step.gradient_norm
      end
    end
    test.near(norms[1], norms[2], 1e-12)
    test.near(norms[3], norms[4], 1e-12)
    assert(norms[1] ~= norms[3])
  end
  local plain = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = { 'a b' }, labels = { true } }
  local model = pd.model.recognizer { alphabet = { 'a', 'b' }, next_symbol = true }
  test.fails('needs training strings with next symbols', function()
    pd.train.trainer { model = model, train = plain, objective = 'recognition_and_next_symbols' }
  end)
  test.fails('end_outcome needs next_symbol = true and end_symbol = false', function()
    pd.model.recognizer { alphabet = { 'a', 'b' }, next_symbol = true, end_outcome = true }
  end)
end)

test('sets of next symbols: from a grammar, checked, saved with the strings, and in parts of a set', function()
  for _, language in ipairs(languages) do
    if language.name == 'marked_reversal' or language.name == 'marked_copy' then
      local set = sampling.sample(language, 12, { 0, 9 }, 3, true)
      local path = folder .. '/sets.txt'
      set:save(path)
      local function shown(of)
        local all = {}
        for i, sets in ipairs(of:next_symbols()) do
          all[i] = {}
          for t, symbols in ipairs(sets) do all[i][t] = table.concat(symbols, ' ') end
          all[i] = table.concat(all[i], ',')
        end
        return table.concat(all, ';')
      end
      test.equal(shown(pd.task.load_labelled(path)), shown(set))
      assert(shown(set):find('0 1 #,0 1 #', 1, true), shown(set))
      test.equal(#set:of_length(5, 9):next_symbols(), set:of_length(5, 9):size())
      for i, string in ipairs(set:strings()) do
        test.equal(#set:next_symbols()[i], set:labels()[i] and #words(string) + 1 or 0)
      end
    end
  end
  local function made(sets)
    return pd.task.labelled_dataset { alphabet = { 'a' }, strings = { 'a', 'a a' }, labels = { true, false },
      next_symbols = sets }
  end
  made { { { 'a' }, { '' } }, {} }
  test.fails('for each of the 2 strings, got 1', function() made { { { 'a' }, { '' } } } end)
  test.fails("'a' .string 1. needs 2 sets of next symbols", function() made { { { 'a' } }, {} } end)
  test.fails("'a a' .string 2. needs 0 sets", function() made { { { 'a' }, { '' } }, { { 'a' } } } end)
  test.fails("after 1 symbols of 'a' .string 1. must contain the end", function()
    made { { { 'a' }, { 'a' } }, {} }
  end)
  test.fails("'b'", function() made { { { 'b' }, { '' } }, {} } end)
  local path = folder .. '/broken.txt'
  files.write(path, '# pushdown labelled data set 1\n# alphabet a\n1 1,x\ta\n')
  test.fails('broken.txt:3: expected a set of next symbols', function() pd.task.load_labelled(path) end)
end)

test('published numbers', function()
  local path = folder .. '/published.csv'
  local function fails(pattern, text)
    files.write(path, text)
    test.fails(pattern, function() suite.published(path, { 'one', 'two' }) end)
  end
  test.equal(#suite.published('', {}).models, 0)
  files.write(path, 'task,model,score,source\none,LSTM,61.5,A\ntwo,LSTM,7,A\none,Tape-RNN,100,"B, p. 3"\n')
  local found = suite.published(path, { 'one', 'two' })
  test.equal(table.concat(found.models, ' '), 'LSTM Tape-RNN')
  test.equal(found.scores.LSTM.two, 7)
  test.equal(table.concat(found.sources, '|'), 'A|B, p. 3')
  fails('has no column source', 'task,model,score\n')
  fails("row 1: unknown task 'three'", 'task,model,score,source\nthree,LSTM,1,A\n')
  fails("score must be a number from 0 to 100, got '101'", 'task,model,score,source\none,LSTM,101,A\n')
  fails('expected a model and a source', 'task,model,score,source\none,LSTM,1,\n')
  fails('a second score of LSTM on one', 'task,model,score,source\none,LSTM,1,A\none,LSTM,2,A\n')
  -- Only the tasks of the result are shown.
  files.write(path, 'task,model,score,source\none,LSTM,61.5,A\ntwo,Tape-RNN,7,B\n')
  local shown = suite.published(path, { 'one', 'two' }, { 'two' })
  test.equal(table.concat(shown.models, ' ') .. '|' .. table.concat(shown.sources, ' '), 'Tape-RNN|B')
  test.equal(#suite.published('none', {}).models, 0)
  local tasks = {}
  for i, task in ipairs(pd.task.chomsky_tasks()) do tasks[i] = task.name end
  assert(#suite.published(pd.root .. '/scripts/experiments/chomsky/published.csv', tasks).sources > 0)
  -- Folders of the benchmark are named differently.
  local protocol = dofile(flare .. 'protocol.lua')
  local of_folders = suite.published(flare .. 'published.csv', protocol.tasks,
    { 'marked-copy', 'modular-arithmetic-simple' }, protocol.name_of)
  test.equal(of_folders.scores.RNN['marked-copy'], 76)
  test.equal(of_folders.scores.LSTM['modular-arithmetic-simple'], 98)
  test.equal(#of_folders.sources, 2)
  for _, tasks_of in pairs(suite.published(flare .. 'published.csv', protocol.tasks).scores) do
    assert(tasks_of.dyck_2_3 and tasks_of.stack_manipulation)
  end
end)

test('validation chooses, and a finished search is not made again', function()
  local path, grid = folder .. '/published.csv', folder .. '/grid'
  files.write(path, 'task,model,score,source\nreverse_string,Theirs,12.3,a paper\n')
  local place = folder .. '/scores'
  local arguments = { '--smoke', '--tasks', 'reverse_string', '--models', 'lstm', '--samples', '3', '--restarts', '2',
    '--workers', '1', '--folder', grid, '--published', path }
  local output, status = run('chomsky/scores.lua', '--run-folder', place, unpack(arguments))
  assert(status == 0, output)
  assert(output:find('6 runs', 1, true), output)
  local settings, best = {}, nil
  for _, file in ipairs(files.find(grid, 'result%.json$')) do
    local result = json.decode(files.read(grid .. '/' .. file))
    local point = file:match '([^/]+)/restart'
    settings[point] = settings[point] or { valid = 0, perplexity = 0, score = 0, best = 0 }
    local setting = settings[point]
    setting.valid = setting.valid + result.valid_accuracy / 2
    setting.perplexity = setting.perplexity + result.valid_perplexity / 2
    setting.score, setting.best = setting.score + result.score / 2, math.max(setting.best, result.score)
    -- The score is the mean over the lengths of lengths.csv that are not in training.
    local sum, count = 0, 0
    for _, row in ipairs(select(2, csv.read((grid .. '/' .. file):gsub('result.json', 'lengths.csv')))) do
      if tonumber(row.length) > 4 then sum, count = sum + tonumber(row.accuracy), count + 1 end
    end
    test.equal(count, 2)
    test.near(sum / count, result.score, 1e-9)
  end
  local highest = 0
  for _, setting in pairs(settings) do
    highest = math.max(highest, setting.best)
    local equal = best and setting.valid == best.valid
    if not best or setting.valid > best.valid or equal and setting.perplexity < best.perplexity then best = setting end
  end
  local row = select(2, csv.read(place .. '/scores.csv'))[1]
  test.near(tonumber(row.LSTM), 100 * best.score, 1e-9)
  test.equal(row['Theirs (published)'], '12.3')
  test.near(tonumber(select(2, csv.read(place .. '/best.csv'))[1].LSTM), 100 * highest, 1e-9)
  assert(files.read(place .. '/scores.txt'):find('Published numbers: a paper.', 1, true))
  for _, name in ipairs { 'lengths-reverse_string.svg', 'lengths.csv', 'settings.csv', 'experiment.json',
    'index.html' } do
    assert(files.exists(place .. '/' .. name), name)
  end
  output, status = run('chomsky/scores.lua', '--run-folder', folder .. '/again', unpack(arguments))
  assert(status == 0 and output:find('6 were finished before', 1, true), output)
  test.equal(files.read(folder .. '/again/scores.csv'), files.read(place .. '/scores.csv'))
end)

test('the end of a target of known length is not predicted', function()
  for _, model in ipairs { 'stack_rnn', 'ns_rnn', 'transformer' } do
    local place = folder .. '/ends-' .. model
    -- With this rate the last update is not the best one; it is scored nevertheless. Units with ReLU would all be 0.
    local output, status = run('chomsky/train.lua', '--smoke', '--model', model, '--learning-rate', '1',
      '--activation', 'tanh', '--no-rectified', '--vector', 'sigmoid', '--run-folder', place)
    assert(status == 0, output)
    -- The updates are those of the paper.
    local config = json.decode(files.read(place .. '/config.json'))
    test.equal(tostring(config.data.train.one_length) .. ' ' .. config.trainer.average, 'true batches')
    local best, trained = pd.model.load(place), pd.model.load(place, { which = 'last' })
    local bias = trained:parameters()['output.bias']:to_table()
    assert(table.concat(bias, ' ') ~= table.concat(best:parameters()['output.bias']:to_table(), ' '))
    test.equal(#bias, 3)
    local function accuracy(last)
      trained:set_parameters { ['output.bias'] = { bias[1], bias[2], last } }
      return pd.train.evaluate(trained, pd.task.chomsky('reverse_string', { lengths = { 6, 6 } }), { pairs = 2,
        seed = 6, batch = 2 }).symbol_accuracy
    end
    test.equal(accuracy(1e9), 0)
    test.near(tonumber(select(2, csv.read(place .. '/lengths.csv'))[6].accuracy), accuracy(-1e9), 1e-12)
  end
end)

test('the networks of Delétang et al. train as published', function()
  for i, case in ipairs {
    { 'tape_rnn', 'stack_manipulation', '--cells', '6', '--test-cells', '9' },
    { 'tape_rnn', 'duplicate_string', '--tapes', '4' },
    { 'stack_rnn', 'reverse_string', '--stacks', '2' },
    { 'stack_lstm', 'binary_addition' },
    { 'rnn', 'odds_first', '--activation', 'tanh', '--no-rectified' },
  } do
    local place = ('%s/published-%d'):format(folder, i)
    local output, status = run('chomsky/train.lua', '--smoke', '--run-folder', place, '--model', case[1], '--task',
      case[2], unpack(case, 3))
    assert(status == 0, output)
    local trained = pd.model.load(place, { which = 'last' })
    local own, trainer = trained:options(), json.decode(files.read(place .. '/config.json')).trainer
    test.equal(tostring(own.rectified), tostring(i < 5))
    test.equal(tostring(trainer.pad_targets), tostring(i == 1 or i == 4))
    if i ~= 4 then test.equal(own.controller.activation, i < 5 and 'relu' or 'tanh') end
    if i == 2 then test.equal(trained:parameters()['stack.action_bias']:size()[1], 20) end
    if i == 3 then
      test.equal(('%d %s %s'):format(own.stack.stacks, own.stack.joint_actions, own.stack.vector), '2 true linear')
    end
    if i == 1 then
      -- The score has longer tapes.
      test.equal(own.stack.cells, 6)
      own.stack.cells = 9
      local pairs_of = pd.task.chomsky(case[2], { lengths = { 6, 6 } })
      local longer = pd.model.transducer(pd.tables.merged(own, { pairs = pairs_of }))
      longer:set_parameters(trained:parameters())
      local found = pd.train.evaluate(longer, pairs_of, { pairs = 2, seed = 6, batch = 2 })
      test.near(tonumber(select(2, csv.read(place .. '/lengths.csv'))[6].accuracy), found.prediction_accuracy, 1e-12)
    end
  end
  local output, status = run('chomsky/train.lua', '--smoke', '--lengths', '0,4')
  assert(status == 1 and output:find('1 <= lowest', 1, true), output)
  output, status = run('chomsky/train.lua', '--smoke', '--model', 'tape_rnn', '--cells', '0')
  assert(status ~= 0 and output:find("'--cells' must be at least 1, got 0", 1, true), output)
end)

test('recognizers of FLaRe have the layers and about as many parameters as are wanted', function()
  for _, model in ipairs { 'rnn', 'rns' } do
    local place = folder .. '/budget-' .. model
    local output, status = run('flare/train.lua', '--smoke', '--model', model, '--parameter-budget', '3000',
      '--recurrent-layers', '3', '--run-folder', place)
    assert(status == 0, output)
    local trained = pd.model.load(place)
    local rows = trained:parameters()['controller.weight_hh_l2']:size()
    local hidden = rows[2]
    test.equal(trained:parameters()['embedding.weight']:size()[2], hidden)
    assert(trained:parameters()['initial.2'], 'the initial states are trained')
    -- One unit more or less is farther away from the budget.
    local miss = math.abs(trained:parameter_count() - 3000)
    for _, other in ipairs { hidden - 1, hidden + 1 } do
      output, status = run('flare/train.lua', '--smoke', '--model', model, '--hidden', tostring(other),
        '--recurrent-layers', '3', '--run-folder', place .. other)
      assert(status == 0, output)
      assert(math.abs(pd.model.load(place .. other):parameter_count() - 3000) >= miss)
    end
  end
end)

test('transformers with several encodings of positions are shown with their best', function()
  local output, status = run('chomsky/scores.lua', '--smoke', '--tasks', 'reverse_string', '--models',
    'rnn,transformer,transformer_none,transformer_rotary,transformer_alibi,transformer_relative,transformer_randomized',
    '--learning-rates', '1e-3,1e-3', '--batches', '2,2', '--restarts', '2', '--workers', '1', '--folder',
    folder .. '/encodings', '--run-folder', folder .. '/encoded')
  assert(status == 0, output)
  local best = select(2, csv.read(folder .. '/encoded/best.csv'))[1]
  local greatest = 0
  for _, label in ipairs { 'Transformer', 'Transformer, no positions', 'Transformer, RoPE', 'Transformer, ALiBi',
    'Transformer, relative' } do
    greatest = math.max(greatest, tonumber(best[label]))
  end
  assert(tonumber(best['Transformer, randomized']), 'its numbers are shown, and not among the others')
  test.equal(tonumber(best['Transformer (best encoding)']), greatest)
  local chosen, score = nil, nil
  for _, row in ipairs(select(2, csv.read(folder .. '/encoded/settings.csv'))) do
    local accuracy = tonumber(row['valid accuracy'])
    if row.model:find('^Transformer') and row.model ~= 'Transformer, randomized' and (not chosen or accuracy > chosen)
    then
      chosen, score = accuracy, tonumber(row.score)
    end
  end
  local tied = false  -- equal accuracies are decided by the perplexity
  for _, row in ipairs(select(2, csv.read(folder .. '/encoded/settings.csv'))) do
    tied = tied or tonumber(row['valid accuracy']) == chosen and tonumber(row.score) ~= score
  end
  if not tied then
    test.equal(tonumber(select(2, csv.read(folder .. '/encoded/scores.csv'))[1]['Transformer (best encoding)']), score)
  end
end)

test('three numbers are a list of which all are tried, and the least loss chooses', function()
  local grid = folder .. '/list'
  local output, status = run('chomsky/scores.lua', '--smoke', '--tasks', 'cycle_navigation', '--models', 'transformer',
    '--learning-rates', '1e-3,2e-3,3e-3', '--batches', '2,2', '--workers', '1', '--folder', grid, '--run-folder',
    folder .. '/listed')
  assert(status == 0 and output:find('3 runs', 1, true), output)
  test.equal(#files.find(grid, 'result%.json$'), 3)
  assert(files.read(folder .. '/listed/scores.csv'):find('61.9', 1, true))
  output, status = run('chomsky/scores.lua', '--smoke', '--learning-rates', '1e-3', '--folder', grid)
  assert(status == 1 and output:find('--learning-rates must be two numbers', 1, true), output)
  output, status = run('flare/scores.lua', '--smoke', '--tasks', 'parity', '--models', 'lstm', '--samples', '3',
    '--workers', '1', '--folder', folder .. '/flare', '--run-folder', folder .. '/losses')
  assert(status == 0, output)
  local least, chosen = math.huge, nil
  for _, row in ipairs(select(2, csv.read(folder .. '/losses/settings.csv'))) do
    local loss = tonumber(row['valid loss'])
    if row[''] == 'chosen' then chosen = loss end
    least = math.min(least, loss)
  end
  test.equal(chosen, least)
  -- Within a run, too.
  for _, path in ipairs(files.find(folder .. '/flare', 'result%.json$')) do
    local place, of_epoch = ('%s/flare/%s'):format(folder, path:gsub('result%.json$', '')), {}
    local result = json.decode(files.read(place .. 'result.json'))
    for line in files.read(place .. 'metrics.jsonl'):gmatch '[^\n]+' do
      local epoch = json.decode(line)
      if epoch.event == 'epoch' then of_epoch[epoch.epoch] = epoch.label_cross_entropy end
    end
    test.equal(#of_epoch, 2)
    test.near(result.valid_loss, math.min(unpack(of_epoch)), 1e-6)
    test.equal(of_epoch[result.best_epoch], math.min(unpack(of_epoch)))
  end
  local shown = select(2, csv.read(folder .. '/losses/scores.csv'))[1]
  test.equal(shown['LSTM (published)'] .. ' ' .. shown['RNN (published)'], '90 71')
end)

test('a training continues with more updates or epochs', function()
  for _, case in ipairs { { 'chomsky', '--steps', 'steps', 6 }, { 'flare', '--epochs', 'epochs', 4 } } do
    local script, place = case[1] .. '/train.lua', ('%s/%s-on'):format(folder, case[1])
    local extra = case[1] == 'flare' and { '--loss', 'recognition+lm', '--patience', '0' } or {}
    local output, status = run(script, '--smoke', '--run-folder', place, unpack(extra))
    assert(status == 0, output)
    extra[#extra + 1], extra[#extra + 2] = case[2], tostring(case[4])
    output, status = run(script, '--smoke', '--run-folder', place, unpack(extra))
    assert(status == 0 and output:find('Resuming after', 1, true), output)
    local whole = place .. '-whole'
    output, status = run(script, '--smoke', '--run-folder', whole, unpack(extra))
    assert(status == 0, output)
    local one = json.decode(files.read(place .. '/result.json'))
    local other = json.decode(files.read(whole .. '/result.json'))
    test.equal(one[case[3]], case[4])
    for key, value in pairs(other) do
      if key ~= 'seconds' then test.equal(one[key], value) end
    end
  end
end)

test("languages come from the benchmark's folders", function()
  for _, part in ipairs { '', '/datasets/validation-short', '/datasets/validation-long', '/datasets/test' } do
    local place = folder .. '/bench/odds-first' .. part
    files.make_folder(place)
    files.write(place .. '/main.tok', ('0 1 # 1 0\n1 # 0\n'):rep(4))
    files.write(place .. '/labels.txt', ('1\n0\n'):rep(4))
  end
  local output, status = run('flare/train.lua', '--smoke', '--data', folder .. '/bench', '--task', 'odds-first',
    '--run-folder', folder .. '/own')
  assert(status == 0, output)
  assert(json.decode(files.read(folder .. '/own/result.json')).score >= 0)
  output, status = run('flare/train.lua', '--smoke', '--task', 'odds-first')
  assert(status == 1 and output:find('or --data with', 1, true), output)
  output, status = run('flare/train.lua', '--smoke', '--data', folder .. '/bench', '--task', 'odds-first', '--near',
    '8')
  assert(status == 1 and output:find('--near, --valid-near and --first-epochs need strings', 1, true), output)
  output, status = run('flare/train.lua', '--smoke', '--task', 'parity', '--near', '8')
  assert(status == 1 and output:find('parity has no hard negatives', 1, true), output)
  output, status = run('chomsky/train.lua', '--smoke', '--longest', '4')
  assert(status == 1 and output:find('--longest must be above the training lengths, 4, got 4', 1, true), output)
end)

test.finish()
