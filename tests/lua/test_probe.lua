-- Hidden vectors of layers, and linear probes of them against other sources: the output layer, networks of one layer,
-- vectors made by a known map, and gradient descent.
-- label: long
local logistic = require 'pushdown.analysis.logistic'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local alphabet = { 'a', 'b' }
local function language_model(options)
  return pd.model.language_model(pd.tables.merged({ alphabet = alphabet, seed = 1, dtype = 'float64' }, options))
end

test('hidden vectors are those that the output layer reads', function()
  for _, options in ipairs { { controller = { kind = 'lstm', hidden = 3, layers = 2 } },
    { controller = { kind = 'gru', hidden = 4 }, stack = { kind = 'superposition', size = 3 } },
    { architecture = 'transformer', hidden = 8, heads = 2, layers = { 'attention', 'superposition' } } } do
    local m = language_model(options)
    local hidden, size = m:hidden 'a b b a', options.hidden or options.controller.hidden
    local layers = options.architecture and 2 or options.controller.layers or 1
    test.equal(table.concat(hidden:size(), ' '), ('%d 5 %d'):format(layers, size))
    local own = m:parameters()
    test.near(hidden[layers]:matmul(own['output.weight']:transpose()) + own['output.bias'], m:logits 'a b b a', 1e-12)
    test.equal(table.concat(m:hidden(''):size(), ' '), ('%d 1 %d'):format(layers, size))
  end
end)

test('the first of two layers is a network of one layer', function()
  local two = language_model { controller = { kind = 'lstm', hidden = 3, layers = 2 } }
  local one = language_model { controller = { kind = 'lstm', hidden = 3 } }
  for name, value in pairs(two:parameters()) do
    if name:find '_l0$' then one:set_parameters { [name] = value } end
  end
  test.near(two:hidden('a b b')[1], one:hidden('a b b')[1], 1e-12)
  -- The last layer of a transformer, normalized, is what a layer above it would read.
  local options = { architecture = 'transformer', hidden = 8, heads = 2, layers = { 'attention', 'attention' } }
  local high = language_model(options)
  options.layers = { 'attention' }
  local low = language_model(options)
  for name, value in pairs(high:parameters()) do
    if low:parameters()[name] and not name:find '^norm' then low:set_parameters { [name] = value } end
  end
  local norms = {}
  for name, value in pairs(high:parameters()) do
    local part = name:match '^layers%.2%.norm_(.*)$'
    if part then norms['norm_' .. part] = value end
  end
  assert(next(norms), 'the norms have other names')
  low:set_parameters(norms)
  test.near(high:hidden('a b b')[1], low:hidden('a b b')[1], 1e-12)
end)

test('recognizers read an end symbol, and several passes leave one vector for each symbol', function()
  local options = { alphabet = alphabet, controller = { kind = 'elman', hidden = 3 }, seed = 1, dtype = 'float64' }
  for _, more in ipairs { {}, { passes = 3 }, { passes = 3, carry = 'first' },
    { passes = 2, memory_in_passes = 'moves' }, { end_symbol = false } } do
    more.evaluation_passes = more.passes
    local m = pd.model.recognizer(pd.tables.merged(options, more))
    local hidden = m:hidden 'a b'
    test.equal(table.concat(hidden:size(), ' '), ('1 %d 3'):format(more.end_symbol == false and 3 or 4))
    local own = m:parameters()
    local scores = hidden[1]:matmul(own['output.weight']:transpose()):squeeze(2) + own['output.bias']
    local passes = more.passes or 1
    local expected = m:scores 'a b'
    for t = 1, 2 do
      local place = more.carry and 2 + (t - 1) * passes or 1 + t * passes
      test.near(scores[t + 1], expected[place], 1e-12)
    end
  end
  local pairs_of = pd.task.transduction { kind = 'copy' }
  local m = pd.model.transducer { pairs = pairs_of, controller = { kind = 'lstm', hidden = 5, layers = 3 }, seed = 1 }
  local symbol = pairs_of:source_alphabet():symbols()[1]
  test.equal(table.concat(m:hidden(symbol, symbol):size(), ' '), '3 5 5')
end)

