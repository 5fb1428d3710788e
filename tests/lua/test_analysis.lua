-- Minimal pairs and surprisals of language models from files.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = test.folder()
local alphabet = { 'a', 'b', '<unk>' }
-- A model that has seen nothing, made to prefer one word over the other whatever comes before.
local model = pd.model.language_model { alphabet = alphabet, controller = { kind = 'lstm', hidden = 3 }, seed = 1,
  dtype = 'float64' }
model:set_parameters { ['output.weight'] = pd.tensor.zeros { 4, 3 }, ['output.bias'] = { 1, 0, -1, -2 } }

local function write(name, text)
  files.write(folder .. '/' .. name, text)
  return folder .. '/' .. name
end

test('the accuracy of minimal pairs, in all and for each phenomenon', function()
  local path = write('pairs.tsv', 'phenomenon\tgood\tbad\nfirst\ta a\ta b\nsecond\tb b\ta a\nfirst\ta b\tb b\n'
    .. 'first\ta b\tb a\n')
  local found = pd.analysis.minimal_pairs(model, path)
  test.equal(found.pairs, 4)
  test.equal(found.accuracy, 0.5)  -- b a and a b are equal, which is not right
  test.equal(#found.phenomena, 2)
  test.equal(found.phenomena[1].phenomenon, 'first')
  test.near(found.phenomena[1].accuracy, 2 / 3, 1e-12)
  test.equal(found.phenomena[2].accuracy, 0)
  test.near(found.rows[1].difference, 1, 1e-12)
  test.near(found.rows[2].difference, -2, 1e-12)
  test.equal(found.rows[4].place, path .. ':5')
  assert(tostring(found):find('first%s+3%s+0.6667') and tostring(found):find('all%s+4%s+0.5000'), tostring(found))
end)

test('the columns of other files, JSON lines and unknown words', function()
  local path = write('blimp.jsonl', '{"sentence_good": "a c", "sentence_bad": "b c", "UID": "x"}\n')
  local columns = { good = 'sentence_good', bad = 'sentence_bad', phenomenon = 'UID', unknown = '<unk>' }
  local found = pd.analysis.minimal_pairs(model, path, columns)
  test.equal(found.accuracy .. found.phenomena[1].phenomenon, '1x')
  test.equal(found.rows[1].good, 'a <unk>')
  columns.unknown = nil
  test.fails("blimp.jsonl:1: the word 'c' is not in the alphabet", pd.analysis.minimal_pairs, model, path, columns)
  test.fails("blimp.jsonl:1: there is no 'good' .there is UID, sentence_bad, sentence_good.",
    pd.analysis.minimal_pairs, model, path)
  test.fails("unknown = '<x>' is not in the alphabet", pd.analysis.minimal_pairs, model, path, { unknown = '<x>' })
  path = write('same.csv', 'good,bad\na,a\n')
  test.fails("same.csv:2: both strings are 'a'", function() pd.analysis.minimal_pairs(model, path) end)
  test.fails('expected a file of pairs, got table', function() pd.analysis.minimal_pairs(model, {}) end)
  test.fails("pairs.txt': expected a file .jsonl, .csv or .tsv",
    pd.analysis.minimal_pairs, model, write('pairs.txt', 'a b'))
  test.fails('there are no pairs', function() pd.analysis.minimal_pairs(model, write('none.csv', 'good,bad\n')) end)
  test.fails('expected a language model, or a table of models by name, got nil', pd.analysis.minimal_pairs, nil, path)
end)

test('the surprisal of every word', function()
  local path = write('strings.tsv', 'text\na c\n\nb\n')
  local found = pd.analysis.surprisals(model, path, { unknown = '<unk>' })
  local lines = {}
  for i, row in ipairs(found.rows) do lines[i] = ('%d %d %s %s'):format(row[1], row[2], row[3], tostring(row[5])) end
  test.equal(table.concat(lines, '|'), '1 1 a false|1 2 c true|1 3 <end> false|2 1 b false|2 2 <end> false')
  local sum = 0
  for i = 1, 3 do sum = sum + found.rows[i][4] end
  test.near(sum, -model:log_probability('a <unk>'), 1e-9)
  found:save(folder .. '/surprisals')
  assert(files.read(folder .. '/surprisals.csv'):find('string,place,word,surprisal,unknown', 1, true))
end)

local function near(found, low, high)
  test.near(found.low, low, 1e-6)
  test.near(found.high, high, 1e-6)
end

test('intervals and the critical word of minimal pairs', function()
  local path = write('critical.tsv', 'good\tbad\na b\ta\na a\ta b\nb\ta\na\ta b\n')
  local found = pd.analysis.minimal_pairs(model, path)
  -- After the shared words, b is more probable than the end, a than b, and not b than a.
  local seen = {}
  for i, row in ipairs(found.rows) do
    seen[i] = ('%d %s %s'):format(row.critical, row.good_word, row.bad_word)
  end
  test.equal(table.concat(seen, '|'), '2 b <end>|2 a b|1 b a|2 <end> b')
  test.near(found.rows[1].critical_difference, 2, 1e-9)
  test.near(found.rows[3].critical_difference, -1, 1e-9)
  test.equal(found.critical_accuracy, 0.5)
  -- statsmodels: proportion_confint(2, 4, method='wilson').
  near(found, 0.150039, 0.849961)
  found:save(folder .. '/critical')
  local rows = select(2, pd.csv.read(folder .. '/critical-pairs.csv'))
  test.equal(#rows .. rows[2].good_word .. rows[2].critical, '4a2')
  test.equal(select(2, pd.csv.read(folder .. '/critical.csv'))[1].accuracy, ('%.15g'):format(found.accuracy))
  assert(files.exists(folder .. '/critical.txt') and files.exists(folder .. '/critical.tex'))
  local endless = pd.model.language_model { alphabet = alphabet, end_symbol = false, seed = 1 }
  local of_endless = pd.analysis.minimal_pairs(endless, write('prefix.tsv', 'good\tbad\na b\ta\n'))
  test.equal(of_endless.rows[1].critical, nil)
  test.equal(of_endless.critical_accuracy, nil)
end)

test('several models side by side', function()
  local other = pd.model.language_model { alphabet = { 'b', 'a' }, controller = { kind = 'lstm', hidden = 3 }, seed = 1,
    dtype = 'float64' }
  other:set_parameters { ['output.weight'] = pd.tensor.zeros { 3, 3 }, ['output.bias'] = { 1, 0, -2 } }
  local path = write('both.tsv', 'phenomenon\tgood\tbad\nfirst\ta a\ta b\nfirst\tb a\ta a\nsecond\tb b\ta a\n')
  local found = pd.analysis.minimal_pairs({ second = other, first = model }, path)
  test.equal(found.models[1].name .. found.models[2].name, 'firstsecond')
  test.near(found.models[1].accuracy, 1 / 3, 1e-12)
  test.near(found.models[2].accuracy, 2 / 3, 1e-12)
  assert(tostring(found):find 'phenomenon%s+pairs%s+first%s+95 %% interval%s+second%s+95 %% interval', tostring(found))
  assert(tostring(found):find 'second%s+1%s+0.0000%s+0.0000 to 0.7935%s+1.0000%s+0.2065 to 1.0000', tostring(found))
  found:save(folder .. '/both')
  test.equal(#select(2, pd.csv.read(folder .. '/both.csv')), 6)
  test.equal(#select(2, pd.csv.read(folder .. '/both-pairs.csv')), 6)
  test.equal(pd.analysis.minimal_pairs({ model, other }, path).models[2].name, 'model 2')
  for message, given in pairs { ["model 2: expected a language model, got 7"] = { model, 7 },
    ['expected a language model, or a table of models by name, got 7'] = 7, ['got table'] = {} } do
    test.fails(message, function() pd.analysis.minimal_pairs(given, path) end)
  end
end)

test('sentences of plain texts, of a single column, of datasets and of lists', function()
  local function words(source, options)
    local list = {}
    for i, row in ipairs(pd.analysis.surprisals(model, source, options).rows) do list[i] = row[3] end
    return table.concat(list, ' ')
  end
  local expected = 'a b <end> b <end>'
  test.equal(words(write('plain.txt', '\239\187\191a b\r\n\nb\n')), expected)
  test.equal(words(write('one.csv', 'sentence\na b\nb\n')), expected)
  test.equal(words(write('one.tsv', 'satz\na b\nb\n')), expected)
  test.equal(words(write('one.jsonl', '{"s": "a b"}\n{"s": "b"}\n')), expected)
  test.equal(words(write('bare.csv', 'a b\nb\n'), { header = false }), expected)
  test.equal(words(write('two.csv', 'id,text\n1,a b\n2,b\n')), expected)
  test.equal(words(write('named.csv', 'id,s\n1,a b\n2,b\n'), { text = 's' }), expected)
  test.equal(words { 'a b', { 'b' } }, expected)
  test.equal(words(pd.task.dataset { alphabet = alphabet, strings = { 'a b', 'b' } }), expected)
  test.equal(words(write('empty.csv', 'text\n""\nb\n')), '<end> b <end>')
  test.fails("named.csv:2: there is no 'text' %(there is id, s%)", function() words(folder .. '/named.csv') end)
  test.fails("one.csv:2: there is no 'text' %(there is sentence%)", words, folder .. '/one.csv', { text = 'text' })
  test.fails("null.jsonl:1: the value of 'text' is null", function() words(write('null.jsonl', '{"text": null}')) end)
  test.fails('expected a text in .text., got 7', function() words(write('seven.jsonl', '{"text": 7}')) end)
  test.fails('expected a file, a dataset or a list of strings, got 7', function() words(7) end)
  test.fails('the list: there are no strings', function() words {} end)
  test.fails('none.txt: there are no strings', function() words(write('none.txt', '\n')) end)
end)

test('a model reads sentences as its training data were read', function()
  local text = write('train.txt', ('The dog barks. The cat sees the dog!\n'):rep(10))
  local c = pd.task.sentences(text, { folder = folder .. '/prepared', words = 'unicode', lower = true, shares = { 1 },
    progress = false })
  local reading = c.train:alphabet():reading()
  test.equal(('%s %s %s'):format(reading.words, tostring(reading.lower), reading.unknown), 'unicode true <unk>')
  local m = pd.model.language_model { alphabet = c.train:alphabet(), controller = { kind = 'lstm', hidden = 2 },
    seed = 1 }
  m:save(folder .. '/m.safetensors')
  local path = write('new.txt', 'The bird barks.\n')
  for _, one in ipairs { m, pd.model.load(folder .. '/m.safetensors') } do
    local found = pd.analysis.surprisals(one, path)
    local seen = {}
    for i, row in ipairs(found.rows) do seen[i] = row[3] .. (row[5] and '?' or '') end
    test.equal(table.concat(seen, ' '), 'The bird? barks . <end>')
    test.equal(found.note, "1 of 4 words unknown, read as '<unk>'; words of the Unicode standard, lower case")
  end
  -- Options override it.
  local found = pd.analysis.surprisals(m, path, { words = 'blanks', lower = false })
  test.equal(found.note, "3 of 3 words unknown, read as '<unk>'; 1 of them are known in lower case (lower = true); "
    .. 'words between blanks')
  -- Files of models of before have no reading.
  local tensors, metadata = pd.tensor.load(folder .. '/m.safetensors')
  local described = pd.json.decode(metadata.model)
  described.reading = nil
  metadata.model = pd.json.encode(described)
  pd.tensor.save(folder .. '/old.safetensors', tensors, { metadata = metadata })
  local old = pd.model.load(folder .. '/old.safetensors')
  test.equal(old:alphabet():reading(), nil)
  test.fails("new.txt:1: the word 'The' is not in the alphabet of the model; lower = true reads it in lower case, and "
    .. 'the option unknown', function() pd.analysis.surprisals(old, path) end)
  found = pd.analysis.surprisals(old, path, { unknown = '<unk>' })
  test.equal(found.note, "3 of 3 words unknown, read as '<unk>'; 1 of them are known in lower case (lower = true); "
    .. 'words between blanks; how the text of the training was read is not known')
  -- Running texts and files of strings know it, too; a language of symbols has nothing to say.
  write('lines.txt', ('a b\n'):rep(9))
  local running = pd.task.corpus(folder .. '/lines.txt').train:alphabet():reading()
  test.equal(('%s %s'):format(running.words, running.unknown), 'blanks <unk>')
  local characters = pd.data.read(write('c.csv', 'text\nab\n'), { characters = true })
  test.equal(characters:alphabet():reading().words, 'characters')
  local reads = pd.model.language_model { alphabet = characters:alphabet(), seed = 1 }
  test.equal(#pd.analysis.surprisals(reads, { 'abba' }).rows, 5)
  test.equal(pd.analysis.surprisals(model, { 'a b' }).note, '0 of 2 words unknown')
  test.fails("'<unk>' for unknown words is not in the alphabet",
    pd.grammar.alphabet, { 'a' }, { words = 'blanks', unknown = '<unk>' })
end)

test.finish()
