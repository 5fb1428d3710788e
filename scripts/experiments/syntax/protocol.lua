-- The protocol of Merrill et al. (2019), shared by the scripts of this folder: models, text, sentences, one training of
-- a language model and of a classifier, and the strengths of their memories. docs/reference/experiments/syntax.md lists
-- what comes from the paper and what was chosen where the paper is silent.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local M = {}

-- push, pop, read: see docs/reference/stacks.md. distance: the operation whose strength is the syntactic distance, and
-- the neighbour of the word to which it applies.
M.models = {
  stack_u1 = { label = 'Stack (u = 1)', push = 'expectation', pop = 'fixed', read = 'expectation',
    distance = { 'push', 'previous' } },
  stack_d1 = { label = 'Stack (d = 1)', push = 'fixed', pop = 'expectation', read = 'expectation',
    distance = { 'pop', 'next' } },
  stack_sigmoid = { label = 'Stack (sigmoid d)', push = 'sigmoid', pop = 'expectation', read = 'expectation',
    distance = { 'push', 'previous' } },
  stack_free = { label = 'Stack (free)', push = 'expectation', pop = 'expectation', read = 'expectation',
    distance = { 'push', 'previous' } },
  lstm = { label = 'LSTM' },
}
M.model_names = { 'stack_u1', 'stack_d1', 'stack_sigmoid', 'stack_free', 'lstm' }

-- Options of every training in this folder.
M.options = {
  { 'hidden', 100, 'units of the LSTM', minimum = 1 },
  { 'stack_size', 16, 'size of the vectors on the stack', minimum = 1 },
  { 'max_strength', 4, 'largest push, pop and read strength k', minimum = 1 },
  { 'embedding', 50, "size of a word's learned vector; 0: one-hot vectors", minimum = 0 },
  { 'vocabulary', 10000, 'vocabulary size, the most frequent words of the training part; 0: all', minimum = 0 },
  { 'lower', false, 'convert all words to lower case' },
  { 'learning_rate', 1e-3, 'learning rate of Adam', minimum = 0, type = 'number' },
  { 'batch', 20, 'sentences of equal length per update', minimum = 1 },
}
M.text_options = {
  { 'data', '', 'the text: a file or a folder of plain text, *.conllu or *.mrg; required' },
  { 'shares', { 0.9, 0.1 }, 'shares of training and test, or of training, validation and test; a folder with '
    .. 'train.txt, valid.txt and test.txt has its own parts' },
  { 'words', 'blanks', 'how plain text is split into words', choices = { 'blanks', 'unicode', 'characters' } },
  { 'sentences', 'lines', 'how plain text is split into sentences', choices = { 'lines', 'unicode' } },
  { 'minimum_count', 1, 'words that occur less often in the training part become <unk>', minimum = 1 },
  { 'longest', 0, 'sentences with more words are left out; 0: no limit', minimum = 0 },
  { 'prepared', '', 'folder for the prepared text, which several runs can share; empty: in the run folder',
    may_change = true },
  { 'epochs', 5, 'passes over the training sentences', minimum = 1, may_change = true },
  { 'agreement', '', 'examples of number prediction (see number_prediction.lua) that the language model judges by the '
    .. 'two forms of the verb; none if empty' },
}
M.number_options = {
  { 'data', '', 'examples: a folder with numpred.train, numpred.val and numpred.test (and numpred.test.0 to .5), a '
    .. 'published table (.tsv), a file of lines "VBZ|VBP, tab, words", or a treebank in CoNLL-U; required' },
  { 'split', { 9, 1, 90 }, 'shares of training, validation and test if the data are not in parts' },
  { 'epochs', 100, 'largest number of epochs', minimum = 1, may_change = true },
  { 'patience', 5, 'epochs without better accuracy on the validation examples after which training ends', minimum = 1 },
}
M.quick = { hidden = 50, stack_size = 8, embedding = 25, vocabulary = 2000, epochs = 2 }
M.smoke = { hidden = 4, stack_size = 2, max_strength = 2, embedding = 3, vocabulary = 50, batch = 4,
  epochs = 1 }

