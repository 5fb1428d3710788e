-- Papers: experiments of one form. A file scripts/experiments/NAME.lua declares the tasks and models of a paper, the
-- options of its protocol, one training with its measures, and the tables and figures that are made of many trainings.
--
--   return (pd.paper.new { name = 'copying', tasks = { 'copy' }, models = { { name = 'lstm', label = 'LSTM' } },
--     title = function(task) return task end, options = { { 'epochs', 5, 'passes over the strings' } },
--     train = { doc = 'Trains one model.', trainer = function(options) ... end,
--       measure = function(options, trained) ... end },
--     tables = { scores = pd.paper.scores { ... } } })
--
-- The file is also a script: without a word it trains one model on one task, and with the name of a table it makes the
-- table from the trainings, of which it runs those that are not finished:
--
--   pushdown copying --task copy --model lstm
--   pushdown copying scores --restarts 5
--
-- (A call in brackets is no tail call, so that the file can be recognized as the running script.)
local cells = require 'pushdown.paper.cells'
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'
local networks = require 'pushdown.paper.networks'
local pd = require 'pushdown'
local published = require 'pushdown.paper.published'
local scores = require 'pushdown.paper.scores'
local tables = require 'pushdown.tables'
local transducers = require 'pushdown.paper.transducers'

local M = {}

-- paper.network(model, options, given) -> the options of a network: those given, and those of a model of a paper.
M.network = networks.options

-- paper.transformers() -> models of a paper: a transformer with each encoding of positions.
M.transformers = networks.transformers

-- paper.published(path, tasks, shown, name_of, measure) -> published numbers: {models =, scores =, sources =}.
M.published = published

-- paper.transducers{options} -> the training of a paper of transducers with a score on longer sources, and the function
-- of the options that says what its score is.
M.transducers = transducers

local Paper = {}
Paper.__index = Paper

-- ---- Declarations ----

-- paper.with_defaults(declared, defaults) -> these declared options with other defaults, by name.
function M.with_defaults(declared, defaults)
  local out, used = {}, {}
  for i, option in ipairs(declared) do
    out[i] = tables.merged(option)
    if defaults[option[1]] ~= nil then out[i][2], used[option[1]] = defaults[option[1]], true end
  end
  for name in pairs(defaults) do
    if not used[name] then error(("[paper] no option '%s' is declared"):format(name), 0) end
  end
  return out
end

-- paper.scores{options} -> a table of models by tasks, whose settings are searched and chosen by validation.
M.scores = scores.part

-- paper.rates_and_batches(rates, batches) -> the searched options of many tables, with these defaults.
M.rates_and_batches = scores.rates_and_batches

