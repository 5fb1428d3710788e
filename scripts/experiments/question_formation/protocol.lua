-- Question formation and tense reinflection as one place for the scripts of this folder: data, models, one training
-- and its measures. docs/reference/experiments/question_formation.md lists what comes from which paper and what was
-- chosen.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local suite = require 'pushdown.suite'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local data = dofile(here .. 'data.lua')

local M = { tasks = { 'question', 'tense' }, models = {}, model_names = {}, data = data }

for i, model in ipairs(dofile(here .. 'models.lua')) do
  M.model_names[i], M.models[model.name] = model.name, model
end

-- What every script of this folder can change.
M.options = {
  { 'data', '', 'a folder with the published files question.train, .dev, .test, .gen and tense.*; none: the pairs are '
    .. 'made here' },
  { 'train_pairs', 100000, 'training pairs; of published files 0: all', minimum = 0 },
  { 'valid_pairs', 1000, 'validation pairs; of published files 0: all', minimum = 0 },
  { 'test_pairs', 10000, 'pairs of each of the two test sets; of published files 0: all', minimum = 0 },
  { 'data_seed', 1, 'decides the pairs that are made here, the same for every run', minimum = 0 },
  { 'epochs', 100, 'passes over the training pairs at most', minimum = 1, may_change = true },
  { 'patience', 3, 'epochs without a better validation after which training ends; 0: never', minimum = 0,
    may_change = true },
  { 'decay_patience', 2, 'and after which the learning rate is halved', minimum = 0 },
  { 'clip', 10, 'longer gradients are scaled to this norm; 0: never', minimum = 0, type = 'number' },
  { 'dropout', 0.1, 'probability with which training sets a number to 0', type = 'number', minimum = 0 },
  { 'hidden', 64, 'hidden units of a recurrent layer', minimum = 1 },
  { 'recurrent_layers', 3, 'layers of the recurrent models', minimum = 1 },
  { 'cell', 50, 'size of the vectors of the superposition stack', minimum = 1 },
  { 'states', 3, 'states of the nondeterministic stacks', minimum = 1 },
  { 'symbols', 3, 'symbols of the nondeterministic stacks', minimum = 1 },
  { 'symbol_size', 5, 'size of the vectors of the vector nondeterministic stack', minimum = 1 },
  { 'layers', 5, 'layers of the transformers, those with a stack among them', minimum = 1 },
  { 'width', 32, 'size of the vectors of the transformers', minimum = 1 },
  { 'heads', 4, 'heads of an attention layer', minimum = 1 },
}
M.quick = { train_pairs = 2000, valid_pairs = 200, test_pairs = 200, epochs = 15, hidden = 32, recurrent_layers = 1,
  cell = 16, states = 2, layers = 3 }
