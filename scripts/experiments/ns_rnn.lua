-- DuSell and Chiang (2020), section 5: language models with a stack that learn the distribution of a context-free
-- language, and the grid search over learning rates and sizes (section 5.5). The best setting of each model is the one
-- with the lowest mean validation difference over its restarts.
--
--   pushdown ns_rnn --task dyck --model ns --learning-rate 0.005
--   pushdown ns_rnn --task my_grammar.lua --model superposition
--   pushdown ns_rnn grid --tasks marked_reversal,dyck --models lstm,ns
--   pushdown ns_rnn figure4 --tasks marked_reversal
--   pushdown ns_rnn figure5 --tasks marked_reversal --bin 10
--
-- Data: 10,000 training and 1,000 validation strings of 40 to 80 symbols, drawn separately for each run
-- from its seed in groups of 10 strings of one length; 100 test strings of each length from 40 to
-- 100, the same for all runs of a task. Training: an LSTM with 20 hidden units, Adam, gradients clipped
-- to norm 5, learning rate times 0.9 after 5 epochs without improvement, end of training after 10. The
-- limit of 200 epochs is that of the published code. As in the paper, the models do not predict the end of a
-- string, and the lower bound is nevertheless that of whole strings with their ends. A model can therefore be
-- below it, by up to 0.007 nats per symbol on the tasks of the paper.
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local table_of = require 'pushdown.text.table'

-- The numbers of PDA states and stack symbols of section 5.5; the other tasks have 2 and 2.
local automaton_sizes = { padded_reversal = { 3, 2 }, hardest_cfl = { 3, 3 } }
local titles = { marked_reversal = 'Marked reversal', unmarked_reversal = 'Unmarked reversal',
  padded_reversal = 'Padded reversal', dyck = 'Dyck language', hardest_cfl = 'Hardest CFL' }

-- `sized`: whether the search includes the size of the stack's vectors (section 5.5).
local models = {
  { name = 'lstm', label = 'LSTM' },
  { name = 'superposition', label = 'JM (superposition)', sized = true },
  { name = 'stratification', label = 'Gref (stratification)', sized = true },
  { name = 'ns', label = 'NS' },
  { name = 'rns', label = 'RNS' },
  { name = 'vrns', label = 'VRNS' },
}

-- The short name of a task for folders. A task is the name of a grammar or the path of a grammar file.
local function short_name(task)
  return (task:gsub('^.*/', ''):gsub('%.%w+$', ''))
end

local function title_of(task) return titles[task] or short_name(task):gsub('_', ' ') end

-- The stack of a model, as the options of a training describe it.
local function stack_of(options)
  local sizes = automaton_sizes[short_name(options.task)] or { 2, 2 }
  local states = options.states > 0 and options.states or sizes[1]
  local symbols = options.symbols > 0 and options.symbols or sizes[2]
  local model = options.model
  if model == 'lstm' then return { kind = 'none' } end
  if model == 'superposition' or model == 'stratification' then
    return { kind = model, size = options.size }
  end
  if model == 'vrns' then
    return { kind = 'vector_nondeterministic', states = states, symbols = symbols,
      size = options.vector_size }
  end
  local stack = { kind = 'nondeterministic', states = states, symbols = symbols,
    initialization = options.initialization }
  if model == 'rns' then
    stack.reading, stack.normalized, stack.bottom = 'state_symbol', false, 'reexposed'
  end
  return stack
end

-- A number that depends only on the text, for the seed of a task's test strings.
local function number_of(text)
  local sum = 0
  for i = 1, #text do sum = (sum * 257 + text:byte(i)) % 2147483647 end
  return sum
end

