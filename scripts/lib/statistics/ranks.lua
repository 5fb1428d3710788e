-- What tests by ranks share.
local M = {}

-- ranks.double(values) -> twice the ranks of the values, so that the mean ranks of ties are integers; and the sizes of
-- the ties.
function M.double(values)
  local order, ranks, ties = {}, {}, {}
  for i in ipairs(values) do order[i] = i end
  table.sort(order, function(a, b) return values[a] < values[b] end)
  local first = 1
  while first <= #order do
    local last = first
    while last < #order and values[order[last + 1]] == values[order[first]] do last = last + 1 end
    for k = first, last do ranks[order[k]] = first + last end
    ties[#ties + 1] = last - first + 1
    first = last + 1
  end
  return ranks, ties
end

-- The complementary error function with a relative error of about 1e-7 (Numerical Recipes, erfcc).
local function erfc(x)
  local t = 1 / (1 + 0.5 * math.abs(x))
  local coefficients = { 0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418,
    0.37409196, 1.00002368 }
  local sum = coefficients[1]
  for k = 2, #coefficients do sum = sum * t + coefficients[k] end
  local value = t * math.exp(-x * x - 1.26551223 + t * sum)
  return x >= 0 and value or 2 - value
end

-- ranks.normal(distance, variance) -> the probability that a normal variable with this variance is at least this far
-- from its mean, with a correction for continuity of 0.5.
function M.normal(distance, variance)
  return math.min(1, erfc(math.max(0, distance - 0.5) / math.sqrt(2 * variance)))
end

return M