-- Plain gradient descent on the same function.
local function slow_minimum(x, classes, count, penalty)
  local n = #x
  local inputs = pd.tensor(x, { dtype = 'float64' })
  inputs = inputs - inputs:mean({ 1 }, true)
  inputs = inputs / (inputs * inputs):mean({ 1 }, true):sqrt()
  local w = pd.tensor.zeros({ #x[1], count }, { dtype = 'float64', requires_grad = true })
  local b = pd.tensor.zeros({ count }, { dtype = 'float64', requires_grad = true })
  local value
  for _ = 1, 1500 do
    w:zero_grad()
    b:zero_grad()
    local scores = (inputs:matmul(w) + b):log_softmax(2)
    local loss = (w * w):sum() * (penalty / 2)
    loss = loss - scores:gather(2, pd.tensor(classes, { dtype = 'int64' }):unsqueeze(2)):sum() / n
    loss:backward()
    value = loss:item()
    w:assign(w:detach() - w:grad() * 0.5)
    b:assign(b:detach() - b:grad() * 0.5)
  end
  return value
end

test('the logistic regression reaches the minimum', function()
  local x = pd.tensor.randn({ 60, 4 }, { seed = 3, dtype = 'float64' })
  local classes, noise = {}, pd.tensor.rand({ 60 }, { seed = 4, dtype = 'float64' }):to_table()
  for i, row in ipairs(x:to_table()) do
    classes[i] = row[1] + row[2] + noise[i] > 0.8 and 3 or row[3] > 0 and 2 or 1
  end
  for _, penalty in ipairs { 0.1, 0.05 } do
    local _, value = logistic.fit(x, classes, 3, penalty)
    test.near(value, slow_minimum(x:to_table(), classes, 3, penalty), 1e-8)
  end
  -- A component that is constant has no weight, and equal data give equal numbers.
  local wide = pd.tensor.cat({ x, pd.tensor.ones({ 60, 1 }, { dtype = 'float64' }) }, 2)
  local _, value = logistic.fit(wide, classes, 3, 0.1)
  test.near(value, select(2, logistic.fit(x, classes, 3, 0.1)), 1e-9)
end)

local strings = {}
for number = 1, 120 do
  local bits, text = pd.tensor.rand({ 8 }, { seed = number }):to_table(), {}
  for t, bit in ipairs(bits) do text[t] = bit < 0.5 and 'a' or 'b' end
  strings[number] = table.concat(text, ' ')
end
-- The number of b modulo 3 after each symbol.
local function counted(text)
  local count, labels = 0, {}
  for symbol in text:gmatch '%S+' do
    count = (count + (symbol == 'b' and 1 or 0)) % 3
    labels[#labels + 1] = count
  end
  return labels
end
local map = pd.tensor.randn({ 3, 6 }, { seed = 9, dtype = 'float64' })

test('labels that a linear map hides are found, and noise stays at the floor', function()
  local drawn = 0
  local found = pd.analysis.probe(nil, strings, { labels = counted, bin_width = 4, vectors = function(text)
    local rows = {}
    for t, label in ipairs(counted(text)) do rows[t] = map[label + 1] end
    drawn = drawn + 1
    local noise = pd.tensor.randn({ #rows, 6 }, { seed = drawn, dtype = 'float64' })
    return pd.tensor.stack { pd.tensor.stack(rows) + noise * 1e-3, noise }
  end })
  test.equal(#found.rows, 2)
  local known, noise = found.rows[1], found.rows[2]
  test.equal(known.accuracy, 1)
  test.equal(known.classes, 3)
  test.equal(known.untrained, nil)
  assert(math.abs(noise.accuracy - noise.majority) < 0.1 and noise.accuracy < 0.5, noise.accuracy)
  test.equal(#known.bins, 2)
  test.equal(known.bins[2].first .. ' ' .. known.bins[2].last, '5 8')
  test.equal(found.train.strings + found.test.strings, #pd.tables.keys((function()
    local set = {}
    for _, text in ipairs(strings) do set[text] = true end
    return set
  end)()))
  test.equal(known.bins[1].positions + known.bins[2].positions, found.test.positions)
  test.near(known.selectivity, known.accuracy - known.control, 0)
end)

test('the control task is learnt from vectors of the last symbol alone', function()
  local found = pd.analysis.probe(nil, strings, { name = 'count', seed = 5, context = 2, labels = counted,
    vectors = function(text)
      local rows, before = {}, 0
      for symbol in text:gmatch '%S+' do
        local place = before + (symbol == 'b' and 1 or 2)
        rows[#rows + 1] = {}
        for k = 1, 6 do rows[#rows][k] = k == place and 1 or 0 end
        before = symbol == 'b' and 2 or 4
      end
      return pd.tensor(rows, { dtype = 'float64' })
    end })
  local row = found.rows[1]
  test.equal(row.label, 'count')
  test.equal(row.control, 1)
  test.near(row.accuracy, row.by_symbol, 0.05)  -- both know the last two symbols
  assert(row.by_symbol >= row.majority - 0.05)
end)

local function dyck() return pd.pda.load('dyck_pda', { bracket_types = 2 }) end

test('state, depth and top of an automaton in the layers of networks', function()
  local p = dyck()
  local inputs = p:alphabet():symbols()
  local data = pd.task.labelled { pda = p, lengths = { 2, 10 }, positives = 60, seed = 1 }
  local m = pd.model.language_model { alphabet = inputs, seed = 1,
    controller = { kind = 'lstm', hidden = 8, layers = 2 } }
  local found = pd.analysis.probe(m, data, { pda = p, labels = { 'depth', 'top' } })
  test.equal(#found.rows, 4)
  for _, row in ipairs(found.rows) do
    assert(row.accuracy >= 0 and row.accuracy <= 1 and row.untrained and row.control and row.by_symbol)
  end
  -- The same again, and with the labels of a function.
  test.equal(tostring(pd.analysis.probe(m, data, { pda = p, labels = { 'depth', 'top' } })), tostring(found))
  local own = pd.analysis.probe(m, data:strings(), { labels = function(text)
    local depth, labels = 0, {}
    for symbol in text:gmatch '%S+' do
      depth = depth + (symbol:find '[%(%[]' and 1 or -1)
      labels[#labels + 1] = depth
    end
    return labels
  end })
  for _, key in ipairs { 'accuracy', 'majority', 'by_symbol', 'untrained', 'control' } do
    test.equal(own.rows[1][key], found.rows[1][key])
  end
  assert(tostring(found):find 'selectivity' and tostring(found):find 'positions of', tostring(found))
  assert(found:svg({ label = 'top' }):find '<svg' and found:svg():find 'untrained')
  test.equal(#found.positions.columns, 8)
  local longer = pd.analysis.probe(m, data, { pda = p, labels = { 'depth' }, untrained = false,
    test_strings = pd.task.labelled { pda = p, lengths = { 12, 12 }, positives = 5, seed = 1 } })
  test.equal(longer.test.positions, 60)
  test.equal(longer.rows[1].untrained, nil)
  local recognizer = pd.model.recognizer { alphabet = inputs, controller = { kind = 'elman', hidden = 4 }, seed = 1 }
  test.equal(#pd.analysis.probe(recognizer, data, { pda = p, labels = { 'depth' } }).rows, 1)
end)

test('what cannot be probed', function()
  local m = language_model { controller = { kind = 'elman', hidden = 3 } }
  local function probe(options, of) return function() pd.analysis.probe(m, of or strings, options) end end
  local function labels(f) return { labels = f } end
  local function constant(text, label)
    local all = counted(text)
    for t in ipairs(all) do all[t] = label end
    return all
  end
  test.fails("label 'label': all %d+ positions for training have the class '1': expected at least two classes",
    probe(labels(function(text) return constant(text, 1) end)))
  test.fails("string 1 '[ab ]+': a label at position 9, which is outside the string of 8 symbols",
    probe(labels(function() return { 1, 2, 3, 4, 5, 6, 7, 8, 9 } end)))
  test.fails("string 1 '[ab ]+': there is no label at position 3 of 8; false leaves a position out",
    probe(labels(function() return { 1, 2 } end)))
  test.fails('expected a list of labels, got nil', probe(labels(function() end)))
  test.fails("string 2 'a c': 'c' is not in the alphabet of the model", probe(labels(counted), { 'a b', 'a c' }))
  test.fails('1 distinct strings for training and 0 others for the test', probe(labels(counted), { 'a b', 'a b' }))
  test.fails('0 distinct strings', probe(labels(counted), {}))
  test.fails('expected the option pda, or labels, a function', probe {})
  test.fails('expected a pda or a function that returns labels, got both', probe { pda = dyck(), labels = counted })
  test.fails("unknown label 'height': an automaton has state, depth and top",
    probe { pda = dyck(), labels = { 'height' } })
  test.fails("string 1 'a b': 'a' is not in the alphabet of the automaton", probe({ pda = dyck() }, { 'a b', 'b a' }))
  test.fails("string 2 '. %]': the automaton has no run over it",
    pd.analysis.probe, nil, { '( )', '( ]' }, { pda = dyck(), vectors = function() end })
  test.fails('is not deterministic', probe { pda = pd.pda.load 'unmarked_reversal_pda' })
  test.fails('expected a language model or a recognizer, got nil', pd.analysis.probe, nil, strings, labels(counted))
  test.fails('vectors returned a tensor 2 x 3: expected n x H or L x n x H with n = 8',
    probe { labels = counted, vectors = function() return pd.tensor.zeros { 2, 3 } end })
  test.fails("label 'label': 0 positions for training and 0 for the test",
    probe(labels(function(text) return constant(text, false) end)))
end)

test.finish()
