-- Treebanks in CoNLL-U and examples of number prediction from Lua.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local top = test.folder()
files.make_folder(top .. '/bank')

-- Blanks become tabs.
local function rows(text) return (text:gsub(' ', '\t')) end

local bank = '# sent_id = a\n' .. rows [[
1 The the DET DT _ 2 det _ _
2 keys key NOUN NNS Number=Plur 7 nsubj _ _
3 to to ADP IN _ 5 case _ _
4 the the DET DT _ 5 det _ _
5 cabinet cabinet NOUN NN Number=Sing 2 nmod _ _
6 are be AUX VBP _ 7 cop _ _
7 here here ADV RB _ 0 root _ _
]] .. '\n# sent_id = b\n' .. rows [[
1-2 dog's _ _ _ _ _ _ _ _
1 dog dog NOUN NN _ 3 nmod _ _
2 's 's PART POS _ 1 case _ _
3 man man NOUN NN Number=Sing 4 nsubj _ _
4 walks walk VERB VBZ _ 0 root _ _
4.1 fast fast ADV RB _ _ _ _ _
]] .. '\n' .. rows [[
1 Men man NOUN NNS _ 2 nsubj _ _
2 walk walk VERB VBP _ 0 root _ _
]]
files.write(top .. '/bank/a.conllu', bank)
files.write(top .. '/bank/notes.txt', 'no treebank')

test('sentences of a treebank come one after the other', function()
  local sentences = {}
  for sentence in pd.task.conllu(top .. '/bank') do sentences[#sentences + 1] = sentence end
  test.equal(#sentences, 3)
  local second = sentences[2]
  test.equal(second.id, 'b')
  test.equal(table.concat(second.forms, ' '), "dog 's man walks")
  test.equal(table.concat(second.surface, ' '), "dog's man walks")
  test.equal(table.concat(second.xpos, ' '), 'NN POS NN VBZ')
  test.equal(table.concat(second.relations, ' '), 'nmod case nsubj root')
  test.near(second.heads, { 3, 1, 4, 0 })
  test.equal(second.features[3], 'Number=Sing')
  test.equal(second.ranges[1].form, "dog's")
  test.equal(sentences[3].line, 18)
  local iterator = pd.task.conllu(top .. '/bank/a.conllu')
  test.equal(tostring(iterator), 'ConlluFiles: 1 file')
  test.equal(iterator().id, 'a')
  files.write(top .. '/wrong.conllu', bank .. '\n1\ta\n')
  test.fails('wrong.conllu:21: expected 10 columns', function()
    for _ in pd.task.conllu(top .. '/wrong.conllu') do end
  end)
  test.fails('there is no file or folder', function() pd.task.conllu(top .. '/none') end)
end)

test('examples of a treebank', function()
  local examples = pd.task.number_examples(top .. '/bank/a.conllu')
  test.equal(tostring(examples), 'NumberData: 3 examples of number prediction, 2 plural')
  local first = examples:example(1)
  test.equal(first.prefix, 'The keys to the cabinet')
  test.equal(first.plural, true)
  test.equal(first.attractors .. ' ' .. first.intervening, '1 1')
  test.equal(first.homogeneous, true)
  test.equal(first.verb .. ' ' .. first.other, 'are is')
  test.equal(examples:example(2).other, 'walk')
  test.equal(examples:prefixes()[2], "dog 's man")
  test.equal(pd.task.number_examples(top .. '/bank', { surface = true }):prefixes()[2], "dog's man")
  test.equal(pd.task.number_examples(top .. '/bank', { auxiliaries = false }):size(), 2)
  test.equal(pd.task.number_examples(top .. '/bank', { lower = true }):prefixes()[1], 'the keys to the cabinet')
  local some = examples:where { attractors = 0, both_forms = true, plural = true }
  test.equal(some:size(), 1)
  test.equal(some:example(1).prefix, 'Men')
  test.equal(examples:where { homogeneous = true }:size(), 3)
  local counts = examples:counts()
  test.equal(counts.singular .. ' ' .. counts.plural .. ' ' .. counts.both_forms, '1 2 3')
  test.equal(counts.attractors[2].attractors .. ' ' .. counts.attractors[2].examples, '1 1')
  test.fails('the examples are 1 to 3, got 4', function() examples:example(4) end)
  test.fails('examples are 1 to 3, got 0', function() examples:example(0) end)
  files.write(top .. '/none.conllu', rows '1 Go go VERB VB _ 0 root _ _\n')
  test.fails('has no present verb with a noun', function() pd.task.number_examples(top .. '/none.conllu') end)
  test.fails("unknown option 'words'", function() pd.task.number_examples(top .. '/bank', { words = 'sentence' }) end)
end)

test('the published files', function()
  local path = top .. '/numpred.test.1'
  files.write(path, 'VBP\tthe keys to the cabinet\nVBZ\tThe key to the cabinets\r\n')
  local examples = pd.task.number_examples(path)
  test.equal(examples:size(), 2)
  test.equal(examples:plural()[1], true)
  test.equal(examples:plural()[2], false)
  test.equal(examples:example(2).attractors, 1)
  test.equal(examples:example(2).verb, nil)
  examples:save(top .. '/again')
  test.equal(files.read(top .. '/again'), 'VBP\tthe keys to the cabinet\nVBZ\tThe key to the cabinets\n')
  test.equal(pd.task.number_examples(path, { lower = true }):prefixes()[2], 'the key to the cabinets')
  files.write(path, 'VBP\tthe keys\nVBP the keys\n')
  test.fails('numpred.test.1:2: expected VBZ or VBP, a tab and words', function() pd.task.number_examples(path) end)
end)

test('the published table', function()
  local path = top .. '/agr.tsv'
  files.write(path, 'sentence\torig_sentence\tverb\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\n'
    .. 'the NNS are\tthe knobs are\tare\tVBP\t3\t0\t0\n')
  local example = pd.task.number_examples(path):example(1)
  test.equal(example.prefix .. ' ' .. example.verb .. ' ' .. example.other, 'the NNS are is')
  test.equal(pd.task.number_examples(path, { words = 'orig_sentence' }):example(1).prefix, 'the knobs')
  test.fails("there is no column 'x'", function() pd.task.number_examples(path, { words = 'x' }) end)
end)

test('splits', function()
  local lines = {}
  for i = 1, 200 do lines[i] = ('VBZ\tword %d\n'):format(i) end
  files.write(top .. '/many', table.concat(lines))
  local examples = pd.task.number_examples(top .. '/many')
  local parts = examples:split(nil, { seed = 1 })
  test.equal(parts[1]:size() .. ' ' .. parts[2]:size() .. ' ' .. parts[3]:size(), '18 2 180')
  test.equal(examples:split(nil, { seed = 1 })[1]:prefixes()[1], parts[1]:prefixes()[1])
  test.equal(#examples:split { 1, 1 }, 2)
end)

test.finish()