local train_of = pd._options.declare('paper: train', {
  { 'declaration', nil, 'the declaration of pd.experiment.start, in place of all that follows', type = 'table' },
  { 'run', nil, 'run(options, run) makes the run, in place of all that follows', type = 'function' },
  { 'doc', nil, 'what it is, for --help', type = 'text' },
  { 'required', {}, 'names of options that must be given', type = 'list of texts' },
  { 'name', 'train', 'name of the training in run folders and records: NAME/train', type = 'text' },
  { 'task', nil, 'the default of --task', type = 'text' },
  { 'any_task', nil, 'the description of --task, if it need not be one of the tasks', type = 'text' },
  { 'model', nil, 'the default of --model', type = 'text' },
  { 'options', {}, 'options of a run besides the task, the model, those of the paper, the seed and the restart',
    type = 'list of tables' },
  { 'enough', nil, 'enough(result, options) -> whether a finished run need not go on; none: always',
    type = 'function' },
  { 'data', nil, 'data(options, run) -> the data, for trainer and measure', type = 'function' },
  { 'trainer', nil, 'trainer(options, data, run) -> options of the trainer besides those of its folder and the seed',
    type = 'function' },
  { 'resumed', nil, 'resumed(options) -> options of pd.train.resume; by default the epochs', type = 'function' },
  { 'fit', nil, 'fit(options, data, run) -> a trainer whose epochs are done, in place of the function trainer',
    type = 'function' },
  { 'measure', nil, 'measure(options, trained, run) -> the result as a list: names of options, and {name, value}',
    type = 'function' },
  { 'show', nil, 'show(options, run, result) shows the result; none: its numbers `shown`', type = 'function' },
  { 'shown', nil, 'numbers of the result that are shown', type = 'list of texts' },
  { 'setting', nil, 'setting(options) -> what the title says besides task, model and seed', type = 'function' },
  { 'note', nil, 'text below the numbers, or a function of the options', type = 'text or function' },
})
local table_of = pd._options.declare('paper: tables', {
  { 'doc', nil, 'what it is, for --help', type = 'text', required = true },
  { 'required', {}, 'names of options that must be given', type = 'list of texts' },
  { 'options', {}, 'options of its own', type = 'list of tables' },
  { 'settings', nil, 'its options that a training has, too; those of the paper by default', type = 'list of tables' },
  { 'tasks', nil, 'the default of --tasks, which selects trainings', type = 'list of texts' },
  { 'choices', nil, 'all tasks that can be chosen, if there are more', type = 'list of texts' },
  { 'any_task', nil, 'the description of --tasks, if these need not be those of the paper', type = 'text' },
  { 'models', nil, 'the default of --models, all: those of the paper; none: --rows selects the rows of the table',
    type = 'text or list of texts' },
  { 'columns', nil, 'the description of --columns, if the table has that option', type = 'text' },
  { 'restarts', 1, 'the default of --restarts', type = 'integer' },
  { 'grid', nil, 'the first part of the names of its grids, if it is not that of the paper', type = 'text' },
  { 'folder', 'grid', 'the default of --folder: runs/NAME/FOLDER', type = 'text' },
  { 'trains', true, 'the table is made of trainings' },
  { 'quick', {}, 'options of --quick besides those of the paper', type = 'table' },
  { 'smoke', {}, 'the same for --smoke', type = 'table' },
  { 'make', nil, 'make(paper, options, run) shows the table and finishes the run', type = 'function', required = true },
})
local paper_of = pd._options.declare('paper', {
  { 'name', nil, 'the name, also of its file', type = 'text', required = true },
  { 'grid', nil, 'the first part of the names of its grids, which decide the seeds of runs; by default its name',
    type = 'text' },
  { 'tasks', nil, 'the names of the tasks', type = 'list of texts', required = true },
  { 'title', nil, 'title(task) -> its name in tables', type = 'function', required = true },
  { 'short_name', nil, 'short_name(task) -> its name in folders, if tasks can be files', type = 'function' },
  { 'models', nil, 'the models: {name =, label =, ...}', type = 'list of tables', required = true },
  { 'options', {}, 'options of the protocol, which trainings and tables have', type = 'list of tables' },
  { 'quick', {}, 'values of --quick', type = 'table' },
  { 'smoke', {}, 'values of --smoke', type = 'table' },
  { 'train', nil, 'the training', type = 'table' },
  { 'lengths', nil, 'labels of the plots of lengths.csv: {x_label =, y_label =}', type = 'table' },
  { 'tables', {}, 'the tables by name', type = 'table' },
  { 'measures', {}, 'what recipes and tests use of the paper', type = 'table' },
})

local function train_declaration(self)
  local train = self.training
  if train.declaration then return train.declaration end
  local task = train.any_task and { 'task', train.task, train.any_task }
    or { 'task', train.task, 'the task', choices = self.tasks }
  return { name = ('%s/%s'):format(self.grid, train.name), doc = self:doc(train.doc),
    options = experiment.join_options({ task, { 'model', train.model, 'the model', choices = self.model_names } },
      train.options, self.options, {
        { 'seed', 1, 'random seed of parameters, order and all that is drawn for a run', minimum = 0 },
        { 'restart', 1, 'number of this repeat, for the record', minimum = 1 } }),
    quick = self.quick, smoke = self.smoke }
