-- The tables of Mali et al. (2019). A cell is { task =, row =, column =, paper =, point = }.
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local training, statistics_of = dofile(here .. 'training.lua'), pd.paper.statistics

local M = { training = training }

-- The mean training accuracy over a cell's runs, in percent, after every epoch; a run that has ended keeps
-- its last value.
local function curve(cell)
  local histories, longest = {}, 0
  for i, run in ipairs(cell.runs) do
    histories[i] = runs.history(run.folder)
    longest = math.max(longest, #histories[i])
  end
  local series = { name = cell.row .. (cell.column and ' ' .. cell.column or ''), x = {}, y = {} }
  for epoch = 1, longest do
    local values = {}
    for i, epochs in ipairs(histories) do
      values[i] = 100 * epochs[math.min(epoch, #epochs)].train_accuracy
    end
    series.x[epoch], series.y[epoch] = epoch, (statistics(values))
  end
  return series
end

-- The smallest test error, in percent, of simple classifiers that know nothing of the language, and its classifier.
local function floor_of(options, task)
  local grammar = pd.grammar.load(task)
  return training.training_data(options, grammar, 1):floor(training.test_data(options, grammar))
end

-- Algorithm 1 of the paper ends when the network has "converged on V", which can also mean the validation strings. The
-- runs of a cell with an epoch without a validation error, and the first such epochs: '5 of 5 (17 to 29)'.
local function converged_on_validation(cell)
  local count, first, last = 0, math.huge, 0
  for _, one in ipairs(cell.runs) do
    if one.result.validation_error == 0 then
      local epoch = one.result.best_epoch  -- the first one with the smallest validation error
      count, first, last = count + 1, math.min(first, epoch), math.max(last, epoch)
    end
  end
  local text = ('%d of %d'):format(count, #cell.runs)
  if count == 0 then return text end
  return ('%s (%s)'):format(text, first == last and first or ('%d to %d'):format(first, last))
end

-- Shows and saves the table and the curves. metric: key of result.json; others: further { key, title }
-- whose means and deviations are shown.
local function finish(paper, run, options, kept, rows, given)
  local lines, floors = {}, {}
  for _, task in ipairs(options.tasks) do floors[task] = floor_of(options, task) end
  for _, cell in ipairs(kept) do
    local converged, more = 0, {}
    for _, one in ipairs(cell.runs) do converged = converged + (one.result.converged and 1 or 0) end
    local mean, deviation, best = statistics_of(cell, given.metric)
    for _, other in ipairs(given.others or {}) do
      local value, spread = statistics_of(cell, other[1])
      more[#more + 1], more[#more + 2] = value, spread or 'NA'
    end
    local line = { training.titles[cell.task], cell.row, cell.column or '', cell.paper or 'NA', mean, deviation or 'NA',
      best, ('%d of %d'):format(converged, #cell.runs), converged_on_validation(cell) }
    for _, value in ipairs(more) do line[#line + 1] = value end
    line[#line + 1] = floors[cell.task].error
    line[#line + 1] = cell.name
    lines[#lines + 1] = line
  end
  local columns = { 'language', given.row_title or 'model', 'order', 'paper', { 'ours: mean', format = given.format },
    { 'deviation', format = given.format }, { 'best', format = given.format }, 'converged', 'on validation' }
  for _, other in ipairs(given.others or {}) do
    columns[#columns + 1] = { other[2], format = '%.2f' }
    columns[#columns + 1] = { 'deviation', format = '%.2f' }
  end
  columns[#columns + 1] = { 'floor %', format = '%.2f' }
  columns[#columns + 1] = 'setting'
  run:table(given.name, { title = given.title, columns = columns, rows = lines, note = rows.note })
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, cell in ipairs(kept) do
      if cell.task == task and #cell.runs > 0 then all[#all + 1] = curve(cell) end
    end
    if #all > 0 then
      run:lines('convergence-' .. task, { title = training.titles[task], x_label = 'epoch',
        y_label = 'correctly classified training strings (%)', series = all })
    end
  end
  print('\nMean and standard deviation over the repeats; converged: all training strings correctly classified; on\n'
    .. 'validation: an epoch without a validation error (the first ones). Runs that did not converge count with their\n'
    .. 'last value. Curves, all runs and settings: ' .. run.folder)
  for _, task in ipairs(options.tasks) do
    print(('Floor of the test error of %s: %.2f %% (%s).'):format(training.titles[task], floors[task].error,
      floors[task].classifier))
  end
  paper:keep_runs(run, rows, given.name, { 'epochs', 'converged', 'characters', 'train_error', 'validation_error',
    'test_error', 'seconds' })
end

-- Trains the cells of a table, whose points have the options --noise and --learning unless the table sets them.
local function train(paper, options, all)
  for _, cell in ipairs(all) do
    for _, key in ipairs { 'noise', 'learning' } do
      if options[key] ~= 'own' then cell.point[key] = cell.point[key] or options[key] end
    end
  end
  return paper:cells(options, all)
end

-- tables.orders{rows =, columns =, point =, ...} -> the function make of a table in which every language has a
-- second-order and a third-order column. rows: lists of the row's name, the argument of `point`, and the paper's two
-- numbers for each task; point(key, order): the options of a training, with order 1 or 2 for the two columns. The other
-- fields describe the table: name, title, row_title, metric (a key of result.json) with its format, and others,
-- { key, title } of further numbers whose means and deviations are shown.
function M.orders(given)
  return function(paper, options, run)
    local all = {}
    for t, task in ipairs(given.tasks) do
      for _, row in ipairs(given.rows) do
        for order, column in ipairs(given.columns) do
          all[#all + 1] = { task = task, row = row[1], column = column, paper = row[2 + t][order],
            point = given.point(row[2], order) }
        end
      end
    end
    local kept, rows = train(paper, options, all)
    finish(paper, run, options, kept, rows, given)
  end
end

-- tables.models(name, models, numbers) -> the function make of a table of training and test errors. numbers: for each
-- model the test errors of the paper, language by language.
function M.models(name, models, numbers)
  return function(paper, options, run)
    local all = {}
    for t, task in ipairs(training.tasks) do
      for _, model in ipairs(models) do
        -- Sets the hint as the other tables do, so that the runs are shared.
        all[#all + 1] = { task = task, row = paper.models[model].label, paper = numbers[model][t],
          point = { model = model, hint = model:find '^nspda' and 'hint_2' or nil } }
      end
    end
    local kept, rows = train(paper, options, all)
    finish(paper, run, options, kept, rows, { name = name, metric = 'test_error', format = '%.2f',
      title = 'Test error in percent on strings longer than all training strings.',
      others = { { 'train_error', 'train error %' }, { 'epochs', 'epochs' } } })
  end
end

-- Networks that are programmed instead of trained, on long strings. Palindromes have a marked centre, because no
-- deterministic automaton recognizes unmarked ones.
function M.programmed(_, options, run)
  local rows, wrong = {}, 0
  local curves = {}
  for _, task in ipairs(options.tasks) do
    local grammar = pd.grammar.load(task)
    for _, order in ipairs { 'second', 'third' } do
      local neurons = order == 'second' and 40 or 8
      local model = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', order = order,
        states = neurons, seed = options.seed }
      local report = pd.model.insert_rules(model, task .. '/whole')
      local series = { name = training.titles[task] .. ' ' .. order, x = {}, y = {}, markers = true }
      for _, n in ipairs(options.n) do
        local shortest = math.max(n - 20, 1)
        local data = pd.task.labelled { grammar = grammar, lengths = { shortest, n }, positives = options.positives,
          negatives = options.negatives, distinct = 'none', difficult = 1, swaps = { 1, 2, 3 },
          edits = { 'replace', 'insert', 'delete', 'transpose' }, seed = options.seed + n }
        local told = pd.train.evaluate(model, data)
        wrong = wrong + told.missed + told.false_positives
        rows[#rows + 1] = { training.titles[task], order, n, told.positives, told.strings - told.positives,
          task == 'parenthesis' and 'NA' or '0.0', told.error, report.strength, report.margin }
        series.x[#series.x + 1], series.y[#series.y + 1] = n, told.error
      end
      curves[#curves + 1] = series
    end
  end
  run:table('table5', {
    title = 'Errors of programmed networks in percent, without training; hint whole.lua of each language.',
    columns = { 'language', 'order', 'n', 'valid', 'invalid', 'paper', { 'error %', format = '%.2f' },
      { 'strength', format = '%.4g' }, { 'margin', format = '%.3f' } },
    rows = rows })
  run:lines('table5', { title = 'Programmed networks', x_label = 'longest string', y_label = 'error (%)',
    series = curves })
  print(('\n%d of %d strings were misclassified.'):format(wrong, #rows * (options.positives + options.negatives)))
  run:finish { wrong = wrong }
end

return M
