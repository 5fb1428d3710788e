-- The tables of Mali et al. (2021). A cell is { task =, row =, column =, paper =, point = }.
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local table_of = require 'pushdown.text.table'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local training, statistics = dofile(here .. 'training.lua'), pd.paper.statistics

local M = { training = training }

-- Percent correctly classified by length of the test strings, over all runs of a cell: the sets test and curve.
local function curve(cell, options)
  local sums, from, to = {}, math.huge, 0
  for _, run in ipairs(cell.runs) do
    for _, row in ipairs(select(2, csv.read(run.folder .. '/lengths.csv'))) do
      if row.set == 'test' or row.set == 'curve' then
        local shortest = math.max(tonumber(row.shortest), options.test_lengths[1])
        local longest = math.min(tonumber(row.longest), math.max(options.test_lengths[2], options.curve_lengths[2]))
        local sum = sums[shortest] or { middle = (shortest + longest) / 2, strings = 0, right = 0 }
        local right = tonumber(row['right_' .. options.decision])
        sum.strings, sum.right = sum.strings + tonumber(row.strings), sum.right + right
        sums[shortest], from, to = sum, math.min(from, shortest), math.max(to, shortest)
      end
    end
  end
  local series = { name = cell.row .. (cell.column and ', ' .. cell.column or ''), x = {}, y = {}, markers = true }
  for shortest = from, to do
    local sum = sums[shortest]
    if sum then series.x[#series.x + 1], series.y[#series.y + 1] = sum.middle, 100 * sum.right / sum.strings end
  end
  return series
end

-- Shows the curves of all cells and saves them as name-lengths.csv and name-lengths.svg.
local function curves(run, options, kept, name)
  local all, rows = {}, {}
  for _, cell in ipairs(kept) do
    if #cell.runs > 0 then
      local series = curve(cell, options)
      all[#all + 1] = series
      for i, x in ipairs(series.x) do rows[#rows + 1] = { cell.task, cell.row, cell.column or '', x, series.y[i] } end
    end
  end
  if #all == 0 then return end
  files.write(run:path(name .. '-lengths.csv'), table_of.new({
    columns = { 'task', 'model', 'column', 'length', 'right' }, rows = rows }):csv())
  run:lines(name .. '-lengths', { title = training.titles[kept[1].task] .. ': accuracy by length',
    x_label = 'length of the test strings', y_label = 'correctly classified (%)', series = all, y_max = 100,
    reference = { value = 50, name = 'guessing' } })
end

-- The measures besides the decision of the table, and the columns for their means.
local function other_measures(options)
  local others, columns = {}, {}
  for _, measure in ipairs(training.measures) do
    if measure ~= options.decision then
      others[#others + 1] = measure
      columns[#columns + 1] = { training.measure_titles[measure], format = '%.2f', align = 'right' }
    end
  end
  return others, columns
end

-- The keys of result.json that are saved for every run.
local function keys(options)
  local list = { 'noise', 'carry_forward', 'parameters', 'epochs', 'best_epoch', 'seconds', 'threshold' }
  for _, set in ipairs(training.set_names(options)) do
    for _, measure in ipairs(training.measures) do list[#list + 1] = set .. '_' .. measure end
  end
  list[#list + 1], list[#list + 2] = 'test_missed', 'test_false_positives'
  return list
end

-- Prints the best accuracy of simple classifiers, which know nothing of the language, on every set.
local function floors(options, sets)
  local parts = {}
  for _, name in ipairs(training.set_names(options)) do
    if name ~= 'train' then
      local floor = sets.train:floor(sets[name])
      parts[#parts + 1] = ('%s %.2f (%s)'):format(name, 100 - floor.error, floor.classifier)
    end
  end
  print('Floor, the best simple classifier without knowledge of the language: ' .. table.concat(parts, ', ') .. '.')
end

-- Prints the explanation below every table.
local function explain(run, options, task)
  local set = pd.tables.merged({ task = task }, options)
  local grammar = training.grammar(set)
  local sets, parts = training.sets(set, grammar), {}
  for _, name in ipairs(training.set_names(options)) do
    parts[#parts + 1] = ('%s %.2f'):format(name, training.automaton_mean(options, grammar, sets[name]))
  end
  print(('\nPercent of correctly classified strings, decided by the %s. Half of the strings are valid, so guessing\n'
    .. 'has 50. The other columns are other measures of the same runs. "every prefix": strings for which the answer\n'
    .. 'after every symbol says correctly whether the prefix can still become valid. "every set of next symbols":\n'
    .. 'valid strings whose next symbols are predicted exactly after every symbol, with a threshold chosen on the\n'
    .. 'training strings. "every next symbol ranked": valid strings for which each symbol that may follow is always\n'
    .. 'more probable than every other one.\n'
    .. 'An exact automaton, by the mean of its answers: %s.\nAll runs, curves and settings: %s'):format(
    training.measure_titles[options.decision], table.concat(parts, ', '), run.folder))
  floors(options, sets)
end

local function mean_of(cell, set, measure) return (statistics(cell, set .. '_' .. measure)) or 'NA' end

-- ---- All models on one language ----

-- tables.models(name, task, numbers) -> the function make. numbers: for each model the train mean and best, the test
-- mean and best, and the means at 120 and 160 symbols of the paper.
function M.models(name, task, numbers)
  return function(paper, options, run)
    local all = {}
    for _, model in ipairs(paper.model_names) do
      if numbers[model] then
        all[#all + 1] = { task = task, row = training.models[model].label, paper = numbers[model],
          point = { model = model } }
      end
    end
    local kept, rows = paper:cells(options, all)

    -- The indices of each set's mean and best in `paper`, which has the long sets of 120 and 160 symbols.
    local sets, place = { 'train', 'test' }, { train = { 1, 2 }, test = { 3, 4 }, n120 = { 5 }, n160 = { 6 } }
    for _, n in ipairs(options.long_lengths) do sets[#sets + 1] = 'n' .. n end
    local others, other_columns = other_measures(options)
    local lines = {}
    for _, set in ipairs(sets) do
      local at = place[set] or {}
      for _, cell in ipairs(kept) do
        local mean, deviation, _, best = statistics(cell, set .. '_' .. options.decision)
        local line = { set, cell.row, cell.paper[at[1]] or 'NA', mean, deviation, cell.paper[at[2]] or 'NA', best }
        for _, measure in ipairs(others) do line[#line + 1] = mean_of(cell, set, measure) end
        line[#line + 1] = #cell.runs
        lines[#lines + 1] = line
      end
    end
    local columns = { 'strings', 'model' }
    for _, title in ipairs { 'paper mean', 'mean', 'deviation', 'paper best', 'best' } do
      columns[#columns + 1] = { title, format = '%.2f', align = 'right' }
    end
    for _, column in ipairs(other_columns) do columns[#columns + 1] = column end
    columns[#columns + 1] = 'runs'
    run:table(name, { title = training.titles[task] .. ': correctly classified strings in percent', columns = columns,
      rows = lines,
      note = rows.note })
    curves(run, options, kept, name)
    explain(run, options, task)
    paper:keep_runs(run, rows, name, keys(options))
  end
end

-- ---- Two ways of training ----

-- The standard deviation of the noise that an ablation gives to every model.
M.noise = training.models.diffstk_rnn.noise

-- tables.ablation(name, what, columns, point, numbers) -> the function make, which compares two ways of training on D2.
-- what: text for the title; columns: the two names; point(model, column): the options of a training for column 1 or 2;
-- numbers: mean and best of both columns in the paper for each model.
function M.ablation(name, what, columns, point, numbers)
  local models = { 'rnn', 'lstm', 'stack_rnn', 'diffstk_rnn', 'diffstk_mrnn', 'diffstk_mirnn' }
  return function(paper, options, run)
    local all = {}
    for _, model in ipairs(models) do
      for column, title in ipairs(columns) do
        local given, own = point(model, column), training.models[model]
        -- Leaves out noise that the model has by default, so that these runs are shared with Table 1.
        if tonumber(given.noise) == own.noise then given.noise = nil end
        if given.carry_forward == own.carry_forward then given.carry_forward = nil end
        given.model = model
        all[#all + 1] = { task = 'd2', row = training.models[model].label, column = title, point = given,
          paper = { numbers[model][2 * column - 1], numbers[model][2 * column] } }
      end
    end
    local kept, rows = paper:cells(options, all)
    local others, other_columns = other_measures(options)
    local lines = {}
    for i, cell in ipairs(kept) do
      local mean, deviation, _, best = statistics(cell, 'test_' .. options.decision)
      lines[i] = { cell.row, cell.column, cell.paper[1], mean, deviation, cell.paper[2], best }
      for _, n in ipairs(options.long_lengths) do
        lines[i][#lines[i] + 1] = (statistics(cell, ('n%d_%s'):format(n, options.decision)))
      end
      for _, measure in ipairs(others) do lines[i][#lines[i] + 1] = mean_of(cell, 'test', measure) end
      lines[i][#lines[i] + 1] = #cell.runs
      lines[i][#lines[i] + 1] = cell.name
    end
    local titles = { 'model', 'training' }
    local function add(title) titles[#titles + 1] = { title, format = '%.2f', align = 'right' } end
    for _, title in ipairs { 'paper mean', 'mean', 'deviation', 'paper best', 'best' } do add(title) end
    for _, n in ipairs(options.long_lengths) do add(('n%d mean'):format(n)) end
    for _, column in ipairs(other_columns) do titles[#titles + 1] = column end
    titles[#titles + 1], titles[#titles + 2] = 'runs', 'setting'
    run:table(name, { title = what .. ': correctly classified test strings in percent', columns = titles, rows = lines,
      note = rows.note })
    curves(run, options, kept, name)
    explain(run, options, 'd2')
    paper:keep_runs(run, rows, name, keys(options))
  end
end

-- ---- One change at a time ----

-- One change at a time: options of a training; models: the models to which they apply, all if left out.
local stacks = { 'stack_rnn', 'diffstk_lstm', 'diffstk_mrnn', 'diffstk_mlstm' }
local diffstk, lstms = { 'diffstk_lstm', 'diffstk_mrnn', 'diffstk_mlstm' }, { 'diffstk_lstm', 'diffstk_mlstm' }
local readings = {
  { 'as the protocol', {} },
  { 'constant learning rate', { patience = 0 } },
  { 'learning rate 0.01', { learning_rate = 0.01 } },
  { 'ten strings in an update', { batch = 10 } },
  { 'next symbols of all strings', { symbols_of = 'all' } },
  { 'initial parameters 5 times as large', { initial_scale = 5 } },
  { '100 epochs', { epochs = 100 } },
  { '100 epochs, constant rate, the last one', { epochs = 100, patience = 0, measured = 'last' } },
  { 'no noise', { noise = 0 }, diffstk },
  { 'noise of DiffStk', { noise = 0.01 }, { 'stack_rnn' } },
  { 'no carry-forward', { carry_forward = 'none' }, diffstk },
  { 'carry-forward by counting', { carry_forward = 'counter' }, diffstk },
  { 'f1 is the scaled tanh', { lstm_activation = 'scaled_tanh' }, lstms },
}

function M.readings(paper, options, run)
  local all = {}
  for _, task in ipairs(options.tasks) do
    for _, reading in ipairs(readings) do
      for _, model in ipairs(reading[3] or stacks) do
        local point = pd.tables.merged({ model = model }, reading[2])
        all[#all + 1] = { task = task, row = reading[1], column = training.models[model].label, point = point }
      end
    end
  end
  local kept, rows = paper:cells(options, all)

  local lines, measured = {}, { 'train_next', 'train_last', 'valid_next', 'valid_last', 'valid_mean' }
  for i, cell in ipairs(kept) do
    lines[i] = { training.titles[cell.task], cell.column, cell.row }
    for _, key in ipairs(measured) do
      local mean, deviation = statistics(cell, key)
      lines[i][#lines[i] + 1], lines[i][#lines[i] + 2] = mean, deviation
    end
    lines[i][#lines[i] + 1], lines[i][#lines[i] + 2] = #cell.runs, cell.name
  end
  local columns = { 'language', 'model', 'reading' }
  for _, title in ipairs { 'training: sets', 'training: last', 'validation: sets', 'validation: last',
    'validation: mean' } do
    columns[#columns + 1] = { title, format = '%.1f', align = 'right' }
    columns[#columns + 1] = { 'deviation', format = '%.1f', align = 'right' }
  end
  columns[#columns + 1], columns[#columns + 2] = 'runs', 'setting'
  run:table('readings', { title = 'One change at a time, percent', columns = columns, rows = lines,
    note = rows.note })
  print('\nSets: valid strings with all next-symbol sets predicted. Last, mean: strings that the last answer, or the\n'
    .. 'mean of all answers, classifies correctly; guessing has 50.')
  paper:keep_runs(run, rows, 'readings', keys(options))
end

-- ---- Palindromes by models that are not in the paper ----

function M.palindrome(paper, options, run)
  local model = training.models.superposition_lstm
  local kept, rows = paper:cells(options, { { task = 'palindrome', row = model.label,
    point = { model = 'superposition_lstm' } } })

  local task = pd.tables.merged({ task = 'palindrome' }, options)
  local grammar = training.grammar(task)
  local sets = training.sets(task, grammar)
  local programmed
  if options.centre == 'marked' then  -- no deterministic automaton recognizes the others
    programmed = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', states = 8, seed = 1 }
    pd.model.insert_rules(programmed, 'palindrome/whole')
  end

  local lines = {}
  for _, set in ipairs(training.set_names(options)) do
    local line = { set }
    local mean, deviation, least, greatest = statistics(kept[1], set .. '_' .. options.decision)
    line[2], line[3], line[4], line[5], line[6] = mean, deviation, least, greatest, #kept[1].runs
    line[7] = programmed and 100 * pd.train.evaluate(programmed, sets[set]).accuracy or 'NA'
    lines[#lines + 1] = line
  end
  local columns = { 'strings' }
  for _, title in ipairs { 'mean', 'deviation', 'worst', 'best' } do
    columns[#columns + 1] = { model.label .. ' ' .. title, format = '%.2f', align = 'right' }
  end
  columns[#columns + 1] = 'runs'
  columns[#columns + 1] = { 'rules inserted', format = '%.2f', align = 'right' }
  run:table('palindrome', { title = 'Palindromes: correctly classified strings (%)', columns = columns, rows = lines,
    note = rows.note })
  curves(run, options, kept, 'palindrome')
  paper:keep_runs(run, rows, 'palindrome', keys(options))
end

return M
