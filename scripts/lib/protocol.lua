-- Protocols: what experiments share whose models are transducers, trained on short sources and scored on longer ones,
-- with a suite over their tasks and models. scripts/experiments/chomsky and state_tracking are two.
--
--   local M = protocol.transducers { folder = here, tasks = tasks, options = options, ... }   -- protocol.lua
--   protocol.train(M, { name = 'chomsky/train', ... })                                        -- train.lua
--   protocol.scores(M, { name = 'chomsky', script = here .. 'train.lua', ... })               -- scores.lua
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local suite = require 'pushdown.suite'
local table_of = require 'pushdown.text.table'
local tables = require 'pushdown.tables'

local M = {}

-- ---- One protocol ----

local Protocol = {}
Protocol.__index = Protocol

function Protocol:with_options(own) return experiment.join_options(own, self.options) end

-- A new model of the options of a run.
function Protocol:model(options, pairs_of)
  local given = tables.merged({ pairs = pairs_of, feedback = false, output_embedding = 0, seed = options.seed,
    feedforward = 4 * options.width }, self.model_options and self.model_options(options) or {})
  return pd.model.transducer(suite.network(self.models[options.model], options, given))
end

-- Lengths of the score, of which the training has none: first, last.
function Protocol.score_lengths(options) return options.lengths[2] + 1, options.longest end

local function trainer_of(self, options, run, pairs_of)
  local epochs = math.ceil(options.steps / options.steps_of_an_epoch)
  local resumed = run:resumed { epochs = epochs }
  if resumed then return resumed end
  return pd.train.trainer(tables.merged({
    model = self:model(options, pairs_of), train = self.pairs(options, options.lengths, true), batch = options.batch,
    epochs = epochs, epoch_batches = options.steps_of_an_epoch, accuracy_every = 0,
    stop_perplexity = options.stop_perplexity, stop_patience = 0, decay_patience = 0, clip_norm = options.clip,
    seed = options.seed, average = 'batches', optimizer = { kind = 'adam', learning_rate = options.learning_rate },
    run_folder = run.folder, overwrite = true }, self.training and self.training(options) or {}))
end

-- lengths.csv, and the mean over the lengths of the score.
local function mean_of(self, accuracies, options, run)
  local first, rows, sum, count = self.score_lengths(options), {}, 0, 0
  for length, accuracy in ipairs(accuracies) do
    rows[length] = { length, accuracy }
    if length >= first then sum, count = sum + accuracy, count + 1 end
  end
  table_of.new({ columns = { 'length', 'accuracy' }, rows = rows }):save(run:path 'lengths')
  return sum / count
end

