-- The protocol of Mali et al. (2019), shared by the scripts of this folder: languages, models, their
-- options, the data and one training.
--
-- From the paper: 1,987 valid and 2,021 invalid strings of 1 to 21 symbols; cross-entropy after every
-- symbol with K = 4 passes; SGD from the rate 0.1005000321 with stochastic annealing, gradient entries
-- clipped to 13; two-stage incremental learning; at most 500 epochs or until all training strings are
-- correctly classified; 5 repeats; test strings of up to 60 symbols. NSPDA: J = M + U(12, 29) state neurons
-- (second order), M + U(2, 6) (third order), where M is the number of states of the automaton; Hint #2 and
-- adaptive noise unless a table says otherwise; UORO for networks of higher order.
--
-- Chosen here, because the paper does not say: batches of 10 strings of equal length; the mean of the
-- cross-entropy over a string's symbols instead of the sum, with which the output neuron swings from one
-- length to the next; one pass in evaluation; memories that rest in passes 2 .. K, which do not carry over
-- to the next symbol; weights of full precision also in evaluation (`discrete`); noise in the second stage
-- and stochastic rates in the first one, which the paper found best; half of the invalid strings are one edit
-- away from a valid one; 500 validation strings choose the epoch; test strings of 22 to 60 symbols (longer
-- than all training strings) in equal numbers of valid and invalid ones, where half of the invalid ones are
-- one to three edits away from valid ones.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local M = {}

M.tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm', 'parenthesis' }
M.titles = { palindrome = 'Palindrome', an_bn = 'aⁿbⁿ', an_bn_c_bm_am = 'aⁿbⁿcbᵐaᵐ',
  anm_bn_cm = 'aⁿ⁺ᵐbⁿcᵐ', parenthesis = 'Parenthesis' }
-- M of the paper: the number of states of the deterministic automata in scripts/hints.
local automaton_states = { palindrome = 2, an_bn = 2, an_bn_c_bm_am = 4, anm_bn_cm = 3, parenthesis = 1 }

-- label: as in the paper; then options of the network, and the model's own hint, noise and learning.
M.models = {
  rnn = { label = 'RNN', controller = 'elman' },
  lstm = { label = 'LSTM', controller = 'lstm' },
  lstm_p = { label = 'LSTM-p', controller = 'lstm_peephole' },
  gru = { label = 'GRU', controller = 'gru' },
  stack = { label = 'Stack RNN 40+10', controller = 'elman', hidden = 40,
    stack = { kind = 'parallel_superposition', stacks = 10, read_depth = 2 } },
  stack_rounding = { label = 'Stack RNN 40+10 + rounding', controller = 'elman', hidden = 40,
    stack = { kind = 'parallel_superposition', stacks = 10, read_depth = 2, rounding = true } },
  list = { label = 'listRNN 40+5', controller = 'elman', hidden = 40, stack = { kind = 'list', lists = 5 } },
  mi_rnn = { label = 'MI-RNN', controller = 'mi_rnn' },
  mi_lstm = { label = 'MI-LSTM', controller = 'mi_lstm' },
  mi_gru = { label = 'MI-GRU', controller = 'mi_gru' },
  second_order = { label = '2nd Order RNN', controller = 'second_order', hidden = 20, learning = 'uoro' },
  second_order_reg = { label = '2nd Order RNN reg', controller = 'second_order', hidden = 20, noise = true,
    learning = 'uoro' },
  nnpda_2 = { label = 'NNPDA 2nd order', analog = 'second', learning = 'uoro' },
  nnpda = { label = 'NNPDA', analog = 'third', learning = 'uoro' },
  nnpda_reg = { label = 'NNPDA reg', analog = 'third', noise = true, learning = 'uoro' },
  nspda_2 = { label = 'NSPDA, M1', order = 'second', hint = 'hint_2', noise = true, learning = 'uoro' },
  nspda_3 = { label = 'NSPDA, M2', order = 'third', hint = 'hint_2', noise = true, learning = 'uoro' },
}
M.model_names = { 'rnn', 'lstm', 'lstm_p', 'gru', 'stack', 'stack_rounding', 'list', 'mi_rnn', 'mi_lstm', 'mi_gru',
  'second_order', 'second_order_reg', 'nnpda_2', 'nnpda', 'nnpda_reg', 'nspda_2', 'nspda_3' }

