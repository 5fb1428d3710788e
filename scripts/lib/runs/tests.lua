-- Tests between the points of a grid: paired ones of runs with the same seeds, and the rank-sum test of runs with
-- different ones.
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local metric_of = require 'pushdown.statistics.metric'
local paired = require 'pushdown.statistics.paired'
local rank_sum = require 'pushdown.statistics.rank_sum'
local statistics = require 'pushdown.statistics'
local table_of = require 'pushdown.text.table'

local M = {}

local function folder_of(row) return (row.folder:gsub('/[^/]*$', '')) end
local function place_of(point) return point.folder .. '/' .. point.point end

-- The finite values of a metric in the finished runs by point folder: {[folder] = {list, [seed] = value}}.
local function values_of(rows, metric)
  local by_folder = {}
  for _, row in ipairs(rows) do
    local value = row.status == 'done' and (row.result or {})[metric]
    if metric_of.is_finite(value) then
      local folder = folder_of(row)
      by_folder[folder] = by_folder[folder] or { list = {}, by_seed = {} }
      table.insert(by_folder[folder].list, value)
      if type(row.seed) == 'number' then by_folder[folder].by_seed[row.seed] = value end
    end
  end
  return by_folder
end

-- The differences of two points over the seeds that both have, in order.
local function differences_of(one, other)
  local shared, list = {}, {}
  for seed in pairs(one.by_seed) do
    if other.by_seed[seed] then shared[#shared + 1] = seed end
  end
  table.sort(shared)
  for i, seed in ipairs(shared) do list[i] = one.by_seed[seed] - other.by_seed[seed] end
  return list
end

local function base_of(points, against)
  if not against then return points[1] end
  for _, point in ipairs(points) do
    if point.point == against or place_of(point) == against or ('%s %s'):format(point.grid, point.point) == against then
      return point
    end
  end
  error(("--against: there is no point '%s' among those compared"):format(against), 0)
end

-- The number of ways to choose k of n.
local function binomial(n, k)
  local ways = 1
  for i = 1, k do ways = ways * (n - k + i) / i end
  return ways
end

local function independent(one, other)
  local n, m = #one.list, #other.list
  if n == 0 or m == 0 then return { test = 'mann_whitney', n = n, n_against = m } end
  local result = rank_sum(one.list, other.list)
  result.difference = statistics(one.list) - statistics(other.list)
  if result.exact then result.smallest = 2 / binomial(n + m, n) end
  return result
end

local function of_pairs(test, differences)
  if #differences == 0 then return { test = test, n = 0 } end
  local result = paired[test](differences)
  result.pairs, result.difference, result.mean = #differences, statistics(differences), nil
  if test == 'wilcoxon' and result.exact and result.n > 0 then result.smallest = 2 / 2 ^ result.n end
  return result
end

-- M.of(rows, points, metric, test, against) -> list of {point, against, metric, test, n, difference, p, holm, ...}:
-- compares each point (of runs.by_point) with the point named `against`, by default the first one. 'auto' is
-- Wilcoxon's signed-rank test if every point shares at least two seeds with that point, else the test of Mann and
-- Whitney. A paired test of points that do not is an error.
function M.of(rows, points, metric, test, against)
  local base, values = base_of(points, against), values_of(rows, metric)
  local nothing, compared, alone = { list = {}, by_seed = {} }, {}, nil
  for _, point in ipairs(points) do
    if point ~= base then
      local one, other = values[place_of(point)] or nothing, values[place_of(base)] or nothing
      local differences = differences_of(one, other)
      compared[#compared + 1] = { point = point, one = one, other = other, differences = differences }
      if #differences < 2 and #one.list > 0 and #other.list > 0 then alone = alone or point end
    end
  end
  if test == 'auto' then test = alone and 'mann_whitney' or 'wilcoxon' end
  if alone and test ~= 'mann_whitney' then
    error(("--test %s compares pairs of runs with the same seed, but '%s' and '%s' share fewer than two seeds: "
      .. "expected --test mann_whitney, or grids with seeds = 'shared'"):format(test, alone.point, base.point), 0)
  end
  local found, p = {}, {}
  for i, pair in ipairs(compared) do
    local result = test == 'mann_whitney' and independent(pair.one, pair.other) or of_pairs(test, pair.differences)
    result.point, result.grid, result.against, result.metric = pair.point.point, pair.point.grid, base.point, metric
    result.against_grid = base.grid
    found[i], p[i] = result, result.p or false
  end
  local adjusted = paired.holm(p)
  for i, result in ipairs(found) do result.holm = adjusted[i] or nil end
  return found
end

local function p_text(p)
  if not p then return '–' end
  return p < 1e-4 and '<0.0001' or ('%.4f'):format(p)
end

local order = { 'grid', 'point', 'against', 'metric', 'test', 'n', 'n_against', 'pairs', 'zeros', 'difference', 'low',
  'high', 'statistic', 'p', 'holm', 'exact', 'samples' }

-- The tests with the fields that are written.
local function written(found)
  local rows = {}
  for i, result in ipairs(found) do
    rows[i] = {}
    for _, key in ipairs(order) do rows[i][key] = result[key] end
  end
  return rows
end

-- The tests as rows of CSV.
function M.csv(found)
  local rows = written(found)
  for _, row in ipairs(rows) do
    if row.exact ~= nil then row.exact = tostring(row.exact) end
  end
  return table_of.new { columns = order, rows = rows }:csv()
end

function M.json(found)
  local rows = written(found)
  for _, row in ipairs(rows) do json.ordered(row, order) end
  return json.list(rows)
end

local names = { wilcoxon = "Wilcoxon's signed-rank test", bootstrap = 'a bootstrap of the paired differences',
  mann_whitney = 'the rank-sum test of Mann and Whitney' }

local function n_text(result)
  return result.n_against and ('%d, %d'):format(result.n, result.n_against) or ('%d'):format(result.n)
end

-- What stands below the table of the tests.
local function explanation(found)
  local first, zeros, fewest, weakest = found[1], 0, math.huge, { smallest = 0 }
  for _, result in ipairs(found) do
    zeros, fewest = zeros + (result.zeros or 0), math.min(fewest, result.n)
    if (result.smallest or 0) > weakest.smallest then weakest = result end
  end
  local text = ('%s against %s by %s, two-sided: %s.'):format(first.metric:gsub('_', ' '), first.against,
    names[first.test], first.test == 'mann_whitney' and 'n runs of the point and of ' .. first.against
      .. ', difference of the means' or 'n pairs of the same seeds, mean of the differences')
  if #found > 1 then text = text .. ' p (Holm) is adjusted for the number of tests.' end
  if first.test == 'bootstrap' and fewest < 6 then
    text = text .. ' With fewer than 6 pairs a bootstrap understates the spread.'
  end
  if zeros > 0 then text = text .. ' Differences of 0 are left out of n.' end
  if weakest.smallest > 0.05 then
    text = text .. (' p cannot be below %.4g with n = %s.'):format(math.min(1, weakest.smallest), n_text(weakest))
  end
  return text
end

-- Prints the tests as a table with an explanation.
function M.print(found, width)
  local bootstrap, unpaired = found[1].test == 'bootstrap', found[1].test == 'mann_whitney'
  local columns = { 'point', 'n', unpaired and 'difference' or 'mean difference' }
  if bootstrap then columns[#columns + 1] = '95 % interval' end
  columns[#columns + 1] = 'p'
  if #found > 1 then columns[#columns + 1] = 'p (Holm)' end
  local cells, several = {}, false
  for _, result in ipairs(found) do several = several or result.grid ~= result.against_grid end
  for i, result in ipairs(found) do
    local function number(value) return value and ('%.4f'):format(value) or '–' end
    cells[i] = { several and result.grid .. ' ' .. result.point or result.point, n_text(result),
      number(result.difference) }
    if bootstrap then
      table.insert(cells[i], result.low and ('%s to %s'):format(number(result.low), number(result.high)) or '–')
    end
    table.insert(cells[i], p_text(result.p))
    if #found > 1 then table.insert(cells[i], p_text(result.holm)) end
  end
  print()
  layout.table(columns, cells, width)
  layout.wrapped(explanation(found), width, '')
end

return M