-- One training to its end, in the folder of `run`; goes on where an earlier one in this folder stopped. Writes
-- lengths.csv and, last, result.json. Returns the result.
function Protocol:run(options, run)
  if options.longest <= options.lengths[2] then
    error(('--longest must be above the training lengths, %d, got %d'):format(options.lengths[2], options.longest), 0)
  end
  -- A run may be given more updates later.
  local before = run:earlier_result(function(result)
    return result.steps >= options.steps or not result.stopped:find('epochs are done', 1, true)
  end)
  if before then return before end
  local pairs_of = self.pairs(options, options.lengths, false)
  local trainer = trainer_of(self, options, run, pairs_of)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  local model = pd.model.load(run.folder, { which = 'last' })
  -- Not the pairs of training, and the same for all runs of a task.
  local accuracy, perplexity = self.validate(model, options, pairs_of, { pairs = options.valid_pairs, seed = 2 ^ 31,
    batch = 64 })
  local score = mean_of(self, self.accuracies(model, options, pairs_of), options, run)
  local result = json.ordered({ task = options.task, model = options.model, learning_rate = options.learning_rate,
    batch = options.batch, seed = options.seed, restart = options.restart, parameters = model:parameter_count(),
    steps = trainer:updates(), train_perplexity = history[#history].train_perplexity, valid_accuracy = accuracy,
    valid_perplexity = perplexity, score = self.scaled and self.scaled(score, pairs_of) or score, seconds = seconds,
    stopped = trainer:finished(),
  }, { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', 'parameters', 'steps',
    'train_perplexity', 'valid_accuracy', 'valid_perplexity', 'score', 'seconds', 'stopped' })
  run:finish(result)
  return result
end

local protocol_options = pd._options.declare('protocol.transducers', {
  { 'folder', nil, 'of models.lua, which returns a list of {name =, label =, ...}: see suite.network', type = 'text',
    required = true },
  { 'tasks', nil, 'their names', type = 'list of texts', required = true },
  { 'title', nil, 'title(task) -> its name in tables', type = 'function', required = true },
  { 'options', nil, 'declared options of all scripts: lengths, longest, valid_pairs, steps, steps_of_an_epoch, '
    .. 'stop_perplexity, clip, width and those of the models', type = 'list', required = true },
  { 'quick', nil, 'their values for --quick', type = 'table', required = true },
  { 'smoke', nil, 'their values for --smoke', type = 'table', required = true },
  { 'pairs', nil, 'pairs(options, lengths, one_length) -> the Pairs of options.task', type = 'function',
    required = true },
  { 'model_options', nil, 'model_options(options) -> further options of a transducer', type = 'function' },
  { 'training', nil, 'training(options) -> further options of the trainer', type = 'function' },
  { 'validate', nil, 'validate(model, options, pairs, {pairs =, seed =, batch =}) -> the accuracy and the perplexity '
    .. 'on pairs of the training lengths', type = 'function', required = true },
  { 'accuracies', nil, 'accuracies(model, options, pairs) -> the accuracies at the lengths from 1 to options.longest',
    type = 'function', required = true },
  { 'scaled', nil, 'scaled(mean, pairs) -> the score, if it is not the mean of the accuracies over the lengths above '
    .. 'those of training', type = 'function' },
})

-- protocol.transducers{options} -> the protocol of an experiment: the options by name, models and model_names from
-- models.lua, and the methods with_options(own) -> own and the common options, model(options, pairs) -> a new model,
-- score_lengths(options) -> the first and the last length of the score, and run(options, run) -> the result of one
-- training, which is continued if the folder of the run has an earlier one.
function M.transducers(declared)
  local self = setmetatable(protocol_options(declared), Protocol)
  self.models, self.model_names = {}, {}
  for i, model in ipairs(dofile(self.folder .. 'models.lua')) do
    self.model_names[i], self.models[model.name] = model.name, model
  end
  return self
end

-- ---- Scripts ----

local axes = {
  { 'name', nil, 'of the experiment', type = 'text', required = true },
  { 'doc', nil, 'description of the script', type = 'text', required = true },
  { 'score', nil, 'score(first, last) -> what the score is, for lengths of the source', type = 'function',
    required = true },
  { 'y_label', nil, 'of the plots by length', type = 'text', required = true },
}
local train_options = pd._options.declare('protocol.train', axes, {
  { 'task', nil, 'the default', type = 'text', required = true },
  { 'model', nil, 'the default', type = 'text', required = true },
  { 'batch', nil, 'default number of pairs in one update', type = 'integer', required = true },
})
local x_label = 'length of the source'

-- protocol.train(protocol, {options}): the whole script of one run: one task and one model, by the command line.
function M.train(self, declared)
  local given = train_options(declared)
  local options, run = experiment.start {
    name = given.name .. '/train', doc = given.doc,
    options = self:with_options {
      { 'task', given.task, 'what is to be done', choices = self.tasks },
      { 'model', given.model, 'which model', choices = self.model_names },
      { 'learning_rate', 1e-3, 'of Adam', minimum = 0, type = 'number' },
      { 'batch', given.batch, 'pairs in one update', minimum = 1 },
      { 'seed', 1, 'decides parameters and pairs', minimum = 0 },
      { 'restart', 1, 'number of this repeat, for the record', minimum = 1 },
    },
    quick = self.quick, smoke = self.smoke,
  }
  local result, label = self:run(options, run), self.models[options.model].label
  local title = ('%s, %s'):format(self.title(options.task), label)
  run:results(result, { 'score', 'valid_accuracy', 'valid_perplexity', 'train_perplexity', 'steps', 'parameters',
    'seconds' }, {
    title = ('%s, learning rate %g, batch %d, seed %d'):format(title, options.learning_rate, options.batch,
      options.seed),
    note = ('The score is the %s.'):format(given.score(self.score_lengths(options))) })
  suite.lengths(run, label, { title = title, x_label = x_label, y_label = given.y_label })
end

local scores_options = pd._options.declare('protocol.scores', axes, {
  { 'folder', nil, 'of the scripts', type = 'text', required = true },
  { 'restarts', nil, 'by default', type = 'integer', required = true },
  { 'learning_rates', nil, 'by default', type = 'list of numbers', required = true },
  { 'batches', nil, 'by default', type = 'list of integers', required = true },
  { 'quick', {}, 'values for --quick besides those of the protocol', type = 'table' },
  { 'smoke', {}, 'the same for --smoke', type = 'table' },
  { 'columns', {}, 'see suite.finish', type = 'list of tables' },
})

-- protocol.scores(protocol, {options}): the whole script of the tables: every model on every task.
function M.scores(self, declared)
  local given = scores_options(declared)
  local runs = 'runs/' .. given.name
  local options, run = experiment.start {
    name = given.name .. '/scores', doc = given.doc,
    options = self:with_options(suite.options { tasks = self.tasks, models = self.model_names,
      restarts = given.restarts, folder = runs .. '/grid', searched = {
        { 'learning_rates', given.learning_rates, 'all are tried; of two numbers, the interval of a logarithmic '
          .. 'search' },
        { 'batches', given.batches, 'lowest and highest number of pairs in one update, logarithmic' } } }),
    quick = tables.merged({ restarts = 1, folder = runs .. '/quick_grid' }, given.quick, self.quick),
    smoke = tables.merged({ restarts = 1, folder = runs .. '/smoke_grid' }, given.smoke, self.smoke),
  }
  local choose, labels, groups = { 'valid_accuracy', 'valid_perplexity' }, {}, {}
  for name, model in pairs(self.models) do labels[name], groups[name] = model.label, model.group end
  local found = suite.train { name = given.name, script = given.folder .. 'train.lua', options = options,
    published = given.folder .. 'published.csv', known = self.tasks, settings = self.options, choose = choose,
    searched = {
      { name = 'learning_rate', interval = 'learning_rates', kind = 'log_uniform' },
      { name = 'batch', interval = 'batches', kind = 'log_integers' } } }
  local score = given.score(self.score_lengths(options))
  suite.finish { run = run, found = found, options = options, labels = labels,
    groups = next(groups) and groups or nil, title = self.title, choose = choose,
    score = score:sub(1, 1):upper() .. score:sub(2), x_label = x_label, y_label = given.y_label,
    columns = given.columns }
end

return M
