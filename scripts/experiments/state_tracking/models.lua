-- The models that are compared on state tracking: label, and the controller as a function of the options of the run.
-- Further models are further entries.
local function cell(kind, own)
  return function(options)
    local controller = { kind = kind, hidden = options.hidden, layers = options.recurrent_layers }
    for name, value in pairs(own and own(options) or {}) do controller[name] = value end
    return controller
  end
end
local function heads(lowest)
  return function(options) return { heads = options.heads, lowest_eigenvalue = lowest } end
end

return {
  { name = 'rnn', label = 'RNN', controller = cell 'elman' },
  { name = 'lstm', label = 'LSTM', controller = cell 'lstm' },
  { name = 'transformer', label = 'Transformer', architecture = 'transformer' },
  { name = 'slstm', label = 'sLSTM', controller = cell('scalar_lstm', heads()) },
  { name = 'mlstm', label = 'mLSTM', controller = cell('matrix_lstm', heads()) },
  { name = 'selective', label = 'Selective [0,1]', controller = cell 'selective_ssm' },
  { name = 'selective_negative', label = 'Selective [-1,1]',
    controller = cell('selective_ssm', function() return { lowest_eigenvalue = -1 } end) },
  { name = 'deltanet', label = 'DeltaNet [0,1]', controller = cell('deltanet', heads(0)) },
  { name = 'deltanet_negative', label = 'DeltaNet [-1,1]', controller = cell('deltanet', heads(-1)) },
}
