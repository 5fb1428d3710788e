-- The models that are compared as recognizers: label, and the options of a recognizer, which may be functions of the
-- options of the run. Further models are further entries.
local function controller(kind)
  return function(options) return { kind = kind, hidden = options.hidden, layers = options.recurrent_layers } end
end

local elman, lstm = controller 'elman', controller 'lstm'

return {
  { name = 'rnn', label = 'RNN', controller = elman },
  { name = 'lstm', label = 'LSTM', controller = lstm },
  { name = 'transformer', label = 'Transformer', architecture = 'transformer' },
  { name = 'superposition', label = 'Superposition', controller = lstm, stack = function(options)
    return { kind = 'superposition', size = options.cell }
  end },
  { name = 'stratification', label = 'Stratification', controller = lstm, stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
  { name = 'rns', label = 'RNS-RNN', controller = lstm, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'vrns', label = 'VRNS-RNN', controller = lstm, stack = function(options)
    return { kind = 'vector_nondeterministic', states = options.states, symbols = options.symbols, size = options.cell }
  end },
}
