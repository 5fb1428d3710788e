-- pd.data: strings and labels in files of other programs; the tasks of pd.task.chomsky; grammars of NLTK.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local folder = test.folder()

local function write(name, text)
  files.make_folder((folder .. '/' .. name):match '^(.*)/')
  pd.file.write(folder .. '/' .. name, text)
  return folder .. '/' .. name
end

local function labelled(data)
  local lines, given = {}, data:labels()
  for i, text in ipairs(data:strings()) do lines[i] = (given[i] and '1:' or '0:') .. text end
  return table.concat(lines, '|')
end

test('lines of JSON', function()
  local path = write('a.jsonl', '{"text": "b a", "label": 1}\n\n{"label": false, "text": ["a", "c"], "id": 7}\r\n')
  local data = pd.data.read(path)
  test.equal(labelled(data), '1:b a|0:a c')
  test.equal(table.concat(data:alphabet():symbols()), 'abc')
  path = write('b.jsonl', '{"s": "ab", "ok": "yes"}\n{"s": "", "ok": "no"}')
  local data_of_keys = pd.data.read(path, { text = 's', label = 'ok', positive = 'yes', characters = true })
  test.equal(labelled(data_of_keys), '1:a b|0:')
  -- Without labels it is a dataset for language models.
  data = pd.data.read(path, { text = 's', label = false, characters = true })
  test.equal(tostring(data):match '^%a+', 'Dataset')
  test.equal(table.concat(data:strings(), '|'), 'a b|')
  data = pd.data.read(write('u.jsonl', '{"text": "zürich ist ñ"}'), { characters = true })
  test.equal(data:strings()[1], 'z ü r i c h i s t ñ')
end)

test('comma-separated values and tabs', function()
  local path = write('a.csv', 'label,text\n1,"( , )"\n0,( (\n')
  test.equal(labelled(pd.data.read(path)), '1:( , )|0:( (')
  path = write('a.tsv', 'text\tlabel\na b\tvalid\r\n\tinvalid\n')
  test.equal(labelled(pd.data.read(path)), '1:a b|0:')
end)

test('byte order marks are skipped', function()
  local mark = '\239\187\191'
  for name, text in pairs { ['m.csv'] = 'text,label\r\na b,1\r\n', ['q.csv'] = '"text",label\na b,1\n',
    ['m.tsv'] = 'text\tlabel\r\na b\t1\r\n', ['m.jsonl'] = '{"text": "a b", "label": 1}\n' } do
    test.equal(labelled(pd.data.read(write(name, mark .. text))), '1:a b')
  end
end)

test('files without a header', function()
  -- As the Corpus of Linguistic Acceptability is published: source, label, mark, sentence.
  local path = write('cola.tsv', "gj04\t1\t\tOur friends won't buy this analysis.\ngj04\t0\t*\tThey drank the pub.\n")
  test.equal(labelled(pd.data.read(path, { header = false, text = 4, label = 2 })),
    "1:Our friends won't buy this analysis.|0:They drank the pub.")
  test.equal(labelled(pd.data.read(write('two.csv', 'a b,1\n"two\nlines",0\n'), { header = false })),
    '1:a b|0:two lines')
  local data = pd.data.read(write('one.csv', 'a b\nb\n'), { header = false })
  test.equal(table.concat(data:strings(), '|'), 'a b|b')
  test.fails("cola.tsv:1: there is no '5' %(there is 1, 2, 3, 4%)",
    pd.data.read, path, { header = false, text = 5, label = 2 })
  test.fails('option text must be the number of a column, as there is no header, got sentence',
    pd.data.read, path, { header = false, text = 'sentence' })
  test.fails('option label must be a name, got 2', function() pd.data.read(path, { label = 2 }) end)
  test.fails('header = false is not for them', pd.data.read, write('a.jsonl', '{"text": "a"}'), { header = false })
end)

