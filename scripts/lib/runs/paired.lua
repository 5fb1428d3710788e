-- Paired tests between the points of a grid: a pair is the same metric for the same seed, or for the same restart if
-- the points have different seeds.
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local paired = require 'pushdown.statistics.paired'
local table_of = require 'pushdown.text.table'

local M = {}

local function folder_of(row) return (row.folder:gsub('/[^/]*$', '')) end

-- The finished values of a metric by point folder: {[folder] = {seed = {[seed] = value}, restart = {...}}}.
local function values_of(rows, metric)
  local by_folder = {}
  for _, row in ipairs(rows) do
    local value = row.status == 'done' and (row.result or {})[metric]
    if type(value) == 'number' and value - value == 0 then
      local folder = folder_of(row)
      by_folder[folder] = by_folder[folder] or { seed = {}, restart = {} }
      for _, key in ipairs { 'seed', 'restart' } do
        if type(row[key]) == 'number' then by_folder[folder][key][row[key]] = value end
      end
    end
  end
  return by_folder
end

-- The differences of two points over the seeds, or restarts, that both have, in order.
local function differences_of(one, other, key)
  local shared, list = {}, {}
  for place in pairs(one[key]) do
    if other[key][place] then shared[#shared + 1] = place end
  end
  table.sort(shared)
  for i, place in ipairs(shared) do list[i] = one[key][place] - other[key][place] end
  return list
end

-- M.of(rows, points, metric, test, against) -> list of {point, against, metric, by, n, difference, p, holm, ...}:
-- compares each point (of runs.by_point) with the point named `against`, by default the first one.
function M.of(rows, points, metric, test, against)
  local function place(point) return point.folder .. '/' .. point.point end
  local base = points[1]
  if against then
    base = nil
    for _, point in ipairs(points) do
      if point.point == against or place(point) == against or ('%s %s'):format(point.grid, point.point) == against then
        base = base or point
      end
    end
    if not base then error(("--against: there is no point '%s' among those compared"):format(against), 0) end
  end
  local values, found, p = values_of(rows, metric), {}, {}
  local nothing = { seed = {}, restart = {} }
  for _, point in ipairs(points) do
    if point ~= base then
      local one, other = values[place(point)] or nothing, values[place(base)] or nothing
      local by = 'seed'
      local differences = differences_of(one, other, by)
      if #differences < 2 then
        by = 'restart'
        differences = differences_of(one, other, by)
      end
      local result = #differences > 0 and paired[test](differences) or { n = 0, test = test }
      local sum = 0
      for _, value in ipairs(differences) do sum = sum + value end
      result.point, result.grid, result.against = point.point, point.grid, base.point
      result.metric, result.by = metric, by
      result.pairs, result.difference = #differences, #differences > 0 and sum / #differences or nil
      result.mean = nil
      found[#found + 1], p[#p + 1] = result, result.p or false
    end
  end
  local adjusted = paired.holm(p)
  for i, result in ipairs(found) do result.holm = adjusted[i] or nil end
  return found, base
end

local function p_text(p)
  if not p then return '–' end
  return p < 1e-4 and '<0.0001' or ('%.4f'):format(p)
end

local order = { 'grid', 'point', 'against', 'metric', 'test', 'by', 'n', 'pairs', 'zeros', 'difference', 'low', 'high',
  'statistic', 'p', 'holm', 'exact', 'samples' }

-- The tests as rows of CSV.
function M.csv(found)
  local rows = {}
  for i, result in ipairs(found) do
    rows[i] = {}
    for k, key in ipairs(order) do
      local value = result[key]
      if type(value) == 'boolean' then value = tostring(value) end
      rows[i][k] = value
    end
  end
  return table_of.new { columns = order, rows = rows }:csv()
end

function M.json(found)
  for _, result in ipairs(found) do json.ordered(result, order) end
  return json.list(found)
end

local names = { wilcoxon = "Wilcoxon's signed-rank test", bootstrap = 'a bootstrap of the paired differences' }

-- Prints the tests as a table with an explanation.
function M.print(found, base, metric, test, width)
  local bootstrap = test == 'bootstrap'
  local columns = { 'point', 'n', 'mean difference' }
  if bootstrap then columns[#columns + 1] = '95 % interval' end
  columns[#columns + 1] = 'p'
  if #found > 1 then columns[#columns + 1] = 'p (Holm)' end
  local cells, by, zeros, fewest, several = {}, {}, 0, math.huge, false
  for _, result in ipairs(found) do several = several or result.grid ~= base.grid end
  for i, result in ipairs(found) do
    local function number(value) return value and ('%.4f'):format(value) or '–' end
    cells[i] = { several and result.grid .. ' ' .. result.point or result.point, tostring(result.n),
      number(result.difference) }
    if bootstrap then
      table.insert(cells[i], result.low and ('%s to %s'):format(number(result.low), number(result.high)) or '–')
    end
    table.insert(cells[i], p_text(result.p))
    if #found > 1 then table.insert(cells[i], p_text(result.holm)) end
    by[result.by], zeros, fewest = true, zeros + (result.zeros or 0), math.min(fewest, result.n)
  end
  print()
  layout.table(columns, cells, width)
  local pairs_of = by.seed and by.restart and 'seeds, or restarts where the seeds differ' or by.seed and 'seeds'
    or 'restarts (the seeds of the points differ)'
  local text = ('%s against %s by %s, two-sided: n pairs of the same %s, mean of the differences.'):format(
    (metric:gsub('_', ' ')), base.point, names[test], pairs_of)
  if #found > 1 then text = text .. ' p (Holm) is adjusted for the number of tests.' end
  if bootstrap and fewest < 6 then text = text .. ' With fewer than 6 pairs a bootstrap understates the spread.' end
  if zeros > 0 then text = text .. ' Differences of 0 are left out of n.' end
  layout.wrapped(text, width, '')
end

return M
