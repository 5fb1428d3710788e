-- The training of transducers on short sources, with a score on longer ones, which several papers share.
local networks = require 'pushdown.paper.networks'
local pd = require 'pushdown'
local table_of = require 'pushdown.text.table'
local tables = require 'pushdown.tables'

local options_of = pd._options.declare('paper.transducers', {
  { 'doc', nil, 'of the training, for --help', type = 'text', required = true },
  { 'task', nil, 'the default', type = 'text', required = true },
  { 'model', nil, 'the default', type = 'text', required = true },
  { 'models', nil, 'the models of the paper', type = 'list of tables', required = true },
  { 'batch', nil, 'default number of pairs in one update', type = 'integer', required = true },
  { 'score', nil, 'score(first, last) -> what the score is, for lengths of the source', type = 'function',
    required = true },
  { 'pairs', nil, 'pairs(options, lengths, one_length) -> the Pairs of options.task', type = 'function',
    required = true },
  { 'model_options', nil, 'model_options(options, model) -> further options of a transducer', type = 'function' },
  { 'training', nil, 'training(options) -> further options of the trainer', type = 'function' },
  { 'validate', nil, 'validate(model, options, pairs, {pairs =, seed =, batch =}) -> the accuracy and the perplexity '
    .. 'on pairs of the training lengths', type = 'function', required = true },
  { 'accuracies', nil, 'accuracies(model, options, make) -> the accuracies at the lengths from 1 to options.longest; '
    .. 'make(options) makes a model', type = 'function', required = true },
  { 'scaled', nil, 'scaled(mean, pairs) -> the score, if it is not the mean of the accuracies over the lengths above '
    .. 'those of training', type = 'function' },
})

-- lengths.csv, and the mean over the lengths of the score.
local function mean_of(accuracies, options, run)
  local rows, sum, count = {}, 0, 0
  for length, accuracy in ipairs(accuracies) do
    rows[length] = { length, accuracy }
    if length > options.lengths[2] then sum, count = sum + accuracy, count + 1 end
  end
  table_of.new({ columns = { 'length', 'accuracy' }, rows = rows }):save(run:path 'lengths')
  return sum / count
end

-- paper.transducers{options} -> the training of a paper, and score(options) -> what its score is. The paper has the
-- options lengths, longest, valid_pairs, steps, steps_of_an_epoch, stop_perplexity, clip, width and those of its
-- models.
return function(declared)
  local given, rows = options_of(declared), {}
  for _, row in ipairs(given.models) do rows[row.name] = row end
  local function score(options) return given.score(options.lengths[2] + 1, options.longest) end
  local function epochs(options) return { epochs = math.ceil(options.steps / options.steps_of_an_epoch) } end
  local function model_of(options, pairs_of)
    local row = rows[options.model]
    return pd.model.transducer(networks.options(row, options, tables.merged({ pairs = pairs_of, feedback = false,
      output_embedding = 0, seed = options.seed, feedforward = 4 * options.width },
      given.model_options and given.model_options(options, row))))
  end
  return {
    doc = given.doc, task = given.task, model = given.model,
    options = { { 'learning_rate', 1e-3, 'of Adam', minimum = 0, type = 'number' },
      { 'batch', given.batch, 'pairs in one update', minimum = 1 } },
    -- A run may be given more updates later.
    enough = function(result, options)
      return result.steps >= options.steps or not result.stopped:find('epochs are done', 1, true)
    end,
    resumed = epochs,
    data = function(options)
      if options.longest <= options.lengths[2] then
        error(('--longest must be above the training lengths, %d, got %d'):format(options.lengths[2], options.longest),
          0)
      end
      return given.pairs(options, options.lengths, false)
    end,
    trainer = function(options, pairs_of)
      return tables.merged({
        model = model_of(options, pairs_of), train = given.pairs(options, options.lengths, true), batch = options.batch,
        epoch_batches = options.steps_of_an_epoch, accuracy_every = 0, stop_perplexity = options.stop_perplexity,
        stop_patience = 0, decay_patience = 0, clip_norm = options.clip, average = 'batches',
        optimizer = { kind = 'adam', learning_rate = options.learning_rate } }, epochs(options),
        given.training and given.training(options))
    end,
    measure = function(options, trained, run)
      local model, pairs_of = pd.model.load(run.folder, { which = 'last' }), trained.data
      -- Not the pairs of training, and the same for all runs of a task.
      local accuracy, perplexity = given.validate(model, options, pairs_of, { pairs = options.valid_pairs,
        seed = 2 ^ 31, batch = 64 })
      local mean = mean_of(given.accuracies(model, options, function(other) return model_of(other, pairs_of) end),
        options, run)
      return { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', { 'parameters', model:parameter_count() },
        { 'steps', trained.trainer:updates() }, { 'train_perplexity', trained.last.train_perplexity },
        { 'valid_accuracy', accuracy }, { 'valid_perplexity', perplexity },
        { 'score', given.scaled and given.scaled(mean, pairs_of) or mean }, { 'seconds', trained.seconds },
        { 'stopped', trained.stopped } }
    end,
    shown = { 'score', 'valid_accuracy', 'valid_perplexity', 'train_perplexity', 'steps', 'parameters', 'seconds' },
    setting = function(options) return ('learning rate %g, batch %d'):format(options.learning_rate, options.batch) end,
    note = function(options) return ('The score is the %s.'):format(score(options)) end,
  }, score
end
