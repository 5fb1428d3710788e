-- Exchange of tensors, weights and models with other programs. NumPy, safetensors and PyTorch made the files in
-- tests/interchange/files (tests/interchange/make_files.py).
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local stored = pd.root .. '/tests/interchange/files/'
local expected = json.decode(files.read(stored .. 'expected.json'))
local folder = test.folder()

local run = test.command

local function write(name, bytes)
  local path = folder .. '/' .. name
  pd.file.write(path, bytes)
  return path
end

-- ---- Files of tensors ----

test('arrays of NumPy are read, of every type, order and compression', function()
  for _, name in ipairs { 'stored.npz', 'compressed.npz' } do
    local arrays = pd.tensor.load(stored .. name)
    for key, values in pairs(expected.arrays) do
      if key == 'bool' then
        test.equal(tostring(arrays.bool), 'Tensor 3 bool {true, false, true}')
      else
        test.near(arrays[key], values, 0)
      end
    end
    test.equal(arrays.float16:dtype() .. arrays.uint16:dtype() .. arrays.float64:dtype(), 'float32int64float64')
    test.equal(table.concat(arrays.empty:size(), ' '), '0 3')
    test.equal(tostring(arrays.largest), 'Tensor 2 int64 {9223372036854775807, -9223372036854775808}')
  end
  test.near(pd.tensor.load(stored .. 'fortran.npy'), expected.arrays.fortran, 0)
end)

test('half and byte tensors of PyTorch are read', function()
  local tensors, metadata = pd.tensor.load(stored .. 'halves.safetensors')
  test.near(tensors.half, { 1.5, -0.25 }, 0)
  test.near(tensors.bfloat, { 1.5, -3 }, 0)
  test.near(tensors.int32, { -7, 7 }, 0)
  test.near(tensors.byte, { 255 }, 0)
  test.equal(metadata.format, 'pt')
end)

test('written tensors are read back, bit for bit', function()
  local tensors = { a = pd.tensor.randn({ 3, 4 }, { seed = 1 }), b = pd.tensor({ 1, -2 }, { dtype = 'int64' }),
    c = pd.tensor.randn({ 2, 3, 2 }, { seed = 2, dtype = 'float64' }):transpose(1, 3), d = pd.tensor.zeros { 0, 2 },
    e = pd.tensor { 1, 2 }:gt(1.5), f = pd.tensor(0.1) }
  for _, name in ipairs { 't.safetensors', 't.npz' } do
    pd.tensor.save(folder .. '/' .. name, tensors)
    local back = pd.tensor.load(folder .. '/' .. name)
    for key, tensor in pairs(tensors) do
      test.equal(back[key]:dtype(), tensor:dtype())
      test.equal(tostring(back[key]:equal(tensor)), 'true')
    end
    local first = files.read(folder .. '/' .. name)
    pd.tensor.save(folder .. '/' .. name, tensors)
    test.equal(files.read(folder .. '/' .. name) == first, true)
  end
  pd.tensor.save(folder .. '/c.npy', tensors.c)
  test.near(pd.tensor.load(folder .. '/c.npy'), tensors.c, 0)
  pd.tensor.save(folder .. '/m.safetensors', { a = tensors.a }, { metadata = { made = 'here' } })
  test.equal(select(2, pd.tensor.load(folder .. '/m.safetensors')).made, 'here')
end)

test('headers whose length begins like a pickle are read', function()
  -- 0x80 and the version of a protocol, as the length of a header: 640 + 256 k bytes.
  local begins_like_pickle = 0
  for length = 1, 1500 do
    local name = ('x'):rep(length)
    local path = folder .. '/name.safetensors'
    pd.tensor.save(path, { [name] = pd.tensor { 1, 2 } })
    test.near(pd.tensor.load(path)[name], pd.tensor { 1, 2 }, 0)
    if files.read(path):find '^\128[\2-\5]' then begins_like_pickle = begins_like_pickle + 1 end
  end
  test.equal(begins_like_pickle, 32)
  local whole = files.read(folder .. '/name.safetensors')
  test.fails('not a valid safetensors file.*its header claims 640',
    pd.tensor.load, write('cut.safetensors', '\128\2' .. ('\0'):rep(6) .. whole:sub(9, 300)))
  -- A pickle of protocol 4 with a frame.
  test.fails('is a pickle', pd.tensor.load, write('p.pt', '\128\4\149\16\0\0\0\0\0\0\0{}' .. (' '):rep(40)))
end)