end

local function table_declaration(self, name)
  local part = self.tables[name]
  local options, known = part.options, {}
  if part.trains then options = experiment.join_options(options, cells.options(self, part), part.settings) end
  for _, row in ipairs(options) do known[row[1]] = true end
  local function size(own, folder, shared)
    local values = { folder = ('runs/%s/%s_%s'):format(self.grid, folder, part.folder) }
    for key, value in pairs(shared) do values[key] = value end
    for key in pairs(values) do values[key] = known[key] and values[key] or nil end
    return tables.merged(values, own)
  end
  return { name = ('%s/%s'):format(self.grid, name), doc = part.doc, part = name, options = options,
    quick = size(part.quick, 'quick', self.quick), smoke = size(part.smoke, 'smoke', self.smoke) }
end

function Paper:doc(text)
  local names = tables.keys(self.tables)
  if #names == 0 then return text end
  return ('%s\n`pushdown %s TABLE` makes a table or a figure from many trainings: %s.'):format(text, self.name,
    table.concat(names, ', '))
end

-- paper:declaration(part) -> the declaration of pd.experiment.start: of the training, 'train', or of a table.
function Paper:declaration(part)
  if part == 'train' and self.training then return train_declaration(self) end
  if self.tables[part] then return table_declaration(self, part) end
  local names = tables.keys(self.tables)
  local near = pd._text.nearest(part, names)
  error({ usage = ("there is no table '%s'%s; the tables are %s"):format(part,
    near and (", did you mean '%s'?"):format(near) or '', table.concat(names, ', ')) }, 0)
end

-- paper:defaults(more) -> the options of a training with their defaults, and those of the table `more`.
function Paper:defaults(more)
  local options = {}
  for _, row in ipairs(self:declaration('train').options) do options[row[1]] = row[2] end
  return tables.merged(options, more)
end

-- ---- One training ----

