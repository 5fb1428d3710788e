-- The distance to the optimum (Lan et al. 2022): of every model on every task, the cross-entropy on the test strings
-- minus that of the process that makes them, the accuracy, and how far a network counts. A training takes seconds to a
-- minute. docs/reference/experiments/optimum.md lists what comes from the paper and what was chosen.
--
--   pushdown optimum --task an_bn_cn_100 --model counters_recipe
--   pushdown optimum scores --tasks an_bn_100,an_bn_cn_100 --models lstm,counters_recipe
--   pushdown optimum scores --sizes 4,16,64 --restarts 3
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local table_of = require 'pushdown.text.table'
local here = (debug.getinfo(1, 'S').source:match('^@(.*/)') or '') .. 'optimum/'
local addition, languages = dofile(here .. 'addition.lua'), dofile(here .. 'languages.lua')
local measure = dofile(here .. 'measure.lua')

-- ---- Models ----

-- The networks that are compared: name, label, the kind of the controller and the stack. Every network is trained
-- twice: by the plain protocol and by the recipe. Further networks are further entries.
local networks = {
  { name = 'rnn', label = 'RNN', controller = 'elman' },
  { name = 'lstm', label = 'LSTM', controller = 'lstm' },
  { name = 'superposition', label = 'Superposition', controller = 'elman', stack = function(options)
    return { kind = 'superposition', size = options.cell }
  end },
  { name = 'stratification', label = 'Stratification', controller = 'elman', stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
  { name = 'rns', label = 'RNS-RNN', controller = 'elman', stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'vrns', label = 'VRNS-RNN', controller = 'elman', stack = function(options)
    return { kind = 'vector_nondeterministic', states = options.states, symbols = options.symbols,
      size = options.cell }
  end },
  -- Stacks of single numbers, of which two cells are read: the height of one is a counter. The most probable action
  -- takes the place of all others in evaluations (Joulin and Mikolov 2015), so that heights are whole numbers.
  { name = 'counters', label = 'Counters', controller = 'elman', stack = function(options)
    return { kind = 'parallel_superposition', stacks = options.counters, no_op = true, bias = true, rounding = true }
  end },
}

local models = {}
for _, network in ipairs(networks) do
  for _, recipe in ipairs { false, true } do
    local row = { recipe = recipe }
    for key, value in pairs(network) do row[key] = value end
    if recipe then row.name, row.label = row.name .. '_recipe', row.label .. ', recipe' end
    models[#models + 1] = row
  end
end
local model_of = {}
for _, model in ipairs(models) do model_of[model.name] = model end

-- ---- Tasks ----

-- A task is a language and the number of its training strings: an_bn_100.
local tasks, of_task = {}, {}
local function add(language, strings)
  local name = ('%s_%d'):format(language.name, strings)
  tasks[#tasks + 1] = name
  of_task[name] = { language = language, strings = strings, title = ('%s, %d'):format(language.title, strings) }
end
for _, language in ipairs(languages.list) do
  add(language, 100)
  add(language, 500)
end
add(addition, 100)
add(addition, 400)

-- ---- Data ----

local function sizes_of(language, strings)
  local sizes = {}
  for i, symbols in ipairs(strings) do sizes[i] = language.size(symbols) end
  return sizes
end

-- The strings of a task: train, valid and test, each {strings or pairs =, sizes =, weights =}, and `largest`, the
-- largest size in training. The validation has as many strings as the training, from the same process; of addition
-- there are no others, and it is the training again.
local function data_of(options)
  local task = of_task[options.task]
  local language, found = task.language, { language = task.language }
  local limit = options.test_strings
  local stack = (model_of[options.model] or {}).stack
  if language.long and stack and stack(options).kind:find 'nondeterministic' then
    limit = math.min(limit, options.nondeterministic_strings)
  end
  if language == addition then
    local numbers = math.sqrt(task.strings)
    found.train = addition.set(0, numbers - 1, task.strings, languages.spread)
    found.valid, found.largest = found.train, numbers - 1
    found.test = addition.set(numbers + 1, numbers + 250, limit, languages.spread)
    return found
  end
  found.largest = 0
  for place, part in ipairs { 'train', 'valid' } do
    local strings = languages.strings(language, task.strings, options.strings_seed + place - 1)
    found[part] = { strings = strings, sizes = sizes_of(language, strings) }
  end
  for _, size in ipairs(found.train.sizes) do found.largest = math.max(found.largest, size) end
  found.test = language.test(found.largest, { beyond = options.beyond, test_strings = limit,
    test_draws = math.min(50000, 500 * limit), random = languages.generator(options.strings_seed + 2) })
  found.test.sizes = sizes_of(language, found.test.strings)
  return found
end

local function optimum(language, set) return language == addition and 0 or languages.optimum(language, set) end

-- What can be known without a network: the largest size of the training strings of a task, the optimum on its test
-- strings, and the difference from it of the process whose probabilities are estimated from the training strings.
local function bounds_of(options)
  local data = data_of(options)
  local bound, language = optimum(data.language, data.test), data.language
  local estimate = 0
  if language ~= addition then
    estimate = languages.optimum(language, data.test, languages.estimate(language, data.train.strings)) - bound
  end
  return { largest = data.largest, optimum = bound, estimate = estimate }
end

local function measured(model, language, set, options)
  if language == addition then return addition.measure(model, set) end
  return measure.measure(model, language, set, { batch = 50, piece = options.piece, epsilon = options.epsilon })
end

-- ---- Training ----

local function make_model(options, language)
  local row = model_of[options.model]
  local given = { controller = { kind = row.controller, hidden = options.hidden }, seed = options.seed,
    stack = row.stack and row.stack(options), noise = row.recipe and options.recipe_noise or 0 }
  if language == addition then
    given.source_alphabet, given.target_alphabet = addition.source_alphabet, addition.target_alphabet
    given.alignment, given.output_embedding = 'along', 0
    return pd.model.transducer(given)
  end
  given.alphabet = language.alphabet
  return pd.model.language_model(given)
end

local function dataset(language, set)
  if language == addition then return pd.task.pairs(set.pairs) end
  local texts = {}
  for i, symbols in ipairs(set.strings) do texts[i] = table.concat(symbols, ' ') end
  return pd.task.dataset { alphabet = language.alphabet, strings = texts }
end

-- The plain protocol makes one update of all strings in an epoch and ends with its last one. The recipe makes many,
-- with noise on the state and a learning rate that falls to 0, and keeps the epoch that is best on the validation
-- strings. A training takes seconds, less than checkpoints of its epochs would.
local function fit(options, data, run)
  local recipe, language = model_of[options.model].recipe, data.language
  local count = #(data.train.strings or data.train.pairs)
  local model = make_model(options, language)
  local given = { model = model, train = dataset(language, data.train), seed = options.seed, stop_patience = 0,
    decay_patience = 0, clip_norm = recipe and 5 or 0, epochs = recipe and options.recipe_epochs or options.epochs,
    batch = recipe and options.recipe_batch or count,
    optimizer = { kind = 'adam', learning_rate = recipe and options.recipe_learning_rate or options.learning_rate },
    annealing = { kind = recipe and 'cosine' or 'none' }, progress = false }
  if language == addition then
    given.epoch_batches, given.accuracy_every = recipe and math.ceil(count / options.recipe_batch) or 1, 0
  else
    -- Strings of one length are a batch, and all batches together are an update of the plain protocol.
    given.valid, given.accumulate = recipe and dataset(language, data.valid) or nil, recipe and 1 or count
  end
  local trainer, lowest, kept = pd.train.trainer(given), math.huge, nil
  for epoch in trainer:epochs() do
    local loss = epoch.cross_entropy or epoch.train_perplexity
    if recipe and loss < lowest then
      lowest, kept = loss, {}
      for name, tensor in pairs(model:parameters()) do kept[name] = tensor:detach():clone() end
    end
  end
  if kept then model:set_parameters(kept) end
  model:save(run:path 'network.safetensors')
  return trainer
end

-- lengths.csv: the share of strings that are right, by size in at most 20 bins.
local function save_lengths(run, sets)
  local all = {}
  for _, set in ipairs(sets) do
    for i, size in ipairs(set.sizes) do
      all[#all + 1] = { size, set.found.right[i] and 1 or 0, set.weights and set.weights[i] or 1 }
    end
  end
  table.sort(all, function(a, b) return a[1] < b[1] end)
  local width, rows = math.max(1, math.ceil(all[#all][1] / 20)), {}
  for _, item in ipairs(all) do
    local bin = width * math.ceil(item[1] / width)
    if not rows[#rows] or rows[#rows][1] ~= bin then rows[#rows + 1] = { bin, 0, 0 } end
    local row = rows[#rows]
    row[2], row[3] = row[2] + item[2] * item[3], row[3] + item[3]
  end
  for i, row in ipairs(rows) do rows[i] = { row[1], row[2] / row[3] } end
  table_of.new { columns = { 'length', 'accuracy' }, rows = rows }:save(run:path 'lengths')
end

-- The result: optimum, cross_entropy and difference on the test strings and valid_loss on those of validation, in bits
-- per symbol; score, the accuracy (languages.lua); right_share, the share of test strings that are right at all steps;
-- and reach, the largest size up to which all strings are, those of training included.
local function measure_run(options, trained, run)
  local data, model = trained.data, trained.trainer:model()
  local language = data.language
  local sets = { data.train, data.test }
  for _, set in ipairs(sets) do set.found = measured(model, language, set, options) end
  local sizes, right = {}, {}
  for _, set in ipairs(sets) do
    for i, size in ipairs(set.sizes) do
      sizes[#sizes + 1] = size
      right[#sizes] = set.found.right[i]
    end
  end
  save_lengths(run, sets)
  local found, bound = data.test.found, optimum(language, data.test)
  return { 'task', 'model', 'hidden', 'seed', 'restart', { 'parameters', model:parameter_count() },
    { 'updates', trained.trainer:updates() }, { 'largest', data.largest }, { 'optimum', bound },
    { 'cross_entropy', found.cross_entropy }, { 'difference', found.cross_entropy - bound },
    { 'valid_loss', measured(model, language, data.valid, options).cross_entropy },
    { 'train_difference', data.train.found.cross_entropy - optimum(language, data.train) },
    { 'score', found.accuracy }, { 'right_share', found.right_share }, { 'reach', measure.reach(sizes, right) },
    { 'seconds', trained.seconds }, { 'stopped', trained.stopped } }
end

-- ---- Tables ----

-- The finished run of a model on a task with the lowest cross-entropy on the validation strings, over all settings, and
-- the number of finished runs.
local function chosen(found, task, model)
  local best, finished = nil, 0
  for _, setting in ipairs(found.settings) do
    if setting.task == task and setting.model == model then
      finished = finished + #setting.runs
      for _, row in ipairs(setting.runs) do
        if not best or row.result.valid_loss < best.valid_loss then best = row.result end
      end
    end
  end
  return best, finished
end

-- The published differences, of files that have the columns cross_entropy and optimum, in bits per symbol.
local function published_differences(path)
  local differences = {}
  for _, row in ipairs(path ~= 'none' and path ~= '' and select(2, csv.read(path)) or {}) do
    local cross_entropy, best = tonumber(row.cross_entropy), tonumber(row.optimum)
    if cross_entropy and best then
      differences[row.model] = differences[row.model] or {}
      differences[row.model][row.task] = cross_entropy - best
    end
  end
  return differences
end

-- The tables of models by tasks with a value of the chosen runs, beside the published numbers.
local function chosen_tables(paper, options, run, found)
  local bounds = {}
  for _, task in ipairs(options.tasks) do bounds[task] = bounds_of(pd.tables.merged({ task = task }, options)) end
  local function matrix(name, title, format, value, published)
    local columns = { 'task', { 'K', format = '%d' }, { 'optimum', format = '%.4f' }, { 'estimate', format = '%.4f' } }
    local rows, shown = {}, published and found.published.models or {}
    for _, model in ipairs(options.models) do columns[#columns + 1] = { paper.models[model].label, format = format } end
    for _, model in ipairs(shown) do columns[#columns + 1] = { model .. ' (published)', format = format } end
    for i, task in ipairs(options.tasks) do
      local row = { paper.title(task), bounds[task].largest, bounds[task].optimum, bounds[task].estimate }
      for _, model in ipairs(options.models) do
        local result, finished = chosen(found, task, model)
        row[#row + 1] = result and value(result, finished) or ''
      end
      for _, model in ipairs(shown) do row[#row + 1] = (published[model] or {})[task] or '' end
      rows[i] = row
    end
    run:table(name, { title = title, columns = columns, rows = rows })
  end
  matrix('differences', 'Cross-entropy on the test strings minus the optimum, in bits per symbol: of each model the '
    .. 'run with the lowest cross-entropy on the validation strings. K: the largest size in training. '
    .. 'Estimate: the difference of the process whose probabilities are estimated from the training strings.', '%.4f',
    function(result) return result.difference end, published_differences(paper:published_path(options)))
  matrix('accuracies', 'Accuracy in percent at the steps that are no matter of chance, of the same runs.', '%.1f',
    function(result) return 100 * result.score end, found.published.scores)
  matrix('reach', 'The largest size up to which all strings are right at all steps, of the same runs.', '%d',
    function(result) return result.reach end)
  matrix('finished', 'The number of finished runs of which that one was chosen.', '%d',
    function(_, finished) return finished end)
end

-- ---- The paper ----

local train = {
  doc = 'Trains one model on one task and measures its distance to the optimum.', task = 'an_bn_100',
  model = 'counters_recipe', options = { { 'hidden', 16, 'hidden units', minimum = 1 } },
  data = data_of, fit = fit, measure = measure_run,
  shown = { 'difference', 'optimum', 'cross_entropy', 'score', 'right_share', 'reach', 'largest', 'valid_loss',
    'train_difference', 'parameters', 'updates', 'seconds' },
  setting = function(options) return ('%d hidden units'):format(options.hidden) end,
  note = 'Cross-entropies are in bits per symbol. The score is the accuracy at the steps that are no matter of chance.',
}

return (pd.paper.new {
  name = 'optimum', models = models, train = train, tasks = tasks,
  title = function(task) return of_task[task].title end,
  options = {
    { 'strings_seed', 1, 'decides the training strings and, with the next numbers, those of validation and test',
      minimum = 0 },
    { 'beyond', 1000, 'counts of the test after the largest of the training; of two counts 49 at most', minimum = 1 },
    { 'test_strings', 62500, 'test strings at most, evenly spread over those of the paper; of brackets, whose strings '
      .. 'are short and mostly equal, 500 times as many are drawn, 50,000 at most', minimum = 1 },
    { 'nondeterministic_strings', 10, 'the same for nondeterministic stacks, whose time grows with the cube of the '
      .. 'length, on strings of thousands of symbols', minimum = 1 },
    { 'epsilon', 0.005, 'brackets: a symbol of at most this probability counts as excluded', minimum = 0, maximum = 1,
      type = 'number' },
    { 'epochs', 1000, 'epochs of the plain protocol, an update each', minimum = 1 },
    { 'learning_rate', 1e-3, 'of the plain protocol', minimum = 0, type = 'number' },
    { 'recipe_epochs', 300, 'epochs of the recipe', minimum = 1 },
    { 'recipe_learning_rate', 0.01, 'of the recipe, at its start', minimum = 0, type = 'number' },
    { 'recipe_batch', 10, 'strings in one update of the recipe', minimum = 1 },
    { 'recipe_noise', 0.5, 'standard deviation of the noise on the state in the recipe', minimum = 0, type = 'number' },
    { 'cell', 4, 'size of the vectors of stacks', minimum = 1 },
    { 'counters', 4, 'stacks of the counters', minimum = 1 },
    { 'states', 2, 'states of nondeterministic stacks', minimum = 1 },
    { 'symbols', 3, 'symbols of nondeterministic stacks', minimum = 1 },
    { 'piece', 100, 'symbols that are read at once in tests', minimum = 1 },
  },
  quick = { beyond = 200, test_strings = 50, nondeterministic_strings = 3, epochs = 300, recipe_epochs = 50 },
  smoke = { beyond = 4, test_strings = 6, nondeterministic_strings = 2, epochs = 2, recipe_epochs = 2, cell = 2,
    counters = 2, states = 1, symbols = 2, piece = 5 },
  lengths = { x_label = 'size of the string', y_label = 'strings right at all steps (%)' },
  measures = { addition = addition, languages = languages, measure = measure },
  tables = { scores = pd.paper.scores {
    doc = 'Distances to the optimum of models on the tasks of Lan et al. (2022).', restarts = 5,
    choose = { 'valid_loss' }, searched = { { 'sizes', { 16, 16 }, 'hidden units: all are tried; of two numbers, the '
      .. 'interval of a logarithmic search', of = 'hidden', kind = 'log_integers' } },
    smoke = { sizes = { 4, 4 }, tasks = { 'an_bn_100', 'dyck_2_100', 'addition_100' },
      models = { 'lstm', 'counters_recipe' } },
    first = chosen_tables, score = 'Accuracy at the steps that are no matter of chance',
    also = { { key = 'right_share', name = 'right_strings', title = 'Test strings that are right at all steps' } } } },
})
