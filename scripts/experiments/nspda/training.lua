-- The trainings of Mali et al. (2019): languages, models, the data and the measures of a run.
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
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'

local M = {}

M.tasks = { 'palindrome', 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm', 'parenthesis' }
M.titles = { palindrome = 'Palindrome', an_bn = 'aⁿbⁿ', an_bn_c_bm_am = 'aⁿbⁿcbᵐaᵐ',
  anm_bn_cm = 'aⁿ⁺ᵐbⁿcᵐ', parenthesis = 'Parenthesis' }
-- M of the paper: the number of states of the deterministic automata in scripts/hints.
local automaton_states = { palindrome = 2, an_bn = 2, an_bn_c_bm_am = 4, anm_bn_cm = 3, parenthesis = 1 }

-- label: as in the paper; then options of the network, and the model's own hint, noise and learning.
M.models = {
  { name = 'rnn', label = 'RNN', controller = 'elman' },
  { name = 'lstm', label = 'LSTM', controller = 'lstm' },
  { name = 'lstm_p', label = 'LSTM-p', controller = 'lstm_peephole' },
  { name = 'gru', label = 'GRU', controller = 'gru' },
  { name = 'stack', label = 'Stack RNN 40+10', controller = 'elman', hidden = 40,
    stack = { kind = 'parallel_superposition', stacks = 10, read_depth = 2 } },
  { name = 'stack_rounding', label = 'Stack RNN 40+10 + rounding', controller = 'elman', hidden = 40,
    stack = { kind = 'parallel_superposition', stacks = 10, read_depth = 2, rounding = true } },
  { name = 'list', label = 'listRNN 40+5', controller = 'elman', hidden = 40, stack = { kind = 'list', lists = 5 } },
  { name = 'mi_rnn', label = 'MI-RNN', controller = 'mi_rnn' },
  { name = 'mi_lstm', label = 'MI-LSTM', controller = 'mi_lstm' },
  { name = 'mi_gru', label = 'MI-GRU', controller = 'mi_gru' },
  { name = 'second_order', label = '2nd Order RNN', controller = 'second_order', hidden = 20, learning = 'uoro' },
  { name = 'second_order_reg', label = '2nd Order RNN reg', controller = 'second_order', hidden = 20, noise = true,
    learning = 'uoro' },
  { name = 'nnpda_2', label = 'NNPDA 2nd order', analog = 'second', learning = 'uoro' },
  { name = 'nnpda', label = 'NNPDA', analog = 'third', learning = 'uoro' },
  { name = 'nnpda_reg', label = 'NNPDA reg', analog = 'third', noise = true, learning = 'uoro' },
  { name = 'nspda_2', label = 'NSPDA, M1', order = 'second', hint = 'hint_2', noise = true, learning = 'uoro' },
  { name = 'nspda_3', label = 'NSPDA, M2', order = 'third', hint = 'hint_2', noise = true, learning = 'uoro' },
}
local model_of = {}
for _, model in ipairs(M.models) do model_of[model.name] = model end
local function chosen(options, key)
  if options[key] ~= 'own' then return options[key] end
  local own = model_of[options.model][key]
  if key == 'noise' then return own and 'on' or 'off' end
  return own or (key == 'hint' and 'none' or 'bptt')
end

-- The number of state neurons: the number of states plus U(low, high), by language and seed.
local function state_neurons(options, low, high)
  local states = automaton_states[options.task] or 2
  local draw = grid.seed('state neurons', options.task, options.seed)
  return states + low + draw % (high - low + 1)
end

local function make_model(options, grammar)
  local kind = model_of[options.model]
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
function M.sets(options, grammar)
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
  return model_of[options.model].order == 'second' and 1 or nil
end

local function learning_of(options)
  local name = chosen(options, 'learning')
  return name == 'uoro' and { kind = name, estimate = options.estimate } or name
end

-- The options of the trainer.
function M.trainer(options, grammar, run)
  local kind = model_of[options.model]
  local model = make_model(options, grammar)
  local hint = chosen(options, 'hint')
  if hint ~= 'none' and hint ~= 'dead_neuron' then
    local report = pd.model.insert_rules(model, options.task .. '/' .. hint, { strength = strength_of(options),
      inhibition = options.inhibition })
    files.write(run:path 'hint.txt', tostring(report) .. '\n')
  end
  local train, valid = M.sets(options, grammar)
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
    epochs = options.epochs, curriculum = curriculum, learning = learning_of(options),
    optimizer = { kind = 'sgd', learning_rate = options.learning_rate }, clip_norm = 0, clip_value = 13,
    decay_patience = 0, stop_patience = 0,
    annealing = { kind = 'stochastic', last_stage = 1, afterwards = options.second_rate },
    objective = { kind = 'stepwise', average = options.loss == 'mean' },
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
  return settings
end

-- The result of a run. Errors are percentages of the strings.
function M.measure(options, trained, run)
  local test = pd.train.evaluate(pd.model.load(run.folder), M.test_data(options, trained.data))
  local characters, best, model = 0, trained.history[1], trained.trainer:model()
  for _, epoch in ipairs(trained.history) do
    characters = characters + epoch.symbols
    if epoch.accuracy > best.accuracy then best = epoch end
  end
  return { 'task', 'model', { 'hint', chosen(options, 'hint') }, { 'noise', chosen(options, 'noise') },
    { 'learning', chosen(options, 'learning') }, 'curriculum', 'seed', 'restart',
    { 'parameters', model:parameter_count() }, { 'states', model:options().states }, { 'epochs', #trained.history },
    { 'converged', trained.stopped:find('correctly classified', 1, true) ~= nil }, { 'characters', characters },
    { 'seconds', trained.seconds }, { 'stopped', trained.stopped },
    { 'train_error', 100 - 100 * trained.last.train_accuracy }, { 'best_epoch', best.epoch },
    { 'validation_error', 100 - 100 * best.accuracy }, { 'test_error', test.error }, { 'test_missed', test.missed },
    { 'test_false_positives', test.false_positives } }
end

return M