-- The result of the function measure in its order.
local function ordered(options, list)
  local result, order = {}, {}
  for _, item in ipairs(list) do
    local name, value = item, options[item]
    if type(item) == 'table' then name, value = item[1], item[2] end
    result[name], order[#order + 1] = value, name
  end
  return json.ordered(result, order)
end

local function trainer_of(train, options, data, run)
  local trainer = run:resumed(train.resumed and train.resumed(options) or { epochs = options.epochs })
  if not trainer then
    trainer = pd.train.trainer(tables.merged({ seed = options.seed, run_folder = run.folder, overwrite = true },
      train.trainer(options, data, run)))
  end
  for _ in trainer:epochs() do end
  return trainer
end

-- paper:train(options, run) -> result: one training to its end, in the folder of `run`. Continues an earlier one in
-- this folder, and writes result.json last.
function Paper:train(options, run)
  local train = self.training
  local before = run:earlier_result(train.enough and function(result) return train.enough(result, options) end)
  if before then return before end
  local data = train.data and train.data(options, run)
  local trainer = train.fit and train.fit(options, data, run) or trainer_of(train, options, data, run)
  local trained = { trainer = trainer, data = data, history = trainer:history(), seconds = 0,
    stopped = trainer:finished() }
  for _, epoch in ipairs(trained.history) do trained.seconds = trained.seconds + epoch.seconds end
  trained.last = trained.history[#trained.history]
  local result = ordered(options, train.measure(options, trained, run))
  run:finish(result)
  return result
end

local function show(self, options, run, result)
  local train, label = self.training, self.models[options.model].label
  if train.show then return train.show(options, run, result) end
  local title = ('%s, %s'):format(self.title(options.task), label)
  run:results(result, train.shown, { title = ('%s, %s, seed %d'):format(title, train.setting(options), options.seed),
    note = type(train.note) == 'function' and train.note(options) or train.note })
  scores.draw_run(run, label, tables.merged({ title = title }, self.lengths))
end

-- ---- Tables ----

-- paper:cells(options, list) -> cells, rows: trains what is not trained of the cells of a table, see paper/cells.lua.
function Paper:cells(options, list)
  return cells.train(self, options, list, self.part)
end

-- paper:published_path(options) -> the file of the option --published.
function Paper:published_path(options) return scores.published_path(self, options) end

-- paper:finish(run, rows, result) finishes the run of a table; failed runs of its rows are an error.
function Paper.finish(_, run, rows, result) cells.finish(run, rows, result) end

-- paper:keep_runs(run, rows, name, keys) writes all runs of a table with these numbers to name-runs.csv, and finishes
-- it.
function Paper.keep_runs(_, run, rows, name, keys) cells.keep(run, rows, name, keys) end

-- paper.statistics(cell, key) -> mean, deviation, least, greatest of a number of the results of a cell.
M.statistics = cells.statistics

-- ---- The script ----

-- Leaves with a message about a required option that is not given, before anything is made.
local function check_required(declaration, required, arguments)
  local ok, options = pcall(experiment.parse, declaration, arguments)
  for _, name in ipairs(ok and not options.help and required or {}) do
    for _, row in ipairs(declaration.options) do
      if row[1] == name and options[name] == '' then
        io.stderr:write(('%s: --%s is required: %s\n'):format(declaration.name, name, (row[3]:gsub('; required$', ''))))
        os.exit(2)
      end
    end
  end
end

-- paper:run(arguments) runs the training or the table that the first word of a command line names.
function Paper:run(arguments)
  local first = arguments[1] or ''
  local part = (first == '' or first:find '^%-') and 'train' or first
  local known, declaration = pcall(self.declaration, self, part)
  if not known then
    if type(declaration) ~= 'table' then error(declaration, 0) end
    io.stderr:write(('%s: %s\n'):format(self.name, declaration.usage))
    os.exit(2)
  end
  check_required(declaration, (self.tables[part] or self.training).required, arguments)
  local options, run = experiment.start(declaration, arguments)
  if part ~= 'train' then
    self.part = self.tables[part]
    return self.part.make(self, options, run)
  end
  if self.training.run then return self.training.run(options, run) end
  show(self, options, run, self:train(options, run))
end

local loading = false  -- whether a paper is read by another program

-- paper.load(name) -> the paper of scripts/experiments/NAME.lua, or of a file.
function M.load(name)
  local path = name:find '[/.]' and name or ('%s/scripts/experiments/%s.lua'):format(pd.root, name)
  local before = loading
  loading = true
  local ok, paper = pcall(dofile, path)
  loading = before
  if not ok then error(paper, 0) end
  return paper
end

-- paper.new{options} -> Paper: the paper of the calling file. If this file is the script that the program runs, the
-- function first runs the command line.
--
-- A paper has the fields of its declaration, with `models` by name, `model_names`, and `folder`, that of its files.
function M.new(declared)
  local source = debug.getinfo(2, 'S').source:match '^@(.*)$' or ''
  local self = setmetatable(paper_of(declared), Paper)
  self.grid, self.path, self.folder = self.grid or self.name, source, (source:gsub('%.lua$', '')) .. '/'
  self.training = self.train and train_of(self.train)
  self.train, self.model_names = nil, {}
  local models = {}
  for i, model in ipairs(self.models) do self.model_names[i], models[model.name] = model.name, model end
  self.models = models
  local own_tables = {}
  for name, part in pairs(self.tables) do
    own_tables[name] = table_of(part)
    own_tables[name].settings = own_tables[name].settings or self.options
    if own_tables[name].models == 'all' then own_tables[name].models = self.model_names end
  end
  self.tables = own_tables
  if not loading and source == (rawget(_G, 'arg') or {})[0] then self:run(arg) end
  return self
end

return M
