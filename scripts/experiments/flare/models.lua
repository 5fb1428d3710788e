-- The models that are compared as recognizers: label, and the options of a recognizer, which may be functions of the
-- options of the run. without_noise: the cell does not read its old hidden vector, which noise would change. Further
-- models are further entries.
local pd = require 'pushdown'

local function controller(kind)
  return function(options) return { kind = kind, hidden = options.hidden, layers = options.recurrent_layers } end
end

local elman, lstm, gru, selective = controller 'elman', controller 'lstm', controller 'gru', controller 'selective_ssm'

-- The controller of a network with a stack: --controller.
local function chosen(options) return controller(options.controller)(options) end

local models = {
  { name = 'rnn', label = 'RNN', controller = elman },
  { name = 'lstm', label = 'LSTM', controller = lstm },
  { name = 'gru', label = 'GRU', controller = gru },
  { name = 'selective_ssm', label = 'Mamba-like', controller = selective, without_noise = true },
  { name = 'superposition', label = 'Superposition', controller = chosen, stack = function(options)
    return { kind = 'superposition', size = options.cell }
  end },
  { name = 'stratification', label = 'Stratification', controller = chosen, stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
  { name = 'rns', label = 'RNS-RNN', controller = chosen, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'vrns', label = 'VRNS-RNN', controller = chosen, stack = function(options)
    return { kind = 'vector_nondeterministic', states = options.vector_states, symbols = options.vector_symbols,
      size = options.cell }
  end },
}
for i, row in ipairs(pd.paper.transformers()) do table.insert(models, i + 4, row) end
return models
