-- Question formation and tense reinflection: of every model on every task, whether it follows the hierarchical rule on
-- pairs that training does not have, by random search over learning rate and batch (DuSell and Cotterell 2025).
-- docs/reference/experiments/question_formation.md lists what comes from which paper and what was chosen.
--
--   pushdown question_formation --task question --model lstm_nd_r --learning-rate 1e-3
--   pushdown question_formation --data rnn-hierarchical-biases/data --model transformer
--   pushdown question_formation scores --tasks question --models lstm,lstm_nd_r,transformer_nd
local pd = require 'pushdown'
local table_of = require 'pushdown.text.table'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local data = dofile(here .. 'question_formation/data.lua')

-- ---- Models: controller, stack or layers as functions of the options of a run ----

local function cell(kind)
  return function(options)
    return { kind = kind, hidden = options.hidden, layers = options.recurrent_layers }
  end
end
local function superposition(options) return { kind = 'superposition', size = options.cell } end
local function rns(options)
  return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
    normalized = false, bottom = 'reexposed' }
end
local function vrns(options)
  return { kind = 'vector_nondeterministic', states = options.states, symbols = options.symbols,
    size = options.symbol_size }
end

-- Stack layers between equal numbers of attention layers, as many layers in all as --layers at least.
local function layers(...)
  local stacks = { ... }
  return function(options)
    local each, all = math.max(1, math.floor((options.layers - #stacks) / (#stacks + 1))), {}
    local function attention()
      for _ = 1, each do all[#all + 1] = 'attention' end
    end
    for _, kind in ipairs(stacks) do
      attention()
      local stack = vrns(options)
      all[#all + 1] = kind == 'sup' and superposition(options)
        or { kind = 'nondeterministic', states = stack.states, symbols = stack.symbols, size = stack.size }
    end
    attention()
    return all
  end
end

local models = { { name = 'transformer', label = 'Tf', architecture = 'transformer' } }
for _, row in ipairs { { 'sup' }, { 'nd' }, { 'sup', 'sup' }, { 'nd', 'nd' }, { 'sup', 'nd' } } do
  models[#models + 1] = { name = 'transformer_' .. table.concat(row, '_'), architecture = 'transformer',
    label = ('Tf+' .. table.concat(row, '+')):gsub('%+%l', string.upper), layers = layers(unpack(row)) }
end
for _, controller in ipairs { { 'rnn', 'RNN', 'elman' }, { 'lstm', 'LSTM', 'lstm' } } do
  local name, label, make = controller[1], controller[2], cell(controller[3])
  models[#models + 1] = { name = name, label = label, controller = make }
  for _, stack in ipairs { { 'sup', 'Sup', superposition }, { 'rns', 'RNS', rns }, { 'nd', 'Nd', vrns } } do
    for _, reads in ipairs { false, true } do
      models[#models + 1] = { name = ('%s_%s%s'):format(name, stack[1], reads and '_r' or ''), controller = make,
        label = ('%s+%s%s'):format(label, stack[2], reads and '+R' or ''), stack = stack[3],
        output = reads and 'hidden_and_reading' or nil }
    end
  end
end

-- ---- Data and measures ----

-- What the score is, by task.
local scores = { question = 'probability of the main auxiliary as the first word of the question',
  tense = 'probability of the right form of the main verb after the right words before it' }

-- {train =, valid =, test =, generalization =}: lists of pairs, the same for every run of a task.
local function sets_of(options)
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
local function dataset(pairs_of, alphabet)
  local strings = {}
  for i, pair in ipairs(pairs_of) do strings[i] = string_of(pair) end
  return pd.task.dataset { alphabet = alphabet, strings = strings }
end

-- measure(model, pairs, rules) -> means over the pairs. Of all pairs: full_match, whether each word of the
-- target and its end is the most probable one after those before it, as in greedy decoding; probability, of the target.
-- Of those that the rules tell apart: decision, the probability of the right word in that place; chosen and linear,
-- whether it, or the word of the linear rule, is the most probable one; log_ratio, of the right target over that of
-- the linear rule, in nats; and by_length, {[words of the source] = {decision, ...}}.
local function measure(model, pairs_of, rules)
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

local function make_model(options, alphabet)
  local row = nil
  for _, model in ipairs(models) do row = row or model.name == options.model and model end
  local given = { alphabet = alphabet, seed = options.seed, dropout = options.dropout,
    feedforward = 2 * options.width }
  if row.architecture ~= 'transformer' then
    given.embedding, given.initial_state, given.output = options.hidden, 'learned', row.output
  end
  return pd.model.language_model(pd.paper.network(row, options, given))
end

-- lengths.csv: the probability of the right word by length of the source.
local function save_lengths(by_length, run)
  local rows = {}
  for length, values in pairs(by_length) do
    local sum = 0
    for _, value in ipairs(values) do sum = sum + value end
    rows[#rows + 1] = { length, sum / #values, #values }
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  table_of.new({ columns = { 'length', 'accuracy', 'pairs' }, rows = rows }):save(run:path 'lengths')
end

-- ---- The paper ----

local function resumed(options) return { epochs = options.epochs, stop_patience = options.patience } end

local train = {
  doc = 'Trains one language model on question formation or tense reinflection, and measures which rule it follows on '
    .. 'pairs that tell the rules apart.',
  task = 'question', model = 'lstm',
  options = {
    { 'learning_rate', 1e-3, 'of Adam at the start', minimum = 0, type = 'number' },
    { 'batch', 32, 'pairs of one length in one update', minimum = 1 },
  },
  -- A run may be given more epochs later.
  enough = function(result, options) return result.converged or result.epochs >= options.epochs end,
  resumed = resumed,
  data = function(options)
    local sets = sets_of(options)
    return { sets = sets, alphabet = data.alphabet(sets), rules = data.rules(options.task, sets.train) }
  end,
  trainer = function(options, of)
    return pd.tables.merged({
      model = make_model(options, of.alphabet), train = dataset(of.sets.train, of.alphabet),
      valid = dataset(of.sets.valid, of.alphabet), batch = options.batch, average = 'symbols',
      decay_patience = options.decay_patience, decay_factor = 0.5, clip_norm = options.clip,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate } }, resumed(options))
  end,
  measure = function(options, trained, run)
    local of, last, model = trained.data, trained.last, pd.model.load(run.folder)
    local test, general = measure(model, of.sets.test, of.rules), measure(model, of.sets.generalization, of.rules)
    save_lengths(general.by_length, run)
    local best = trained.history[last.best_epoch]
    return { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', { 'parameters', model:parameter_count() },
      { 'epochs', #trained.history }, { 'best_epoch', last.best_epoch }, { 'valid_loss', best.valid_cross_entropy },
      { 'train_loss', best.train_cross_entropy }, { 'test_full_match', test.full_match },
      { 'test_decision', test.decision }, { 'full_match', general.full_match },
      { 'probability', general.probability }, { 'score', general.decision }, { 'chosen', general.chosen },
      { 'linear', general.linear }, { 'log_ratio', general.log_ratio }, { 'seconds', trained.seconds },
      { 'stopped', trained.stopped },
      { 'converged', options.patience > 0 and last.epochs_since_improvement >= options.patience } }
  end,
  shown = { 'score', 'chosen', 'linear', 'full_match', 'probability', 'log_ratio', 'test_full_match', 'test_decision',
    'valid_loss', 'train_loss', 'best_epoch', 'epochs', 'parameters', 'seconds' },
  setting = function(options) return ('learning rate %g, batch %d'):format(options.learning_rate, options.batch) end,
  note = function(options)
    return ('The score is the mean %s, on the generalization set.'):format(scores[options.task])
  end,
}

return (pd.paper.new {
  name = 'question_formation', models = models, train = train, tasks = { 'question', 'tense' },
  title = function(task) return data.tasks[task].title end,
  options = {
    { 'data', '', 'a folder with the published files question.train, .dev, .test, .gen and tense.*; none: the pairs '
      .. 'are made here' },
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
  },
  quick = { train_pairs = 2000, valid_pairs = 200, test_pairs = 200, epochs = 15, hidden = 32, recurrent_layers = 1,
    cell = 16, states = 2, layers = 3 },
  smoke = { train_pairs = 24, valid_pairs = 8, test_pairs = 8, epochs = 1, hidden = 4, recurrent_layers = 1, cell = 2,
    states = 1, symbols = 2, symbol_size = 2, layers = 1, width = 8, heads = 2 },
  lengths = { x_label = 'words of the source', y_label = 'probability of the right word (%)' },
  measures = { data = data, sets = sets_of, dataset = dataset, model = make_model, measure = measure },
  tables = { scores = pd.paper.scores {
    doc = 'Question formation and tense reinflection: which rule models follow (DuSell and Cotterell 2025).',
    restarts = 5, choose = { 'valid_loss' }, searched = pd.paper.rates_and_batches({ 1e-5, 1e-3 }, { 16, 64 }),
    quick = { samples = 2 },
    smoke = { samples = 1, batches = { 4, 4 }, models = { 'lstm_sup_r', 'lstm_nd', 'transformer_sup_nd' } },
    measure = 'score', score = 'Mean probability of the right word where the rules differ, generalization set',
    also = {
      { key = 'probability', name = 'probability', measure = 'probability',
        title = 'Probability of the whole right target on the generalization set' },
      { key = 'full_match', name = 'full_match', title = 'Whole targets that greedy decoding gets right, '
        .. 'generalization set' },
      { key = 'linear', name = 'linear', title = 'Pairs of the generalization set whose most probable word is that of '
        .. 'the linear rule' },
      { key = 'test_full_match', name = 'test', title = 'Whole targets that greedy decoding gets right, test set of '
        .. 'the kind of training' },
    } } },
})
