-- The languages of Mali et al. (2019): a network decides whether a string belongs to the language.
--
-- Options: grammar, the name of the grammar; longest, the longest training string (21, as in the paper).
-- Half of the strings are invalid, of which half are random and half a few edits away from a valid string.
local pd = require 'pushdown'

local titles = { an_bn = 'aⁿbⁿ', an_bn_c_bm_am = 'aⁿbⁿcbᵐaᵐ', anm_bn_cm = 'aⁿ⁺ᵐbⁿcᵐ',
  palindrome = 'Palindromes with a mark', parenthesis = 'Parentheses of two types' }

return function(options)
  local grammar, longest = pd.grammar.load(options.grammar), options.longest or 21
  local task = { title = titles[options.grammar] or options.grammar, group = 'Mali et al. (2019)',
    alphabet = grammar:alphabet() }

  local near = { edits = { 'replace', 'insert', 'delete' }, swaps = { 1 } }
  local far = { edits = { 'replace', 'insert', 'delete', 'transpose' }, swaps = { 1, 2, 3 } }
  local made = {}
  local function strings(shortest, greatest, count, seed, changes)
    local key = ('%d %d %d %.0f'):format(shortest, greatest, count, seed)
    local half = (options.smoke and 20 or count) / 2
    made[key] = made[key] or pd.task.labelled { grammar = grammar, lengths = { shortest, greatest }, positives = half,
      negatives = half, distinct = 'none', difficult = 0.5, edits = changes.edits, swaps = changes.swaps, seed = seed }
    return made[key]
  end

  -- Training strings, and validation strings that are up to twice as long: short ones do not tell which network
  -- counts.
  function task.train(_, count, seed) return strings(1, longest, count, seed, near) end
  function task.valid(_, count, seed) return strings(1, 42, count, seed + 2 ^ 33, far) end

  -- Most restarts find nothing, and good ones show late, so none is dropped early.
  task.search = { restarts = 200, together = 20, solved = 0 }

  -- The control of every recipe: no stack and no hint.
  task.control = { name = 'LSTM', hidden = 20 }

  -- The models of recipes with hints.
  function task.hinted(states)
    return { { name = 'NSPDA, Hint #1', states = states, hint = 'hint_1' },
      { name = 'NSPDA, Hint #2', states = states, hint = 'hint_2' }, task.control }
  end

  -- A network with `states` state neurons, in which a part of the automaton is written if model.hint names it, or an
  -- LSTM with `hidden` units.
  function task.network(_, model, seed)
    if model.hidden then
      return pd.model.recognizer { alphabet = task.alphabet, seed = seed,
        controller = { kind = 'lstm', hidden = model.hidden } }
    end
    local network = pd.model.recognizer { alphabet = task.alphabet, architecture = 'nspda', order = 'third',
      states = model.states, discrete = 'never', seed = seed }
    if model.hint then pd.model.insert_rules(network, options.grammar .. '/' .. model.hint) end
    return network
  end

  -- A training of such a network. given: `epochs`; `strings` (1,000) for training; confirmed = true: a second stage
  -- confirms with more validation strings what the first one has found.
  --
  -- Every symbol has the label as its target (`stepwise`), which shows at once where a string goes wrong.
  function task:training(seed, restart, model, given)
    local training = { model = self:network(model, 1000 * seed + restart), seed = seed, batch = 10,
      objective = { kind = 'stepwise', average = true }, optimizer = { kind = 'adam', learning_rate = 0.003 },
      clip_norm = 5, decay_patience = 0, stop_patience = 0, stop_accuracy = 0 }
    local train = self:train(given.strings or 1000, seed)
    if given.confirmed then
      training.stages = { { train = train, valid = self:valid(500, seed), epochs = given.epochs, accuracy = 1 },
        { train = train, valid = self:valid(3000, seed), epochs = 4, accuracy = 1 } }
    else
      training.train, training.valid, training.epochs = train, self:valid(1000, seed), given.epochs
    end
    return training
  end

  -- The seeds of these strings belong to no training or validation set.
  local function error_on(shortest, greatest, count, seed)
    return function(model)
      return pd.train.evaluate(model, strings(shortest, greatest, count, seed, far)).error
    end
  end
  task.tests = {
    { name = '2,000 strings of 22 to 60 symbols', quantity = 'errors (%)', at_most = 0,
      value = error_on(22, 60, 2000, 2 ^ 41) },
    { name = '1,000 strings of 61 to 240 symbols', quantity = 'errors (%)', at_most = 0,
      value = error_on(61, 240, 1000, 2 ^ 41 + 1) },
  }
  task.lengths = { trained = longest, values = options.smoke and { 12 } or { 20, 40, 60, 80, 120, 160, 200, 240 },
    quantity = 'errors (%)',
    value = function(model, length) return error_on(length - 4, length, 400, 2 ^ 41 + 2)(model) end }

  -- The automaton that an NSPDA has become. It is exact: it describes the network on strings of any length.
  function task.show(model, run)
    if model:options().architecture ~= 'nspda' then return end
    local found, automaton, report = pcall(pd.model.extract_pda, model)
    if not found then return pd.log.warn('no automaton: ' .. tostring(automaton)) end
    pd.file.write(run:path 'automaton.txt', ('%s\n%s\n'):format(automaton:text(), tostring(report)))
    run:picture('automaton', automaton:svg())
    print(('\nAutomaton of the network:\n%s\n%s'):format(automaton:text(), tostring(report)))
  end
  return task
end