-- The test strings of a task: `test_strings` of each length that has strings, with their
-- log-probabilities under the distribution from which they are drawn (length uniform, then the grammar).
local function test_set(grammar, options)
  local whole = grammar:sampler { lengths = options.test_lengths }
  local strings, log_probabilities = {}, {}
  for length = options.test_lengths[1], options.test_lengths[2] do
    if grammar:log_length_probability(length) > -math.huge then
      local set = grammar:sampler { lengths = { length, length } }
        :dataset(options.test_strings, { seed = number_of(short_name(options.task)) + length })
      for _, text in ipairs(set:strings()) do
        strings[#strings + 1] = text
        log_probabilities[#log_probabilities + 1] = whole:log_probability(text)
      end
    end
  end
  return pd.task.dataset { alphabet = grammar:alphabet(), strings = strings,
    log_probabilities = log_probabilities }
end

-- ---- The training ----

local train = {
  doc = 'Trains one model on one task of DuSell and Chiang (2020), and measures the parameters of the best epoch on '
    .. 'test strings of every length.',
  task = 'marked_reversal', model = 'ns',
  any_task = 'a grammar: marked_reversal, unmarked_reversal, padded_reversal, dyck, hardest_cfl, or a file',
  options = {
    { 'learning_rate', 0.005, 'initial learning rate of Adam', type = 'number' },
    { 'size', 20, 'size of the vectors of superposition and stratification', minimum = 1 },
    { 'vector_size', 3, 'size of the vectors of vrns', minimum = 1 },
  },
  -- The user can give a run more epochs later.
  enough = function(result, options) return result.converged or result.epochs >= options.epochs end,
  data = function(options) return pd.grammar.load(options.task) end,
  trainer = function(options, grammar)
    local sampler = grammar:sampler { lengths = options.lengths }
    return {
      model = pd.model.language_model { alphabet = grammar:alphabet(),
        controller = { kind = 'lstm', hidden = options.hidden }, stack = stack_of(options), end_symbol = false,
        seed = options.seed },
      train = sampler:dataset(options.strings, { seed = options.seed, batch = options.batch }),
      valid = sampler:dataset(options.valid_strings, { seed = options.seed + 2 ^ 31, batch = options.batch }),
      batch = options.batch, average = 'batches', bound = 'string', epochs = options.epochs,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 5,
      decay_patience = 5, decay_factor = 0.9, stop_patience = options.stop_patience,
    }
  end,
  measure = function(options, trained, run)
    local model, best = pd.model.load(run.folder), nil
    local test = pd.train.evaluate(model, test_set(trained.data, options), { bin_width = 1 })
    for _, epoch in ipairs(trained.history) do
      if not best or epoch.cross_entropy < best.cross_entropy then best = epoch end
    end
    local rows = {}
    for i, bin in ipairs(test.bins) do
      rows[i] = { bin.shortest, bin.strings, bin.symbols, bin.cross_entropy, bin.lower_bound,
        bin.cross_entropy_difference }
    end
    table_of.new({ columns = { 'length', 'strings', 'symbols', 'cross_entropy', 'lower_bound',
      'cross_entropy_difference' }, rows = rows }):save(run:path 'test')
    return { 'task', 'model', 'learning_rate', 'seed', 'restart', { 'parameters', model:parameter_count() },
      { 'epochs', #trained.history }, { 'best_epoch', best.epoch }, { 'seconds', trained.seconds },
      { 'stopped', trained.stopped }, { 'converged', options.stop_patience > 0
        and trained.last.epochs_since_improvement >= options.stop_patience },
      { 'validation_cross_entropy', best.cross_entropy }, { 'validation_lower_bound', best.lower_bound },
      { 'validation_difference', best.cross_entropy_difference }, { 'test_cross_entropy', test.cross_entropy },
      { 'test_lower_bound', test.lower_bound }, { 'test_difference', test.cross_entropy_difference } }
  end,
  show = function(options, run, result)
    local label
    for _, model in ipairs(models) do label = label or model.name == options.model and model.label end
    run:results(result, { 'validation_cross_entropy', 'validation_lower_bound', 'validation_difference',
      'test_cross_entropy', 'test_lower_bound', 'test_difference', 'best_epoch', 'epochs', 'seconds' }, {
      title = ('%s on %s, seed %d'):format(label, title_of(options.task), options.seed) })
    print('\nEntropies in nats per symbol; test figures by length: ' .. run:path 'test.csv')
    print('The lower bound includes the ends of the strings, which the models do not predict, as in the paper.')
  end,
}

-- ---- The search ----

-- The settings of one model: lists of {key, value} in the order of the names.
local function points_of(paper, model, options)
  local sizes = paper.models[model].sized and { key = 'size', values = options.sizes }
    or model == 'vrns' and #options.vector_sizes > 1 and { key = 'vector_size', values = options.vector_sizes }
  local list = {}
  for _, rate in ipairs(options.learning_rates) do
    if sizes then
      for _, size in ipairs(sizes.values) do list[#list + 1] = { learning_rate = rate, [sizes.key] = size } end
    else
      list[#list + 1] = { learning_rate = rate }
    end
  end
  return list
end

-- Trains every unfinished point. Returns all settings of a model on a task as cells, with the rows of the grid.
local function settings_of(paper, options)
  local list = {}
  for _, task in ipairs(options.tasks) do
    for _, model in ipairs(options.models) do
      local fixed = model == 'vrns' and #options.vector_sizes == 1 and { vector_size = options.vector_sizes[1] } or nil
      for _, point in ipairs(points_of(paper, model, options)) do
        list[#list + 1] = { task = task, model = model, point = point, fixed = fixed }
      end
    end
  end
  local found, rows = paper:cells(options, list)
  for _, setting in ipairs(found) do
    setting.mean, setting.deviation, setting.best = pd.paper.statistics(setting, 'validation_difference')
  end
  found.rows = rows
  return found
end

-- The settings of a model on a task, best first; the first one is chosen if it has a finished run.
local function of_model(found, task, model)
  local list = {}
  for _, setting in ipairs(found) do
    if setting.task == task and setting.model == model then list[#list + 1] = setting end
  end
  table.sort(list, function(a, b)
    local x, y = a.mean or math.huge, b.mean or math.huge
    if x ~= y then return x < y end
    return a.name < b.name
  end)
  return list
end

local function grid(paper, options, run)
  local rows, found = {}, settings_of(paper, options)
  for _, task in ipairs(options.tasks) do
    for _, model in ipairs(options.models) do
      for i, setting in ipairs(of_model(found, task, model)) do
        local function mean(key) return (pd.paper.statistics(setting, key)) end
        rows[#rows + 1] = { title_of(task), paper.models[model].label, setting.name, #setting.runs, setting.mean,
          setting.deviation, setting.best, mean 'test_difference', mean 'epochs', mean 'seconds',
          i == 1 and setting.mean and 'chosen' or '' }
      end
    end
  end
  run:table('grid', {
    title = 'Cross-entropy difference in nats per symbol; validation decides, test is only reported.',
    note = found.rows.note,
    columns = { 'task', 'model', 'setting', 'restarts', { 'validation mean', format = '%.4f' },
      { 'deviation', format = '%.4f' }, { 'best', format = '%.4f' }, { 'test mean', format = '%.4f' },
      { 'epochs', format = '%.1f' }, { 'seconds', format = '%.0f' }, '' },
    rows = rows,
  })
  print('\nRuns, logs and curves of the points: ' .. options.folder)
  paper:finish(run, found.rows)
end

-- ---- The figures ----

-- Draws one plot for each task, with a line for the chosen setting of each model, and writes a CSV of the
-- drawn values. curve(setting) -> list of {x of the row, values of the restarts, x of the plot}; key: the
-- name of x in the CSV; plot: options of plot.lines.
local function draw(paper, run, options, name, key, curve, plot)
  local found = settings_of(paper, options)
  local rows = {}
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, model in ipairs(options.models) do
      local setting = of_model(found, task, model)[1]
      if setting and setting.mean then
        local series = { name = paper.models[model].label, x = {}, y = {}, low = {}, high = {} }
        for i, place in ipairs(curve(setting)) do
          local mean, deviation = statistics(place.values)
          local known = deviation ~= nil
          series.x[i], series.y[i] = place.at or place.x, mean
          if known then series.low[i], series.high[i] = mean - deviation, mean + deviation end
          rows[#rows + 1] = { short_name(task), model, setting.name, #setting.runs, place.x, mean,
            known and deviation or nil }
        end
        series.markers = plot.markers or #series.x < 3
        if not plot.bands then series.low, series.high = nil, nil end
        all[#all + 1] = series
      end
    end
    run:lines(name .. '-' .. short_name(task), { title = title_of(task), x_label = plot.x_label,
      y_label = plot.y_label, series = all, reference = { value = 0, name = 'lower bound' } })
  end
  files.write(run:path(name .. '.csv'), table_of.new({
    columns = { 'task', 'model', 'setting', 'restarts', key, 'mean_difference', 'standard_deviation' },
    rows = rows }):csv())
  if found.rows.note then print('\n' .. found.rows.note) end
  print('\nPlots and the drawn numbers: ' .. run.folder)
  paper:finish(run, found.rows)
end

-- The values of the restarts after every epoch of the longest restart.
local function by_epoch(setting)
  local longest, places, histories = 0, {}, {}
  for i, one in ipairs(setting.runs) do
    histories[i] = runs.history(one.folder)
    longest = math.max(longest, #histories[i])
  end
  for epoch = 1, longest do
    local values = {}
    for i, history in ipairs(histories) do
      local at = history[math.min(epoch, #history)]
      values[i] = at.cross_entropy_difference or at.cross_entropy
    end
    places[epoch] = { x = epoch, values = values }
  end
  return places
end

-- {[first length of a bin] = difference} from a run's test.csv, weighted by symbols.
local function lengths_of(folder, options)
  local sums = {}
  for _, row in ipairs(select(2, csv.read(folder .. '/test.csv'))) do
    local length, symbols = tonumber(row.length), tonumber(row.symbols)
    local difference = tonumber(row.cross_entropy_difference)
    if difference then
      local first = options.test_lengths[1]
      local bin = first + math.floor((length - first) / options.bin) * options.bin
      local sum = sums[bin] or { symbols = 0, nats = 0 }
      sum.symbols, sum.nats = sum.symbols + symbols, sum.nats + symbols * difference
      sums[bin] = sum
    end
  end
  local values = {}
  for bin, sum in pairs(sums) do values[bin] = sum.nats / sum.symbols end
  return values
end

-- The values of the restarts in every bin, drawn at its middle.
local function by_length(setting, options)
  local restarts, places = {}, {}
  for i, point in ipairs(setting.runs) do restarts[i] = lengths_of(point.folder, options) end
  for length = options.test_lengths[1], options.test_lengths[2] do
    if restarts[1][length] then
      local values = {}
      for i, restart in ipairs(restarts) do values[i] = restart[length] end
      places[#places + 1] = { x = length, at = length + (options.bin - 1) / 2, values = values }
    end
  end
  return places
end

-- A restart that has ended keeps its last value.
local function figure4(paper, options, run)
  draw(paper, run, options, 'figure4', 'epoch', by_epoch, { bands = true, x_label = 'epoch',
    y_label = 'validation cross-entropy difference (nats per symbol)' })
end

-- Differences can be negative, because the models do not predict the end of a string, while the bound includes its
-- length (section 5.3 of the paper).
local function figure5(paper, options, run)
  draw(paper, run, options, 'figure5', 'length', function(setting) return by_length(setting, options) end, {
    markers = options.bin > 1, x_label = 'length of the test strings (symbols)',
    y_label = 'test cross-entropy difference (nats per symbol)' })
end

local function part(doc, make, own)
  local options = {
    { 'learning_rates', { 0.01, 0.005, 0.001, 0.0005 }, 'initial learning rates of Adam' },
    { 'sizes', { 2, 20, 40 }, 'sizes of the vectors of superposition and stratification' },
    { 'vector_sizes', { 3 }, 'sizes of the vectors of vrns' }, own }
  return { doc = doc, make = make, models = 'all', restarts = 5, options = options,
    any_task = 'grammars in the grammars folder, or grammar files',
    quick = { learning_rates = { 0.01, 0.005 }, sizes = { 20 }, restarts = 2 },
    smoke = { learning_rates = { 0.01 }, sizes = { 2 }, restarts = 2, tasks = { 'marked_reversal' },
      models = { 'lstm', 'ns' } } }
end

return (pd.paper.new {
  name = 'ns_rnn', models = models, train = train, title = title_of, short_name = short_name,
  tasks = { 'marked_reversal', 'unmarked_reversal', 'padded_reversal', 'dyck', 'hardest_cfl' },
  options = {
    { 'lengths', { 40, 80 }, 'shortest and longest string of training and validation' },
    { 'strings', 10000, 'training strings', minimum = 1 },
    { 'valid_strings', 1000, 'validation strings', minimum = 1 },
    { 'test_lengths', { 40, 100 }, 'shortest and longest test string' },
    { 'test_strings', 100, 'test strings of each length', minimum = 1 },
    { 'epochs', 200, 'largest number of passes over the training strings', minimum = 1, may_change = true },
    { 'hidden', 20, 'hidden units of the LSTM', minimum = 1 },
    { 'states', 0, 'PDA states of ns, rns and vrns; 0: those of the paper for its tasks, 2 for others', minimum = 0 },
    { 'symbols', 0, 'stack symbols of ns, rns and vrns; 0: those of the paper for its tasks, 2 for others',
      minimum = 0 },
    { 'stop_patience', 10, 'epochs without improvement after which training ends; 0: never', minimum = 0 },
    { 'initialization', 'xavier', 'initialization of the action layer of ns', choices = { 'xavier', 'uniform' } },
    { 'batch', 10, 'strings per update', minimum = 1 },
  },
  quick = { strings = 2000, valid_strings = 200, test_strings = 10, epochs = 10 },
  smoke = { lengths = { 6, 12 }, strings = 60, valid_strings = 20, test_lengths = { 6, 16 },
    test_strings = 2, epochs = 2 },
  tables = {
    grid = part('Grid search over all models and tasks of DuSell and Chiang (2020).', grid),
    figure4 = part('Validation cross-entropy difference over training, as Figure 4 of DuSell and Chiang (2020).',
      figure4),
    figure5 = part('Test cross-entropy difference by length, as Figure 5 of DuSell and Chiang (2020).', figure5,
      { 'bin', 1, 'lengths drawn as one point', minimum = 1 }),
  },
})
