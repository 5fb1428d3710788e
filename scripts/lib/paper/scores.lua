-- Tables of scores: several models on several tasks, the settings of each found by search, chosen by validation and
-- scored by length.
--
-- The result of a training has `score`, a share from 0 to 1, and the numbers of `choose`; its folder has lengths.csv
-- with the columns length and accuracy. Two numbers of a searched option are an interval, from which --samples settings
-- are drawn; more numbers are a list, and each of them is combined with each drawn setting.
local cells = require 'pushdown.paper.cells'
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local metric = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local published_of = require 'pushdown.paper.published'
local statistics = require 'pushdown.statistics'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

-- ---- The search ----

-- The points of the search.
local function points_of(options, searched)
  local distributions, points, drawn = {}, { {} }, false
  for _, item in ipairs(searched) do
    local values = options[item[1]]
    if #values < 2 then
      error(('--%s must be two numbers, lowest and highest, or a list of more, got %d'):format(
        item[1]:gsub('_', '-'), #values), 0)
    end
    if #values == 2 and values[1] ~= values[2] then
      distributions[item.of], drawn = grid[item.kind](values[1], values[2]), true
    end
  end
  if drawn then
    points = grid.random { count = options.samples, seed = options.search_seed, options = distributions }
  end
  for _, item in ipairs(searched) do
    if not distributions[item.of] then
      local values, more = options[item[1]], {}
      for _, point in ipairs(points) do
        for i = 1, #values == 2 and 1 or #values do
          more[#more + 1] = tables.merged({ [item.of] = values[i] }, point)
        end
      end
      points = more
    end
  end
  return points
end

-- Whether setting a is better than b by the first number of `choose` in which they differ.
local function better(a, b, choose)
  for _, key in ipairs(choose) do
    local one, other, way = a.means[key], b.means[key], metric.better(key)
    if metric.is_better(one, other, way) then return true end
    if metric.is_better(other, one, way) then return false end
  end
  return a.name < b.name
end

-- scores.settings(paper, options, spec) -> { settings =, rows =, chosen = {[task] = {[model] = setting}}, published =
-- }: trains what is not trained yet. A setting is a cell with means = {[key of choose or also, or score]}, and
-- deviation and best of the score.
function M.settings(paper, options, spec)
  local found = { chosen = {}, published = spec.published_of(paper, options) }
  local searched, list = {}, {}
  for _, item in ipairs(spec.searched) do
    if not item.when or item.when(options) then searched[#searched + 1] = item end
  end
  local points = points_of(options, searched)
  for _, task in ipairs(options.tasks) do
    for _, model in ipairs(options.models) do
      for _, point in ipairs(points) do list[#list + 1] = { task = task, model = model, point = point } end
    end
  end
  found.settings, found.rows = paper:cells(options, list)
  for _, setting in ipairs(found.settings) do
    setting.means = {}
    if #setting.runs > 0 then
      for _, more in ipairs(spec.also) do setting.means[more.key] = (cells.statistics(setting, more.key)) end
      for _, key in ipairs(spec.choose) do setting.means[key] = (cells.statistics(setting, key)) end
      local _
      setting.means.score, setting.deviation, _, setting.best = cells.statistics(setting, 'score')
      local of_task = found.chosen[setting.task] or {}
      found.chosen[setting.task] = of_task
      local other = of_task[setting.model]
      if not other or better(setting, other, spec.choose) then of_task[setting.model] = setting end
    end
  end
  return found
end

-- ---- Tables and plots ----

local function percent(share) return share and 100 * share or '' end

-- One of the tables. given: paper, options, run, found, shown.
local function matrix(given, name, title, value, published, extras)
  local options, columns, rows = given.options, { 'task' }, {}
  for _, extra in ipairs(extras) do columns[#columns + 1] = { extra.name, format = extra.format } end
  for _, shown in ipairs(given.shown) do columns[#columns + 1] = { shown.label, format = '%.1f' } end
  for _, model in ipairs(published.models) do columns[#columns + 1] = { model .. ' (published)', format = '%.1f' } end
  for i, task in ipairs(options.tasks) do
    local row = { given.paper.title(task) }
    for _, extra in ipairs(extras) do row[#row + 1] = extra.of(task, options) end
    for _, shown in ipairs(given.shown) do row[#row + 1] = percent(value(task, shown.models)) end
    for _, model in ipairs(published.models) do row[#row + 1] = published.scores[model][task] or '' end
    rows[i] = row
  end
  local notes = { given.found.rows.note }
  if #published.sources > 0 then
    notes[#notes + 1] = 'Published numbers: ' .. table.concat(published.sources, '; ') .. '.'
  end
  given.run:table(name, { title = title, columns = columns, rows = rows,
    note = #notes > 0 and table.concat(notes, ' ') or nil })
end

-- Mean accuracy by length over the runs of a setting, and its deviation.
local function curve_of(setting)
  local by_length, lengths = {}, {}
  for _, row in ipairs(setting.runs) do
    for _, line in ipairs(select(2, csv.read(row.folder .. '/lengths.csv'))) do
      local length, accuracy = tonumber(line.length), tonumber(line.accuracy)
      if length and accuracy then
        if not by_length[length] then
          by_length[length], lengths[#lengths + 1] = {}, length
        end
        table.insert(by_length[length], accuracy)
      end
    end
  end
  table.sort(lengths)
  return lengths, by_length
end

-- The columns of models, and after them those of groups of which several are compared: label, models.
local function shown_models(paper, options)
  local shown, of_group = {}, {}
  for i, model in ipairs(options.models) do shown[i] = { label = paper.models[model].label, models = { model } } end
  for _, model in ipairs(options.models) do
    local group = paper.models[model].group
    if group and not of_group[group] then
      of_group[group] = { label = group, models = {} }
      shown[#shown + 1] = of_group[group]
    end
    if group then table.insert(of_group[group].models, model) end
  end
  for i = #shown, 1, -1 do
    if i > #options.models and #shown[i].models == 1 then table.remove(shown, i) end
  end
  return shown
end

local function draw(given)
  local paper, options, drawn = given.paper, given.options, {}
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, model in ipairs(options.models) do
      local setting = (given.found.chosen[task] or {})[model]
      if setting then
        local lengths, values = curve_of(setting)
        local line = { name = paper.models[model].label, x = {}, y = {}, markers = #lengths < 3 }
        for i, length in ipairs(lengths) do
          local mean, deviation = statistics(values[length])
          line.x[i], line.y[i] = length, 100 * mean
          drawn[#drawn + 1] = { task, model, setting.name, #values[length], length, mean, deviation }
        end
        if #line.x > 0 then all[#all + 1] = line end
      end
    end
    if #all > 0 then
      given.run:lines('lengths-' .. task, tables.merged({ title = paper.title(task), y_min = 0, y_max = 100,
        series = all }, paper.lengths))
    end
  end
  files.write(given.run:path 'lengths.csv', table_of.new({ columns = { 'task', 'model', 'setting', 'runs', 'length',
    'mean_accuracy', 'standard_deviation' }, rows = drawn }):csv())
end

-- scores.draw_run(run, label, spec): draws the lengths.csv of a training as one line. spec: the title and the labels of
-- the axes, as for plot.lines.
function M.draw_run(run, label, spec)
  local line = { name = label, x = {}, y = {} }
  for i, row in ipairs(select(2, csv.read(run:path 'lengths.csv'))) do
    line.x[i], line.y[i] = tonumber(row.length), 100 * tonumber(row.accuracy)
  end
  spec.y_min, spec.y_max, spec.series = 0, 100, { line }
  run:lines('lengths', spec)
end

local function show_settings(given, spec, chosen)
  local rows, columns = {}, { 'task', 'model', 'setting', 'runs', { 'score', format = '%.1f' },
    { 'deviation', format = '%.1f' }, { 'best', format = '%.1f' } }
  for i, setting in ipairs(given.found.settings) do
    local row = { given.paper.title(setting.task), given.paper.models[setting.model].label, setting.name,
      #setting.runs, percent(setting.means.score), percent(setting.deviation), percent(setting.best) }
    for _, key in ipairs(spec.choose) do row[#row + 1] = setting.means[key] or '' end
    row[#row + 1] = chosen(setting.task, { setting.model }) == setting and 'chosen' or ''
    rows[i] = row
  end
  for _, key in ipairs(spec.choose) do columns[#columns + 1] = { (key:gsub('_', ' ')), format = '%.4f' } end
  columns[#columns + 1] = ''
  given.run:table('settings', { title = 'All settings. Validation chooses; scores are only looked at.',
    columns = columns, rows = rows, note = given.found.rows.note })
end

-- All tables of the settings that are found.
local function make(spec, paper, options, run)
  local found = M.settings(paper, options, spec)
  if spec.first then spec.first(paper, options, run, found) end
  local given = { paper = paper, options = options, run = run, found = found, shown = shown_models(paper, options) }
  local function chosen(task, models)
    local best
    for _, model in ipairs(models) do
      local setting = (found.chosen[task] or {})[model]
      if setting and (not best or better(setting, best, spec.choose)) then best = setting end
    end
    return best
  end
  local function mean_of(key)
    return function(task, models)
      local setting = chosen(task, models)
      return setting and setting.means[key]
    end
  end
  local score = type(spec.score) == 'function' and spec.score(options) or spec.score
  score = score:sub(1, 1):upper() .. score:sub(2)
  matrix(given, 'scores', ('%s, in percent: of each model the setting with the best validation, the mean over its '
    .. 'restarts.'):format(score), mean_of 'score', found.published, spec.columns)
  for _, more in ipairs(spec.also) do
    matrix(given, more.name, ('%s, in percent.'):format(more.title), mean_of(more.key),
      more.measure and spec.published_of(paper, options, more.measure) or { models = {}, sources = {} },
      more.columns or {})
  end
  matrix(given, 'best', 'The same: the best of all runs of a model, chosen by the score itself.', function(task, models)
    local best, wanted = nil, {}
    for _, model in ipairs(models) do wanted[model] = true end
    for _, setting in ipairs(found.settings) do
      if setting.task == task and wanted[setting.model] and setting.best then
        best = math.max(best or 0, setting.best)
      end
    end
    return best
  end, found.published, spec.columns)
  show_settings(given, spec, chosen)
  draw(given)
  print('\nRuns, logs and numbers by length: ' .. options.folder)
  paper:finish(run, found.rows)
end

local extra_columns = { { 'name', nil, 'its name', type = 'text', required = true },
  { 'of', nil, 'of(task, options) -> the cell', type = 'function', required = true },
  { 'format', nil, 'of its numbers, as in report.table', type = 'text' } }
local spec_of = pd._options.declare('paper.scores', {
  { 'doc', nil, 'what it is, for --help', type = 'text', required = true },
  { 'tasks', nil, 'the default of --tasks; by default those of the paper', type = 'list of texts' },
  { 'any_task', nil, 'the description of --tasks, if these need not be those of the paper', type = 'text' },
  { 'models', 'all', 'the models that are compared by default', type = 'text or list of texts' },
  { 'restarts', nil, 'default number of restarts of every setting', type = 'integer', required = true },
  { 'searched', {}, 'rows of options whose defaults are intervals or lists, each with `of`, the option of a training, '
    .. '`kind`, a distribution of pushdown.grid, and `when`, a function of the options', type = 'list of tables' },
  { 'choose', nil, 'the numbers of a result that choose a setting, the first one that differs; their names say which '
    .. 'values are better, as in runs.by_point', type = 'list of texts', required = true },
  { 'score', nil, 'what the score is, or a function of the options', type = 'text or function', required = true },
  { 'columns', {}, 'further columns', type = 'list of tables', inside = extra_columns },
  { 'also', {}, 'further tables of the chosen settings', type = 'list of tables', inside = {
    { 'key', nil, 'number of a result, a share from 0 to 1', type = 'text', required = true },
    { 'name', nil, 'of the file', type = 'text', required = true },
    { 'title', nil, 'of the table', type = 'text', required = true },
    { 'measure', nil, 'of published scores, which are shown beside', type = 'text' },
    { 'columns', {}, 'further columns', type = 'list of tables', inside = extra_columns } } },
  { 'name_of', nil, 'name_of(task) -> the task of the paper that this is', type = 'function' },
  { 'measure', nil, 'of the published scores, if the file has several', type = 'text' },
  { 'first', nil, 'first(paper, options, run, found) makes further tables before the others', type = 'function' },
  { 'quick', {}, 'values of --quick besides those of the paper', type = 'table' },
  { 'smoke', {}, 'values of --smoke besides those of the paper', type = 'table' },
})

-- The option --published of a table.
M.published_option = { 'published', 'paper', 'shown beside ours: a CSV file with the columns task, model, '
  .. 'score (in percent) and source; paper: the published numbers of the paper; none' }

-- scores.published_path(paper, options) -> the file of --published.
function M.published_path(paper, options)
  return options.published == 'paper' and paper.folder .. 'published.csv' or options.published
end

-- scores.rates_and_batches(rates, batches) -> searched options of many papers, with these defaults.
function M.rates_and_batches(rates, batches)
  return { { 'learning_rates', rates, 'all are tried; of two numbers, the interval of a logarithmic search',
      of = 'learning_rate', kind = 'log_uniform' },
    { 'batches', batches, 'lowest and highest size of an update, logarithmic', of = 'batch', kind = 'log_integers' } }
end

-- paper.scores{options} -> a table of a paper.
function M.part(declared)
  local spec = spec_of(declared)
  for _, key in ipairs(spec.choose) do
    if not metric.better(key) then
      error(("[paper.scores] choose: the name '%s' does not say which values are better"):format(key), 0)
    end
  end
  function spec.published_of(paper, options, measure)
    return published_of(M.published_path(paper, options), paper.tasks, options.tasks, spec.name_of,
      measure or spec.measure)
  end
  local options = { M.published_option }
  if #spec.searched > 0 then
    options = experiment.join_options({ { 'samples', 10, 'settings of a model on a task that are tried', minimum = 1 },
      { 'search_seed', 1, 'decides what is tried', minimum = 0 } }, options)
    for _, row in ipairs(spec.searched) do options[#options + 1] = { row[1], row[2], row[3] } end
  end
  return { doc = spec.doc, tasks = spec.tasks, any_task = spec.any_task, models = spec.models, options = options,
    restarts = spec.restarts, quick = tables.merged({ restarts = 1 }, spec.quick),
    smoke = tables.merged({ restarts = 1 }, spec.smoke),
    make = function(paper, given, run) make(spec, paper, given, run) end }
end

return M