test('errors name the file, the line and the key', function()
  local function refused(pattern, name, text, options)
    local path = write(name, text)
    test.fails(pattern, function() pd.data.read(path, options) end)
  end
  refused('a.jsonl:2: expected a value', 'a.jsonl', '{"text": "a"}\n{"text": \n')
  refused('a.jsonl:2: a symbol must be UTF%-8 text', 'a.jsonl', '{"text": "a"}\n{"text": "a \255"}\n')
  refused('a.jsonl:1: .*nested at most 256 deep', 'a.jsonl', ('['):rep(100000))
  refused('a.csv: line 4: expected a closing quote', 'a.csv', 'text\n"two\nlines"\n"a\n')
  refused("a.csv: there are two columns 'text'", 'a.csv', 'text,text\na,b\n')
  refused('a.jsonl:1: expected a table', 'a.jsonl', '[1, 2]')
  refused("a.jsonl:1: there is no 'text' %(there is input%)", 'a.jsonl', '{"input": "a"}')
  refused("a.jsonl:2: expected a label 1 or 0.*got 'maybe'", 'a.jsonl',
    '{"text": "a", "label": 1}\n{"text": "a", "label": "maybe"}')
  refused('a.jsonl:2: some strings have a label', 'a.jsonl', '{"text": "a", "label": 1}\n{"text": "a"}')
  refused("a.jsonl:1: there is no label 'ok'", 'a.jsonl', '{"text": "a"}', { label = 'ok' })
  refused("a.jsonl:1: the symbol 'b' is not in the alphabet", 'a.jsonl', '{"text": "a b"}', { alphabet = { 'a' } })
  refused('a.jsonl:1: expected a text, got a number', 'a.jsonl', '{"text": 3}')
  refused("a.jsonl:1: the value of 'text' is null$", 'a.jsonl', '{"text": null, "label": 1}')
  refused("a.jsonl:1: the value of 'label' is null$", 'a.jsonl', '{"text": "a", "label": null}', { label = 'label' })
  refused('a.jsonl: there are no strings', 'a.jsonl', '\n')
  refused('a.csv:2: expected 2 fields', 'a.csv', 'text,label\na\n')
  refused("a.csv:4: expected a label.*got 'x'", 'a.csv', 'text,label\n"two\nlines",1\na,x\n')
  refused("a.csv:1: expected fields separated by commas, got 'text;label'", 'a.csv', 'text;label\na b;1\n')
  refused('a.tsv:2: expected 2 fields, got 1', 'a.tsv', 'text\tlabel\na\n')
  refused('expected a file .jsonl', 'a.txt', 'a')
  test.fails('nowhere.csv', function() pd.data.read(folder .. '/nowhere.csv') end)
end)

test('odd files', function()
  local bytes = { ['an empty file'] = '', ['only a header'] = 'text\n', ['UTF-16'] = '\255\254t\0e\0x\0t\0\n\0a\0',
    ['big-endian UTF-16'] = '\254\255\0t', ['NUL'] = 'text\na\nb\0c\n', ['old line ends'] = 'text\ra\rb\r' }
  local said = { ['an empty file'] = 'x.%w+: the file is empty: expected a line with the names', ['only a header'] =
    'x.%w+: there are no strings', ['UTF-16'] = "x.%w+': expected UTF%-8, got the byte order mark of UTF%-16",
    ['big-endian UTF-16'] = 'got the byte order mark of UTF%-16', ['NUL'] = 'x.%w+:3: expected text, got a NUL byte' }
  for _, ending in ipairs { 'csv', 'tsv' } do
    for what, message in pairs(said) do
      local path = write('x.' .. ending, bytes[what])
      test.fails(message, function() pd.data.read(path) end)
    end
  end
  test.fails('line 1: expected a line feed after a carriage return',
    pd.data.read, write('x.csv', bytes['old line ends']))
  test.fails('x.jsonl: there are no strings', function() pd.data.read(write('x.jsonl', '')) end)
  test.fails('got the byte order mark of UTF%-16', function() pd.data.read(write('x.jsonl', '\255\254{\0')) end)
  test.fails('pd.task.sentences and pd.task.corpus read plain text', function() pd.data.read(write('x.txt', 'a')) end)
  files.make_folder(folder .. '/folder.csv')
  test.fails("cannot read '.*folder.csv': Is a directory", function() pd.data.read(folder .. '/folder.csv') end)
end)

