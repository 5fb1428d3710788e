-- Suites: several models on several tasks, the settings of each found by random search, chosen by validation and scored
-- by length. scripts/experiments/chomsky and flare are two.
--
--   local found = suite.train{ name = 'chomsky', script = here .. 'train.lua', options = options,
--     settings = protocol.options, searched = { { name = 'batch', interval = 'batches', kind = 'log_integers' } },
--     choose = { 'valid_accuracy', 'valid_perplexity' } }
--   suite.finish{ run = run, found = found, ... }
--
-- The script of a run writes `score`, a share from 0 to 1, and the numbers of `choose` into its result, and the columns
-- length and accuracy into lengths.csv. It gets the searched options, --task, --model, --seed and --restart.
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local metric = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local statistics = require 'pushdown.statistics'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

local options_of = pd._options.declare('suite.options', {
  { 'tasks', nil, 'the tasks of the suite', type = 'list', required = true },
  { 'choices', nil, 'all tasks that can be chosen, if there are more', type = 'list' },
  { 'models', nil, 'the models of the suite', type = 'list', required = true },
  { 'compared', nil, 'those that are compared by default, if there are more', type = 'list' },
  { 'restarts', nil, 'default number of restarts of every setting', type = 'integer', required = true },
  { 'folder', nil, 'folder of the runs by default', type = 'text', required = true },
  { 'searched', nil, 'options whose defaults are intervals or lists', type = 'list of tables', required = true },
})

