-- pd.tensor: creation, indexing, arithmetic, reductions, gradients, and errors for wrong input.
local test = require 'pushdown.test'
local pd = require 'pushdown'
local tensor = pd.tensor
local f64 = { dtype = 'float64' }

local function matrix() return tensor({ { 1, 2, 3 }, { 4, 5, 6 } }, f64) end

local function shape(t) return table.concat(t:size(), ' ') end

test('nested tables become tensors and tables again', function()
  local nested = { { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { { -1, 0.5 }, { 0, 7 }, { 8, 9 } } }
  local t = tensor(nested, f64)
  test.equal(shape(t), '2 3 2')
  test.equal(t:dtype(), 'float64')
  test.near(t, nested, 0)
  test.equal(tensor { 1, 2 }:dtype(), 'float32')
  test.equal(tensor(7):to_table(), 7)
  test.equal(tensor(7):dim(), 0)
  test.equal(#tensor {}:to_table(), 0)
  test.equal(shape(tensor { {}, {} }), '2 0')
  local whole = tensor({ 2 ^ 53, -2 ^ 53 }, { dtype = 'int64' })
  test.near(whole, { 2 ^ 53, -2 ^ 53 }, 0)
  test.equal(tensor(matrix(), { dtype = 'float32' }):dtype(), 'float32')
  test.equal(tensor(matrix()):dtype(), 'float64')
  local inf = tensor { math.huge, -math.huge }:to_table()
  assert(inf[1] == math.huge and inf[2] == -math.huge)
end)

test('a tensor made from a tensor is a copy', function()
  local a = matrix()
  local b = tensor(a)
  b[1] = 0
  test.near(a, { { 1, 2, 3 }, { 4, 5, 6 } }, 0)
end)

test('wrong tables are errors that name the place', function()
  test.fails('values%[2%]%): expected 2 elements', function() tensor { { 1, 2 }, { 3 } } end)
  test.fails('values%[1%]%[2%]%): expected a number', function() tensor { { 1, 'x' } } end)
  test.fails('values%[2%]%): expected a number, got a list', function() tensor { 1, { 2 } } end)
  test.fails('values%[2%]%): expected a list of 1 elements', function() tensor { { 1 }, 2 } end)
  test.fails('values%[2%]%): expected a number', function() tensor { 1, matrix() } end)
  test.fails('values%[3%].*for dtype int64', function() tensor({ 1, 2, 2.5 }, { dtype = 'int64' }) end)
  test.fails('list without holes', function() tensor { 1, nil, 3, nil, 5, [9] = 1 } end)
  test.fails('options go into a second table', function() tensor { 1, dtype = 'int64' } end)
  local cycle = {}
  cycle[1] = cycle
  test.fails('16 nested lists', function() tensor(cycle) end)
  test.fails("device must be 'cpu', 'cuda' or 'cuda:n', got 'gpu'", tensor, { 1 }, { device = 'gpu' })
  test.fails('only floating', function() tensor({ 1 }, { dtype = 'int64', requires_grad = true }) end)
end)

test('constructors', function()
  test.near(tensor.zeros { 2, 2 }, { { 0, 0 }, { 0, 0 } }, 0)
  test.near(tensor.ones(3), { 1, 1, 1 }, 0)
  test.near(tensor.full({ 2 }, 2.5), { 2.5, 2.5 }, 0)
  test.near(tensor.arange(1, 4), { 1, 2, 3, 4 }, 0)
  test.near(tensor.arange(0, 1, 0.25, f64), { 0, 0.25, 0.5, 0.75, 1 }, 0)
  test.near(tensor.arange(3, 1, -1), { 3, 2, 1 }, 0)
  test.equal(tensor.arange(2, 1):numel(), 0)
  test.equal(tensor.arange(1, 3, { dtype = 'int64' }):dtype(), 'int64')
  test.fails('step not 0', function() tensor.arange(1, 2, 0) end)
  test.fails('must not be negative', function() tensor.zeros { 2, -1 } end)
  test.fails('needs .* of memory, .* are available', function() tensor.zeros { 1e8, 1e8 } end)
  test.fails('needs .* of memory, .* are available', function() tensor.arange(1, 1e14) end)
  test.fails('must be an integer for dtype int64', function() tensor.full(2, 0.5, { dtype = 'int64' }) end)
end)

test('random tensors come from their seed', function()
  local a, b = tensor.randn({ 1000 }, { seed = 3 }), tensor.randn({ 1000 }, { seed = 3 })
  assert(a == b)
  assert(a ~= tensor.randn({ 1000 }, { seed = 4 }))
  test.near(a:mean():item(), 0, 0.15)
  test.near(a:std():item(), 1, 0.15)
  local u = tensor.rand({ 1000 }, { seed = 3, dtype = 'float64' })
  assert(u:min():item() >= 0 and u:max():item() < 1)
  test.near(u:mean():item(), 0.5, 0.05)
  assert(tensor.randn(5) ~= tensor.randn(5), 'without a seed they differ')
  test.fails('expected an integer from 0', function() tensor.randn(3, { seed = -1 }) end)
  test.fails('floating%-point dtype', function() tensor.randn(3, { dtype = 'int64' }) end)
end)

test('the session seed determines tensors without a seed of their own', function()
  pd.session { seed = 11 }
  local a, b = tensor.randn(4), tensor.randn(4)
  pd.session { seed = 11 }
  assert(tensor.randn(4) == a and tensor.randn(4) == b and a ~= b)
end)

test('indices count from 1, negative ones from the end', function()
  local t = matrix()
  test.near(t[1], { 1, 2, 3 }, 0)
  test.near(t[-1], { 4, 5, 6 }, 0)
  test.equal(t[{ 2, 3 }]:item(), 6)
  test.equal(t[2][3]:item(), 6)
  test.near(t[{ {}, { 2, 3 } }], { { 2, 3 }, { 5, 6 } }, 0)
  test.near(t[{ { 1, 2 }, -1 }], { 3, 6 }, 0)
  test.near(t[{ { 1, 0 } }], {}, 0)
  test.near(t:slice(2, 1, 2), { { 1, 2 }, { 4, 5 } }, 0)
  test.near(t:slice(-1, -2, -1), { { 2, 3 }, { 5, 6 } }, 0)
  test.equal(#t, 2)
  for _, wrong in ipairs { 0, 3, -3 } do
    test.fails('index ' .. tostring(wrong):gsub('%-', '%%-') .. ' is out of range for dimension 1 of size 2',
      function() return t[wrong] end)
  end
  test.fails('expected an integer, got the number 1.5', function() return t[1.5] end)
  test.fails('3 indices were given for 2 dimensions', function() return t[{ 1, 1, 1 }] end)
  test.fails('range 2, 4 does not lie in dimension 1 of size 2', function() return t[{ { 2, 4 } }] end)
  test.fails('cannot be indexed', function() return tensor(1)[1] end)
  test.fails('there is no dimension 3', function() return t:slice(3, 1, 1) end)
  test.fails('there is no dimension 0', function() return t:sum(0) end)
end)

test('masks and index tensors select', function()
  local t = matrix()
  test.near(t[t:gt(3)], { 4, 5, 6 }, 0)
  test.near(t[tensor({ 2, 1, 2 }, { dtype = 'int64' })], { { 4, 5, 6 }, { 1, 2, 3 }, { 4, 5, 6 } }, 0)
  test.near(t:index_select(2, { 3, 1 }), { { 3, 1 }, { 6, 4 } }, 0)
  test.near(t:gather(2, { { 3 }, { 1 } }), { { 3 }, { 4 } }, 0)
  test.fails('index 4 is out of range', function() return t:index_select(2, { 4 }) end)
  test.fails('index 0 is out of range', function() return t:index_select(2, { 0 }) end)
  test.fails('must be int64, got float32', function() return t[tensor { 1 }] end)
  test.near(t[tensor({ 0, 1 }, { dtype = 'int64' }):gt(0)], { { 4, 5, 6 } }, 0)
  local scalar = tensor(1)
  for _, mask in ipairs { scalar:gt(0), tensor { 1, 1, 1 }:gt(0), t:reshape { 2, 3, 1 }:gt(0) } do
    test.fails("mask must have the tensor's shape or its first dimensions", function() return t[mask] end)
    test.fails("mask must have the tensor's shape or its first dimensions", function() t[mask] = 1 end)
  end
  test.fails('without dimensions cannot be indexed', function() return scalar[scalar:gt(0)] end)
end)

test('elements can be set', function()
  local t = matrix()
  t[1] = 0
  t[{ 2, { 1, 2 } }] = { 7, 8 }
  test.near(t, { { 0, 0, 0 }, { 7, 8, 6 } }, 0)
  t[t:gt(6)] = -1
  test.near(t, { { 0, 0, 0 }, { -1, -1, 6 } }, 0)
  t:assign { { 1, 1, 1 }, { 2, 2, 2 } }
  test.near(t, { { 1, 1, 1 }, { 2, 2, 2 } }, 0)
  test.fails('selected elements have shape 3, the new values 2', function() t[1] = { 1, 2 } end)
  test.fails("no field 'x'", function() t.x = 1 end)
  test.fails('shape 2 x 3, the new values 2', function() t:assign { 1, 2 } end)
  local bool = t:gt(1)
  bool[1] = 1
  assert(bool:all():item())
end)

test('operators take tensors and numbers on either side', function()
  local a, b = tensor({ 1, 2, 4 }, f64), tensor({ 3, 5, 7 }, f64)
  test.near(a + b, { 4, 7, 11 }, 0)
  test.near(a - 1, { 0, 1, 3 }, 0)
  test.near(1 - a, { 0, -1, -3 }, 0)
  test.near(2 * a, { 2, 4, 8 }, 0)
  test.near(8 / a, { 8, 4, 2 }, 0)
  test.near(b / a, { 3, 2.5, 1.75 }, 0)
  test.near(a ^ 2, { 1, 4, 16 }, 1e-12)
  test.near(2 ^ a, { 2, 4, 16 }, 1e-12)
  test.near(-a, { -1, -2, -4 }, 0)
  test.near(b % 4, { 3, 1, 3 }, 0)
  test.near(-b % 4, { 1, 3, 1 }, 0)
  test.near(matrix() + tensor({ 10, 20, 30 }, f64), { { 11, 22, 33 }, { 14, 25, 36 } }, 0)
  local n = tensor({ 7, 8 }, { dtype = 'int64' })
  test.equal((n + 1):dtype(), 'int64')
  test.equal((n * 0.5):dtype(), 'float32')
  test.near(n / 2, { 3.5, 4 }, 0)
  test.fails('expected a number or a Tensor, got nil', function() return a + nil end)
  test.fails("expected a number or a Tensor, got 'x'", function() return 'x' * a end)
  test.fails('size of tensor', function() return a + tensor { 1, 2 } end)
end)

test('comparisons', function()
  local a, b = tensor { 1, 2, 3 }, tensor { 3, 2, 1 }
  local function bits(t)
    local text = ''
    for _, bit in ipairs(t:to_table()) do text = text .. (bit and '1' or '0') end
    return text
  end
  test.equal(bits(a:eq(b)), '010')
  test.equal(bits(a:ne(b)), '101')
  test.equal(bits(a:lt(b)), '100')
  test.equal(bits(a:le(b)), '110')
  test.equal(bits(a:gt(b)), '001')
  test.equal(bits(a:ge(2)), '011')
  test.equal(a:eq(b):dtype(), 'bool')
  assert(a == tensor { 1, 2, 3 } and a ~= b and a ~= tensor({ 1, 2, 3 }, f64))
  assert(a[1] < a[2] and a[2] <= b[2])
  test.equal(a[2] < a[1], false)
  assert(a:allclose(a + 1e-9) and not a:allclose(b) and not a:allclose(tensor { 1 }))
  test.fails('compare tensors of one element', function() return a < b end)
end)

test('functions agree with the math library', function()
  local xs = { 0.3, 1.7, 2.5 }
  local x = tensor(xs, f64)
  local expected = {
    exp = math.exp, log = math.log, sqrt = math.sqrt, tanh = math.tanh, sin = math.sin, cos = math.cos,
    abs = math.abs, floor = math.floor, ceil = math.ceil,
    sigmoid = function(v) return 1 / (1 + math.exp(-v)) end,
    softplus = function(v) return math.log(1 + math.exp(v)) end,
    log1p = function(v) return math.log(1 + v) end,
    expm1 = function(v) return math.exp(v) - 1 end,
    relu = function(v) return math.max(v, 0) end,
    sign = function(v) return v > 0 and 1 or v < 0 and -1 or 0 end,
  }
  for name, f in pairs(expected) do
    local values = {}
    for i, v in ipairs(xs) do values[i] = f(v) end
    test.near(x[name](x), values, 1e-12)
  end
  test.near((-x):relu(), { 0, 0, 0 }, 0)
  test.near(pd.tensor.logaddexp(x, 1), { math.log(math.exp(0.3) + math.exp(1)),
    math.log(math.exp(1.7) + math.exp(1)), math.log(math.exp(2.5) + math.exp(1)) }, 1e-12)
  test.near(pd.tensor.logaddexp(1, 2), math.log(math.exp(1) + math.exp(2)), 1e-6)
  test.near(x:clamp(1, 2), { 1, 1.7, 2 }, 0)
  test.near(x:clamp(nil, 1), { 0.3, 1, 1 }, 0)
end)

test('reductions', function()
  local t = matrix()
  test.equal(t:sum():item(), 21)
  test.near(t:sum(1), { 5, 7, 9 }, 0)
  test.near(t:sum(-1, true), { { 6 }, { 15 } }, 0)
  test.equal(t:sum { 1, 2 }:item(), 21)
  test.near(t:mean(2), { 2, 5 }, 1e-12)
  test.equal(tensor({ 1, 2 }, { dtype = 'int64' }):mean():item(), 1.5)
  test.equal(t:max():item(), 6)
  local values, places = t:max(2)
  test.near(values, { 3, 6 }, 0)
  test.near(places, { 3, 3 }, 0)
  values, places = (-t):min(1)
  test.near(values, { -4, -5, -6 }, 0)
  test.near(places, { 2, 2, 2 }, 0)
  test.equal(t:argmax():item(), 6)
  test.near(t:argmin(2), { 1, 1 }, 0)
  test.equal(t:prod():item(), 720)
  test.near(t:prod(1), { 4, 10, 18 }, 0)
  test.near(t:norm():item(), math.sqrt(91), 1e-12)
  test.near(t:norm(1):item(), 21, 1e-12)
  test.near(t:std(1), { math.sqrt(4.5), math.sqrt(4.5), math.sqrt(4.5) }, 1e-12)
  test.near(t:cumsum(), { { 1, 3, 6 }, { 4, 9, 15 } }, 0)
  values, places = tensor { 3, 1, 2 }:sort(1, true)
  test.near(values, { 3, 2, 1 }, 0)
  test.near(places, { 1, 3, 2 }, 0)
  test.equal(tensor { 0, 1 }:any():item(), true)
  test.equal(tensor { 0, 1 }:all():item(), false)
  test.fails('empty tensor has none', function() tensor({}):max() end)
  test.fails('appears multiple times', function() t:sum { 1, 1 } end)
end)

test('softmax normalises and stays finite', function()
  local t = tensor({ { 1000, 1000 }, { 0, math.log(3) } }, f64)
  test.near(t:softmax(), { { 0.5, 0.5 }, { 0.25, 0.75 } }, 1e-12)
  test.near(t:log_softmax(2):exp(), t:softmax(2), 1e-12)
  test.near(matrix():softmax(1):sum(1), { 1, 1, 1 }, 1e-12)
  test.near(t:logsumexp(2), { 1000 + math.log(2), math.log(4) }, 1e-9)
end)

test('matrix products', function()
  local a, b = matrix(), tensor({ { 1, 0 }, { 0, 1 }, { 2, 2 } }, f64)
  test.near(a:matmul(b), { { 7, 8 }, { 16, 17 } }, 0)
  test.near(a:matmul(tensor({ 1, 1, 1 }, f64)), { 6, 15 }, 0)
  test.equal(tensor({ 1, 2 }, f64):dot(tensor({ 3, 4 }, f64)):item(), 11)
  local batch = tensor.stack { b, 2 * b }
  test.near(a:matmul(batch), { { { 7, 8 }, { 16, 17 } }, { { 14, 16 }, { 32, 34 } } }, 0)
  test.fails('cannot be multiplied', function() return a:matmul(a) end)
  test.fails('expected a Tensor, got the number 3', function() return a:matmul(3) end)
end)

test('shapes', function()
  local t = matrix()
  test.equal(shape(t:reshape(3, 2)), '3 2')
  test.equal(shape(t:reshape { -1 }), '6')
  test.near(t:transpose(), { { 1, 4 }, { 2, 5 }, { 3, 6 } }, 0)
  test.equal(shape(tensor.zeros { 2, 3, 4 }:transpose(1, 3)), '4 3 2')
  test.equal(shape(tensor.zeros { 2, 3, 4 }:permute(3, 1, 2)), '4 2 3')
  test.equal(shape(t:unsqueeze(1)), '1 2 3')
  test.equal(shape(t:unsqueeze(-1):squeeze()), '2 3')
  test.equal(shape(t[1]:expand(2, 3)), '2 3')
  test.equal(shape(tensor.cat { t, t }), '4 3')
  test.equal(shape(tensor.cat({ t, t }, 2)), '2 6')
  test.equal(shape(tensor.stack({ t, t }, 3)), '2 3 2')
  test.near(tensor.where(t:gt(3), t, 0), { { 0, 0, 0 }, { 4, 5, 6 } }, 0)
  test.near(tensor.maximum(t, 3), { { 3, 3, 3 }, { 4, 5, 6 } }, 0)
  test.equal(t:to('float32'):dtype(), 'float32')
  test.equal(t:to { dtype = 'int64', device = 'cpu' }:dtype(), 'int64')
  test.fails('invalid for input of size 6', function() t:reshape(4) end)
  test.fails('list of tensors is empty', function() tensor.cat {} end)
  test.fails('%[2%]%): expected a Tensor', function() tensor.cat { t, 3 } end)
  test.fails('Sizes of tensors must match', function() tensor.cat { t, tensor.zeros({ 1, 2 }, f64) } end)
end)

-- Central differences of a scalar function of one tensor.
local function numeric_gradient(f, x)
  local result, step = tensor.zeros(x:size(), f64), 1e-6
  local flat, out = x:detach():clone():reshape(-1), result:reshape(-1)
  for i = 1, flat:numel() do
    local kept = flat[i]:item()
    flat[i] = kept + step
    local high = f(flat:reshape(x:size())):item()
    flat[i] = kept - step
    local low = f(flat:reshape(x:size())):item()
    flat[i] = kept
    out[i] = (high - low) / (2 * step)
  end
  return result
end

test('gradients agree with finite differences', function()
  local w = tensor.randn({ 3, 2 }, { seed = 5, dtype = 'float64' })
  local functions = {
    function(x) return x:matmul(w):tanh():sum() end,
    function(x) return (x:sigmoid() * x ^ 3 - 2 / (x ^ 2 + 1)):mean() end,
    function(x) return x:log_softmax(2)[{ {}, 2 }]:sum() end,
    function(x) return tensor.cat({ x, 2 * x:transpose():reshape(2, 3) }):logsumexp(1):norm() end,
    function(x) return x:index_select(2, { 1, 1, 3 }):exp():sum() + x:max(2):sum() end,
    function(x) return tensor.op('cumsum', x, 1):sin():sum() end,
  }
  for _, f in ipairs(functions) do
    local x = tensor.randn({ 2, 3 }, { seed = 6, dtype = 'float64', requires_grad = true })
    f(x):backward()
    test.near(x:grad(), numeric_gradient(f, x), 1e-7)
  end
end)

test('gradients add up until they are cleared', function()
  local x = tensor({ 1, 2 }, { dtype = 'float64', requires_grad = true })
  test.equal(x:grad(), nil)
  local function square() return x * x end
  square():sum():backward()
  square():sum():backward()
  test.near(x:grad(), { 4, 8 }, 0)
  x:zero_grad()
  test.equal(x:grad(), nil)
  square():backward(tensor({ 1, 10 }, f64))
  test.near(x:grad(), { 2, 40 }, 0)
  test.fails('needs the gradient of the result', function() square():backward() end)
  test.fails('made with requires_grad', function() matrix():sum():backward() end)
  local y = square():sum()
  y:backward(nil, { retain_graph = true })
  y:backward()
  test.fails('[Bb]ackward through the graph a second time', function() y:backward() end)
end)

test('recording can be switched off', function()
  local x = tensor({ 1, 2 }, { requires_grad = true })
  assert(x:requires_grad() and not x:detach():requires_grad())
  local a, b = tensor.no_grad(function(k) return x * k, k end, 3)
  assert(not a:requires_grad() and b == 3)
  test.fails('inner', function() tensor.no_grad(function() error('inner') end) end)
  assert((x * 2):requires_grad(), 'recording is on again after an error')
  test.fails('leaf', function() x[1] = 3 end)
  x:assign { 5, 6 }
  test.near(x, { 5, 6 }, 0)
  x:requires_grad(false)
  x[1] = 3
  test.near(x, { 3, 6 }, 0)
end)

test('any operator of LibTorch can be called', function()
  local t = matrix()
  test.near(tensor.op('cumsum', t, 0), { { 1, 2, 3 }, { 5, 7, 9 } }, 0)
  test.near(tensor.op('sum', t, { 0 }, true), { { 5, 7, 9 } }, 0)
  test.equal(tensor.op('sum', t, { 1 }, { dtype = 'float32' }):dtype(), 'float32')
  local values, places = tensor.op('topk', t, 2)
  test.near(values, { { 3, 2 }, { 6, 5 } }, 0)
  test.near(places, { { 2, 1 }, { 2, 1 } }, 0)
  test.fails("no operator 'cumsun', did you mean 'cumsum'", function() tensor.op('cumsun', t) end)
  local message = test.fails('fit none of the overloads', function() tensor.op('cumsum', t) end)
  assert(message:find('aten::cumsum(Tensor self, int dim', 1, true), message)
  for _, unsafe in ipairs { 'as_strided', 'set_', '_reshape_alias', 'resize_' } do
    test.fails('no operator', function() tensor.op(unsafe, t) end)
  end
end)

test('wrong calls show how to call', function()
  local t = matrix()
  local message = test.fails('expected a Tensor to call this method on', function() t.size(5) end)
  assert(message:find('usage: size(dim)', 1, true), message)
  test.fails('expected a Tensor to call', function() t.size() end)
  test.fails("has no method 'sizes', did you mean 'size'", function() t:sizes() end)
  test.fails('must have one element, got shape 2 x 3', function() t:item() end)
  test.fails('^[^\n]*test_tensor.lua:%d+: ', function() t:item() end)
  test.equal(getmetatable(t), 'Tensor')
  -- Even access by the debug library must not crash.
  local meta = debug.getmetatable(t)
  meta.__gc(5)
  meta.__gc()
  local released = matrix()
  meta.__gc(released)
  test.fails('expected a Tensor', function() return released:size() end)
  meta.__gc(released)
end)

test('errors count dimensions and tensors from 1', function()
  local a, b, c = tensor.zeros { 2, 3 }, tensor.zeros { 2, 5 }, tensor.zeros { 2, 3, 4 }
  local function says(words, f) test.fails(words:gsub('%p', '%%%0'), f) end
  for _, f in ipairs { function() return a + b end, function() return a:gt(b) end,
    function() return tensor.maximum(a, b) end, function() return tensor.where(a:gt(0), a, b) end } do
    says('must match the size of tensor b (5) at non-singleton dimension 2', f)
  end
  says('at non-singleton dimension 1', function() return c:matmul(tensor.zeros { 3, 4, 5 }) end)
  says('must match except in dimension 1', function() return tensor.cat({ a, b }, 1) end)
  says('Expected size 2 but got size 7 for tensor number 3 in the list', function()
    return tensor.cat({ a, b, tensor.zeros { 7, 3 } }, 2)
  end)
  says('[2, 3] at entry 1 and [2, 5] at entry 2', function() return tensor.stack { a, b } end)
  says('at non-singleton dimension 1', function() return a:expand(4, 3) end)
  for _, f in ipairs { function() return a:sum { 2, 2 } end, function() return a:mean { 2, -1 } end,
    function() return a:std { 2, 2 } end, function() return a:logsumexp { 2, 2 } end,
    function() return a:norm(2, { 2, 2 }) end } do
    says('dim 2 appears multiple times', f)
  end
  says('at dimension 2 expected index [1, 4] to be smaller than self [2, 3] apart from dimension 1', function()
    return a:gather(1, { { 1, 1, 1, 1 } })
  end)
  -- What pd.tensor checks itself.
  says('there is no dimension 3; the tensor has 2', function() return a:cumsum(3) end)
  says('index 4 is out of range for dimension 2 of size 3', function() return a[{ 1, 4 }] end)
  says('the range 2, 4 does not lie in dimension 2 of size 3', function() return a[{ 1, { 2, 4 } }] end)
  says('the range 2, 4 does not lie in dimension 2 of size 3', function() return a:slice(2, 2, 4) end)
  says('index 4 is out of range for dimension 2 of size 3', function() return a:index_select(2, { 4 }) end)
  -- LibTorch's own operators count from 0 in arguments and messages.
  says('at non-singleton dimension 1', function() return tensor.op('add', a, b) end)
  says('in range of [-2, 1], but got 5', function() return tensor.op('cumsum', a, 5) end)
end)

test('one line for each tensor, the head of large ones', function()
  test.equal(tostring(tensor({ { 1, 2.5 }, { -3, 4 } }, f64)), 'Tensor 2 x 2 float64 {{1, 2.5}, {-3, 4}}')
  test.equal(tostring(tensor(3)), 'Tensor float32 3')
  test.equal(tostring(tensor { 1 }:gt(0)), 'Tensor 1 bool {true}')
  test.equal(tostring(tensor { 0 / 0, math.huge }):gsub('%-nan', 'nan'), 'Tensor 2 float32 {nan, inf}')
  local large = tostring(tensor.zeros { 300, 300 })
  assert(#large < 200 and large:find('...', 1, true), large)
  local shown = debug.getmetatable(tensor(1)).__show(tensor.zeros { 300, 300 })
  assert(#shown < 1500 and shown:match('^Tensor 300 x 300 float32\n'), shown)
end)

test('memory behind dropped tensors comes back', function()
  local function resident()
    local file = assert(io.open('/proc/self/statm'))
    local pages = tonumber(file:read('*l'):match('^%d+ (%d+)'))
    file:close()
    return pages * 4096
  end
  collectgarbage()
  local before = resident()
  for _ = 1, 2000 do
    local t = tensor.zeros { 1024, 256 }  -- 1 MB that Lua counts as a few bytes
    t[1] = 1
  end
  local grown = (resident() - before) / 2 ^ 20
  assert(grown < 300, ('grew by %.0f MB'):format(grown))
end)

test.finish()