-- Options of every script in this folder, with the paper's values or the choices above.
M.options = {
  { 'lengths', { 1, 21 }, 'shortest and longest training string' },
  { 'valid_strings', 1987, 'valid training strings', minimum = 1 },
  { 'invalid_strings', 2021, 'invalid training strings', minimum = 1 },
  { 'validation_strings', 500, 'validation strings, which choose the epoch', minimum = 2 },
  { 'test_lengths', { 22, 60 }, 'shortest and longest test string' },
  { 'test_strings', 2000, 'test strings, half of them valid', minimum = 2 },
  { 'epochs', 500, 'largest number of passes over the training strings', minimum = 1 },
  { 'stage_epochs', { 200, 350 }, 'ends of the stages of two_stage, in epochs in random order since training began' },
  { 'learning_rate', 0.1005000321, 'initial learning rate of SGD', type = 'number' },
  { 'hidden', 50, 'hidden units of first-order networks without a number of their own', minimum = 1 },
  { 'strength', 0, 'hint strength; 0: chosen by the margin (third order), 1 (second order)', minimum = 0,
    type = 'number' },
  { 'passes', 4, 'K of iterative refinement in training', minimum = 1 },
  { 'evaluation_passes', 1, 'K in evaluation', minimum = 1 },
  { 'carry', 'first', 'the pass whose state is carried to the next symbol', choices = { 'first', 'last' } },
  { 'memory_in_passes', 'rests', 'behaviour of a memory in the later passes of a symbol',
    choices = { 'rests', 'moves' } },
  { 'estimate', 'string', 'UORO estimate for each string, or for a batch', choices = { 'string', 'batch' } },
  { 'stage_end', 'epochs', 'end of a stage: convergence or its epochs; the same, but no limit of epochs in the last '
    .. 'stage; convergence only', choices = { 'epochs', 'last_open', 'converged' } },
  { 'second_rate', 'full', 'learning rate of the second stage: full, or the rate that annealing has reached',
    choices = { 'full', 'reached' } },
  { 'noise_change', 'scale', 'effect of noise p on a matrix M: p beta M, or M + p beta M',
    choices = { 'scale', 'add' } },
  { 'inhibition', false, 'hints also set large negative weights' },
  { 'discrete', 'never', 'when NSPDAs have discrete weights', choices = { 'evaluation', 'never', 'always' } },
  { 'noise_stage', 2, 'first stage of the curriculum with noise', minimum = 1 },
  { 'loss', 'mean', 'mean or sum of the cross-entropy over the symbols of a string', choices = { 'mean', 'sum' } },
  { 'batch', 10, 'strings of equal length per update', minimum = 1 },
  { 'negatives', 'usual', 'invalid strings: random and edited ones, or ones that simple classifiers cannot distinguish '
    .. 'from valid ones', choices = { 'usual', 'matched' } },
}
M.quick = { valid_strings = 500, invalid_strings = 500, validation_strings = 200, test_strings = 400, epochs = 60,
  stage_epochs = { 15, 30 } }
