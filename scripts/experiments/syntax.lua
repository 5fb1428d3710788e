-- Merrill et al. (2019): language models of sentences with a stack of strengths, the agreement with the number of
-- verbs, and the trees in their stacks. The paper uses a part of the English Wikipedia and section 23 of the Wall
-- Street Journal, which are not part of this program. syntax_number.lua has the classifiers.
-- docs/reference/experiments/syntax.md lists what comes from the paper and what was chosen where the paper is silent.
--
--   pushdown syntax --data wiki.txt --model stack_u1
--   pushdown syntax --data en_ewt.conllu --agreement en_ewt.conllu
--   pushdown syntax table1 --data wiki.txt --agreement agr_50_mostcommon_10K.tsv
--   pushdown syntax table3 --data wiki.txt --trees wsj/23
--   pushdown syntax parse --run runs/syntax/language_model/... --trees wsj/23
--   pushdown syntax figures --run runs/syntax/language_model/... --treebank en_ewt-ud-dev.conllu --trees wsj/23
--
-- The text can be larger than memory.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local statistics_of = require 'pushdown.statistics'
local here = (debug.getinfo(1, 'S').source:match('^@(.*/)') or '') .. 'syntax/'
local analysis, statistics = dofile(here .. 'analysis.lua'), pd.paper.statistics
local networks = analysis.networks

-- ---- The training ----

