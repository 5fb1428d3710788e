-- Number prediction (Linzen et al. 2016), as in section 3 of Merrill et al. (2019): classifiers that decide from the
-- words before a verb whether it is singular or plural, measured by attractors. The paper uses the simple dependency
-- data of Linzen et al. (2016), which are not part of this program. docs/reference/experiments/syntax.md has the
-- protocol.
--
--   pushdown syntax_number --data numpred --model stack_u1
--   pushdown syntax_number --data en_ewt.conllu --split 8,1,1
--   pushdown syntax_number table2 --data ewt --split 8,1,1 --restarts 5
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local here = (debug.getinfo(1, 'S').source:match('^@(.*/)') or '') .. 'syntax/'
local networks = dofile(here .. 'networks.lua')

-- Training, validation and test examples, and the test examples by attractors: {name=, examples=} from 0 to 5.
local function parts_of(options)
  local parts, subsets
  local train = options.data .. '/numpred.train'
  if files.exists(train) then
    local function part(name)
      return pd.task.number_examples(options.data .. '/numpred.' .. name, { format = 'lines', lower = options.lower })
    end
    parts, subsets = { part 'train', part 'val', part 'test' }, {}
    for count = 0, 5 do
      if files.exists(('%s/numpred.test.%d'):format(options.data, count)) then
        subsets[#subsets + 1] = { attractors = count, examples = part('test.' .. count) }
      end
    end
  else
    local whole = pd.task.number_examples(options.data, { lower = options.lower })
    parts, subsets = whole:split(options.split, { seed = options.data_seed }), {}
    for count = 0, 5 do
      -- As in Linzen et al.: all nouns between subject and verb are attractors.
      local examples = parts[3]:where { attractors = count, homogeneous = true }
      if examples:size() > 0 then subsets[#subsets + 1] = { attractors = count, examples = examples } end
    end
  end
  return { train = parts[1], valid = parts[2], test = parts[3], subsets = subsets }
end

local function labelled(examples, alphabet) return examples:labelled(alphabet) end

-- ---- The training ----

local function show(options, run, result)
  local rows = { { 'all', result.test_examples, result.test_accuracy } }
  for count = 0, 5 do
    local accuracy = result['accuracy_' .. count]
    if accuracy then rows[#rows + 1] = { count, result['examples_' .. count], accuracy } end
  end
  run:table('results', {
    title = ('%s, seed %d: %% of the test examples correctly classified, epoch %d (validation %.2f)'):format(
      networks.model_of[options.model].label, options.seed, result.best_epoch, result.valid_accuracy),
    columns = { 'attractors', { 'examples', align = 'right' }, { 'accuracy', format = '%.2f' } }, rows = rows })
end

local train = {
  name = 'number_prediction', required = { 'data' }, task = 'number', model = 'stack_u1', show = show,
  doc = 'Trains one classifier for the number of verbs, as section 3 of Merrill et al. (2019), until the accuracy on '
    .. 'the validation examples stops improving, and measures the test examples, all together and by attractors.',
  enough = function(result, options)
    return result.epochs >= options.epochs or not result.stopped:find('epochs are done', 1, true)
  end,
  data = function(options)
    local parts = parts_of(options)
    return { parts = parts, alphabet = parts.train:vocabulary(options.vocabulary) }
  end,
  trainer = function(options, data)
    local parts, alphabet = data.parts, data.alphabet
    return networks.trainer(options, { model = pd.model.recognizer(networks.network(options, alphabet)),
      train = labelled(parts.train, alphabet), valid = labelled(parts.valid, alphabet), objective = 'final',
      stop_accuracy = 0, stop_patience = options.patience })
  end,
  measure = function(_, trained, run)
    local parts, alphabet, model = trained.data.parts, trained.data.alphabet, pd.model.load(run.folder)
    local function accuracy(examples)
      return 100 * pd.train.evaluate(model, labelled(examples, alphabet), { batch = 200 }).accuracy
    end
    local result = { 'task', 'model', 'seed', 'restart', { 'parameters', model:parameter_count() },
      { 'epochs', #trained.history }, { 'best_epoch', trained.last.best_epoch }, { 'seconds', trained.seconds },
      { 'stopped', trained.stopped }, { 'train_examples', parts.train:size() },
      { 'test_examples', parts.test:size() }, { 'vocabulary', alphabet:size() },
      { 'valid_accuracy', 100 * trained.last.best_accuracy }, { 'test_accuracy', accuracy(parts.test) } }
    for _, subset in ipairs(parts.subsets) do
      result[#result + 1] = { 'accuracy_' .. subset.attractors, accuracy(subset.examples) }
      result[#result + 1] = { 'examples_' .. subset.attractors, subset.examples:size() }
    end
    return result
  end,
}

-- ---- The table ----

-- Overall, then 0 to 5 attractors.
local numbers = {
  { 'stack_u1', 98.89, 99.29, 94.75, 89.85, 83.42, 79.50, 71.07 },
  { 'stack_d1', 98.88, 99.23, 95.43, 91.70, 86.59, 84.14, 71.70 },
  { 'stack_sigmoid', 98.88, 99.24, 95.18, 91.86, 87.47, 85.56, 77.99 },
  { 'lstm', 98.89, 99.26, 95.27, 90.15, 84.30, 78.61, 74.21 },
}

local function table2(paper, options, run)
  -- Read before the runs, so that errors in the data are reported at once.
  local parts = parts_of(options)
  local all, printed = {}, {}
  for _, line in ipairs(numbers) do
    local label = paper.models[line[1]].label
    printed[label] = line
    all[#all + 1] = { task = 'number', row = label, point = { model = line[1] } }
  end
  local kept, rows = paper:cells(options, all)

  local keys, titles = { 'test_accuracy' }, { 'overall' }
  for count = 0, 5 do keys[#keys + 1], titles[#titles + 1] = 'accuracy_' .. count, tostring(count) end
  local examples = { parts.test:size() }
  for _, subset in ipairs(parts.subsets) do examples[subset.attractors + 2] = subset.examples:size() end

  local lines, series = {}, {}
  for at, title in ipairs(titles) do
    local line = { title, examples[at] or 0 }
    for _, cell in ipairs(kept) do
      local mean, deviation
      if examples[at] and #cell.runs > 0 then mean, deviation = pd.paper.statistics(cell, keys[at]) end
      line[#line + 1], line[#line + 2], line[#line + 3] = printed[cell.row][at + 1], mean or 'NA', deviation or 'NA'
      if mean and at > 1 then
        series[cell.row] = series[cell.row] or { name = cell.row, x = {}, y = {} }
        local one = series[cell.row]
        one.x[#one.x + 1], one.y[#one.y + 1] = at - 2, mean
      end
    end
    lines[#lines + 1] = line
  end
  local columns = { 'attractors', { 'test examples', align = 'right' } }
  for _, cell in ipairs(kept) do
    columns[#columns + 1] = { cell.row .. ', paper', format = '%.2f', align = 'right' }
    columns[#columns + 1] = { cell.row, format = '%.2f', align = 'right' }
    columns[#columns + 1] = { 'deviation', format = '%.2f', align = 'right' }
  end
  run:table('table2', { title = ('Number prediction, %% correct: %d training and %d validation examples'):format(
    parts.train:size(), parts.valid:size()), columns = columns, rows = lines })
  local drawn = {}
  for _, cell in ipairs(kept) do drawn[#drawn + 1] = series[cell.row] end
  if #drawn > 0 then
    run:lines('table2', { title = 'Number prediction', x_label = 'attractors', y_label = 'correctly classified (%)',
      series = drawn })
  end
  print(('\nThe paper\'s numbers are for other data. All runs and settings: %s'):format(run.folder))
  paper:keep_runs(run, rows, 'table2', { 'parameters', 'epochs', 'best_epoch', 'seconds', 'valid_accuracy',
    'test_accuracy' })
end

return (pd.paper.new {
  name = 'syntax_number', grid = 'syntax', models = networks.models, train = train, tasks = { 'number' },
  title = function() return 'Number prediction' end,
  options = experiment.join_options({
    { 'data', '', 'examples: a folder with numpred.train, numpred.val and numpred.test (and numpred.test.0 to .5), a '
      .. 'published table (.tsv), a file of lines "VBZ|VBP, tab, words", or a treebank in CoNLL-U; required' },
    { 'split', { 9, 1, 90 }, 'shares of training, validation and test if the data are not in parts' },
    { 'epochs', 100, 'largest number of epochs', minimum = 1, may_change = true },
    { 'patience', 5, 'epochs without better accuracy on the validation examples after which training ends',
      minimum = 1 },
  }, networks.options, { { 'data_seed', 1, 'random seed for splitting data that are not in parts', minimum = 0 } }),
  quick = networks.quick, smoke = networks.smoke,
  tables = { table2 = { doc = 'Number prediction by attractors, as Table 2 of Merrill et al. (2019).', make = table2,
    required = { 'data' }, folder = 'number', smoke = { rows = { 'Stack (sig', 'LSTM' } } } },
})
