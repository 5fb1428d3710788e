-- Grefenstette et al. (2015), section 4: transductions by LSTMs with a stack, a queue or a deque, measured on sources
-- of the training lengths and on longer ones. docs/reference/experiments/transduction.md lists what comes from the
-- paper and what was chosen where the paper is silent.
--
--   pushdown transduction --task reversal --model stack --learning-rate 1e-3
--   pushdown transduction --task copy --model queue --hidden 64 --memory 32
--   pushdown transduction figure2a --tasks copy,reversal --rows Stack,Queue --hidden 64
--   pushdown transduction figure2b --tasks reversal --rows Stack-LSTM,1-layer
local pd = require 'pushdown'
local files = require 'pushdown.files'
local table_of = require 'pushdown.text.table'

local titles = { copy = 'Sequence copying', reversal = 'Sequence reversal', bigram_flipping = 'Bigram flipping',
  svo_to_sov = 'SVO to SOV', gender_conjugation = 'Gender conjugation' }
local grammars = { svo_to_sov = true, gender_conjugation = true }

local labels = { lstm_1 = '1-layer LSTM', lstm_2 = '2-layer LSTM', lstm_4 = '4-layer LSTM', lstm_8 = '8-layer LSTM',
  stack = 'Stack-LSTM', queue = 'Queue-LSTM', deque = 'DeQue-LSTM' }
local models = {}
for i, name in ipairs { 'lstm_1', 'lstm_2', 'lstm_4', 'lstm_8', 'stack', 'queue', 'deque' } do
  models[i] = { name = name, label = labels[name] }
end
local memories = { stack = 'stratification', queue = 'stratification_queue', deque = 'stratification_deque' }

local function pairs_of(options, lengths)
  if grammars[options.task] then
    return pd.task.transduction { kind = 'grammar', grammar = pd.grammar.load(options.task), lengths = lengths,
      mode = options.grammar_lengths }
  end
  return pd.task.transduction { kind = options.task, symbols = options.symbols, lengths = lengths }
end

local function make_model(options, sources)
  local memory = memories[options.model]
  local layers = tonumber(options.model:match('^lstm_(%d)$')) or 1
  local stack = { kind = 'none' }
  if memory then
    stack = { kind = memory, size = options.memory, memories = options.memories, pop_bias = options.pop_bias }
    if options.model == 'deque' then stack.bottom_push_bias = options.bottom_push_bias end
  end
  return pd.model.transducer { pairs = sources,
    controller = { kind = 'lstm', hidden = options.hidden, layers = layers }, stack = stack,
    embedding = options.embedding, output_embedding = options.embedding,
    initial_state = options.initial_state, seed = options.seed }
end