-- The options of a table of language models: those of its runs and those of its grid.
function M.table_options(own)
  return experiment.join_options(cells.options { tasks = { 'text' }, restarts = 1, folder = 'runs/syntax/text' },
    M.text_options, M.options, own)
end

-- Trains the language models of a table, all of them on one prepared text.
function M.train_cells(names, options)
  if options.prepared == '' then options.prepared = options.folder .. '/prepared' end
  local text, all = M.text(options), {}
  for _, name in ipairs(names) do
    all[#all + 1] = { task = 'text', row = M.models[name].label, point = { model = name } }
  end
  local kept, rows = cells.train { cells = all, options = options, name = 'syntax',
    script = here .. 'language_model.lua', settings = experiment.join_options(M.text_options, M.options) }
  return kept, rows, text
end

-- Like experiment.start, but reports a missing required option before it makes anything.
function M.start(declaration, needed)
  local ok, options = pcall(experiment.parse, declaration, arg)
  for _, name in ipairs(ok and not options.help and needed or {}) do
    if options[name] == '' then
      local doc
      for _, option in ipairs(declaration.options) do
        if option[1] == name then doc = option[3] end
      end
      io.stderr:write(('%s: --%s is required: %s\n'):format(declaration.name, name, doc:gsub('; required$', '')))
      os.exit(2)
    end
  end
  return experiment.start(declaration)
end

local function stack_of(options)
  local model = M.models[options.model]
  if not model.push then return { kind = 'none' } end
  return { kind = 'stratification', size = options.stack_size, push = model.push, pop = model.pop, read = model.read,
    max_strength = options.max_strength }
end

local function network_of(options, alphabet)
  return { alphabet = alphabet, controller = { kind = 'lstm', hidden = options.hidden }, stack = stack_of(options),
    embedding = options.embedding, seed = options.seed }
end

local function trainer_of(options, run, made)
  local resumed = run:resumed { epochs = options.epochs }
  if resumed then return resumed end
  local given = made()
  for key, value in pairs { batch = options.batch, average = 'batches', epochs = options.epochs, seed = options.seed,
    clip_norm = 0, optimizer = { kind = 'adam', learning_rate = options.learning_rate }, decay_patience = 0,
    run_folder = run.folder, overwrite = true } do
    given[key] = value
  end
  return pd.train.trainer(given)
end

local function seconds_of(history)
  local seconds = 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  return seconds
end

-- ---- Language models ----

-- The parts of the text, prepared in the given folder.
function M.text(options, folder)
  folder = options.prepared ~= '' and options.prepared or folder
  local divided = files.exists(options.data .. '/train.txt') or files.exists(options.data .. '/ptb.train.txt')
  if not divided and (#options.shares < 2 or #options.shares > 3) then
    error(('--shares: expected 2 (training, test) or 3 (training, validation, test), got %d'):format(
      #options.shares), 0)
  end
  return pd.task.sentences(options.data, { folder = folder, shares = not divided and options.shares or nil,
    words = options.words, sentences = options.sentences, lower = options.lower, vocabulary = options.vocabulary,
    minimum_count = options.minimum_count, longest = options.longest })
end

-- The result of pd.train.agreement; nil without examples, or if the vocabulary has both forms of no verb.
local function agreement(model, examples)
  if not examples then return nil end
  local judged = pd.train.agreement(model, examples)
  if judged.judged > 0 then return judged end
  print(("No agreement: none of %d verbs has both forms in the model's vocabulary."):format(examples:size()))
end

-- The examples for agreement(); nil if there are none. Read before training, so that errors are reported at once.
local function agreement_examples(options)
  if options.agreement == '' then return nil end
  local examples = pd.task.number_examples(options.agreement, { lower = options.lower })
  local both = examples:where { both_forms = true }
  if both:size() == 0 then
    error(('--agreement %s: none of the %d examples has both forms of its verb; use a table or a treebank'):format(
      options.agreement, examples:size()), 0)
  end
  return both
end

-- Runs one training to its end in the folder of `run`, or resumes an earlier one. Writes result.json last and returns
-- the result.
function M.train_language_model(options, run)
  local before = run:earlier_result(function(result) return result.epochs >= options.epochs end)
  if before then return before end
  local examples = agreement_examples(options)
  local text = M.text(options, run:path 'data')
  local trainer = trainer_of(options, run, function()
    local network = network_of(options, text.train:alphabet())
    network.end_symbol = true
    return { model = pd.model.language_model(network), train = text.train, valid = text.valid, stop_patience = 0 }
  end)
  for _ in trainer:epochs() do end
  local history, lines = trainer:history(), { 'epoch,train,valid,seconds' }
  for _, epoch in ipairs(history) do
    lines[#lines + 1] = ('%d,%.6g,%s,%.1f'):format(epoch.epoch, math.exp(epoch.train_cross_entropy),
      epoch.perplexity or '', epoch.seconds)
  end
  files.write(run:path 'perplexity.csv', table.concat(lines, '\n') .. '\n')
  -- Without a validation part the last epoch is used.
  local model = pd.model.load(run.folder, { which = text.valid and 'best' or 'last' })
  local measured = pd.train.evaluate(model, text.test, { batch = 100 })
  local judged = agreement(model, examples)
  local result = { task = options.task, model = options.model, seed = options.seed, restart = options.restart,
    parameters = model:parameter_count(), epochs = #history, best_epoch = text.valid and history[#history].best_epoch,
    seconds = seconds_of(history), train_sentences = text.train:size(), train_words = text.train:word_count(),
    test_words = text.test:word_count(), vocabulary = text.train:alphabet():size(),
    train_perplexity = math.exp(history[#history].train_cross_entropy), test_perplexity = measured.perplexity,
    agreement = judged and judged.accuracy, agreement_examples = judged and judged.judged }
  run:finish(json.ordered(result, { 'task', 'model', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch', 'seconds',
    'train_sentences', 'train_words', 'test_words', 'vocabulary', 'train_perplexity', 'test_perplexity', 'agreement',
    'agreement_examples' }))
  return result
end

-- ---- Number prediction ----

-- Training, validation and test examples, and the test examples by attractors: {name=, examples=} from 0 to 5.
function M.number_parts(options)
  local parts, subsets
  local train = options.data .. '/numpred.train'
  if files.exists(train) then
    local function part(name)
      return pd.task.number_examples(options.data .. '/numpred.' .. name, { format = 'lines', lower = options.lower })
    end
    parts, subsets = { part 'train', part 'val', part 'test' }, {}
    for count = 0, 5 do
      if files.exists(('%s/numpred.test.%d'):format(options.data, count)) then
        subsets[#subsets + 1] = { attractors = count, examples = part('test.' .. count) }
      end
    end
  else
    local whole = pd.task.number_examples(options.data, { lower = options.lower })
    parts, subsets = whole:split(options.split, { seed = options.data_seed }), {}
    for count = 0, 5 do
      -- As in Linzen et al.: all nouns between subject and verb are attractors.
      local examples = parts[3]:where { attractors = count, homogeneous = true }
      if examples:size() > 0 then subsets[#subsets + 1] = { attractors = count, examples = examples } end
    end
  end
  return { train = parts[1], valid = parts[2], test = parts[3], subsets = subsets }
end

function M.train_classifier(options, run)
  local before = run:earlier_result(function(result)
    return result.epochs >= options.epochs or not result.stopped:find('epochs are done', 1, true)
  end)
  if before then return before end
  local parts = M.number_parts(options)
  local alphabet = parts.train:vocabulary(options.vocabulary)
  local function labelled(examples) return examples:labelled(alphabet) end
  local trainer = trainer_of(options, run, function()
    local network = network_of(options, alphabet)
    return { model = pd.model.recognizer(network), train = labelled(parts.train), valid = labelled(parts.valid),
      objective = 'final', stop_accuracy = 0, stop_patience = options.patience }
  end)
  for _ in trainer:epochs() do end
  local history = trainer:history()
  local model = pd.model.load(run.folder)
  local function accuracy(examples)
    return 100 * pd.train.evaluate(model, labelled(examples), { batch = 200 }).accuracy
  end
  local last = history[#history]
  local result = { task = options.task, model = options.model, seed = options.seed, restart = options.restart,
    parameters = model:parameter_count(), epochs = #history, best_epoch = last.best_epoch,
    seconds = seconds_of(history), stopped = trainer:finished(), train_examples = parts.train:size(),
    test_examples = parts.test:size(), vocabulary = alphabet:size(), valid_accuracy = 100 * last.best_accuracy,
    test_accuracy = accuracy(parts.test) }
  local order = { 'task', 'model', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch', 'seconds', 'stopped',
    'train_examples', 'test_examples', 'vocabulary', 'valid_accuracy', 'test_accuracy' }
  for _, subset in ipairs(parts.subsets) do
    local key = 'accuracy_' .. subset.attractors
    result[key], result['examples_' .. subset.attractors] = accuracy(subset.examples), subset.examples:size()
    order[#order + 1], order[#order + 2] = key, 'examples_' .. subset.attractors
  end
  run:finish(json.ordered(result, order))
  return result
end

-- ---- Analysis of a trained language model ----

-- Returns the model of a run of language_model.lua, its settings, and words(tokens), which converts words to the form
-- that the model knows and unknown words to <unk>.
function M.trained(folder)
  local path = folder .. '/experiment.json'
  if not files.exists(path) then
    error(('--run %s: no experiment.json; expected the folder of a run of language_model.lua'):format(
      folder), 0)
  end
  local settings = json.decode(files.read(path)).options
  if not M.models[settings.model] then error(('--run %s: not a language model of these scripts'):format(folder), 0) end
  if not files.exists(folder .. '/result.json') then
    error(('--run %s: this training is unfinished; start language_model.lua on it again'):format(folder), 0)
  end
  -- The measured parameters; without a validation part no epoch is the best.
  local result = json.decode(files.read(folder .. '/result.json'))
  local model = pd.model.load(folder, { which = result.best_epoch and 'best' or 'last' })
  local known = {}
  for _, symbol in ipairs(model:alphabet():symbols()) do known[symbol] = true end
  local function words(tokens, first_lower)
    local own = {}
    for i, word in ipairs(tokens) do
      if settings.lower or first_lower and i == 1 then word = pd.task.lower(word) end
      own[i] = known[word] and word or '<unk>'
    end
    return own
  end
  return model, settings, words
end

-- The numbers of model:strengths(), push or pop of the only memory, one for each word.
function M.strength(strengths, name)
  local values = {}
  for i, memories in ipairs(strengths[name]:to_table()) do values[i] = memories[1] end
  return values
end

-- The options used to compute an F1, in one line.
function M.score_settings(score) return tostring(score):match '; (.*)%)$' end

-- The trees that a model of stack_u1 or stack_d1 induces by Algorithm 1 for the words of a list of trees. progress, if
-- given, is called with the number of finished trees.
function M.parse(model, settings, words, sentences, first_lower, progress)
  local distance = M.models[settings.model].distance
  if not distance then error(('the model %s has no stack with distances'):format(settings.model), 0) end
  local trees = {}
  for i, sentence in ipairs(sentences) do
    local strengths = model:strengths(words(sentence:words(), first_lower))
    trees[i] = pd.tree.from_distances(sentence, M.strength(strengths, distance[1]), { to = distance[2] })
    if progress then progress(i) end
  end
  return trees
end

return M