test('an iterator', function()
  local i, list = 0, { { 'a b', true }, { { 'b' }, false } }
  local data = pd.data.collect(function()
    i = i + 1
    if list[i] then return list[i][1], list[i][2] end
  end)
  test.equal(labelled(data), '1:a b|0:b')
  data = pd.data.collect(coroutine.wrap(function()
    coroutine.yield 'x y'
    coroutine.yield 'y'
  end), { alphabet = { 'y', 'x' } })
  test.equal(table.concat(data:alphabet():symbols(), ' '), 'y x')
  test.fails("string 1: the symbol 'z'",
    pd.data.collect, coroutine.wrap(function() coroutine.yield 'z' end), { alphabet = { 'y' } })
end)

test('the folders of FLaRe', function()
  write('flare/main.tok', '0 # 0\n\n1 0\n')
  write('flare/labels.txt', '1\n0\n0\n')
  local sets = '[{"s":"0 1 #","e":false},{"s":"#","e":false},{"s":"0","e":false},{"s":"","e":true}]\n'
  write('flare/next-symbols.jsonl', sets)
  write('flare/datasets/validation-short/main.tok', '#\n')
  write('flare/datasets/validation-short/labels.txt', '1\n')
  write('flare/datasets/test/main.tok', '1 1 0\n# 2\n')
  write('flare/datasets/test/labels.txt', '0\n0\n')
  local parts = pd.data.flare(folder .. '/flare')
  test.equal(labelled(parts.train), '1:0 # 0|0:|0:1 0')
  test.equal(labelled(parts.validation_short), '1:#')
  test.equal(labelled(parts.test), '0:1 1 0|0:# 2')
  test.equal(parts.validation_long, nil)
  local next_symbols = parts.train:next_symbols()
  test.equal(#next_symbols[2] + #next_symbols[3] + #parts.test:next_symbols(), 0)
  local shown = {}
  for i, set in ipairs(next_symbols[1]) do shown[i] = '{' .. table.concat(set, ' ') .. '}' end
  test.equal(table.concat(shown, ' '), '{# 0 1} {#} {0} {}')
  for text, message in pairs { ['[]\n'] = 'jsonl:1: expected a list of 4 entries', [''] = 'jsonl:1: .* missing',
    [sets .. sets] = 'has 2 lines, expected 1', [(sets:gsub('"#"', '"0"'))] = "entry 2 does not contain '#'",
    [(sets:gsub('true', '1'))] = 'entry 4: expected', ['{"s"\n'] = 'jsonl:1: expected a list' } do
    write('flare/next-symbols.jsonl', text)
    test.fails(message, function() pd.data.flare(folder .. '/flare') end)
  end
  write('flare/next-symbols.jsonl', sets)
  for _, part in pairs(parts) do test.equal(table.concat(part:alphabet():symbols()), '#012') end
  write('flare/labels.txt', '1\n0\n')
  test.fails('main.tok has 3 lines and labels.txt 2', function() pd.data.flare(folder .. '/flare') end)
  write('flare/labels.txt', '1\n0\n2\n')
  test.fails("labels.txt:3: expected a label.*got '2'$", function() pd.data.flare(folder .. '/flare') end)
  test.fails('not a language of FLaRe', function() pd.data.flare(folder) end)
  write('flare/labels.txt', '1\n0\n0\n')
  for _, name in ipairs { 'datasets/test/main.tok', 'datasets/validation-short/labels.txt', 'labels.txt' } do
    local text = files.read(folder .. '/flare/' .. name)
    os.remove(folder .. '/flare/' .. name)
    test.fails(("^%%[data.flare%%] '%s/flare/?%s' is incomplete: .*, %s is missing$"):format(folder:gsub('%p', '%%%0'),
      (name:match '^(.-)/?[%w.]+$':gsub('%p', '%%%0')), name:match '[%w.]+$'), function()
      pd.data.flare(folder .. '/flare')
    end)
    write('flare/' .. name, text)
  end
  test.equal(#pd.data.flare(folder .. '/flare').test:strings(), 2)
end)

test('what is written is read again, in every format', function()
  local labelled_set = pd.task.labelled_dataset { alphabet = { '"', ',', '<a>' }, strings = { '" ,', '', '<a> <a>' },
    labels = { true, false, false } }
  local plain = pd.task.dataset { alphabet = { 'a', 'b' }, strings = { 'a b', 'b' } }
  for _, format in ipairs { 'jsonl', 'csv', 'tsv' } do
    local path = folder .. '/written.' .. format
    pd.data.write(path, labelled_set)
    test.equal(labelled(pd.data.read(path, { alphabet = { '"', ',', '<a>' } })), '1:" ,|0:|0:<a> <a>', format)
    pd.data.write(path, plain, { text = 'sentence' })
    test.equal(table.concat(pd.data.read(path, { text = 'sentence', label = false }):strings(), '|'), 'a b|b', format)
  end
  pd.data.write(folder .. '/written.jsonl', labelled_set, { text = 'input', label = 'valid' })
  test.equal(files.read(folder .. '/written.jsonl'):match '^[^\n]*', '{"input":"\\" ,","valid":1}')
  pd.data.write(folder .. '/sampled.jsonl', pd.grammar.load('dyck'):sampler({ lengths = { 2, 8 } }):dataset(20,
    { seed = 1 }))
  test.equal(pd.data.read(folder .. '/sampled.jsonl', { label = false }):size(), 20)
  test.fails('expected a file .jsonl, .csv or .tsv', function() pd.data.write(folder .. '/x.txt', plain) end)
  test.fails('expected a dataset, got 7', function() pd.data.write(folder .. '/x.csv', 7) end)
end)

-- Bytes as the writers `excel` and `excel-tab` of Python's csv write them.
test("files of Python's csv", function()
  local function texts(data) return '<' .. table.concat(data:strings(), '|') .. '>' end
  local one = 'text\r\n""\r\na b\r\n""""\r\n"x ""y"""\r\n"""a"" ""b"""\r\n""\r\n'
  for _, ending in ipairs { 'csv', 'tsv' } do
    test.equal(texts(pd.data.read(write('p.' .. ending, one))), '<|a b|"|x "y"|"a" "b"|>')
  end
  test.equal(labelled(pd.data.read(write('p.csv', 'text,label\r\n,1\r\n"a , b",0\r\n""" x """,1\r\n,1\r\n'))),
    '1:|0:a , b|1:" x "|1:')
  test.equal(labelled(pd.data.read(write('p.tsv', 'text\tlabel\r\n\t1\r\na , b\t0\r\n""" x """\t1\r\n\t1\r\n'))),
    '1:|0:a , b|1:" x "|1:')
  -- Tab-separated values without quotes, as treebanks are published: a sentence in quotes keeps them.
  test.equal(texts(pd.data.read(write('raw.tsv', 'text\n" I left . "\n"so "he said\n'))), '<" I left . "|"so "he said>')
end)

test('every kind of data is read back as it was, in every format', function()
  local symbols = { '"', '""', ',', ';', "'", '\\', 'a"b', '"a"', '#', 'é', '=1', '|', 'null', '-', '\239\187\191' }
  local alphabet = pd.grammar.alphabet(symbols)
  local function random(count, seed)
    return pd.tensor.rand({ count }, { seed = seed, dtype = 'float64' }):to_table()
  end
  for seed = 1, 20 do
    local strings, labels, couples = { '' }, { true }, { { source = '', target = '' } }
    local draws = random(30, seed)
    for i = 2, 9 do
      local word = {}
      for t = 1, math.floor(draws[i] * 4) do word[t] = symbols[1 + math.floor(draws[3 * i - t] * #symbols)] end
      strings[i] = table.concat(word, ' ')
      labels[i] = #strings[i] % 2 == 0
      couples[i] = { source = strings[i], target = strings[i - 1] }
    end
    strings[10], labels[10] = '', true
    local plain = pd.task.dataset { alphabet = alphabet, strings = strings }
    for _, ending in ipairs { 'jsonl', 'csv', 'tsv' } do
      local path = folder .. '/again.' .. ending
      for _, data in ipairs { plain, strings } do
        pd.data.write(path, data)
        test.equal(table.concat(pd.data.read(path, { alphabet = alphabet }):strings(), '\n'),
          table.concat(strings, '\n'), ending)
      end
      local set = pd.task.labelled_dataset { alphabet = alphabet, strings = strings, labels = labels }
      pd.data.write(path, set)
      test.equal(labelled(pd.data.read(path, { alphabet = alphabet })), labelled(set), ending)
      pd.data.write(path, couples)
      local rows = pd.data.rows(path, { columns = { 'source', 'target' } })
      test.equal(#rows, #couples, ending)
      for i, row in ipairs(rows) do
        test.equal(row.source .. '>' .. row.target, couples[i].source .. '>' .. couples[i].target, ending)
      end
    end
  end
end)

test('no string is lost, and what cannot be read back is refused', function()
  local sampler = pd.grammar.load 'unmarked_reversal':sampler { lengths = { 0, 4 } }
  for _, ending in ipairs { 'csv', 'tsv', 'jsonl' } do
    local path = folder .. '/empty.' .. ending
    pd.data.write(path, sampler:dataset(200, { seed = 1, batch = 1 }))
    test.equal(#pd.data.read(path, { label = false }):strings(), 200, ending)
    pd.data.write(path, sampler, { count = 50 })
    test.equal(#pd.data.read(path, { label = false }):strings(), 50, ending)
    -- White space of any kind separates symbols.
    pd.data.write(path, { 'a\tb\nc', ' ', { 'a', 'b' } })
    test.equal(table.concat(pd.data.read(path):strings(), '|'), 'a b c||a b', ending)
    local function refused(message, list, options)
      test.fails(message, function() pd.data.write(path, list, options) end)
    end
    refused("string 1: 'a b' cannot be a symbol", { { 'a b' } })
    refused("string 2: '' cannot be a symbol %(symbol 2%)", { 'a', { 'b', '' } })
    refused('cannot be a symbol', { 'a \255' })
    refused('cannot be a symbol', { 'a\0b' })
    refused("expected two names of columns, got 'x' twice", { { source = 'a', target = 'b' } },
      { source = 'x', target = 'x' })
  end
  test.fails('the name of a column has a tab', pd.data.write, folder .. '/x.tsv', { 'a' }, { text = 'a\tb' })
  -- Every table of one column.
  local values = { '', 'a', '', '"' }
  for i, value in ipairs(values) do values[i] = { value } end
  local lines = pd.csv.decode(pd.report.table({ columns = { 'x' }, rows = values }):csv())
  test.equal(#lines, 5)
  test.equal(lines[2][1] .. lines[5][1], '"')
end)

test('whatever draws strings or pairs can be written', function()
  local path = folder .. '/drawn.jsonl'
  local function lines() return pd.tables.matches(files.read(path), '[^\n]+') end
  local grammar = pd.grammar.parse "S -> 'a' S 'b' [0.4] | 'a' 'b' [0.6]"
  local sampler = grammar:sampler { lengths = { 2, 8 } }
  for _, source in ipairs { grammar, sampler } do
    pd.data.write(path, source, { count = 12, seed = 3 })
    local expected = source:sample { count = 12, seed = 3 }
    test.equal(#lines(), 12)
    for i, line in ipairs(lines()) do test.equal(line, ('{"text":"%s"}'):format(expected[i])) end
  end
  local pairs_of = pd.task.chomsky('reverse_string', { lengths = { 1, 5 } })
  pd.data.write(path, pairs_of, { count = 4, seed = 2 })
  local first = pairs_of:draw(4, { seed = 2 })[1]
  test.equal(lines()[1], ('{"source":"%s","target":"%s"}'):format(first.source, first.target))
  pd.data.write(folder .. '/drawn.tsv', pairs_of, { count = 4, seed = 2, source = 'from', target = 'to' })
  test.equal(files.read(folder .. '/drawn.tsv'):match '^[^\n]*\n[^\n]*',
    ('from\tto\n%s\t%s'):format(first.source, first.target))
  local words = pd.task.transduction { kind = 'word_problem', group = 's3', lengths = { 2, 3 } }
  pd.data.write(path, words, { count = 3 })
  test.equal(#lines(), 3)
  local synchronous = pd.grammar.load 'svo_to_sov'
  pd.data.write(path, synchronous:sample { count = 5, lengths = { 3, 12 }, seed = 1 })
  local drawn = synchronous:sample { count = 5, lengths = { 3, 12 }, seed = 1 }
  test.equal(json.decode(lines()[5]).target, drawn[5].target)
  local model = pd.model.language_model { alphabet = { 'a' }, controller = { kind = 'elman', hidden = 2 }, seed = 1 }
  pd.data.write(path, model:sample { count = 3, length = 4, seed = 1 })
  test.equal(lines()[3], '{"text":"a a a a"}')
  pd.data.write(path, { { 'a', 'b' }, 'b' })
  test.equal(lines()[1], '{"text":"a b"}')
  pd.data.write(path, pd.languages.shuffle_dyck({}):dataset(6, { lengths = { 2, 6 } }))
  test.equal(#lines(), 6)
  pd.data.write(path, pd.task.labelled { grammar = grammar, lengths = { 2, 6 }, positives = 2, negatives = 2,
    seed = 1 })
  assert(files.read(path):find '"label":1' and files.read(path):find '"label":0')
  test.fails('expected the option count: a Sampler draws without end', function() pd.data.write(path, sampler) end)
  test.fails('the option count is for a Sampler, a Grammar or Pairs, not for a table',
    pd.data.write, path, { 'a' }, { count = 3 })
  test.fails('entry 2: expected a pair', function() pd.data.write(path, { { source = 'a', target = 'b' }, 'b' }) end)
  test.fails('string 2: expected a text or a list of symbols, got a number', pd.data.write, path, { 'a', 7 })
end)

test('the datasets can be used in training', function()
  local lines = {}
  for i = 1, 40 do lines[i] = json.encode { text = ('a '):rep(i % 5) .. 'b', label = i % 5 % 2 } end
  local data = pd.data.read(write('train.jsonl', table.concat(lines, '\n')))
  local model = pd.model.recognizer { alphabet = data:alphabet(), controller = { kind = 'lstm', hidden = 3 }, seed = 1 }
  local trainer = pd.train.trainer { model = model, train = data, epochs = 1, progress = false,
    run_folder = folder .. '/run' }
  for _ in trainer:epochs() do end
  test.equal(trainer:epochs() ~= nil and pd.train.resume(folder .. '/run'):updates(), trainer:updates())
end)

test('the tasks of the Chomsky hierarchy, and a transducer that reads nothing of its target', function()
  local levels = {}
  for _, task in ipairs(pd.task.chomsky_tasks()) do
    levels[task.level] = (levels[task.level] or 0) + 1
    local pairs_of_task = pd.task.chomsky(task.name, { lengths = { 2, 6 } })
    local drawn = pairs_of_task:draw(5, { seed = 1 })
    local again = pd.task.transduction({ kind = task.name, lengths = { 2, 6 } }):draw(5, { seed = 1 })
    for i = 1, 5 do test.equal(drawn[i].source .. '>' .. drawn[i].target, again[i].source .. '>' .. again[i].target) end
  end
  test.equal(levels.regular .. ' ' .. levels['context-free'] .. ' ' .. levels['context-sensitive'], '4 5 7')
  test.fails("did you mean 'parity_check'", function() pd.task.chomsky 'parity' end)

  local task = pd.task.chomsky('reverse_string', { lengths = { 1, 5 } })
  local function transducer(feedback)
    return pd.model.transducer { pairs = task, controller = { kind = 'lstm', hidden = 6 }, feedback = feedback,
      stack = { kind = 'superposition', size = 3 }, embedding = 4, output_embedding = 0, dtype = 'float64', seed = 3 }
  end
  local deaf, hearing = transducer(false), transducer(true)
  -- If the model reads nothing, the prediction of the second symbol, 0 or 1, does not depend on the first one.
  local function second(model, first)
    return model:log_probability('0 1', first .. ' 0') - model:log_probability('0 1', first .. ' 1')
  end
  test.near(second(deaf, '0'), second(deaf, '1'), 1e-12)
  assert(math.abs(second(hearing, '0') - second(hearing, '1')) > 1e-6)
  -- The model writes the most probable symbol at every position, so the accuracies are those of its targets.
  local list, right, symbols = {}, 0, 0
  for i, pair in ipairs(task:draw(20, { seed = 4 })) do list[i] = { pair.source, pair.target } end
  for _, pair in ipairs(list) do
    local written, place = {}, 0
    for symbol in deaf:translate(pair[1]):gmatch '%S+' do written[#written + 1] = symbol end
    for symbol in pair[2]:gmatch '%S+' do
      place, symbols = place + 1, symbols + 1
      -- It writes nothing after its own end, so only earlier positions can be compared.
      if written[place] == symbol then right = right + 1 end
    end
  end
  local found = pd.train.evaluate(deaf, pd.task.pairs(list, { source_alphabet = task:source_alphabet(),
    target_alphabet = task:target_alphabet() }), { pairs = 2000, seed = 4 })
  assert(found.symbol_accuracy >= right / symbols - 0.1, found.symbol_accuracy)
  assert(found.fine <= found.prediction_accuracy + 1e-12)
end)

test('grammars in the notation of NLTK and as lists of rules', function()
  local grammar = pd.grammar.from_nltk("% start S\nS -> NP VP [1.0]\nNP -> 'the' N [0.5] | NP PP \\\n [0.5]\n"
    .. "VP -> 'saw' NP [0.7] | VP PP [0.3]\nPP -> 'with' NP [1.0]\nN -> 'man' [0.4] | 'telescope' [0.6]")
  local text = 'the man saw the man with the telescope'
  test.equal(grammar:parse_count(text), 2)
  test.equal(grammar:parse_count 'the man', 0)
  local again = pd.grammar.from_rules(grammar:text 'rules')
  test.near(again:log_probability(text), grammar:log_probability(text), 1e-12)
  again = pd.grammar.from_nltk(grammar:text 'nltk')
  test.near(again:log_probability(text), grammar:log_probability(text), 1e-12)
  test.equal(pd.grammar.from_rules('2 S -> a S\n2 S -> a\n', { start = 'S' }):parse_count 'a a', 1)
  test.equal(pd.grammar.parse("S -> S | 'a'"):parse_count 'a', math.huge)
  test.fails('notation', function() grammar:text 'penn' end)
end)

-- The results of NLTK itself, if it is installed.
local python = io.popen 'python3 -c "import nltk" 2>/dev/null; echo $?'
local has_nltk = python:read '*l' == '0'
python:close()
if has_nltk then
  test('NLTK reads our text and counts as many parses', function()
    for name, length in pairs { dyck = 8, hardest_cfl = 7, unmarked_reversal = 8 } do
      local grammar = pd.grammar.load(name)
      local path = write('grammar.txt', grammar:text 'nltk')
      local text = grammar:sample { length = length, seed = 1 }
      local script = write('count.py', ("import nltk, sys\ng = nltk.PCFG.fromstring(open('%s').read())\n"
        .. "print(sum(1 for _ in nltk.ChartParser(g).parse(sys.argv[1].split())))\n"):format(path))
      local pipe = io.popen(('python3 %s %s'):format(script, files.quoted(text)))
      test.equal(tonumber(pipe:read '*a'), grammar:parse_count(text))
      pipe:close()
    end
  end)
end

test.finish()