test('unsound and hostile files are refused by name, and nothing is written for bad arguments', function()
  local function refused(words, path) test.fails(words, function() pd.tensor.load(path) end) end
  refused('objects.npy.*pickled objects', stored .. 'objects.npy')
  refused('records.npy.*records', stored .. 'records.npy')
  refused("complex.npy.*'<c16'", stored .. 'complex.npy')
  refused('too_large.npz/n.npy.*2%^63', stored .. 'too_large.npz')
  refused('checkpoint.pt.*from_pytorch', stored .. 'checkpoint.pt')
  refused('legacy.pt.*from_pytorch', stored .. 'legacy.pt')
  local npz, npy = files.read(stored .. 'stored.npz'), files.read(stored .. 'fortran.npy')
  for _, size in ipairs { 4, 100, 2000, #npz - 30, #npz - 1 } do
    refused('cut.npz', write('cut.npz', npz:sub(1, size)))
  end
  for size = 0, #npy - 1, 7 do refused('cut.npy', write('cut.npy', npy:sub(1, size))) end
  -- A changed bit in a number of the first array: the archive's checksum detects it.
  local at = npz:find('\147NUMPY', 1, true) + 140
  refused('flipped.npz', write('flipped.npz', npz:sub(1, at - 1) .. string.char(255 - npz:byte(at)) .. npz:sub(at + 1)))
  local function header(text)
    local padded = text .. (' '):rep(117 - #text) .. '\n'
    return write('h.npy', '\147NUMPY\1\0\118\0' .. padded)
  end
  refused('h.npy.*too large', header "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4), }")
  refused('h.npy.*do not fill', header "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }")
  refused('h.npy.*not a number', header "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }")
  refused('h.npy.*unknown key', header "{'descr': '<f4', 'x': False, 'shape': (1,), }")
  refused('h.npy.*lacks', header "{'descr': '<f4', 'shape': (1,), }")
  refused('h.npy.*twice', header "{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }")
  refused('h.npy.*pickled', header "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
  refused('h.npy', header "{'descr': __import__('os').system('true')}")
  local t = { a = pd.tensor { 1 } }
  test.fails('must end in', function() pd.tensor.save(folder .. '/a.pt', t) end)
  test.fails("name 'a/b'", function() pd.tensor.save(folder .. '/a.npz', { ['a/b'] = t.a }) end)
  test.fails('metadata', function() pd.tensor.save(folder .. '/a.npz', t, { metadata = { a = 'b' } }) end)
  test.fails('needs a name', function() pd.tensor.save(folder .. '/a.npz', t.a) end)
  test.fails('no array', function() pd.tensor.save(folder .. '/a.npz', {}) end)
  for _, name in ipairs { 'a.pt', 'a.npz' } do test.equal(pd.file.kind(folder .. '/' .. name), nil) end
end)

-- ---- Parameters ----

local function model(options)
  options.alphabet, options.dtype, options.seed = { 'a', 'b', 'c' }, options.dtype or 'float64', 1
  options.controller = options.controller or { kind = 'lstm', hidden = 4 }
  options.end_symbol = options.end_symbol == true
  return pd.model.language_model(options)
end

local words = { 'a', 'b', 'c', 'b', 'b', 'a', 'c', 'a', 'b' }  -- WORDS of make_files.py

test('models are saved without a trainer, and loaded as they were', function()
  local m = model { stack = { kind = 'vector_nondeterministic' }, end_symbol = true, dtype = 'float32' }
  m:save(folder .. '/model.safetensors')
  local back = pd.model.load(folder .. '/model.safetensors')
  test.equal(tostring(back), tostring(m))
  test.equal(back:log_probability(words), m:log_probability(words))
  test.fails('must end in .safetensors', function() m:save(folder .. '/model.pt') end)
  test.fails('/nowhere', function() m:save '/nowhere/x.safetensors' end)
  local recognizer = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nspda', states = 3, seed = 2 }
  recognizer:save(folder .. '/recognizer.safetensors')
  test.near(pd.model.load(folder .. '/recognizer.safetensors'):scores 'a b', recognizer:scores 'a b', 0)
end)

test('a saved model with wrong tensors or options is refused by file and name', function()
  local path = folder .. '/wrong.safetensors'
  model {}:save(path)
  local tensors, metadata = pd.tensor.load(path)
  local function refused(words_of_it, name, tensor, description)
    local changed, about = {}, {}
    for key, value in pairs(tensors) do changed[key] = value end
    for key, value in pairs(metadata) do about[key] = value end
    changed[name] = tensor
    about.model = description or about.model
    pd.tensor.save(path, changed, { metadata = about })
    test.fails('wrong.safetensors.*' .. words_of_it, function() pd.model.load(path) end)
  end
  local bias = 'output.bias'
  refused("'output.bias' has numbers that are not finite", bias, pd.tensor({ 1, 0 / 0, 1 }, { dtype = 'float64' }))
  refused("'output.bias' is 2 of float64", bias, pd.tensor({ 1, 2 }, { dtype = 'float64' }))
  refused("no tensor 'output.bias'", bias, nil)
  refused('parse error', bias, tensors[bias], '{"kind":')
  refused("option 'hidden' must be", bias, tensors[bias], (metadata.model:gsub('"hidden":4', '"hidden":4000000000')))
end)

test('parameters are set from lists, and converted', function()
  local m = model { dtype = 'float32' }
  m:set_parameters { ['output.bias'] = { 1, 2, 3 } }
  test.near(m:parameters()['output.bias'], { 1, 2, 3 }, 0)
  m:set_parameters { ['output.bias'] = pd.tensor({ 4, 5, 6 }, { dtype = 'float64' }) }
  test.near(m:parameters()['output.bias'], { 4, 5, 6 }, 0)
  test.equal(m:parameters()['output.bias']:dtype(), 'float32')
  test.fails("output.bias.*must be 3, got 2", function() m:set_parameters { ['output.bias'] = { 1, 2 } } end)
  test.fails('output.weight', function() m:set_parameters { ['output.weight'] = { { 1, 'x' } } } end)
  test.near(m:parameters()['output.bias'], { 4, 5, 6 }, 0)
end)

test('a report says what matched, what is missing and what is left over', function()
  local m = model {}
  local before, given = m:log_probability(words), m:parameters()
  local shift = pd.tensor({ 0, 1, 2 }, { dtype = 'float64' })
  local tensors = { bias = given['output.bias'] + shift, other = pd.tensor { 1 },
    ['output.weight'] = given['output.weight']:detach() }
  local function load(options) return m:load_parameters(tensors, options) end
  test.fails("does not fit the model: missing 'controller.weight_ih_l0', .*left over 'bias' and 'other'", load)
  test.fails("'output.weight' is 3 of float64, the model's is 3 x 4",
    load, { strict = false, rename = { bias = 'output.weight', ['output.weight'] = 'output.bias' } })
  test.equal(m:log_probability(words), before)
  local report = load { strict = false, rename = { bias = 'output.bias' } }
  test.equal(table.concat(report.matched, ' '), 'output.weight output.bias')
  test.equal(table.concat(report.left_over, ' '), 'other')
  test.equal(#report.missing, 4)
  assert(m:log_probability(words) ~= before)
  -- A function may rename, replace, split and leave out.
  report = load { strict = false, rename = function(name, tensor)
    if name == 'other' then return false end
    if name == 'bias' then return { ['output.bias'] = tensor - shift, twice = tensor * 2 } end
    return name, tensor
  end }
  test.equal(table.concat(report.left_over, ' '), 'twice')
  test.near(m:log_probability(words), before, 1e-12)
end)

test('nothing is changed if anything is wrong', function()
  local m = model {}
  local before = m:log_probability(words)
  local function refused(pattern, change, options)
    local tensors = {}
    for name, tensor in pairs(m:parameters()) do tensors[name] = tensor:detach() * 2 end
    change(tensors)
    pd.tensor.save(folder .. '/bad.safetensors', tensors)
    test.fails(pattern, function() m:load_parameters(folder .. '/bad.safetensors', options) end)
    test.equal(m:log_probability(words), before)
  end
  refused("bad.safetensors.*'output.bias' is 2 of float64", function(t) t['output.bias'] = pd.tensor({ 1, 2 },
    { dtype = 'float64' }) end)
  refused("bad.safetensors.*'output.bias' has numbers that are not finite", function(t)
    t['output.bias'] = pd.tensor { 1, 0 / 0, 2 }
  end)
  refused("'output.bias' has numbers that are not finite in float64", function(t)
    t['output.bias'] = pd.tensor { 1, math.huge, 2 }
  end)
  refused("missing 'output.bias'; left over none", function(t) t['output.bias'] = nil end)
  refused("missing none; left over 'more'", function(t) t.more = pd.tensor { 1 } end)
  refused("two tensors are called 'output.bias'", function(t) t.more = pd.tensor { 1 } end,
    { rename = { more = 'output.bias' } })
  refused("key 'mor'", function() end, { rename = { mor = 'output.bias' } })
  refused('expected a name', function() end, { rename = { ['output.bias'] = 3 } })
  refused('rename must be', function() end, { rename = 3 })
  refused('rename failed here', function() end, { rename = function() error 'rename failed here' end })
end)

-- ---- PyTorch ----

test("PyTorch's LSTM, GRU and RNN of two layers go in, and come out", function()
  for name, kind in pairs { lstm = 'lstm', gru = 'gru', rnn = 'elman' } do
    local m = model { controller = { kind = kind, hidden = 4, layers = 2 } }
    local function ours(their) return (their:gsub('^rnn%.', 'controller.'):gsub('^out%.', 'output.')) end
    local report = m:load_parameters(stored .. name .. '.safetensors', { rename = ours })
    test.equal(#report.missing + #report.left_over, 0)
    test.near(m:logits(words), expected[name], 1e-12)
    -- The same with the table of names.
    local other = model { controller = { kind = kind, hidden = 4, layers = 2 } }
    pd.published.load(other, stored .. name .. '.safetensors', 'torch')
    test.equal(other:log_probability(words), m:log_probability(words))
    -- And exported again.
    local theirs, original = {}, pd.tensor.load(stored .. name .. '.safetensors')
    for own, tensor in pairs(m:parameters()) do
      theirs[own:gsub('^controller%.', 'rnn.'):gsub('^output%.', 'out.') .. ''] = tensor
    end
    pd.tensor.save(folder .. '/out.safetensors', theirs)
    local back = pd.tensor.load(folder .. '/out.safetensors')
    for key, tensor in pairs(original) do test.equal(tostring(back[key]:equal(tensor)), 'true') end
    for key in pairs(back) do assert(original[key], key) end
  end
end)

local has_python = select(2, run 'python3 --version') == 0

if has_python then
  local script = 'python3 ' .. pd.root .. '/scripts/tools/from_pytorch.py '

  test("PyTorch's own files are converted without running them", function()
    for _, name in ipairs { 'checkpoint.pt', 'legacy.pt' } do
      test.succeeds(run(script .. stored .. name .. ' -o ' .. folder .. '/state.safetensors'))
      local tensors = pd.tensor.load(folder .. '/state.safetensors')
      for key, values in pairs(expected.state) do
        if key ~= 'flags' then test.near(tensors[key], values, 0) end
      end
      test.equal(tostring(tensors.flags), 'Tensor 2 bool {true, false}')
      test.equal(table.concat(tensors.empty:size(), ' '), '0 2')
    end
    os.remove '/tmp/pushdown_evil'
    os.remove(folder .. '/x.safetensors')
    local function refused(name, words_of_it, options)
      local output, status = run(script .. name .. ' -o ' .. folder .. '/x.safetensors ' .. (options or ''))
      assert(status == 1 and output:find(name, 1, true) and output:find(words_of_it) and not output:find 'Traceback',
        output)
      test.equal(pd.file.kind(folder .. '/x.safetensors'), nil)
    end
    refused(stored .. 'module.pt', 'torch.nn.modules.linear.Linear')
    refused(stored .. 'evil.pt', 'system, which is not part of a state dict')
    refused(stored .. 'evil_legacy.pt', 'system, which is not part of a state dict')
    refused(stored .. 'short.pt', 'storage 0 does not have 12 numbers')
    refused(stored .. 'checkpoint.pt', "no 'ema'", '--key ema')
    refused(stored .. 'nested.pt', 'choose one with %-%-key: ema.state, model.state')
    for key, values in pairs { ['ema.state'] = { 3, 4 }, model = { 1, 2 } } do
      test.succeeds(run(script .. stored .. 'nested.pt -o ' .. folder .. '/nested.safetensors --key ' .. key))
      test.near(pd.tensor.load(folder .. '/nested.safetensors').w, values, 0)
    end
    refused(stored .. 'stored.npz', 'not a PyTorch file')
    -- A pickle that asks for 2^62 bytes.
    refused(write('huge.pt', '\128\4\142' .. ('\0'):rep(7) .. '\64'), 'damaged')
    refused(folder .. '/nothing.pt', 'No such file')
    local legacy = files.read(stored .. 'legacy.pt')
    for size = 0, #legacy - 1, 37 do refused(write('cut.pt', legacy:sub(1, size)), '.') end
    test.equal(pd.file.kind '/tmp/pushdown_evil', nil)
  end)
end

-- ---- Published programs ----

-- The scores of the second and later symbols; the programs differ in how they predict the first one.
local function compare(m, name, first)
  local got, wanted = m:logits(words):to_table(), expected[name]
  for t = first or 1, #wanted do
    local ok, message = pcall(test.near, got[t], wanted[t], 1e-12)
    if not ok then error(('%s, row %d: %s'):format(name, t, message), 0) end
  end
end

local stacks = {
  lstm_only = { kind = 'none' },
  superposition = { kind = 'superposition', size = 2 },
  stratification = { kind = 'stratification', size = 2 },
  nondeterministic = { kind = 'nondeterministic', normalized = false, reading = 'state_symbol', bottom = 'reexposed' },
  vector_nondeterministic = { kind = 'vector_nondeterministic', size = 3 },
}

test('checkpoints of nondeterministic-stack-rnn and rau', function()
  for name, stack in pairs(stacks) do
    local m = model { stack = stack }
    pd.published.load(m, stored .. 'nsrnn_' .. name .. '.safetensors', 'nondeterministic-stack-rnn')
    compare(m, 'nsrnn_' .. name)
    m = model { stack = stack, embedding = 4 }
    pd.published.load(m, stored .. 'rau_' .. name .. '.safetensors', 'rau')
    compare(m, 'rau_' .. name)
  end
end)

test('an initial state that rau has learned', function()
  local tensors = pd.tensor.load(stored .. 'rau_superposition.safetensors')
  local learned = pd.tensor({ { 0.5, -1, 0.25, 2 } }, { dtype = 'float64' })
  tensors['first.first.second.controller.initial_hidden_state_inputs'] = learned
  local m = model { stack = stacks.superposition, embedding = 4, initial_state = 'learned' }
  local report = m:load_parameters(pd.published.parameters(m, tensors, 'rau'))
  test.equal(#report.left_over, 0)
  test.near(m:parameters()['initial.0'], learned[1]:tanh(), 1e-15)
  test.near(m:parameters()['initial.1'], { 0, 0, 0, 0 }, 0)
end)

test('checkpoints of StackNN and marnns', function()
  local m = model { embedding = 3, stack = { kind = 'stratification', size = 2, pop = 'expectation',
    read = 'expectation', max_strength = 3 } }
  pd.published.load(m, stored .. 'stacknn.safetensors', 'StackNN')
  compare(m, 'stacknn')
  for name, stack in pairs { stack = { kind = 'superposition', size = 5, no_op = false, depth = 104 },
    baby_ntm = { kind = 'baby_ntm' } } do
    m = model { controller = { kind = 'elman', hidden = 4 }, stack = stack, coupling = 'state' }
    pd.published.load(m, stored .. 'marnns_' .. name .. '.safetensors', 'marnns')
    compare(m, 'marnns_' .. name)
  end
end)

-- The hidden vectors of StackNN's network, computed from a checkpoint as the program does.
local function stacknn_hiddens(p, push_ones, swap_push_pop)
  local tensor = pd.tensor
  local function affine(name, x) return p[name .. 'weight']:matmul(x) + p[name .. 'bias'] end
  local function control(name, h) return affine(('_control_layer._%s_map.'):format(name), h) end
  local function mean(name, h)
    return (control(name, h):softmax() * tensor({ 0, 1, 2, 3 }, { dtype = 'float64' })):sum():item()
  end
  local h, c, reading = tensor.zeros(4, { dtype = 'float64' }), 0, tensor.zeros(2, { dtype = 'float64' })
  local strengths, vectors, hiddens = {}, {}, {}
  for t, word in ipairs(words) do
    local x = tensor.cat { p['_embedder.token_embedder_tokens.weight'][word:byte() - 96], reading }
    local gates = p['_rnn_cell.weight_ih']:matmul(x) + p['_rnn_cell.bias_ih'] + p['_rnn_cell.weight_hh']:matmul(h)
      + p['_rnn_cell.bias_hh']
    local function gate(k) return gates[{ { 4 * k - 3, 4 * k } }] end
    c = gate(2):sigmoid() * c + gate(1):sigmoid() * gate(3):tanh()
    h = gate(4):sigmoid() * c:tanh()
    hiddens[t] = h
    local push, pop = push_ones and 1 or control('push', h):sigmoid():item(), mean('pop', h)
    if swap_push_pop then push, pop = pop, push end
    for i = t - 1, 1, -1 do
      local removed = math.min(strengths[i], pop)
      strengths[i], pop = strengths[i] - removed, pop - removed
    end
    strengths[t], vectors[t] = push, control('vector', h):tanh()
    local left = mean('read', h)
    reading = tensor.zeros(2, { dtype = 'float64' })
    for i = t, 1, -1 do
      local read = math.min(strengths[i], left)
      reading, left = reading + vectors[i] * read, left - read
    end
  end
  return hiddens
end

test('the three classifiers of StackNN, and their exchange of push and pop', function()
  local tensors = pd.tensor.load(stored .. 'stacknn.safetensors')
  local function stack(push, pop)
    return { kind = 'stratification', size = 2, push = push, pop = pop, read = 'expectation', max_strength = 3 }
  end
  for name, settings in pairs { ['sigmoid expectation'] = { false, false }, ['fixed expectation'] = { true, false },
    ['expectation fixed'] = { true, true }, ['expectation sigmoid'] = { false, true } } do
    local hiddens = stacknn_hiddens(tensors, settings[1], settings[2])
    local m = model { embedding = 3, stack = stack(name:match '^(%l+) (%l+)$') }
    pd.published.load(m, stored .. 'stacknn.safetensors', 'StackNN')
    local rows = {}
    for t, h in ipairs(hiddens) do
      rows[t + 1] = (tensors['_classifier.weight']:matmul(h) + tensors['_classifier.bias']):to_table()
    end
    for t = 2, #words do test.near(m:logits(words):to_table()[t], rows[t], 1e-12) end
    if name == 'sigmoid expectation' then test.near(rows[5], expected.stacknn[5], 1e-12) end
    -- A classifier has one score.
    local r = pd.model.recognizer { alphabet = { 'a', 'b', 'c' }, controller = { kind = 'lstm', hidden = 4 },
      stack = stack(name:match '^(%l+) (%l+)$'), embedding = 3, end_symbol = false, dtype = 'float64', seed = 1 }
    local own = pd.tensor.load(stored .. 'stacknn.safetensors')
    for _, part in ipairs { 'weight', 'bias' } do
      own['_classifier.' .. part] = own['_classifier.' .. part]:slice(1, 2, 2)
    end
    r:load_parameters(pd.published.parameters(r, own, 'StackNN'))
    test.near(r:scores(words):to_table()[#words + 1], rows[#words + 1][2], 1e-12)
  end
  test.fails("StackNN has no stack with push = 'sigmoid' and pop = 'fixed'", function()
    pd.published.load(model { embedding = 3, stack = stack('sigmoid', 'fixed') }, stored .. 'stacknn.safetensors',
      'StackNN')
  end)
end)

test('outputs without an end symbol need a model without one', function()
  local m = model { end_symbol = true, embedding = 3, stack = { kind = 'stratification', size = 2, pop = 'expectation',
    read = 'expectation', max_strength = 3 } }
  test.fails("'output.weight' is 3 x 4 .* the model's is 4 x 4 .*; for outputs without an end symbol, make the model "
    .. 'with end_symbol = false', function() pd.published.load(m, stored .. 'stacknn.safetensors', 'StackNN') end)
end)

test('the NS-RNN of the published program, to 1e-12', function()
  local golden = json.decode(files.read(pd.root .. '/tests/golden/model_ns_Q2_S2.json'))
  local tensors = {}
  for name, values in pairs(golden.parameters) do tensors[name] = pd.tensor(values, { dtype = 'float64' }) end
  local path = folder .. '/ns.safetensors'
  pd.tensor.save(path, tensors)
  local m = pd.model.language_model { alphabet = { '0', '1', '#' }, controller = { kind = 'lstm', hidden = 5 },
    stack = { kind = 'nondeterministic', states = 2, symbols = 2 }, dtype = 'float64', end_symbol = false }
  local report = pd.published.load(m, path, 'nondeterministic-stack-rnn')
  test.equal(#report.matched, 8)
  for b, ids in ipairs(golden.ids) do
    local symbols = {}
    for i, id in ipairs(ids) do symbols[i] = ({ '0', '1', '#' })[id + 1] end
    test.near(m:logits(symbols), golden.logits[b], 1e-12)
  end
end)

test('programs are listed, and a wrong model or program is named', function()
  test.equal(table.concat(pd.published.names(), ' '), 'StackNN marnns nondeterministic-stack-rnn rau torch')
  for _, name in ipairs(pd.published.names()) do assert(#pd.published.describe(name) > 20) end
  test.fails("unknown program 'raw', did you mean 'rau'", function() pd.published.describe 'raw' end)
  local m = model { stack = stacks.superposition }
  test.fails("nsrnn_stratification.safetensors",
    pd.published.load, m, stored .. 'nsrnn_stratification.safetensors', 'nondeterministic-stack-rnn')
end)

-- ---- Exported models ----

test('an exported model is loaded again, and replaces only one of its kind', function()
  local m = model { stack = stacks.superposition }
  m:export(folder .. '/exported')
  m:export(folder .. '/exported')
  test.equal(pd.model.load(folder .. '/exported'):log_probability(words), m:log_probability(words))
  local about = json.decode(files.read(folder .. '/exported/model.json'))
  test.equal(about.kind .. table.concat(about.alphabet), 'language_modelabc')
  test.equal(about.options.stack.no_op, true)
  test.fails('neither an empty folder', function() m:export(pd.root .. '/tests') end)
end)

test.finish()
