-- The models that are compared on the tasks of the Chomsky hierarchy: label, and the options of a transducer, which may
-- be functions of the options of the run. Further models are further entries.
local function elman(options) return { kind = 'elman', hidden = options.hidden } end
local function lstm(options) return { kind = 'lstm', hidden = options.hidden } end

local function superposition(options) return { kind = 'superposition', size = options.cell } end

return {
  { name = 'rnn', label = 'RNN', controller = elman },
  { name = 'lstm', label = 'LSTM', controller = lstm },
  { name = 'transformer', label = 'Transformer', architecture = 'transformer' },
  { name = 'stack_rnn', label = 'Stack-RNN', controller = elman, stack = superposition },
  -- The NDStack-RNN of the paper has probabilities of actions, and some of its runs read the states, too. Here they are
  -- probabilities given state and top symbol (DuSell and Chiang 2020), there of all actions together.
  { name = 'ns_rnn', label = 'NS-RNN', controller = elman, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols }
  end },
  -- With weights of actions, of 2022.
  { name = 'ndstack_rnn', label = 'NDStack-RNN', controller = elman, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'baby_ntm', label = 'Baby-NTM', controller = elman, stack = function(options)
    return { kind = 'baby_ntm', cells = options.cells, size = options.cell }
  end },
  { name = 'stack_lstm', label = 'Stack-LSTM', controller = lstm, stack = superposition },
  { name = 'stratification', label = 'Stratification-RNN', controller = elman, stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
}