-- Writes the average training perplexity and the accuracies over the batches to training.csv.
local function keep_history(history, run)
  local lines = { 'batches,perplexity,train_coarse,train_fine,test_coarse,test_fine' }
  for _, epoch in ipairs(history) do
    local cells = { epoch.updates, ('%.6g'):format(epoch.train_perplexity) }
    for _, key in ipairs { 'train_coarse', 'train_fine', 'coarse', 'fine' } do cells[#cells + 1] = epoch[key] or '' end
    lines[#lines + 1] = table.concat(cells, ',')
  end
  files.write(run:path 'training.csv', table.concat(lines, '\n') .. '\n')
end

-- ---- Curves ----

-- The columns of training.csv: name -> list, false where a cell is empty.
local function read_curves(folder)
  local names, columns = nil, {}
  for line in files.read(folder .. '/training.csv'):gmatch('[^\n]+') do
    local cells = {}
    for cell in (line .. ','):gmatch('([^,]*),') do cells[#cells + 1] = cell end
    if not names then
      names = cells
      for _, name in ipairs(names) do columns[name] = {} end
    else
      for i, name in ipairs(names) do table.insert(columns[name], tonumber(cells[i]) or false) end
    end
  end
  return columns
end

-- A column over the batches, without the empty cells.
local function series_of(columns, name, title, factor)
  local series = { name = title, x = {}, y = {} }
  for i, value in ipairs(columns[name]) do
    if value then series.x[#series.x + 1], series.y[#series.y + 1] = columns.batches[i], value * (factor or 1) end
  end
  return series
end

-- The four accuracies of a run, in percent.
local function accuracies(folder)
  local columns = read_curves(folder)
  return { series_of(columns, 'train_coarse', 'coarse, training', 100),
    series_of(columns, 'train_fine', 'fine, training', 100),
    series_of(columns, 'test_coarse', 'coarse, test', 100), series_of(columns, 'test_fine', 'fine, test', 100) }
end

-- ---- The training ----

local function resumed(options)
  return { epochs = math.ceil(options.batches / options.average_over), stop_patience = options.patience }
end

local function show(options, run, result)
  run:table('results', {
    title = ('%s, %s, learning rate %g, seed %d: parameters after %d batches, training perplexity %.4f'):format(
      titles[options.task], labels[options.model], options.learning_rate, options.seed,
      result.best_batches, result.perplexity),
    columns = { 'sources', { 'coarse', format = '%.3f' }, { 'fine', format = '%.3f' } },
    rows = {
      { ('training, length %d to %d'):format(unpack(options.lengths)), result.train_coarse, result.train_fine },
      { ('test, length %d to %d'):format(unpack(options.test_lengths)), result.test_coarse, result.test_fine },
    } })
  local title = titles[options.task] .. ', ' .. labels[options.model]
  run:lines('perplexity', { title = title, x_label = 'batches', y_label = 'average training perplexity', x_log = true,
    y_log = true, series = { series_of(read_curves(run.folder), 'perplexity', 'training') } })
  local drawn = accuracies(run.folder)
  if #drawn[1].x > 0 then
    run:lines('accuracy', { title = title, x_label = 'batches', y_label = 'accuracy (%)', y_max = 100,
      series = drawn })
  end

  if options.model:find('^lstm') then return end
  -- Draws the learned algorithm on a short pair.
  local shortest = options.lengths[1]
  local pair = pairs_of(options, { shortest, shortest + 1 }):draw(1, { seed = options.seed })[1]
  local picture = { run = pd.model.load(run.folder):strengths(pair.source, pair.target), title = title,
    path = run:path 'strengths.svg' }
  print('\n' .. pd.plot.strengths_text(picture))
  pd.plot.strengths(picture)
end

local train = {
  doc = 'Trains one model on one task of Grefenstette et al. (2015), and measures it on sources of the training '
    .. 'lengths and on longer ones. For a model with a memory it also shows how the model uses the memory on one pair: '
    .. 'strengths.svg.',
  task = 'reversal', model = 'stack',
  options = { { 'learning_rate', 1e-3, 'learning rate of RMSProp', minimum = 0, type = 'number' } },
  -- The user can give a run more batches later.
  enough = function(result, options)
    return result.batches >= options.batches or not result.stopped:find('epochs are done', 1, true)
  end,
  resumed = resumed, show = show,
  data = function(options) return pairs_of(options, options.lengths) end,
  trainer = function(options, sources)
    if options.accuracy_every % options.average_over ~= 0 then
      error(('--accuracy-every must be a multiple of --average-over, %d, got %d'):format(options.average_over,
        options.accuracy_every), 0)
    end
    return pd.tables.merged({
      model = make_model(options, sources), train = sources, test = pairs_of(options, options.test_lengths),
      batch = options.batch, epoch_batches = options.average_over,
      accuracy_every = options.accuracy_every / options.average_over, accuracy_pairs = options.pairs,
      stop_perplexity = options.stop_perplexity, decay_patience = 0,
      optimizer = { kind = 'rmsprop', learning_rate = options.learning_rate }, clip_norm = options.clip,
    }, resumed(options))
  end,
  -- Of the parameters with the best average training perplexity.
  measure = function(options, trained, run)
    keep_history(trained.history, run)
    local best, model = trained.history[trained.last.best_epoch], pd.model.load(run.folder)
    local result = { 'task', 'model', 'learning_rate', 'seed', 'restart',
      { 'parameters', trained.trainer:model():parameter_count() }, { 'batches', trained.trainer:updates() },
      { 'best_batches', best.updates }, { 'perplexity', best.train_perplexity }, { 'seconds', trained.seconds },
      { 'stopped', trained.stopped } }
    for _, set in ipairs { { 'train', trained.data }, { 'test', pairs_of(options, options.test_lengths) } } do
      local found = pd.train.evaluate(model, set[2], { pairs = options.pairs, seed = options.seed, batch = 50 })
      for _, kind in ipairs { 'coarse', 'fine' } do result[#result + 1] = { set[1] .. '_' .. kind, found[kind] } end
    end
    return result
  end,
}

-- ---- The figures ----

-- Trains unfinished runs. Returns the settings and the rows of the grid. A setting is { task =, model =, row =, runs =
-- the finished runs, best = the run with the lowest average training perplexity }.
local function settings_of(paper, options)
  local all = {}
  for _, task in ipairs(paper.tasks) do
    for _, model in ipairs(paper.model_names) do
      for _, rate in ipairs(options.learning_rates) do
        all[#all + 1] = { task = task, row = paper.models[model].label,
          point = { model = model, learning_rate = rate } }
      end
    end
  end
  local kept, rows = paper:cells(options, all)
  local settings, by_name = {}, {}
  for _, cell in ipairs(kept) do
    local name = cell.task .. '/' .. cell.point.model
    local setting = by_name[name]
    if not setting then
      setting = { task = cell.task, model = cell.point.model, row = cell.row, runs = {} }
      by_name[name], settings[#settings + 1] = setting, setting
    end
    for _, run in ipairs(cell.runs) do
      setting.runs[#setting.runs + 1] = run
      if not setting.best or run.result.perplexity < setting.best.result.perplexity then setting.best = run end
    end
  end
  return settings, rows
end

local kept_keys = { 'learning_rate', 'parameters', 'batches', 'best_batches', 'perplexity', 'train_coarse',
  'train_fine', 'test_coarse', 'test_fine', 'seconds', 'stopped' }

-- The paper's numbers come from Table 3 of its supplement, because the figure has two rows exchanged. The paper only
-- gives the best LSTM depth; here each depth has a row.
local numbers = {
  copy = { lstm_4 = { .98, .98, .01, .50 }, stack = { .89, .94, .00, .22 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
  reversal = { lstm_8 = { .95, .98, .04, .13 }, stack = { 1, 1, 1, 1 }, queue = { .44, .61, .00, .07 },
    deque = { 1, 1, 1, 1 } },
  bigram_flipping = { lstm_2 = { .54, .93, .02, .52 }, stack = { .44, .90, .00, .48 }, queue = { .55, .94, .55, .98 },
    deque = { .55, .94, .53, .98 } },
  svo_to_sov = { lstm_8 = { .98, .99, .98, .99 }, stack = { 1, 1, 1, 1 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
  gender_conjugation = { lstm_8 = { .98, .99, .99, .99 }, stack = { .93, .97, .93, .97 }, queue = { 1, 1, 1, 1 },
    deque = { 1, 1, 1, 1 } },
}

local function figure2a(paper, options, run)
  local settings, rows = settings_of(paper, options)
  local lines = {}
  for _, setting in ipairs(settings) do
    local line = { paper.title(setting.task), setting.row }
    local theirs = numbers[setting.task][setting.model] or {}
    local ours = setting.best and setting.best.result or {}
    for i, key in ipairs { 'train_coarse', 'train_fine', 'test_coarse', 'test_fine' } do
      line[1 + 2 * i], line[2 + 2 * i] = theirs[i] or '', ours[key] or ''
    end
    for _, key in ipairs { 'learning_rate', 'best_batches', 'perplexity' } do line[#line + 1] = ours[key] or '' end
    line[#line + 1] = #setting.runs
    lines[#lines + 1] = line
  end
  local columns = { 'task', 'model' }
  for _, name in ipairs { 'train coarse', 'train fine', 'test coarse', 'test fine' } do
    columns[#columns + 1] = { name .. ' (paper)', format = '%.2f' }
    columns[#columns + 1] = { name, format = '%.3f' }
  end
  columns[#columns + 1] = { 'learning rate', format = '%g' }
  columns[#columns + 1] = { 'batches', format = '%d' }
  columns[#columns + 1] = { 'perplexity', format = '%.4f' }
  columns[#columns + 1] = { 'runs', format = '%d' }
  run:table('figure2a', {
    title = ('Training: length %d to %d; test: length %d to %d. Of the runs with different learning rates, the one '
      .. 'with the lowest average training perplexity.'):format(options.lengths[1], options.lengths[2],
      options.test_lengths[1], options.test_lengths[2]), columns = columns, rows = lines, note = rows.note })
  paper:keep_runs(run, rows, 'figure2a', kept_keys)
end

-- Average training perplexity and fine accuracy on sources of the training lengths, for the chosen run of every model.
local function figure2b(paper, options, run)
  local settings, rows = settings_of(paper, options)
  if rows.note then print('\n' .. rows.note) end
  local by_task, kept = {}, {}
  for _, setting in ipairs(settings) do
    if setting.best then
      local columns = read_curves(setting.best.folder)
      local drawn = by_task[setting.task] or { perplexity = {}, fine = {} }
      by_task[setting.task] = drawn
      table.insert(drawn.perplexity, series_of(columns, 'perplexity', setting.row))
      table.insert(drawn.fine, series_of(columns, 'train_fine', setting.row, 100))
      for i, batches in ipairs(columns.batches) do
        kept[#kept + 1] = { setting.task, setting.row, batches, columns.perplexity[i], columns.train_coarse[i] or '',
          columns.train_fine[i] or '', columns.test_coarse[i] or '', columns.test_fine[i] or '' }
      end
    end
  end
  files.write(run:path 'figure2b.csv', table_of.new({ columns = { 'task', 'model', 'batches', 'perplexity',
    'train_coarse', 'train_fine', 'test_coarse', 'test_fine' }, rows = kept }):csv())
  for _, task in ipairs(paper.tasks) do
    local drawn = by_task[task]
    if drawn then
      run:lines('figure2b-' .. task, { title = paper.title(task) .. ': average training perplexity',
        x_label = 'batches', y_label = 'perplexity', x_log = true, y_log = true, series = drawn.perplexity })
      run:lines('figure2b-' .. task .. '-fine', { title = paper.title(task) .. ': fine accuracy, training lengths',
        x_label = 'batches', y_label = 'fine accuracy (%)', x_log = true, y_max = 100, series = drawn.fine })
    end
  end
  paper:keep_runs(run, rows, 'figure2b', kept_keys)
end

local function figure(doc, make)
  -- Section 4.4: the learning rates of the search.
  return { doc = doc, make = make, options = { { 'learning_rates', { 5e-3, 1e-3, 5e-4, 1e-4, 5e-5 },
      'learning rates to try; the best one is chosen by the average training perplexity' } },
    quick = { learning_rates = { 5e-3, 1e-3 } }, smoke = { learning_rates = { 1e-3, 5e-4 },
      tasks = { 'reversal', 'svo_to_sov' }, rows = { 'Stack-LSTM', '2-layer LSTM' } } }
end

return (pd.paper.new {
  name = 'transduction', models = models, train = train,
  tasks = { 'copy', 'reversal', 'bigram_flipping', 'svo_to_sov', 'gender_conjugation' },
  title = function(task) return titles[task] end,
  options = {
    { 'hidden', 256, 'hidden units of each LSTM layer', minimum = 1 },
    { 'memory', 256, 'size of the vectors in the memory', minimum = 1 },
    { 'memories', 1, 'memories side by side', minimum = 1 },
    { 'embedding', 64, "size of a symbol's vector, read and written", minimum = 1 },
    { 'pop_bias', -1, 'initial pop bias of the memory', type = 'number' },
    { 'bottom_push_bias', 0, 'initial bias of the pushes at the bottom of a deque', type = 'number' },
    { 'initial_state', 'learned', "the controller's state before the first symbol", choices = { 'learned', 'zero' } },
    { 'symbols', 128, 'number of symbols in copy, reversal and bigram_flipping', minimum = 1 },
    { 'lengths', { 8, 64 }, 'shortest and longest source in training' },
    { 'test_lengths', { 65, 128 }, 'shortest and longest source of the test pairs' },
    { 'grammar_lengths', 'grammar', 'lengths of sources of grammars: distributed as in the grammar, without other '
      .. 'lengths, or uniform', choices = { 'grammar', 'uniform' } },
    { 'batch', 10, 'pairs per update', minimum = 1 },
    { 'clip', 1, 'norm to which longer gradients are scaled; 0: never', minimum = 0, type = 'number' },
    { 'batches', 50000, 'largest number of updates; the paper has no limit', minimum = 1,
      may_change = true },
    { 'patience', 100, 'training ends after this many hundred batches without a better average training perplexity; '
      .. '0: never', minimum = 0, may_change = true },
    { 'stop_perplexity', 1.0002, 'training ends if the average training perplexity of a hundred batches is below this; '
      .. '0: never', minimum = 0, type = 'number' },
    { 'accuracy_every', 1000, 'batches after which accuracies are measured; a multiple of the batches of an average',
      minimum = 1 },
    { 'average_over', 100, 'batches over which training perplexity is averaged', minimum = 1 },
    { 'pairs', 1000, 'pairs per test', minimum = 1 },
  },
  quick = { hidden = 64, memory = 32, embedding = 16, symbols = 16, batches = 3000, pairs = 200 },
  smoke = { hidden = 6, memory = 4, embedding = 4, symbols = 4, lengths = { 4, 8 }, test_lengths = { 9, 12 },
    batches = 4, average_over = 2, accuracy_every = 2, pairs = 5, batch = 2 },
  tables = {
    figure2a = figure('Accuracies of all models on all tasks, as Figure 2a of Grefenstette et al. (2015).', figure2a),
    figure2b = figure('Convergence during training, as Figure 2b of Grefenstette et al. (2015).', figure2b),
  },
})
