-- grid.random: points drawn from distributions.
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local function draw(distribution, count)
  local values = {}
  for i, point in ipairs(grid.random { count = count, seed = 7, options = { x = distribution } }) do
    values[i] = point.x
  end
  return values
end

local function same(got, expected) test.equal(json.encode(got), json.encode(expected)) end

-- Returns the largest difference between the shares below each value and the distribution function (Kolmogorov and
-- Smirnov).
local function distance(distribution, share_below)
  -- The second option makes points with equal numbers different.
  local values, options = {}, { x = distribution, y = grid.uniform(0, 1) }
  for i, point in ipairs(grid.random { count = 2000, seed = 7, options = options }) do values[i] = point.x end
  table.sort(values)
  local largest = 0
  for i, value in ipairs(values) do
    local wanted = share_below(value)
    largest = math.max(largest, math.abs(wanted - i / #values), math.abs(wanted - (i - 1) / #values))
  end
  return largest
end

test('numbers are drawn from their distributions', function()
  local critical = 1.95 / math.sqrt(2000)  -- exceeded by one sample in a thousand
  assert(distance(grid.uniform(-1, 3), function(x) return (x + 1) / 4 end) < critical)
  local rates = grid.log_uniform(1e-4, 1e-2)
  assert(distance(rates, function(x) return math.log(x / 1e-4) / math.log(100) end) < critical)
  for _, value in ipairs(draw(rates, 100)) do
    assert(value >= 1e-4 and value <= 1e-2)
    test.equal(value, tonumber(('%.4g'):format(value)))
  end
end)

test('integers and choices: both ends occur, shares are equal', function()
  local options = { n = grid.integers(1, 4), m = grid.log_integers(1, 15), c = grid.choices { 'a', 'b' },
    x = grid.uniform(0, 1) }
  local counts, octaves, letters = {}, {}, {}
  for _, point in ipairs(grid.random { count = 2000, options = options }) do
    counts[point.n] = (counts[point.n] or 0) + 1
    local octave = math.floor(math.log(point.m) / math.log(2) + 1e-9)
    octaves[octave] = (octaves[octave] or 0) + 1
    letters[point.c] = (letters[point.c] or 0) + 1
    assert(point.m >= 1 and point.m <= 15 and point.m == math.floor(point.m))
  end
  -- Four standard deviations of a binomial share.
  for n = 1, 4 do assert(math.abs(counts[n] - 500) < 4 * math.sqrt(375), counts[n]) end
  for k = 0, 3 do assert(math.abs(octaves[k] - 500) < 4 * math.sqrt(375), octaves[k]) end
  assert(math.abs(letters.a - 1000) < 4 * math.sqrt(500))
  test.equal(draw(grid.integers(5, 6), 2)[1] + draw(grid.integers(5, 6), 2)[2], 11)
end)

test('more points continue the list, more options change no other, and seeds differ', function()
  local function points(count, more, seed)
    local options = pd.tables.merged({ rate = grid.log_uniform(1e-4, 1e-2), size = grid.integers(8, 64) }, more)
    return grid.random { count = count, seed = seed, options = options }
  end
  local few, many, other = points(5), points(20), points(5, { act = grid.choices { 'tanh', 'relu' } })
  for i = 1, 5 do
    same(many[i], few[i])
    same({ rate = other[i].rate, size = other[i].size }, few[i])
  end
  same(points(5), few)
  assert(points(1, nil, 2)[1].rate ~= few[1].rate)
  -- Points are parts of folder names, so the values that these seeds give must not change.
  test.equal(grid.point_name(grid.random { count = 1, seed = 1, options = { rate = grid.log_uniform(1e-4, 1e-2) } }[1]),
    'rate=0.0004331')
end)

test('points are different; too few of them and wrong options are errors', function()
  local values = draw(grid.choices { 'a', 'b', 'c' }, 3)
  table.sort(values)
  same(values, { 'a', 'b', 'c' })
  test.fails('only 3 different points, 4 are wanted', function() draw(grid.choices { 'a', 'b', 'c' }, 4) end)
  test.fails('lower one first, got 2 and 1', function() grid.uniform(2, 1) end)
  test.fails('must be positive', function() grid.log_uniform(0, 1) end)
  test.fails('must be integers, got 1.5', function() grid.integers(1.5, 4) end)
  test.fails('lower one first, got nan', function() grid.uniform(0 / 0, 1) end)
  test.fails('expected a list', function() grid.choices {} end)
  test.fails("option 'count' .* is missing", function() grid.random { options = { x = grid.uniform(0, 1) } } end)
  test.fails('options.x must be a distribution', function() grid.random { count = 1, options = { x = 3 } } end)
  test.fails("unknown option 'n'", function() grid.random { n = 1 } end)
end)

test.finish()