-- suite.options{options} -> the options that suite.train reads.
function M.options(declared)
  local given = options_of(declared)
  local options = {
    { 'tasks', given.tasks, 'tasks', choices = given.choices or given.tasks },
    { 'models', given.compared or given.models, 'models to compare', choices = given.models },
    { 'samples', 10, 'settings of a model on a task that are tried', minimum = 1 },
    { 'search_seed', 1, 'decides what is tried', minimum = 0 },
    { 'restarts', given.restarts, 'repeats of every setting', minimum = 1 },
    { 'published', 'paper', 'shown beside ours: a CSV file with the columns task, model, '
      .. 'score (in percent) and source; paper: the file next to the script; none' },
  }
  for _, option in ipairs(given.searched) do options[#options + 1] = option end
  for _, option in ipairs(grid.options) do options[#options + 1] = option end
  options[#options + 1] = { 'folder', given.folder, 'where the runs lie' }
  return options
end

-- suite.network(row, options, given) -> the options of a model: `given` with the network of a row of models.lua. A
-- transformer has the layers of the row, or else `layers` attention layers, with `heads` heads on vectors of `width`,
-- the feedforward size that is given and the `network` options of the row; other networks have the controller and the
-- stack of the row.
function M.network(row, options, given)
  if row.architecture == 'transformer' then
    given.architecture, given.layers = 'transformer', row.layers and row.layers(options) or {}
    for i = 1, row.layers and 0 or options.layers do given.layers[i] = 'attention' end
    given.hidden, given.heads = options.width, options.heads
    for key, value in pairs(row.network or {}) do given[key] = value end
  else
    given.feedforward = nil
    given.controller, given.stack = row.controller(options), row.stack and row.stack(options)
  end
  return given
end

-- suite.transformers() -> rows of models.lua: a transformer with each encoding of positions. Those of Delétang et al.
-- (2023) are a group, of which tables also show the best.
function M.transformers()
  local rows = {}
  for _, encoding in ipairs { { 'sinusoidal', 'Transformer' }, { 'none', 'Transformer, no positions' },
    { 'rotary', 'Transformer, RoPE' }, { 'alibi', 'Transformer, ALiBi' }, { 'relative', 'Transformer, relative' },
    { 'randomized', 'Transformer, randomized' } } do
    local positions, label = encoding[1], encoding[2]
    local row = { name = 'transformer_' .. positions, label = label, architecture = 'transformer',
      network = { positions = positions }, group = 'Transformer (best encoding)' }
    if positions == 'sinusoidal' then row.name, row.network = 'transformer', nil end
    -- Of Ruoss et al. (2023). In evaluation, 2,000 symbols have every fourth position.
    if positions == 'randomized' then row.group, row.network.longest_position = nil, 8192 end
    rows[#rows + 1] = row
  end
  return rows
end

-- ---- Published numbers ----

-- suite.published(path, tasks, shown, name_of) -> {models = names in their order, scores = {[model] = {[task]}},
-- sources = list}, all empty of an empty path or 'none'. tasks: those that may be in the file; shown: those of the
-- result, none for all; name_of(name): the task that has this name, too, if tasks have several; measure: only the rows
-- with this in their column measure.
function M.published(path, tasks, shown, name_of, measure)
  local out = { models = {}, scores = {}, sources = {} }
  if path == '' or path == 'none' then return out end
  local names, rows = csv.read(path)
  local columns, known, sources, wanted, seen = {}, {}, {}, {}, {}
  for _, name in ipairs(names) do columns[name] = true end
  for _, name in ipairs { 'task', 'model', 'score', 'source', measure and 'measure' } do
    if not columns[name] then error(("[suite.published] '%s' has no column %s"):format(path, name), 0) end
  end
  for _, task in ipairs(tasks) do known[task] = true end
  name_of = name_of or function(name) return name end
  for _, task in ipairs(shown or tasks) do known[name_of(task)], wanted[name_of(task)] = true, task end
  for i, row in ipairs(rows) do
    local place, score = ("'%s', row %d: "):format(path, i), tonumber(row.score)
    local function check(good, ...)
      if not good then error('[suite.published] ' .. place .. (...):format(select(2, ...)), 0) end
    end
    local task = name_of(row.task)
    check(known[task], "unknown task '%s'; there are %s", row.task, table.concat(tasks, ', '))
    check(score and score >= 0 and score <= 100, "score must be a number from 0 to 100, got '%s'", tostring(row.score))
    check((row.source or '') ~= '' and row.model ~= '', 'expected a model and a source')
    local key = ('%s\0%s\0%s'):format(row.model, task, measure and row.measure or '')
    check(not seen[key], "a second score of %s on %s", row.model, row.task)
    seen[key] = true
    if wanted[task] and (not measure or row.measure == measure) then
      if not out.scores[row.model] then out.scores[row.model], out.models[#out.models + 1] = {}, row.model end
      out.scores[row.model][wanted[task]] = score
      if not sources[row.source] then sources[row.source], out.sources[#out.sources + 1] = true, row.source end
    end
  end
  return out
end

-- ---- Training ----

-- The points of the search. Two numbers of an option are an interval, from which `samples` settings are drawn; more
-- numbers are a list, and each of them is combined with each drawn setting.
local function points_of(options, searched)
  local distributions, points, drawn = {}, { {} }, false
  for _, item in ipairs(searched) do
    local values = options[item.interval]
    if #values < 2 then
      error(('--%s must be two numbers, lowest and highest, or a list of more, got %d'):format(
        item.interval:gsub('_', '-'), #values), 0)
    end
    if #values == 2 and values[1] ~= values[2] then
      distributions[item.name], drawn = grid[item.kind](values[1], values[2]), true
    end
  end
  if drawn then
    points = grid.random { count = options.samples, seed = options.search_seed, options = distributions }
  end
  for _, item in ipairs(searched) do
    if not distributions[item.name] then
      local values, more = options[item.interval], {}
      for _, point in ipairs(points) do
        for i = 1, #values == 2 and 1 or #values do
          local copy = tables.merged({ [item.name] = values[i] }, point)
          more[#more + 1] = copy
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
  return a.point < b.point
end

local of_both = {
  { 'options', nil, 'the options of the script: those of suite.options', type = 'table', required = true },
  { 'choose', nil, 'the numbers of a result that choose a setting, the first one that differs; their names say which '
    .. 'values are better, as in runs.by_point', type = 'list of texts', required = true },
}
local train_options = pd._options.declare('suite.train', of_both, {
  { 'name', nil, 'of the suite', type = 'text', required = true },
  { 'script', nil, 'the script of a run', type = 'text', required = true },
  { 'settings', nil, 'declared options that the script of a run also takes', type = 'list', required = true },
  { 'searched', nil, 'what is searched', type = 'list of tables', required = true, inside = {
    { 'name', nil, 'option of a run', type = 'text', required = true },
    { 'interval', nil, 'the option of the suite with its bounds', type = 'text', required = true },
    { 'kind', nil, 'distribution of pushdown.grid', type = 'text', required = true } } },
  { 'published', nil, 'the file of `--published paper`', type = 'text', required = true },
  { 'known', nil, 'see suite.published: tasks', type = 'list', required = true },
  { 'name_of', nil, 'see suite.published', type = 'function' },
  { 'measure', nil, 'see suite.published: of the published scores', type = 'text' },
  { 'also', {}, 'further numbers of a result whose means are computed', type = 'list of texts' },
})

-- suite.train{options} -> { settings =, rows =, chosen = {[task] = {[model] = setting}}, published = }. Trains what is
-- not trained yet. A setting: { task =, model =, point =, runs = the finished ones, means = {[key of choose or also, or
-- score]}, deviation = and best = of the score }.
function M.train(declared)
  local given = train_options(declared)
  for _, key in ipairs(given.choose) do
    if not metric.better(key) then
      error(("[suite.train] choose: the name '%s' does not say which values are better"):format(key), 0)
    end
  end
  local options, grids = given.options, {}
  local path = options.published == 'paper' and given.published or options.published
  local published = M.published(path, given.known, options.tasks, given.name_of, given.measure)
  local points = points_of(options, given.searched)
  local settings = {}
  for _, option in ipairs(given.settings) do
    if json.encode(options[option[1]]) ~= json.encode(option[2]) then settings[option[1]] = options[option[1]] end
  end
  for _, task in ipairs(options.tasks) do
    for _, model in ipairs(options.models) do
      local fixed = tables.merged({ task = task, model = model }, settings)
      grids[#grids + 1] = { name = ('%s/%s/%s'):format(given.name, task, model), script = given.script,
        folder = ('%s/%s/%s'):format(options.folder, task, model), fixed = fixed, points = points,
        restarts = options.restarts }
    end
  end
  grids.failures = 'report'
  local rows = grid.run(grid.place(grids, options))
  local found = { settings = {}, rows = rows, chosen = {}, published = published }
  local known = {}
  for _, row in ipairs(rows) do
    local key = row.grid .. '\0' .. row.point
    local setting = known[key]
    if not setting then
      setting = { task = row.options.task, model = row.options.model, point = row.point, runs = {}, means = {} }
      known[key], found.settings[#found.settings + 1] = setting, setting
    end
    if row.status == 'done' then setting.runs[#setting.runs + 1] = row end
  end
  for _, setting in ipairs(found.settings) do
    if #setting.runs > 0 then
      local function all(key)
        local values = {}
        for _, row in ipairs(setting.runs) do values[#values + 1] = row.result[key] end
        return values
      end
      for _, key in ipairs(given.also) do
        local values = all(key)
        if #values > 0 then setting.means[key] = statistics(values) end
      end
      for _, key in ipairs(given.choose) do setting.means[key] = statistics(all(key)) end
      local _
      setting.means.score, setting.deviation, _, setting.best = statistics(all 'score')
      local of_task = found.chosen[setting.task] or {}
      found.chosen[setting.task] = of_task
      local other = of_task[setting.model]
      if not other or better(setting, other, given.choose) then of_task[setting.model] = setting end
    end
  end
  return found
end

-- ---- Tables and plots ----

local function percent(share) return share and 100 * share or '' end

local function matrix(given, name, title, value, published, extras)
  local options, columns, rows = given.options, { 'task' }, {}
  for _, extra in ipairs(extras) do columns[#columns + 1] = { extra.name, format = extra.format } end
  for _, shown in ipairs(given.shown) do columns[#columns + 1] = { shown.label, format = '%.1f' } end
  for _, model in ipairs(published.models) do columns[#columns + 1] = { model .. ' (published)', format = '%.1f' } end
  for i, task in ipairs(options.tasks) do
    local row = { given.title(task) }
    for _, extra in ipairs(extras) do row[#row + 1] = extra.of(task) end
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
local function shown_models(options, labels, groups)
  local shown, of_group = {}, {}
  for i, model in ipairs(options.models) do shown[i] = { label = labels[model], models = { model } } end
  for _, model in ipairs(options.models) do
    local group = groups[model]
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
  local options, drawn = given.options, {}
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, model in ipairs(options.models) do
      local setting = (given.found.chosen[task] or {})[model]
      if setting then
        local lengths, values = curve_of(setting)
        local line = { name = given.labels[model], x = {}, y = {}, markers = #lengths < 3 }
        for i, length in ipairs(lengths) do
          local mean, deviation = statistics(values[length])
          line.x[i], line.y[i] = length, 100 * mean
          drawn[#drawn + 1] = { task, model, setting.point, #values[length], length, mean, deviation }
        end
        if #line.x > 0 then all[#all + 1] = line end
      end
    end
    if #all > 0 then
      given.run:lines('lengths-' .. task, { title = given.title(task), x_label = given.x_label, y_label = given.y_label,
        y_min = 0, y_max = 100, series = all })
    end
  end
  files.write(given.run:path 'lengths.csv', table_of.new({ columns = { 'task', 'model', 'setting', 'runs', 'length',
    'mean_accuracy', 'standard_deviation' }, rows = drawn }):csv())
end

-- suite.lengths(run, label, spec): draws the lengths.csv of a run as one line. spec: the title and the labels of the
-- axes, as for plot.lines.
function M.lengths(run, label, spec)
  local line = { name = label, x = {}, y = {} }
  for i, row in ipairs(select(2, csv.read(run:path 'lengths.csv'))) do
    line.x[i], line.y[i] = tonumber(row.length), 100 * tonumber(row.accuracy)
  end
  spec.y_min, spec.y_max, spec.series = 0, 100, { line }
  run:lines('lengths', spec)
end

local extra_columns = { { 'name', nil, 'its name', type = 'text', required = true },
  { 'of', nil, 'of(task) -> the cell', type = 'function', required = true },
  { 'format', nil, 'of its numbers, as in report.table', type = 'text' } }
local finish_options = pd._options.declare('suite.finish', of_both, {
  { 'run', nil, 'the run of the script', type = 'table', required = true },
  { 'found', nil, 'the result of suite.train', type = 'table', required = true },
  { 'labels', nil, 'model -> its name in tables', type = 'table', required = true },
  { 'groups', {}, 'model -> the name of its group, of which tables also show the best', type = 'table' },
  { 'title', nil, 'title(task) -> its name in tables', type = 'function', required = true },
  { 'score', nil, 'what the score is', type = 'text', required = true },
  { 'x_label', nil, 'of the plots by length', type = 'text', required = true },
  { 'y_label', nil, 'of the plots by length', type = 'text', required = true },
  { 'columns', {}, 'further columns', type = 'list of tables', inside = extra_columns },
  { 'also', {}, 'further tables of the chosen settings', type = 'list of tables', inside = {
    { 'key', nil, 'number of a result, a share from 0 to 1, that suite.train computes also', type = 'text',
      required = true },
    { 'name', nil, 'of the file', type = 'text', required = true },
    { 'title', nil, 'of the table', type = 'text', required = true },
    { 'published', nil, 'result of suite.published, shown beside', type = 'table' },
    { 'columns', {}, 'further columns', type = 'list of tables', inside = extra_columns } } },
})

-- suite.finish{options}: tables of models by tasks, of the settings, plots by length, and the end of the run; failed
-- runs are an error.
function M.finish(declared)
  local given = finish_options(declared)
  local options, found, run = given.options, given.found, given.run
  given.shown = shown_models(options, given.labels, given.groups)
  local function chosen(task, models)
    local best
    for _, model in ipairs(models) do
      local setting = (found.chosen[task] or {})[model]
      if setting and (not best or better(setting, best, given.choose)) then best = setting end
    end
    return best
  end
  local published = found.published
  matrix(given, 'scores', ('%s, in percent: of each model the setting with the best validation, the mean over its '
    .. 'restarts.'):format(given.score), function(task, models)
    local setting = chosen(task, models)
    return setting and setting.means.score
  end, published, given.columns)
  for _, more in ipairs(given.also) do
    matrix(given, more.name, ('%s, in percent.'):format(more.title), function(task, models)
      local setting = chosen(task, models)
      return setting and setting.means[more.key]
    end, more.published or { models = {}, sources = {} }, more.columns or {})
  end
  matrix(given, 'best', ('The same: the best of all runs of a model, chosen by the score itself.'),
    function(task, models)
      local best, wanted = nil, {}
      for _, model in ipairs(models) do wanted[model] = true end
      for _, setting in ipairs(found.settings) do
        if setting.task == task and wanted[setting.model] and setting.best then
          best = math.max(best or 0, setting.best)
        end
      end
      return best
    end, published, given.columns)
  local rows = {}
  for i, setting in ipairs(found.settings) do
    local row = { given.title(setting.task), given.labels[setting.model], setting.point, #setting.runs,
      percent(setting.means.score), percent(setting.deviation), percent(setting.best) }
    for _, key in ipairs(given.choose) do row[#row + 1] = setting.means[key] or '' end
    row[#row + 1] = chosen(setting.task, { setting.model }) == setting and 'chosen' or ''
    rows[i] = row
  end
  local columns = { 'task', 'model', 'setting', 'runs', { 'score', format = '%.1f' }, { 'deviation', format = '%.1f' },
    { 'best', format = '%.1f' } }
  for _, key in ipairs(given.choose) do columns[#columns + 1] = { (key:gsub('_', ' ')), format = '%.4f' } end
  columns[#columns + 1] = ''
  run:table('settings', { title = 'All settings. Validation chooses; scores are only looked at.', columns = columns,
    rows = rows, note = found.rows.note })
  draw(given)
  print('\nRuns, logs and numbers by length: ' .. options.folder)
  run:finish { runs = #found.rows, failed = found.rows.failed }
  if found.rows.failed > 0 then
    error(('%d of %d runs failed; their ends are shown above'):format(found.rows.failed, #found.rows), 0)
  end
end

return M
