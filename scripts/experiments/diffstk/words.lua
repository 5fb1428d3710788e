-- The word-level language model of Mali et al. (2021), section 4.2, shared by train_words.lua and table5.lua: corpus,
-- models, one training and its measurements. docs/reference/experiments/diffstk.md lists what comes from the paper and
-- what was chosen where the paper is silent.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local M = {}

M.models = dofile(here .. 'models.lua')

-- Options of both scripts.
M.options = {
  { 'data', '', 'the corpus: a folder with ptb.train.txt, ptb.valid.txt and ptb.test.txt (or train.txt and so on), or '
    .. 'one file to be split; required' },
  { 'shares', { 0.8, 0.1, 0.1 }, 'shares of the training, validation and test lines when one file is split' },
  { 'empty_lines', 'refuse', 'empty lines of the corpus: raise an error, read as <eos>, or leave out',
    choices = { 'refuse', 'count', 'skip' } },
  { 'vocabulary', 0, 'vocabulary size, the most frequent words; 0: all words of the training part', minimum = 0 },
  { 'hidden', 100, 'hidden units', minimum = 1 },
  { 'embedding', 100, "size of a word's learned vector; 0: one-hot vectors", minimum = 0 },
  { 'epochs', 50, 'passes over the training text', minimum = 1 },
  { 'batch', 20, 'parallel streams into which the texts are cut', minimum = 1 },
  { 'window', 50, 'words per chunk of truncated backpropagation', minimum = 1 },
  { 'stack_windows', 4, 'chunks after which the stack is emptied; 0: never', minimum = 0 },
  { 'learning_rate', 2e-3, 'initial learning rate of Adam', minimum = 0, type = 'number' },
  { 'patience', 3, 'epochs without better validation results after which the learning rate is halved', minimum = 0 },
  { 'noise', 'own', 'standard deviation of the noise on the state; own: that of the model' },
  { 'carry_forward', 'own', 'carry-forward of the state while the stack does nothing; own: that of the model; others '
    .. 'apply to all models that have it', choices = { 'own', 'none', 'soft', 'counter' } },
  { 'clip', 15, 'limit to which gradient entries are clipped', minimum = 0, type = 'number' },
}
M.quick = { vocabulary = 2000, hidden = 50, embedding = 50, epochs = 5 }
M.smoke = { vocabulary = 20, hidden = 4, embedding = 3, epochs = 2, batch = 2, window = 5, stack_windows = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

-- Like experiment.start, but reports a missing --data before it makes anything.
function M.start(declaration)
  local ok, options = pcall(experiment.parse, declaration, arg)
  if ok and not options.help and options.data == '' then
    io.stderr:write(declaration.name .. ": --data is required: a folder with the Penn Treebank's ptb.train.txt, "
      .. 'ptb.valid.txt and ptb.test.txt, or train.txt, valid.txt and test.txt, one sentence per line; or one such '
      .. 'file, which is split\n')
    os.exit(2)
  end
  return experiment.start(declaration)
end

-- The texts train, valid and test.
function M.corpus(options)
  local given = { vocabulary = options.vocabulary, empty_lines = options.empty_lines }
  if not files.exists(options.data .. '/.') then given.shares = options.shares end
  return pd.task.corpus(options.data, given)
end

local function model_of(options, corpus)
  local given, controller = {}, {}
  for key, value in pairs(M.models[options.model]) do given[key] = value end
  for key, value in pairs(given.controller) do controller[key] = value end
  given.row, given.label, given.controller = nil, nil, controller
  if options.noise ~= 'own' then
    given.noise = tonumber(options.noise)
      or error(("--noise needs 'own' or a number, got '%s'"):format(options.noise), 0)
  end
  -- A model without carry-forward may have no stack.
  if options.carry_forward ~= 'own' and given.carry_forward ~= 'none' then
    given.carry_forward = options.carry_forward
  end
  controller.hidden, given.embedding = options.hidden, options.embedding
  given.alphabet, given.seed, given.end_symbol = corpus.train:alphabet(), options.seed, false
  return pd.model.language_model(given)
end

local function trainer_of(options, run, corpus)
  local resumed = run:resumed { epochs = options.epochs }
  if resumed then return resumed end
  return pd.train.trainer {
    model = model_of(options, corpus), train = corpus.train, valid = corpus.valid, batch = options.batch,
    chunk = options.window, stack_chunks = options.stack_windows, epochs = options.epochs, seed = options.seed,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 0, clip_value = options.clip,
    decay_patience = options.patience, decay_factor = 0.5, stop_patience = 0, run_folder = run.folder,
    overwrite = true,
  }
end

-- Runs one training to its end in the folder of `run`, or resumes an earlier one in this folder. Writes result.json
-- last and returns the result.
function M.train(options, run)
  local before = run:earlier_result()
  if before then return before end
  local corpus = M.corpus(options)
  local trainer = trainer_of(options, run, corpus)
  for _ in trainer:epochs() do end
  local history, seconds, lines = trainer:history(), 0, { 'epoch,train,valid,learning_rate' }
  for _, epoch in ipairs(history) do
    seconds = seconds + epoch.seconds
    lines[#lines + 1] = ('%d,%.17g,%.17g,%.17g'):format(epoch.epoch, math.exp(epoch.train_cross_entropy),
      epoch.perplexity, epoch.learning_rate)
  end
  files.write(run:path 'perplexity.csv', table.concat(lines, '\n') .. '\n')
  local model = pd.model.load(run.folder)
  local function perplexity(text)
    return pd.train.evaluate(model, text, { batch = options.batch, chunk = options.window,
      stack_chunks = options.stack_windows }).perplexity
  end
  local result = json.ordered({ task = options.task, model = options.model, seed = options.seed,
    restart = options.restart, parameters = model:parameter_count(), epochs = #history,
    best_epoch = history[#history].best_epoch, seconds = seconds, stopped = trainer:finished(),
    valid_perplexity = perplexity(corpus.valid), test_perplexity = perplexity(corpus.test) },
    { 'task', 'model', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch', 'seconds', 'stopped',
      'valid_perplexity', 'test_perplexity' })
  run:finish(result)
  return result
end

return M
