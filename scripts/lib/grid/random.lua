-- Random search: draws the points of a grid from distributions.
--
--   points = grid.random{ count = 50, seed = 1, options = {
--     learning_rate = grid.log_uniform(1e-4, 1e-2), batch_size = grid.log_integers(16, 256),
--     stack = grid.choices{ 'superposition', 'nondeterministic' } } }
local options_of = require 'pushdown.grid.options'
local pd = require 'pushdown'

local M = {}

local Distribution = {}
Distribution.__index = Distribution
Distribution.__tostring = function(self) return self.text end

local function fail(place, ...) error(('[grid.%s] '):format(place) .. (...):format(select(2, ...)), 0) end

local function distribution(text, draw) return setmetatable({ text = text, draw = draw }, Distribution) end

local function bounds(place, low, high, least)
  if type(low) ~= 'number' or type(high) ~= 'number' or not (low > -math.huge and low < high and high < math.huge) then
    fail(place, 'expected two finite numbers, the lower one first, got %s and %s', tostring(low), tostring(high))
  end
  if least and low < least then fail(place, 'the bounds must be positive, got %s', tostring(low)) end
  return ('%s(%.6g, %.6g)'):format(place, low, high)
end

local function whole_bounds(place, low, high, least)
  local text = bounds(place, low, high, least)
  if low ~= math.floor(low) or high ~= math.floor(high) then
    fail(place, 'the bounds must be integers, got %s and %s', tostring(low), tostring(high))
  end
  return text
end

-- Rounds to four digits, so that the names of points and of their folders stay short.
local function short(value, low, high) return math.min(math.max(tonumber(('%.4g'):format(value)), low), high) end

local function geometric(low, high, u) return low * (high / low) ^ u end

-- grid.uniform(low, high) -> distribution: uniformly distributed numbers with four digits.
function M.uniform(low, high)
  return distribution(bounds('uniform', low, high), function(u) return short(low + (high - low) * u, low, high) end)
end

-- grid.log_uniform(low, high) -> distribution: numbers whose logarithms are uniformly distributed.
function M.log_uniform(low, high)
  return distribution(bounds('log_uniform', low, high, 1e-300), function(u)
    return short(geometric(low, high, u), low, high)
  end)
end

-- grid.integers(low, high) -> distribution: uniformly distributed integers, including both bounds.
function M.integers(low, high)
  return distribution(whole_bounds('integers', low, high), function(u)
    return low + math.floor((high - low + 1) * u)
  end)
end

-- grid.log_integers(low, high) -> distribution: integers that are equally likely in every octave.
function M.log_integers(low, high)
  return distribution(whole_bounds('log_integers', low, high, 1), function(u)
    return math.min(math.floor(geometric(low, high + 1, u)), high)
  end)
end

-- grid.choices{a, b, ...} -> distribution: one of the values, all equally likely. A value can be a list.
function M.choices(values)
  if type(values) ~= 'table' or #values == 0 then fail('choices', 'expected a list of values') end
  return distribution(('choices of %d'):format(#values), function(u) return values[1 + math.floor(#values * u)] end)
end

-- A number in [0, 1) that depends only on the seed, the number of the draw and the option.
local function fraction(seed, draw, key)
  local hash = pd.file.sha256_of_text(('%.0f\0%d\0%s'):format(seed, draw, key))
  return tonumber(hash:sub(1, 12), 16) / 2 ^ 48
end

local options = pd._options.declare('grid.random', {
  { 'count', nil, 'number of points', type = 'integer', minimum = 1, required = true },
  { 'seed', 1, 'decides the drawn values', minimum = 0 },
  { 'options', nil, 'the distributions by the names of options', type = 'table', required = true },
})

local function check(given)
  if not next(given.options) then fail('random', 'options must be a table of distributions by the names of options') end
  for key, value in pairs(given.options) do
    if type(key) ~= 'string' or getmetatable(value) ~= Distribution then
      fail('random', 'options.%s must be a distribution: uniform, log_uniform, integers, log_integers or choices; an '
        .. 'option that is the same for all points belongs in fixed', tostring(key))
    end
  end
end

local draws_for_a_new_point = 1000

-- grid.random{options} -> list of `count` different points for grid.run. A drawn
-- value depends only on the seed, the position in the list and the name of the option. A larger count therefore extends
-- the list, and an added option does not change the others.
function M.random(given)
  given = options(given)
  check(given)
  local count, seed = given.count, given.seed
  local names, points, known_points = options_of.keys(given.options), {}, {}
  local draw, last_new = 0, 0
  while #points < count do
    draw = draw + 1
    local point, parts = {}, {}
    for i, name in ipairs(names) do
      point[name] = given.options[name].draw(fraction(seed, draw, name))
      parts[i] = options_of.text(point[name], '+')
    end
    local key = table.concat(parts, '\0')
    if not known_points[key] then
      known_points[key], points[#points + 1], last_new = true, point, draw
    elseif draw - last_new >= draws_for_a_new_point then
      fail('random', 'these distributions have only %d different points, %d are wanted', #points, count)
    end
  end
  return points
end

return M
