-- Common properties of all bindings: options from tables, errors with positions, docs, the session, the log.
local test = require 'pushdown.test'
local pd = require 'pushdown'

test('options become numbers, texts, lists and tables; errors name the path', function()
  local function session(options) return function() pd.session(options) end end
  test.fails("unknown option 'theads', did you mean 'threads'", session { theads = 3 })
  test.fails('options.threads%): expected an integer, got the number 1.5', session { threads = 1.5 })
  test.fails("'threads' must be between 1 and 1024, got 0", session { threads = 0 })
  test.fails("'log_level' must be one of .*, got \"lod\"", session { log_level = 'lod' })
  -- Options that are read as one table.
  local function load(options) return function() pd.grammar.load('dyck', options) end end
  test.fails('options.device%): expected UTF%-8 text, got byte 0xff at position 4', load { device = 'cpu\255' })
  test.fails('options.device.a%[2%]%): expected a number, string, boolean or table, got a function',
    load { device = { a = { 1, print } } })
  test.fails('options.device.t%): .*got a Tensor', load { device = { t = pd.tensor { 1 } } })
  test.fails('options.device%): expected a list or a table with names, got a mixture',
    load { device = { 1, 2, x = 3 } })
  test.fails('options.device%): expected a table with names as keys, got the key true',
    load { device = { [true] = 1 } })
  test.fails('keys in UTF%-8', load { ['\255'] = 1 })
  test.fails('keys in UTF%-8', session { ['\255'] = 1 })
  local cycle = {}
  cycle.cycle = cycle
  test.fails('nested tables, got more %(or a cycle%)', load(cycle))
end)

test('positions are those of the user, through pcall, coroutines and library code', function()
  local message = test.fails('kinds', function() pd.stack.kinds(1) end)
  assert(message:match('^[^\n]*test_binder.lua:%d+: %[pd.stack.kinds%] expected no arguments, got 1'), message)
  local _, inner = coroutine.resume(coroutine.create(function() pd.tensor.zeros('x') end))
  assert(inner:match('^[^\n]*test_binder.lua:%d+: '), inner)
end)

test('unknown fields of modules name the nearest', function()
  test.fails("there is no pd.stak, did you mean 'stack'", function() return pd.stak end)
  assert(pd.json == require 'pushdown.json', 'library modules appear as fields')
end)

test('everything bound is documented in the same form', function()
  local docs = pd.docs()
  local count = 0
  for name, doc in pairs(docs) do
    count = count + 1
    assert(#doc > 0 and doc:sub(-1) == '.', name .. ': ' .. doc)
    local last = name:match('[.:]([%w_]+)$')
    local usage = doc:match('^(.-)  ')
    if usage and last and not last:match('^__') and name:match('^%a') then
      local called = usage:match('([%w_]+)%s*[({]')
      assert(called == last, name .. ' is documented as ' .. doc)
    end
  end
  assert(count > 100)
  -- Every function of every module has its doc string, under its own name.
  for module_name, module in pairs(pd) do
    if type(module) == 'table' and docs['pd.' .. module_name] then
      for key, value in pairs(module) do
        if type(value) == 'function' then
          test.equal(pd.doc_name(value), 'pd.' .. module_name .. '.' .. key)
          assert(docs['pd.' .. module_name .. '.' .. key], key)
        end
      end
    end
  end
  test.equal(pd.doc_name(pd.tensor { 1 }), 'Tensor')
  test.equal(pd.doc_name(pd.stack), 'pd.stack')
  test.equal(pd.doc_name(function() end), nil)
end)

test('the session and the devices', function()
  local before = pd.session()
  pd.session { threads = 2, log_level = 'error', seed = 12 }
  local now = pd.session()
  test.equal(now.threads, 2)
  test.equal(now.log_level, 'error')
  test.equal(now.seed, 12)
  pd.session { threads = before.threads, log_level = before.log_level }
  local devices = pd.device.list()
  test.equal(devices[1].name, 'cpu')
  local status = pd.device.status()
  -- Models can be on a device if there is one and if the kernels and LibTorch have CUDA.
  test.equal(status.reason == '', status.torch_cuda and status.cuda_tensors and status.cuda_devices > 0)
  test.equal(#devices, 1 + status.cuda_devices)
  for i = 2, #devices do
    test.equal(devices[i].name, ('cuda:%d'):format(i - 2))
    assert(devices[i].memory_bytes > 0 and devices[i].compute_capability:find('^%d+%.%d$'))
  end
  for name, value in pairs(status) do test.equal(devices[name], value) end
  assert(status.torch:find('^%d+%.%d+$'), status.torch)
  test.equal(status.cuda_kernels, status.cuda_toolkit ~= '')
  test.equal(status.cuda_kernels, status.cuda_architectures ~= '')
  local text = pd.device.text()
  assert(text:find('LibTorch ' .. status.torch .. (status.torch_cuda and ' with CUDA' or ' without CUDA'), 1, true))
  assert(text:find '\nBLAS: [^\n]+\n', text)
  assert(text:find(status.cuda_kernels and 'toolkit ' .. status.cuda_toolkit or 'no CUDA kernels', 1, true))
  assert(status.reason == '' or text:find(status.reason, 1, true))
  test.fails("'cuda:99' was requested", function() pd.session { device = 'cuda:99' } end)
  test.equal(pd.session().device, before.device)
  test.fails("'cuda:99' was requested", pd.model.language_model, { alphabet = { 'a', 'b' }, device = 'cuda:99' })
end)

test('log levels', function()
  local before = pd.log.level()
  pd.log.set_level('off')
  pd.log.error('not seen', 1, nil, { })
  test.equal(pd.log.level(), 'off')
  test.fails("got 'loud'", function() pd.log.set_level('loud') end)
  pd.log.set_level(before)
end)

test.finish()
