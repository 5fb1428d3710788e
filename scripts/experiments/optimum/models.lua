-- The networks that are compared: name, label, the kind of the controller and the stack. Every network is trained
-- twice: by the plain protocol and by the recipe. Further networks are further entries.
local networks = {
  { name = 'rnn', label = 'RNN', controller = 'elman' },
  { name = 'lstm', label = 'LSTM', controller = 'lstm' },
  { name = 'superposition', label = 'Superposition', controller = 'elman', stack = function(options)
    return { kind = 'superposition', size = options.cell }
  end },
  { name = 'stratification', label = 'Stratification', controller = 'elman', stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
  { name = 'rns', label = 'RNS-RNN', controller = 'elman', stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'vrns', label = 'VRNS-RNN', controller = 'elman', stack = function(options)
    return { kind = 'vector_nondeterministic', states = options.states, symbols = options.symbols,
      size = options.cell }
  end },
  -- Stacks of single numbers, of which two cells are read: the height of one is a counter. The most probable action
  -- takes the place of all others in evaluations (Joulin and Mikolov 2015), so that heights are whole numbers.
  { name = 'counters', label = 'Counters', controller = 'elman', stack = function(options)
    return { kind = 'parallel_superposition', stacks = options.counters, no_op = true, bias = true, rounding = true }
  end },
}

local rows = {}
for _, network in ipairs(networks) do
  for _, recipe in ipairs { false, true } do
    local row = { recipe = recipe }
    for key, value in pairs(network) do row[key] = value end
    if recipe then row.name, row.label = row.name .. '_recipe', row.label .. ', recipe' end
    rows[#rows + 1] = row
  end
end
return rows