-- The parts of the text, prepared in the given folder.
local function text_of(options, folder)
  folder = options.prepared ~= '' and options.prepared or folder
  local divided = files.exists(options.data .. '/train.txt') or files.exists(options.data .. '/ptb.train.txt')
  if not divided and (#options.shares < 2 or #options.shares > 3) then
    error(('--shares: expected 2 (training, test) or 3 (training, validation, test), got %d'):format(
      #options.shares), 0)
  end
  return pd.task.sentences(options.data, { folder = folder, shares = not divided and options.shares or nil,
    words = options.words, sentences = options.sentences, lower = options.lower, vocabulary = options.vocabulary,
    minimum_count = options.minimum_count, longest = options.longest })
end

-- The result of pd.train.agreement; nil without examples, or if the vocabulary has both forms of no verb.
local function agreement(model, examples)
  if not examples then return nil end
  local judged = pd.train.agreement(model, examples)
  if judged.judged > 0 then return judged end
  print(("No agreement: none of %d verbs has both forms in the model's vocabulary."):format(examples:size()))
end

-- The examples for agreement(); nil if there are none. Read before training, so that errors are reported at once.
local function agreement_examples(options)
  if options.agreement == '' then return nil end
  local examples = pd.task.number_examples(options.agreement, { lower = options.lower })
  local both = examples:where { both_forms = true }
  if both:size() == 0 then
    error(('--agreement %s: none of the %d examples has both forms of its verb; use a table or a treebank'):format(
      options.agreement, examples:size()), 0)
  end
  return both
end

local function show(options, run, result)
  local columns = { { 'train', format = '%.2f' }, { 'test', format = '%.2f' }, 'sentences', 'words', 'vocabulary' }
  local row = { result.train_perplexity, result.test_perplexity, result.train_sentences, result.train_words,
    result.vocabulary }
  if result.agreement then
    columns[6], columns[7] = { 'agreement %', format = '%.2f' }, 'verbs'
    row[6], row[7] = result.agreement, result.agreement_examples
  end
  run:table('results', {
    title = ('%s, seed %d: perplexity per word, ends of sentences included, after epoch %d'):format(
      networks.model_of[options.model].label, options.seed, result.best_epoch or result.epochs),
    columns = columns, rows = { row } })
end

local train = {
  name = 'language_model', required = { 'data' }, task = 'text', model = 'stack_u1',
  doc = 'Trains one language model on sentences, as section 3 of Merrill et al. (2019), and measures the perplexity of '
    .. 'the test part. With --agreement it also measures the agreement with the number of verbs.',
  enough = function(result, options) return result.epochs >= options.epochs end,
  data = function(options, run)
    return { examples = agreement_examples(options), text = text_of(options, run:path 'data') }
  end,
  trainer = function(options, data)
    local network = networks.network(options, data.text.train:alphabet())
    network.end_symbol = true
    return networks.trainer(options, { model = pd.model.language_model(network), train = data.text.train,
      valid = data.text.valid, stop_patience = 0 })
  end,
  measure = function(_, trained, run)
    local text, lines = trained.data.text, { 'epoch,train,valid,seconds' }
    for _, epoch in ipairs(trained.history) do
      lines[#lines + 1] = ('%d,%.6g,%s,%.1f'):format(epoch.epoch, math.exp(epoch.train_cross_entropy),
        epoch.perplexity or '', epoch.seconds)
    end
    files.write(run:path 'perplexity.csv', table.concat(lines, '\n') .. '\n')
    -- Without a validation part the last epoch is used.
    local model = pd.model.load(run.folder, { which = text.valid and 'best' or 'last' })
    local measured = pd.train.evaluate(model, text.test, { batch = 100 })
    local judged = agreement(model, trained.data.examples)
    return { 'task', 'model', 'seed', 'restart', { 'parameters', model:parameter_count() },
      { 'epochs', #trained.history }, { 'best_epoch', text.valid and trained.last.best_epoch },
      { 'seconds', trained.seconds }, { 'train_sentences', text.train:size() },
      { 'train_words', text.train:word_count() }, { 'test_words', text.test:word_count() },
      { 'vocabulary', text.train:alphabet():size() },
      { 'train_perplexity', math.exp(trained.last.train_cross_entropy) }, { 'test_perplexity', measured.perplexity },
      { 'agreement', judged and judged.accuracy }, { 'agreement_examples', judged and judged.judged } }
  end,
  show = show,
}

-- ---- The tables ----

-- Trains the language models of a table, all of them on one prepared text.
local function cells_of(paper, names, options)
  if options.prepared == '' then options.prepared = options.folder .. '/prepared' end
  local text, all = text_of(options), {}
  for i, name in ipairs(names) do
    all[i] = { task = 'text', row = paper.models[name].label, point = { model = name } }
  end
  local kept, rows = paper:cells(options, all)
  return kept, rows, text
end

-- Perplexity and agreement.
local numbers = { { 'stack_u1', 92.81, 93.59 }, { 'stack_d1', 128.28, 92.28 }, { 'lstm', 91.69, 93.95 } }

local function table1(paper, options, run)
  local names, printed = {}, {}
  for i, line in ipairs(numbers) do names[i], printed[paper.models[line[1]].label] = line[1], line end
  local kept, rows, text = cells_of(paper, names, options)
  local lines, verbs = {}, 0
  for _, cell in ipairs(kept) do
    local line = printed[cell.row]
    local perplexity, deviation, best = statistics(cell, 'test_perplexity')
    local agreed, agreed_deviation
    if options.agreement ~= '' and #cell.runs > 0 then
      agreed, agreed_deviation = statistics(cell, 'agreement')
      verbs = cell.runs[1].result.agreement_examples
    end
    lines[#lines + 1] = { cell.row, line[2], perplexity or 'NA', deviation or 'NA', best or 'NA', line[3],
      agreed or 'NA', agreed_deviation or 'NA', (statistics(cell, 'parameters')) or 'NA', #cell.runs }
  end
  local columns = { 'model' }
  for _, title in ipairs { 'paper perplexity', 'perplexity', 'deviation', 'best', 'paper agreement %', 'agreement %',
    'agreement deviation' } do
    columns[#columns + 1] = { title, format = '%.2f', align = 'right' }
  end
  columns[#columns + 1], columns[#columns + 2] = { 'parameters', format = '%.0f', align = 'right' }, 'runs'
  run:table('table1', { title = ('Language models: %d sentences and %d words for training, %d words for the test, '
    .. 'vocabulary of %d, %d verbs'):format(text.train:size(), text.train:word_count(), text.test:word_count(),
      text.train:alphabet():size(), verbs), columns = columns, rows = lines })

  local bars = { categories = {}, series = { { name = 'here', y = {} }, { name = 'paper', y = {} } },
    title = 'Perplexity of the test part', y_label = 'perplexity', y_min = 0 }
  for _, line in ipairs(lines) do
    if type(line[3]) == 'number' then
      local at = #bars.categories + 1
      bars.categories[at], bars.series[1].y[at], bars.series[2].y[at] = line[1], line[3], line[2]
    end
  end
  if #bars.categories > 0 then run:picture('table1', plot.bars(bars)) end
  print(([[

Perplexity counts the ends of sentences as words. Agreement: the share of the verbs with both forms in the vocabulary
whose correct form is more probable. The paper's numbers are for another text. All runs and
settings: %s]]):format(run.folder))
  paper:keep_runs(run, rows, 'table1', { 'parameters', 'epochs', 'seconds', 'train_perplexity', 'test_perplexity',
    'agreement', 'agreement_examples' })
end

-- F1.
local trees = { stack_u1 = 31.2, stack_d1 = 16.0, right = 13.1, left = 7.3 }

local function table3(paper, options, run)
  -- Read before the runs, so that errors in the trees are reported at once.
  local gold = pd.tree.read(options.trees)
  local kept, rows, text = cells_of(paper, { 'stack_u1', 'stack_d1' }, options)

  local presets, lines, sentences = { 'merrill', 'htut' }, {}, 0
  local function add(name, printed, sets)
    local line = { name, printed or 'NA' }
    for _, preset in ipairs(presets) do
      local values = {}
      for i, found in ipairs(sets) do
        local score = pd.tree.score(found, gold, { preset = preset }):to_table()
        values[i], sentences = score.f1, score.sentences
      end
      local mean, deviation = statistics_of(values)
      line[#line + 1], line[#line + 2] = mean or 'NA', deviation or 'NA'
    end
    line[#line + 1] = #sets
    lines[#lines + 1] = line
  end
  for _, cell in ipairs(kept) do
    local sets = {}
    for i, one in ipairs(cell.runs) do
      local model, settings, words = analysis.trained(one.folder)
      sets[i] = analysis.parse(model, settings, words, gold, options.first_lower)
      pd.tree.save(sets[i], run:path(('trees-%s-%d.txt'):format(cell.point.model, i)))
    end
    add(cell.row, trees[cell.point.model], sets)
  end
  for _, kind in ipairs { 'right', 'left', 'balanced' } do add(kind, trees[kind], { pd.tree.baseline(gold, kind) }) end
  local random = {}
  for i = 1, options.random_trees do random[i] = pd.tree.baseline(gold, 'random', { seed = i }) end
  add('random', nil, random)

  local columns = { 'parser', { 'paper', format = '%.1f', align = 'right' } }
  for _, preset in ipairs(presets) do
    columns[#columns + 1] = { 'F1 ' .. preset, format = '%.2f', align = 'right' }
    columns[#columns + 1] = { 'deviation', format = '%.2f', align = 'right' }
  end
  columns[#columns + 1] = 'sets'
  run:table('table3', { title = ('Unlabelled F1 of %d sentences; models of %d training sentences (%d words)'):format(
    sentences, text.train:size(), text.train:word_count()), columns = columns, rows = lines })
  local bars = { categories = {}, series = { { name = 'here', y = {} } }, title = 'Unlabelled F1, merrill',
    y_label = 'F1 %', y_min = 0 }
  for i, line in ipairs(lines) do
    if type(line[3]) == 'number' then
      bars.categories[#bars.categories + 1], bars.series[1].y[i] = line[1], line[3]
    end
  end
  run:picture('table3', plot.bars(bars))
  for _, preset in ipairs(presets) do
    print(analysis.score_settings(pd.tree.score(gold, gold, { preset = preset })))
  end
  print(('The paper\'s numbers are for other sentences. Trees, all runs and settings: %s'):format(run.folder))
  paper:keep_runs(run, rows, 'table3', { 'parameters', 'epochs', 'seconds', 'train_perplexity', 'test_perplexity' })
end

local text_options = {
  { 'data', '', 'the text: a file or a folder of plain text, *.conllu or *.mrg; required' },
  { 'shares', { 0.9, 0.1 }, 'shares of training and test, or of training, validation and test; a folder with '
    .. 'train.txt, valid.txt and test.txt has its own parts' },
  { 'words', 'blanks', 'how plain text is split into words', choices = { 'blanks', 'unicode', 'characters' } },
  { 'sentences', 'lines', 'how plain text is split into sentences', choices = { 'lines', 'unicode' } },
  { 'minimum_count', 1, 'words that occur less often in the training part become <unk>', minimum = 1 },
  { 'longest', 0, 'sentences with more words are left out; 0: no limit', minimum = 0 },
  { 'prepared', '', 'folder for the prepared text, which several runs can share; empty: in the run folder',
    may_change = true },
  { 'epochs', 5, 'passes over the training sentences', minimum = 1, may_change = true },
  { 'agreement', '', 'examples of number prediction (see number_prediction.lua) that the language model judges by the '
    .. 'two forms of the verb; none if empty' },
}

local function part(doc, make, more)
  return pd.tables.merged({ doc = doc, make = make, folder = 'text', required = { 'data' } }, more)
end

return (pd.paper.new {
  name = 'syntax', models = networks.models, train = train, tasks = { 'text' },
  title = function() return 'Text' end, options = experiment.join_options(text_options, networks.options),
  quick = networks.quick, smoke = networks.smoke,
  tables = {
    table1 = part('Perplexity and agreement of language models, as Table 1 of Merrill et al. (2019).', table1,
      { smoke = { rows = { 'Stack (u = 1)', 'LSTM' } } }),
    table3 = part('F1 of trees from the strengths of language models, as Table 3 of Merrill et al. (2019).', table3,
      { required = { 'data', 'trees' }, options = {
        { 'trees', '', 'gold trees in brackets: a file, a folder of *.mrg, or a pattern; required' },
        { 'first_lower', true, 'the models read the first word of a sentence in lower case' },
        { 'random_trees', 5, 'number of draws of random trees', minimum = 1 },
      }, smoke = { rows = { 'Stack (u = 1)' }, random_trees = 2 } }),
    parse = dofile(here .. 'parse.lua'), figures = dofile(here .. 'figures.lua'),
  },
})
