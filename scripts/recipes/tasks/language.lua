-- The task of DuSell and Chiang (2020): a language model that knows the distribution of a language. A string has a
-- length between two bounds, drawn uniformly, and is then drawn from the grammar. The models here also predict the end
-- of a string, so they are distributions over strings. Test strings are those of the paper's test: of 40 to 100
-- symbols, and their lower bound is the cross-entropy of this distribution, also on a part of the lengths. So a model
-- that was trained on up to 80 symbols pays for every string of 81 to 100, and one that expects 40 to 80 alone can be
-- below the bound there, by at most ln(61/41) nats per string.
--
--   local task = pd.recipe.task('language', { grammar = 'dyck', title = 'Dyck language' })
--
-- Options: grammar; title (the grammar's name); bars, which the difference must be below on strings of 40 to 80 and of
-- 81 to 100 symbols.
local pd = require 'pushdown'
local plot = require 'pushdown.plot'

-- Seeds of the strings that measure and show a network. Those of training and validation strings are larger.
local test_seed, show_seed = 11, 7

return function(options)
  local grammar, samplers, kept = pd.grammar.load(options.grammar), {}, {}

  -- All restarts of a search train on the same strings, so they are drawn once.
  local function draw(shortest, longest, count, seed, batch)
    local lengths = shortest .. '-' .. longest
    local key = ('%s %d %.0f'):format(lengths, count, seed)
    samplers[lengths] = samplers[lengths] or grammar:sampler { lengths = { shortest, longest } }
    kept[key] = kept[key] or samplers[lengths]:dataset(options.smoke and 20 or count, { seed = seed, batch = batch })
    return kept[key]
  end

  local function difference(model, strings) return pd.train.evaluate(model, strings).cross_entropy_difference end

  -- Some lengths of the test strings, with the bound of all of them.
  local function part(shortest, longest)
    local whole = draw(40, 100, 1500, test_seed, 1)
    local texts, all, strings, log_probabilities = whole:strings(), whole:log_probabilities(), {}, {}
    for i, length in ipairs(whole:lengths()) do
      if length >= shortest and length <= longest then
        strings[#strings + 1] = texts[i]
        log_probabilities[#strings] = all[i]
      end
    end
    return pd.task.dataset { alphabet = grammar:alphabet(), strings = strings, log_probabilities = log_probabilities }
  end

  local title = options.title or options.grammar:gsub('_', ' '):gsub('^%l', string.upper)
  local task = { title = title, group = 'DuSell and Chiang (2020)', alphabet = grammar:alphabet(), tests = {} }

  -- A stage of a trainer on strings of these lengths. `given` has the seed and number (5000) of the training strings,
  -- the lengths of the validation strings if they are others, valid = { 40, 100 }, and the other keys of the stage.
  function task.stage(_, shortest, longest, given)
    local stage, seed = {}, given.seed * 1e5 + shortest * 1000 + 2 * longest
    for key, value in pairs(given) do
      if key ~= 'seed' and key ~= 'strings' then stage[key] = value end
    end
    local lengths = given.valid or { shortest, longest }
    stage.train = draw(shortest, longest, given.strings or 5000, seed)
    stage.valid = draw(lengths[1], lengths[2], 500, seed + 1)
    return stage
  end

  -- The RNS-RNN, and other stacks for comparison under the same search.
  function task.models(states, symbols)
    return {
      { name = 'RNS-RNN', stack = { kind = 'nondeterministic', states = states, symbols = symbols,
        reading = 'state_symbol', normalized = false, bottom = 'reexposed' } },
      { name = 'NS-RNN', stack = { kind = 'nondeterministic', states = states, symbols = symbols } },
      { name = 'Superposition', stack = { kind = 'superposition', size = 20 } },
      { name = 'LSTM', stack = { kind = 'none' } },
    }
  end

  -- A training of a language model with an LSTM. given: its hidden size; stages, each {shortest, longest, ...} as for
  -- task.stage, with `of`, another grammar, if its strings are of another language; and options of the trainer.
  function task.training(_, seed, restart, model, given)
    local stages = {}
    for i, stage in ipairs(given.stages) do
      local one, of = pd.tables.merged(stage, { seed = seed }), task
      if one.of then of = pd.recipe.task('language', { grammar = one.of, smoke = options.smoke }) end
      local shortest, longest = one[1], one[2]
      one[1], one[2], one.of = nil, nil, nil
      stages[i] = of:stage(shortest, longest, one)
    end
    return { stages = stages, seed = seed, optimizer = { kind = 'adam' }, clip_norm = 5, stop_patience = 0,
      decay_patience = given.decay_patience or 2, decay_factor = given.decay_factor or 0.7,
      model = pd.model.language_model { alphabet = task.alphabet, seed = 1000 * seed + restart, stack = model.stack,
        controller = { kind = 'lstm', hidden = given.hidden } } }
  end

  for i, bar in ipairs(options.bars or { 0.01, 0.05 }) do
    local shortest, longest = unpack(({ { 40, 80 }, { 81, 100 } })[i])
    local name = ('lengths %d to %d'):format(shortest, longest)
    task.tests[i] = { name = name, quantity = 'difference (nats)', below = bar,
      value = function(model) return difference(model, part(shortest, longest)) end }
  end

  -- Each point stands for strings of 20 lengths, the given one the longest, with the bound of these lengths.
  task.lengths = { trained = 80, quantity = 'difference (nats)',
    values = options.smoke and { 20, 40 } or { 20, 40, 60, 80, 100, 140, 200, 260, 320 },
    value = function(model, length) return difference(model, draw(length - 19, length, 50, test_seed, 1)) end }

  -- The most probable run of the automaton in the network on a short string.
  function task.show(model, run)
    local kind = model:options().stack.kind
    if kind ~= 'nondeterministic' and kind ~= 'vector_nondeterministic' then return end
    local text = draw(10, 16, 1, show_seed):strings()[1]
    local best = model:best_run(text)
    run:picture('run', plot.run { run = best, title = ('%s: most probable run on %s'):format(title, text) })
    pd.files.write(run:path 'run.txt', tostring(best))
    print('\n' .. tostring(best))
  end

  return task
end
