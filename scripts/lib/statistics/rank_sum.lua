-- The rank-sum test of Mann and Whitney (1947) of two independent samples, such as the results of two models with
-- different seeds: does one of them tend to have larger values?
local ranks_of = require 'pushdown.statistics.ranks'

local most_exact = 50  -- values of both samples; the counts below are then exact in a double

-- counts[k][s]: the number of ways to choose k of the ranks with the sum s.
local function counts_of(ranks, size)
  local total, counts = 0, { [0] = { [0] = 1 } }
  for k = 1, size do counts[k] = {} end
  for _, rank in ipairs(ranks) do
    for k = math.min(size, #ranks), 1, -1 do
      local from, to = counts[k - 1], counts[k]
      for sum = 0, total do
        if from[sum] then to[sum + rank] = (to[sum + rank] or 0) + from[sum] end
      end
    end
    total = total + rank
  end
  return counts[size]
end

-- The probability, over all choices of the first sample, of a sum of its doubled ranks at least as far from its mean.
local function exact_probability(ranks, size, sum)
  local mean, far, all = size * (#ranks + 1), 0, 0
  for other, count in pairs(counts_of(ranks, size)) do
    all = all + count
    if math.abs(other - mean) >= math.abs(sum - mean) then far = far + count end
  end
  return far / all
end

-- rank_sum(one, other, {exact=}) -> {p, n, n_against, statistic, exact}: the two-sided test of two lists of numbers.
-- statistic is U, the number of pairs in which the value of `one` is larger; ties count one half. p is exact over all
-- divisions of the values into two samples for up to 50 values (or as `exact` says), also with ties; otherwise it is
-- the normal approximation with corrections for ties and continuity. p is 1 if all values are equal.
return function(one, other, options)
  local values = {}
  for k, list in ipairs { one, other } do
    if type(list) ~= 'table' or #list == 0 then
      error(('[rank_sum] sample %d: expected a list of numbers'):format(k), 0)
    end
    for _, value in ipairs(list) do
      if type(value) ~= 'number' or value - value ~= 0 then
        error(('[rank_sum] sample %d: %s is not a finite number'):format(k, tostring(value)), 0)
      end
      values[#values + 1] = value
    end
  end
  local n, m, sum = #one, #other, 0
  local ranks, ties = ranks_of.double(values)
  for i = 1, n do sum = sum + ranks[i] end
  local exact = options and options.exact
  if exact == nil then exact = n + m <= most_exact end
  local u = sum / 2 - n * (n + 1) / 2
  local result = { test = 'mann_whitney', n = n, n_against = m, statistic = u, exact = exact }
  if #ties == 1 then
    result.p = 1
  elseif exact then
    result.p = exact_probability(ranks, n, sum)
  else
    local all, tied = n + m, 0
    for _, size in ipairs(ties) do tied = tied + size ^ 3 - size end
    result.p = ranks_of.normal(math.abs(u - n * m / 2), n * m / 12 * (all + 1 - tied / (all * (all - 1))))
  end
  return result
end
