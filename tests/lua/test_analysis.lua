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
  test.fails("blimp.jsonl:1: the word 'c' is not in the alphabet", function()
    pd.analysis.minimal_pairs(model, path, columns)
  end)
  test.fails("blimp.jsonl:1: there is no 'good' .there is UID, sentence_bad, sentence_good.", function()
    pd.analysis.minimal_pairs(model, path)
  end)
  test.fails("unknown = '<x>' is not in the alphabet", function()
    pd.analysis.minimal_pairs(model, path, { unknown = '<x>' })
  end)
  path = write('same.csv', 'good,bad\na,a\n')
  test.fails("same.csv:2: both strings are 'a'", function() pd.analysis.minimal_pairs(model, path) end)
  test.fails('there are no pairs', function() pd.analysis.minimal_pairs(model, write('none.csv', 'good,bad\n')) end)
  test.fails('expected a language model, got nil', function() pd.analysis.minimal_pairs(nil, path) end)
end)

test('the surprisal of every word', function()
  local path = write('strings.tsv', 'text\na c\n\nb\n')
  local found = pd.analysis.surprisals(model, path, { unknown = '<unk>' })
  local lines = {}
  for i, row in ipairs(found.rows) do lines[i] = ('%d %d %s %s'):format(row[1], row[2], row[3], tostring(row[5])) end
  test.equal(table.concat(lines, '|'), '1 1 a false|1 2 c true|1 3  false|2 1 b false|2 2  false')
  local sum = 0
  for i = 1, 3 do sum = sum + found.rows[i][4] end
  test.near(sum, -model:log_probability('a <unk>'), 1e-9)
  found:save(folder .. '/surprisals')
  assert(files.read(folder .. '/surprisals.csv'):find('string,place,word,surprisal,unknown', 1, true))
end)

test.finish()
