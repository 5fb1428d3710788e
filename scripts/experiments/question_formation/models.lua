-- The models that are compared: label, and controller, stack or layers as functions of the options of the run. Further
-- models are further entries.
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
return models