M.smoke = { valid_strings = 20, invalid_strings = 20, validation_strings = 10, lengths = { 1, 7 },
  test_lengths = { 8, 12 }, test_strings = 10, epochs = 2, stage_epochs = { 1, 2 }, passes = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

local function chosen(options, key)
  if options[key] ~= 'own' then return options[key] end
  local own = M.models[options.model][key]
  if key == 'noise' then return own and 'on' or 'off' end
  return own or (key == 'hint' and 'none' or 'bptt')
end

-- The number of state neurons: the number of states plus U(low, high), by language and seed.
local function state_neurons(options, low, high)
  local states = automaton_states[options.task] or 2
  local draw = require 'pushdown.grid'.seed('state neurons', options.task, options.seed)
  return states + low + draw % (high - low + 1)
end

function M.model(options, grammar)
  local kind = M.models[options.model]
  local model = { alphabet = grammar:alphabet(), seed = options.seed, passes = options.passes,
    evaluation_passes = options.evaluation_passes, carry = options.carry,
    memory_in_passes = options.memory_in_passes }
  if kind.order then
    model.architecture, model.order = 'nspda', kind.order
    model.states = kind.order == 'second' and state_neurons(options, 12, 29) or state_neurons(options, 2, 6)
    model.discrete = options.discrete
  elseif kind.analog then
    model.architecture, model.order, model.output = 'nnpda', kind.analog, 'own'
    model.states = state_neurons(options, 2, 6)
    -- It has an error only at the end of the string, so there is nothing to refine at the other symbols.
    model.passes = 1
  else
    model.controller = { kind = kind.controller, hidden = kind.hidden or options.hidden }
    model.stack = kind.stack or { kind = 'none' }
  end
  return pd.model.recognizer(model)
end

local function training_set(options, grammar, given)
  given.grammar, given.distinct, given.swaps = grammar, 'none', { 1 }
  given.edits = { 'replace', 'insert', 'delete' }
  given.lengths = options.lengths
  if options.negatives == 'matched' then given.negative_kind = 'matched' else given.difficult = 0.5 end
  return pd.task.labelled(given)
end

function M.training_data(options, grammar, seed)
  return training_set(options, grammar, { positives = options.valid_strings, negatives = options.invalid_strings,
    seed = seed })
end

-- Training and validation strings.
function M.data(options, grammar)
  local half = math.floor(options.validation_strings / 2)
  return M.training_data(options, grammar, options.seed),
    training_set(options, grammar, { positives = half, negatives = half, seed = options.seed + 2 ^ 31 })
end

-- The test strings, the same for all runs of a language.
function M.test_data(options, grammar)
  local half = math.floor(options.test_strings / 2)
  local given = { grammar = grammar, distinct = 'none', difficult = 0.5, swaps = { 1, 2, 3 },
    edits = { 'replace', 'insert', 'delete', 'transpose' }, lengths = options.test_lengths, positives = half,
    negatives = half, seed = 60 }
  if options.negatives == 'matched' then
    given.negative_kind, given.difficult, given.exclude = 'matched', nil, M.training_data(options, grammar, 1)
  end
  return pd.task.labelled(given)
end

-- With the strength of the largest margin, the biases of second-order neurons are so large that their surrogate
-- gradients vanish, and the network would not learn what a hint leaves open.
local function strength_of(options)
  if options.strength > 0 then return options.strength end
  return M.models[options.model].order == 'second' and 1 or nil
end

local function learning_of(options)
  local name = chosen(options, 'learning')
  return name == 'uoro' and { kind = name, estimate = options.estimate } or name
end

local function trainer_of(options, run, grammar)
  local resumed = run:resumed { epochs = options.epochs }
  if resumed then return resumed end
  local kind = M.models[options.model]
  local model = M.model(options, grammar)
  local hint = chosen(options, 'hint')
  if hint ~= 'none' and hint ~= 'dead_neuron' then
    local report = pd.model.insert_rules(model, options.task .. '/' .. hint, { strength = strength_of(options),
      inhibition = options.inhibition })
    files.write(run:path 'hint.txt', tostring(report) .. '\n')
  end
  local train, valid = M.data(options, grammar)
  local curriculum = { kind = options.curriculum, stage_end = options.stage_end }
  if options.curriculum == 'two_stage' then
    curriculum.epochs = options.stage_epochs
    -- Short strings have no first stage.
    curriculum.threshold = math.min(14, options.lengths[2])
  elseif options.curriculum == 'incremental' then
    curriculum.epochs = { options.stage_epochs[2] }
  end
  local settings = {
    model = model, train = train, valid = valid, batch = options.batch, average = 'batches',
    epochs = options.epochs, seed = options.seed, curriculum = curriculum, learning = learning_of(options),
    optimizer = { kind = 'sgd', learning_rate = options.learning_rate }, clip_norm = 0, clip_value = 13,
    decay_patience = 0, stop_patience = 0,
    annealing = { kind = 'stochastic', last_stage = 1, afterwards = options.second_rate },
    objective = { kind = 'stepwise', average = options.loss == 'mean' },
    run_folder = run.folder, overwrite = true,
  }
  if chosen(options, 'noise') == 'on' then
    settings.noise = { first_stage = options.noise_stage, change = options.noise_change }
  end
  if kind.analog then
    settings.objective = { kind = 'state_and_length' }
    if hint == 'dead_neuron' then
      settings.objective.dead_neuron = 1
      settings.train = train:with_dead_ends(grammar)
    end
  end
  return pd.train.trainer(settings)
end

-- Runs one training to its end in the folder of `run`, or resumes an earlier one in this folder. Writes
-- result.json last and returns the result. Errors are percentages of the strings.
function M.train(options, run)
  local before = run:earlier_result()
  if before then return before end
  local grammar = pd.grammar.load(options.task)
  local trainer = trainer_of(options, run, grammar)
  for _ in trainer:epochs() do end
  local history = trainer:history()
  local test = pd.train.evaluate(pd.model.load(run.folder), M.test_data(options, grammar))
  local characters, seconds, best = 0, 0, history[1]
  for _, epoch in ipairs(history) do
    characters, seconds = characters + epoch.symbols, seconds + epoch.seconds
    if epoch.accuracy > best.accuracy then best = epoch end
  end
  local last = history[#history]
  local order = { 'task', 'model', 'hint', 'noise', 'learning', 'curriculum', 'seed', 'restart', 'parameters',
    'states', 'epochs', 'converged', 'characters', 'seconds', 'stopped', 'train_error', 'best_epoch',
    'validation_error', 'test_error', 'test_missed', 'test_false_positives' }
  local result = json.ordered({
    task = options.task, model = options.model, hint = chosen(options, 'hint'), noise = chosen(options, 'noise'),
    learning = chosen(options, 'learning'), curriculum = options.curriculum, seed = options.seed,
    restart = options.restart, parameters = trainer:model():parameter_count(),
    states = trainer:model():options().states, epochs = #history,
    converged = trainer:finished():find('correctly classified', 1, true) ~= nil, characters = characters,
    seconds = seconds, stopped = trainer:finished(), train_error = 100 - 100 * last.train_accuracy,
    best_epoch = best.epoch, validation_error = 100 - 100 * best.accuracy, test_error = test.error,
    test_missed = test.missed, test_false_positives = test.false_positives,
  }, order)
  run:finish(result)
  return result
end

return M