M.smoke = { train_pairs = 24, valid_pairs = 8, test_pairs = 8, epochs = 1, hidden = 4, recurrent_layers = 1, cell = 2,
  states = 1, symbols = 2, symbol_size = 2, layers = 1, width = 8, heads = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

function M.title(task) return data.tasks[task].title end

-- What the score is, by task.
M.scores = { question = 'probability of the main auxiliary as the first word of the question',
  tense = 'probability of the right form of the main verb after the right words before it' }

-- {train =, valid =, test =, generalization =}: lists of pairs, the same for every run of a task.
function M.sets(options)
  local counts = { train = options.train_pairs, valid = options.valid_pairs, test = options.test_pairs,
    generalization = options.test_pairs }
  if options.data ~= '' then return data.published(options.data, options.task, counts) end
  for part, count in pairs(counts) do
    if count == 0 then error(('--%s-pairs 0 needs --data'):format(part == 'generalization' and 'test' or part), 0) end
  end
  return data.made(options.task, counts, options.data_seed)
end

local function string_of(pair)
  local words = { unpack(pair.source) }
  for _, word in ipairs(pair.target) do words[#words + 1] = word end
  return words
end

-- The strings of a language model: each source with its target.
function M.dataset(pairs_of, alphabet)
  local strings = {}
  for i, pair in ipairs(pairs_of) do strings[i] = string_of(pair) end
  return pd.task.dataset { alphabet = alphabet, strings = strings }
end

function M.model(options, alphabet)
  local row = M.models[options.model]
  local given = { alphabet = alphabet, seed = options.seed, dropout = options.dropout,
    feedforward = 2 * options.width }
  if row.architecture ~= 'transformer' then
    given.embedding, given.initial_state, given.output = options.hidden, 'learned', row.output
  end
  return pd.model.language_model(suite.network(row, options, given))
end

local function trainer_of(options, run, sets, alphabet)
  local resumed = run:resumed { epochs = options.epochs, stop_patience = options.patience }
  if resumed then return resumed end
  return pd.train.trainer {
    model = M.model(options, alphabet), train = M.dataset(sets.train, alphabet),
    valid = M.dataset(sets.valid, alphabet), batch = options.batch, average = 'symbols', epochs = options.epochs,
    stop_patience = options.patience, decay_patience = options.decay_patience, decay_factor = 0.5,
    clip_norm = options.clip, seed = options.seed,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, run_folder = run.folder, overwrite = true,
  }
end

-- protocol.measure(model, pairs, rules) -> means over the pairs. Of all pairs: full_match, whether each word of the
-- target and its end is the most probable one after those before it, as in greedy decoding; probability, of the target.
-- Of those that the rules tell apart: decision, the probability of the right word in that place; chosen and linear,
-- whether it, or the word of the linear rule, is the most probable one; log_ratio, of the right target over that of
-- the linear rule, in nats; and by_length, {[words of the source] = {decision, ...}}.
function M.measure(model, pairs_of, rules)
  local index, found = {}, { full_match = 0, probability = 0, decision = 0, chosen = 0, linear = 0, log_ratio = 0 }
  for i, symbol in ipairs(model:alphabet():symbols()) do index[symbol] = i end
  local last, told, by_length = #model:alphabet():symbols() + 1, 0, {}
  -- Of a target and its end: the logarithm of the probability of each symbol, of all, and the most probable symbols.
  local function read(pair, target)
    local all = model:logits(string_of { source = pair.source, target = target }):log_softmax(2):to_table()
    local logs, best, whole = {}, {}, 0
    for t = 1, #target + 1 do
      local row, most = all[#pair.source + t], 1
      for symbol = 2, #row do
        if row[symbol] > row[most] then most = symbol end
      end
      logs[t], best[t] = row[t > #target and last or index[target[t]]], most
      whole = whole + logs[t]
    end
    return logs, whole, best
  end
  for _, pair in ipairs(pairs_of) do
    local target = pair.target
    local logs, whole, best = read(pair, target)
    local full = best[#target + 1] == last
    for t, word in ipairs(target) do full = full and best[t] == index[word] end
    found.full_match, found.probability = found.full_match + (full and 1 or 0), found.probability + math.exp(whole)
    local place, word, linear = data.decision(rules, pair)
    if place then
      told = told + 1
      found.decision = found.decision + math.exp(logs[place])
      found.chosen = found.chosen + (best[place] == index[target[place]] and 1 or 0)
      if word ~= target[place] then
        found.linear = found.linear + (best[place] == index[word] and 1 or 0)
        found.log_ratio = found.log_ratio + whole - select(2, read(pair, linear))
      end
      by_length[#pair.source] = by_length[#pair.source] or {}
      table.insert(by_length[#pair.source], math.exp(logs[place]))
    end
  end
  for key, sum in pairs(found) do
    found[key] = sum / ((key == 'full_match' or key == 'probability') and #pairs_of or math.max(told, 1))
  end
  found.by_length = by_length
  return found
end

-- One training to its end, in the folder of `run`; goes on where an earlier one in this folder stopped. Writes
-- lengths.csv and, last, result.json. Returns the result.
function M.train(options, run)
  -- A run may be given more epochs later.
  local before = run:earlier_result(function(result)
    return result.converged or result.epochs >= options.epochs
  end)
  if before then return before end
  local sets = M.sets(options)
  local alphabet, rules = data.alphabet(sets), data.rules(options.task, sets.train)
  local trainer = trainer_of(options, run, sets, alphabet)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  local last, model = history[#history], pd.model.load(run.folder)
  local test, general = M.measure(model, sets.test, rules), M.measure(model, sets.generalization, rules)
  local rows = {}
  for length, values in pairs(general.by_length) do
    local sum = 0
    for _, value in ipairs(values) do sum = sum + value end
    rows[#rows + 1] = { length, sum / #values, #values }
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  report.table({ columns = { 'length', 'accuracy', 'pairs' }, rows = rows }):save(run:path 'lengths')
  local result = json.ordered({ task = options.task, model = options.model, learning_rate = options.learning_rate,
    batch = options.batch, seed = options.seed, restart = options.restart, parameters = model:parameter_count(),
    epochs = #history, best_epoch = last.best_epoch, valid_loss = history[last.best_epoch].valid_cross_entropy,
    train_loss = history[last.best_epoch].train_cross_entropy, test_full_match = test.full_match,
    test_decision = test.decision, full_match = general.full_match, probability = general.probability,
    score = general.decision, chosen = general.chosen, linear = general.linear, log_ratio = general.log_ratio,
    seconds = seconds, stopped = trainer:finished(),
    converged = options.patience > 0 and last.epochs_since_improvement >= options.patience,
  }, { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch', 'valid_loss',
    'train_loss', 'test_full_match', 'test_decision', 'full_match', 'probability', 'score', 'chosen', 'linear',
    'log_ratio', 'seconds', 'stopped', 'converged' })
  run:finish(result)
  return result
end

return M
