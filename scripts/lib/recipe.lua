-- Recipes: trainings that learn a task, each a short script scripts/recipes/NAME.lua with models, a curriculum and a
-- search. scripts/recipes/tasks has the tasks: their data and the tests that decide whether a network has solved them.
--
--   pd.recipe.list()
--   local result = pd.recipe.run('unmarked_reversal', { seed = 1 })
--   print(result.solved, result.value_1, result.folder)
--
-- `pushdown recipe` is the same as a command. docs/reference/recipes.md describes how to write one.
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local kinds = require 'pushdown.record.kinds'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

local folder = pd.root .. '/scripts/recipes/'

-- The record of all runs. An installed program has none.
M.record = pd.root .. '/docs/results/recipes/runs.csv'

-- recipe.names() -> sorted list of the names of the recipes.
function M.names()
  local names = {}
  for _, file in ipairs(pd.file.list(folder)) do names[#names + 1] = file:match '^([%w_]+)%.lua$' end
  table.sort(names)
  return names
end

local smoke = false  -- whether the recipe that is being loaded only checks that everything works

-- recipe.task(kind, options) -> task: calls the function that scripts/recipes/tasks/KIND.lua returns. It gets the
-- options, with smoke = true if the data are to be very small.
function M.task(kind, options)
  local given = tables.merged({ smoke = smoke }, options)
  return dofile(('%stasks/%s.lua'):format(folder, kind))(given)
end

-- recipe.vector_stacks(size) -> models with stacks of vectors of this size, and an LSTM without a stack.
function M.vector_stacks(size)
  return { { name = 'Superposition', stack = { kind = 'superposition', size = size } },
    { name = 'Stratification', stack = { kind = 'stratification', size = size } },
    { name = 'LSTM', controller = 'lstm', stack = { kind = 'none' } } }
end

-- ---- The recipe ----

local recipe_of = pd._options.declare('recipe', {
  { 'task', nil, 'what is learned, see recipe.task', type = 'table', required = true },
  { 'minutes', nil, 'usual duration of a search on one core, at most', type = 'number', required = true },
  { 'models', nil, 'the models, the first one by default', type = 'list of tables', required = true },
  { 'search', {}, 'options of the search over restarts, besides those of the task', type = 'table' },
  { 'training', nil, 'what task:training(seed, restart, model, training) makes the options of a trainer of',
    type = 'table' },
  { 'trainer', nil, 'trainer(seed, restart, model) returns the options of a trainer, in place of training',
    type = 'function' },
})

local function check(path, recipe)
  local function fail(...) error(('[recipe] %s: %s'):format(path, (...):format(select(2, ...))), 0) end
  if type(recipe) ~= 'table' then fail('expected a table as its result, got a %s', type(recipe)) end
  recipe_of(recipe, 'recipe ' .. path)
  if (recipe.trainer == nil) == (recipe.training == nil) then fail 'expected either training or trainer' end
  for key, kind in pairs { title = 'string', group = 'string', tests = 'table', lengths = 'table' } do
    if type(recipe.task[key]) ~= kind then fail('%s of the task must be a %s', key, kind) end
  end
  for i, test in ipairs(recipe.task.tests) do
    local bars = 0
    for _, key in ipairs { 'below', 'above', 'at_most' } do bars = bars + (test[key] and 1 or 0) end
    if bars ~= 1 or type(test.value) ~= 'function' or type(test.name) ~= 'string' then
      fail('test %d needs name, value, and one of below, above and at_most', i)
    end
  end
  for i, model in ipairs(recipe.models) do
    if type(model.name) ~= 'string' then fail('models[%d] has no name', i) end
  end
  if #recipe.models == 0 or #recipe.task.tests == 0 then fail 'there must be a model and a test' end
  return recipe
end

-- The path of a recipe: of a name in scripts/recipes, or of a file of the user.
local function path_of(name)
  if name:find '[/.]' then
    if not files.exists(name) then error(("[recipe] there is no file '%s'"):format(name), 0) end
    return name
  end
  local path = folder .. name .. '.lua'
  if files.exists(path) then return path end
  local near = pd._text.nearest(name, M.names())
  error(("[recipe] there is no recipe '%s'%s; pd.recipe.list() shows all"):format(name,
    near and (", did you mean '%s'?"):format(near) or ''), 0)
end

-- recipe.load(name, options) -> the checked table of a recipe, with its name and the path of its script. name: that of
-- a recipe, or the path of a script. options.smoke: very small data.
function M.load(name, options)
  local path = path_of(name)
  local before = smoke
  smoke = options and options.smoke or false
  local ok, recipe = pcall(dofile, path)
  smoke = before
  if not ok then error(recipe, 0) end
  check(path, recipe)
  recipe.name, recipe.path = path:match '([^/]*)%.lua$' or path, path
  return recipe
end

-- recipe.slug(name) -> the name of a model as a word: 'RNS-RNN' -> 'rns_rnn'.
function M.slug(name) return (name:lower():gsub('%W+', '_')) end

local function model_of(recipe, name)
  if name == '' then return recipe.models[1] end
  local known = {}
  for i, model in ipairs(recipe.models) do
    if model.name == name or M.slug(model.name) == name then return model end
    known[i] = M.slug(model.name)
  end
  error(("[recipe] %s has no model '%s'; its models are %s"):format(recipe.name, name, table.concat(known, ', ')), 0)
end

-- ---- Its record ----

-- Returns the recorded runs of a model of a recipe: solved, runs, minutes of a search on average.
local function recorded(rows, name, model)
  local solved, count, seconds = 0, 0, 0
  for _, row in ipairs(rows) do
    if row.recipe == name and row.model == M.slug(model.name) then
      count, seconds = count + 1, seconds + tonumber(row.seconds)
      if row.solved == 'true' then solved = solved + 1 end
    end
  end
  return solved, count, count > 0 and seconds / count / 60 or nil
end

-- recipe.list() -> table (pushdown.report): every recipe with its task, model, the number of solved seeds, and the
-- minutes of a search on one core.
function M.list()
  local _, kept = nil, {}
  if files.exists(M.record) then _, kept = csv.read(M.record) end
  local rows, level = {}, pd.session().log_level
  pd.session { log_level = 'error' }  -- a warning about a grammar is for those who train
  for i, name in ipairs(M.names()) do
    local recipe = M.load(name)
    local model = recipe.models[1]
    local solved, count, minutes = recorded(kept, name, model)
    rows[i] = { name, recipe.task.title, model.name, count > 0 and ('%d of %d'):format(solved, count) or '',
      minutes or '', recipe.minutes }
  end
  pd.session { log_level = level }
  return table_of.new { columns = { 'recipe', 'task', 'model', 'solved', { 'minutes', format = '%.1f' },
    'at most' }, rows = rows }
end

-- ---- Running it ----

local function passes(test, value)
  if value ~= value then return false end
  if test.below then return value < test.below end
  if test.above then return value > test.above end
  return value <= test.at_most
end

-- recipe.bar(test) -> what the value of a test must be, as text: '< 0.01'.
function M.bar(test)
  local sign = test.below and '<' or test.above and '>' or '≤'
  return ('%s %g'):format(sign, test.below or test.above or test.at_most)
end

local function search(recipe, model, options, run)
  local given = tables.merged({ folder = run.folder, name = recipe.name }, recipe.task.search, recipe.search)
  if options.restarts > 0 then given.restarts, given.rungs, given.keep = options.restarts, nil, nil end
  function given.make(restart, into)
    local made = recipe.trainer and recipe.trainer(options.seed, restart, model)
      or recipe.task:training(options.seed, restart, model, recipe.training)
    made.run_folder = into
    for _, stage in ipairs(options.smoke and made.stages or {}) do stage.epochs = 1 end
    if options.smoke then made.epochs = not made.stages and 1 or nil end
    return pd.train.trainer(made)
  end
  return pd.search.run(given)
end

-- The tests of a network, and their table.
local function measure(recipe, model, network, run)
  local values, rows, solved = {}, {}, true
  for i, test in ipairs(recipe.task.tests) do
    values[i] = test.value(network)
    local passed = passes(test, values[i])
    solved = solved and passed
    rows[i] = { test.name, test.quantity or '', values[i], M.bar(test), passed and 'yes' or 'no' }
  end
  run:table('results', { title = ('%s, %s'):format(recipe.task.title, model.name),
    columns = { 'test', 'quantity', { 'value', format = '%.4g' }, 'bar', 'passed' }, rows = rows,
    note = 'The network is the best one on validation strings. Test strings decide nothing.' })
  return values, solved
end

local function draw(recipe, model, network, run)
  local lengths = recipe.task.lengths
  local line, rows = { name = model.name, x = {}, y = {} }, {}
  for i, length in ipairs(lengths.values) do
    line.x[i], line.y[i] = length, lengths.value(network, length)
    rows[i] = { length, line.y[i] }
  end
  table_of.new { columns = { 'length', 'value' }, rows = rows }:save(run:path 'lengths')
  run:lines('lengths', { title = ('%s, trained on lengths up to %d'):format(recipe.task.title, lengths.trained),
    x_label = 'length of the test strings', y_label = lengths.quantity, series = { line } })
end

-- recipe.metric(epoch) -> the name of the number of an epoch that learning curves show, or nil.
function M.metric(epoch)
  for _, name in ipairs(kinds['recipes/train'].curve.metrics) do
    if type(epoch[name]) == 'number' then return name end
  end
end

-- Learning curves of the restarts with the best values, more of which nobody could tell apart, and the metrics of the
-- best one as those of the run. Returns the cost of all restarts.
local function curves(recipe, found, run)
  local series, seconds, epochs, drawn = {}, 0, 0, nil
  for _, one in ipairs(found.ranked) do
    local folder_of_one = ('%s/restart-%d'):format(run.folder, one.restart)
    local line = { name = ('restart %d%s'):format(one.restart, one.restart == found.restart and ' (best)' or ''),
      x = {}, y = {} }
    for _, epoch in ipairs(runs.history(folder_of_one)) do
      drawn = drawn or M.metric(epoch)
      line.x[#line.x + 1], line.y[#line.y + 1] = epoch.epoch, epoch[drawn]
      seconds, epochs = seconds + (epoch.seconds or 0), epochs + 1
    end
    if #line.x > 0 and #series < 12 then series[#series + 1] = line end
  end
  local metrics = ('%s/restart-%d/metrics.jsonl'):format(run.folder, found.restart)
  files.write(run:path 'metrics.jsonl', files.read(metrics))
  run:lines('curves', { title = recipe.task.title .. ', validation strings of each stage', x_label = 'epoch',
    y_label = (drawn or 'value'):gsub('_', ' '), series = series })
  return seconds, epochs
end

local model_option = { 'model', '', 'one of the models of the recipe; none: the first' }
local seed_option = { 'seed', 1, 'decides the training strings and all parameters', minimum = 0 }

-- recipe.options: the options of recipe.run, which the command `pushdown recipe` also has.
M.options = { model_option, seed_option,
  { 'folder', nil, 'the run folder; none: runs/recipes/NAME/MODEL/seed-SEED', type = 'text' } }

M.declaration = {
  name = 'recipes/train', doc = 'Trains the model of a recipe, and tests what it has learned.',
  options = {
    { 'recipe', 'unmarked_reversal', 'name of a recipe, or path of a script of this form' },
    model_option, seed_option,
    { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
    { 'restarts', 0, 'initial parameters that are tried, all to the end; 0: those of the recipe, and its rungs',
      minimum = 0 },
  },
  quick = { restarts = 2 }, smoke = { restarts = 1 },
}

-- The run of a recipe, which may be loaded already. Returns the result, which is also result.json of its folder:
-- solved, value_1, ... (the values of the tests), restarts, epochs and seconds of all of them, and the best restart.
-- The folder has a table of the tests, learning curves, the test by length, and what the task shows of the network.
local function train(options, run, loaded)
  local before = run:earlier_result()
  if before then
    run:show_saved 'results'
    before.folder = run.folder
    return before
  end
  local recipe = loaded or M.load(options.recipe, options)
  local model = model_of(recipe, options.model)
  local found = search(recipe, model, options, run)
  -- What ends a search is the newest epoch of its restart, which need not be the one with the lowest loss.
  local network = pd.model.load(found.folder, { which = found.solved and 'last' or 'best' })
  network:save(run:path 'network.safetensors')
  local seconds, epochs = curves(recipe, found, run)
  draw(recipe, model, network, run)
  if recipe.task.show then recipe.task.show(network, run) end
  local values, solved = measure(recipe, model, network, run)
  local begun = 0
  for _, one in ipairs(found.rows) do begun = begun + ((one.epochs or 0) > 0 and 1 or 0) end
  local result = { recipe = recipe.name, model = M.slug(model.name), seed = options.seed, restart = options.restart,
    solved = solved, found = found.value, best_restart = found.restart, restarts = begun, epochs = epochs,
    seconds = seconds }
  local order = { 'recipe', 'model', 'seed', 'restart', 'solved' }
  for i, value in ipairs(values) do
    result['value_' .. i] = value
    order[#order + 1] = 'value_' .. i
  end
  for _, key in ipairs { 'found', 'best_restart', 'restarts', 'epochs', 'seconds' } do order[#order + 1] = key end
  run:finish(json.ordered(result, order))
  result.folder = run.folder
  return result
end

-- recipe.training: the training of the paper `recipes`.
M.training = { declaration = M.declaration, run = train }

local run_options = pd._options.declare('recipe.run', M.options, {
  { 'smoke', false, 'a run of a few seconds that only checks that everything works' } })

-- recipe.run(name, {options}) -> result. Runs a recipe: its search and its tests. A run that was stopped continues, and
-- a finished one is not repeated.
function M.run(name, options)
  if type(name) ~= 'string' then error('[recipe.run] expected the name of a recipe; pd.recipe.list() shows all', 0) end
  options = run_options(options)
  local recipe = M.load(name, options)
  local model = M.slug(model_of(recipe, options.model).name)
  local seed = ('%.0f'):format(options.seed)
  local arguments = { [0] = 'recipe ' .. name, '--recipe', name, '--model', model, '--seed', seed, '--run-folder',
    options.folder or ('runs/recipes/%s/%s/seed-%s'):format(recipe.name, model, seed) }
  if options.smoke then
    arguments[#arguments + 1] = '--smoke'
    if not options.folder then arguments[8] = arguments[8] .. '-smoke' end
  end
  local given, run = experiment.start(M.declaration, arguments)
  return train(given, run, recipe)
end

return M
