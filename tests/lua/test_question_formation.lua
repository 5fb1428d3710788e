-- The experiment on question formation: its sentences tell the hierarchical from the linear rule, its files are
-- checked, and its measures are those of the definitions.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local paper = pd.paper.load 'question_formation'
local measures = paper.measures
local data = measures.data
local top = test.folder()

local function text(words) return table.concat(words, ' ') end
local counts = { train = 400, valid = 50, test = 50, generalization = 100 }

test('training pairs are ambiguous, and each pair of the generalization set tells the rules apart', function()
  for _, task in ipairs(paper.tasks) do
    local sets = data.made(task, counts, 3)
    local rules, seen = data.rules(task, sets.train), {}
    for part, count in pairs(counts) do
      test.equal(#sets[part], count)
      for _, pair in ipairs(sets[part]) do
        local source, target = pair.source, pair.target
        local key = text({ unpack(source, 1, #source - 1) })
        assert(not seen[key], key)
        seen[key] = true
        local place, word, linear = data.decision(rules, pair)
        local changed = source[#source] == data.tasks[task].changes
        test.equal(place ~= nil, changed)
        test.equal(#target, #source - 1)
        if part == 'generalization' then
          assert(changed and word ~= target[place] and text(linear) ~= text(target), text(source))
          if task == 'question' then assert(source[3] == 'who' or source[3] == 'that', text(source)) end
        elseif changed and task == 'question' then
          test.equal(text(linear), text(target))
        elseif not changed then
          test.equal(text(target), key)
        end
      end
    end
  end
end)

test('the rules on single sentences', function()
  local function pair(source, target)
    local words = {}
    for i, part in ipairs { source, target } do
      words[i] = {}
      for word in part:gmatch '%S+' do table.insert(words[i], word) end
    end
    return { source = words[1], target = words[2] }
  end
  local question = pair("my cat who doesn't sing does run . quest", "does my cat who doesn't sing run ?")
  local rules = { task = 'question', auxiliaries = { does = true, ["doesn't"] = true } }
  local place, word, linear = data.decision(rules, question)
  test.equal(('%d %s %s'):format(place, word, text(linear)), "1 doesn't doesn't my cat who sing does run ?")
  test.equal(data.decision(rules, pair('my cat does run . decl', 'my cat does run .')), nil)
  local tense = pair('my cat near the dogs read . PRESENT', 'my cat near the dogs reads .')
  local more = pair('the dogs that ran read . PRESENT', 'the dogs that run read .')
  rules = data.rules('tense', { tense, more })
  place, word, linear = data.decision(rules, tense)
  test.equal(('%d %s %s'):format(place, word, text(linear)), '6 read my cat near the dogs read .')
  -- The second verb of a subject with a relative clause.
  test.equal((data.decision(rules, more)), 5)
end)

test('files of pairs: what is read, and errors with file and line', function()
  local folder = top .. '/files'
  files.make_folder(folder)
  local good = "the cat does run . quest\tdoes the cat run ?\nthe cat does run . decl\tthe cat does run .\n"
  local function write(ending, content) files.write(('%s/question.%s'):format(folder, ending), content) end
  for _, ending in pairs(data.parts) do write(ending, good) end
  local none = { train = 0, valid = 0, test = 0, generalization = 0 }
  local sets = data.published(folder, 'question', none)
  test.equal(text(sets.generalization[2].target), 'the cat does run .')
  test.equal(#data.published(folder, 'question', { train = 1, valid = 0, test = 0, generalization = 0 }).train, 1)
  local function fails(message, ending, content)
    write(ending, content)
    test.fails(message, function() data.published(folder, 'question', none) end)
    write(ending, good)
  end
  fails('question.train:2: expected a source, a tab and a target', 'train', good:gsub('decl\t', 'decl '))
  fails("question.dev:1: the last word of a source must be decl or quest, got '.'", 'dev', 'the cat .\tthe cat .\n')
  fails('question.test:1: the target must have as many words as the sentence before quest, 5, got 4', 'test',
    'the cat does run . quest\tdoes the cat run\n')
  fails('question.gen:1: the target has no words', 'gen', 'the cat does run . quest\t\n')
  fails('question.gen:1: the source has no words', 'gen', 'quest\tdoes\n')
  fails("question.gen:3: the word 'dog' does not occur in the training pairs", 'gen',
    good .. 'the dog does run . quest\tdoes the dog run ?\n')
  fails('question.gen: expected a pair on each line, got none', 'gen', '\n')
  test.fails("expected the files tense.train, .dev, .test and .gen in it, got no '", function()
    data.published(folder, 'tense', none)
  end)
end)

test('measures are those of all probabilities of a small model', function()
  local options = { task = 'question', model = 'lstm_sup_r', data = '', data_seed = 2, train_pairs = 60,
    valid_pairs = 5, test_pairs = 6, hidden = 5, recurrent_layers = 1, cell = 2, seed = 4, dropout = 0, width = 4 }
  local sets = measures.sets(options)
  local alphabet, rules = data.alphabet(sets), data.rules('question', sets.train)
  local model = measures.model(options, alphabet)
  test.equal(model:options().output, 'hidden_and_reading')
  local got = measures.measure(model, sets.generalization, rules)
  local sum, ratio, probability, linear = 0, 0, 0, 0
  for _, pair in ipairs(sets.generalization) do
    local source, main = text(pair.source), pair.target[1]
    local after, other = model:next(source), select(2, data.decision(rules, pair))
    sum = sum + after[main]
    local function log(target) return model:log_probability(source .. ' ' .. text(target)) end
    ratio = ratio + log(pair.target) - log(select(3, data.decision(rules, pair)))
    local read = 0
    for t, row in ipairs(model:surprisal(source .. ' ' .. text(pair.target))) do
      if t > #pair.source then read = read - row.surprisal end
    end
    probability = probability + math.exp(read)
    local best
    for symbol, share in pairs(after) do
      if not best or share > after[best] then best = symbol end
    end
    linear = linear + (best == other and 1 or 0)
  end
  test.near(got.decision, sum / 6, 1e-6)
  test.near(got.log_ratio, ratio / 6, 1e-5)
  test.near(got.probability, probability / 6, 1e-9)
  test.near(got.linear, linear / 6, 1e-12)
  test.equal(got.full_match, 0)
end)

test('a run learns the training pairs of a tiny set, and its greedy targets match', function()
  local options = { task = 'tense', model = 'lstm', data = '', data_seed = 2, train_pairs = 6, valid_pairs = 2,
    test_pairs = 2, hidden = 24, recurrent_layers = 1, seed = 4, dropout = 0, width = 4 }
  local sets = measures.sets(options)
  local alphabet, rules = data.alphabet(sets), data.rules('tense', sets.train)
  local model = measures.model(options, alphabet)
  pd.train.trainer { model = model, train = measures.dataset(sets.train, alphabet), epochs = 150, batch = 6,
    progress = false, optimizer = { kind = 'adam', learning_rate = 0.02 } }:run()
  local got = measures.measure(model, sets.train, rules)
  assert(got.full_match > 0.8 and got.decision > 0.8, ('%g %g'):format(got.full_match, got.decision))
end)

test('published numbers have a measure', function()
  local function models(measure)
    return pd.paper.published(paper.folder .. 'published.csv', paper.tasks, nil, nil, measure).scores
  end
  test.equal(models('score')['Tf+Nd+Nd'].question, 86)
  test.equal(models('probability')['Tf+Nd'].question, 32)
  test.equal(models('score')['Tf+Nd'], nil)
end)

test.finish()
