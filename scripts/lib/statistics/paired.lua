-- Tests of paired values, such as the results of two models with the same seeds: do the differences centre on 0?
local ranks_of = require 'pushdown.statistics.ranks'

local M = {}

local function check(condition, where, ...)
  if not condition then error(('[%s] '):format(where) .. (...):format(select(2, ...)), 0) end
end

local function checked(differences, where)
  check(type(differences) == 'table' and #differences > 0, where, 'expected a list of differences')
  for i, value in ipairs(differences) do
    check(type(value) == 'number' and value - value == 0, where, 'difference %d is not a finite number: %s', i,
      tostring(value))
  end
end

-- ---- Wilcoxon's signed-rank test ----

local most_exact = 50  -- pairs

-- The probability, over all 2^n choices of signs, of a sum of signed ranks at least as far from its mean.
local function exact_probability(ranks, sum)
  local total = 0
  for _, rank in ipairs(ranks) do total = total + rank end
  local ways = { [0] = 1 }
  for s = 1, total do ways[s] = 0 end
  for _, rank in ipairs(ranks) do
    for s = total, rank, -1 do ways[s] = ways[s] + ways[s - rank] end
  end
  local distance, count = math.abs(2 * sum - total), 0
  for s = 0, total do
    if math.abs(2 * s - total) >= distance then count = count + ways[s] end
  end
  return math.min(1, count / 2 ^ #ranks)
end

-- paired.wilcoxon(differences, {exact=}) -> {p, n, zeros, statistic, exact}: the two-sided signed-rank test of
-- Wilcoxon (1945). Differences of 0 are left out, and n is the number of the others. statistic is the sum of the ranks
-- of positive differences; ties have their mean rank. p is exact over all signs for n up to 50 (or as `exact` says),
-- also with ties; otherwise it is the normal approximation with corrections for ties and continuity. p is nil if all
-- differences are 0.
function M.wilcoxon(differences, options)
  checked(differences, 'paired.wilcoxon')
  local values, sizes = {}, {}
  for _, value in ipairs(differences) do
    if value ~= 0 then values[#values + 1], sizes[#sizes + 1] = value, math.abs(value) end
  end
  local n = #values
  local exact = options and options.exact
  if exact == nil then exact = n <= most_exact end
  local result = { n = n, zeros = #differences - n, exact = exact, test = 'wilcoxon' }
  if n == 0 then return result end
  local ranks, ties = ranks_of.double(sizes)
  local sum = 0
  for i, value in ipairs(values) do
    if value > 0 then sum = sum + ranks[i] end
  end
  result.statistic = sum / 2
  if result.exact then
    result.p = exact_probability(ranks, sum)
  else
    local variance = n * (n + 1) * (2 * n + 1) / 24
    for _, size in ipairs(ties) do variance = variance - (size ^ 3 - size) / 48 end
    result.p = ranks_of.normal(math.abs(sum / 2 - n * (n + 1) / 4), variance)
  end
  return result
end

-- ---- Bootstrap ----

local most_enumerated = 50000  -- samples
local default_samples = 20000

local function mean_of(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  return sum / #values
end

-- The means of all n^n samples with replacement.
local function all_means(values)
  local n, means = #values, {}
  local function fill(depth, sum)
    if depth == n then
      means[#means + 1] = sum / n
      return
    end
    for i = 1, n do fill(depth + 1, sum + values[i]) end
  end
  fill(0, 0)
  return means
end

-- Uses its own generator, that of Park and Miller, so that a test is independent of the random numbers of a script.
local function drawn_means(values, count, seed)
  local n, means, state = #values, {}, seed % 2147483646 + 1
  for k = 1, count do
    local sum = 0
    for _ = 1, n do
      state = state * 16807 % 2147483647
      sum = sum + values[math.floor((state - 1) / 2147483646 * n) + 1]
    end
    means[k] = sum / n
  end
  return means
end

-- The quantile of the sorted values at a share, interpolated linearly.
local function quantile(sorted, share)
  local place = 1 + share * (#sorted - 1)
  local below = math.floor(place)
  local part = place - below
  return sorted[below] + (part > 0 and part * (sorted[below + 1] - sorted[below]) or 0)
end

-- paired.bootstrap(differences, {samples = 20000, seed = 1, level = 0.95}) -> {p, n, mean, low, high, samples, exact}:
-- the mean difference, its percentile interval over samples with replacement, and the two-sided p. p is the share of
-- samples whose mean is at least as far from the mean as the mean is from 0 (the bootstrap under the hypothesis of no
-- difference). For n up to 6 all n^n samples are used, and p is at least 1 / n^n: so few pairs tell no more. Otherwise
-- `samples` samples are drawn, and p also counts the original sample. Thus p is never 0.
function M.bootstrap(differences, options)
  checked(differences, 'paired.bootstrap')
  options = options or {}
  local n, mean = #differences, mean_of(differences)
  local exact = n ^ n <= most_enumerated
  local means = exact and all_means(differences)
    or drawn_means(differences, options.samples or default_samples, options.seed or 1)
  -- Treats sums as equal if they differ only in the order of their terms.
  local slack, count = 1e-12 * math.abs(mean), 0
  for _, value in ipairs(means) do
    if math.abs(value - mean) >= math.abs(mean) - slack then count = count + 1 end
  end
  table.sort(means)
  local tail = (1 - (options.level or 0.95)) / 2
  return { test = 'bootstrap', n = n, mean = mean, low = quantile(means, tail), high = quantile(means, 1 - tail),
    samples = #means, exact = exact, p = exact and math.max(count, 1) / #means or (count + 1) / (#means + 1) }
end

-- paired.holm(p) -> the list of p values adjusted for their number (Holm 1979): each is the smallest level at which its
-- hypothesis is rejected when all are tested together. false stays false.
function M.holm(p)
  local order, adjusted = {}, {}
  for i, value in ipairs(p) do
    adjusted[i] = false
    if value then order[#order + 1] = i end
  end
  table.sort(order, function(a, b) return p[a] < p[b] end)
  local largest = 0
  for rank, i in ipairs(order) do
    largest = math.max(largest, math.min(1, (#order - rank + 1) * p[i]))
    adjusted[i] = largest
  end
  return adjusted
end

return M
