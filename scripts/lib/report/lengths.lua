-- The performance of runs at each length, from their CSV tables with a column `length`, or `shortest` and `longest`.
local bands = require 'pushdown.runs.bands'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local gather = require 'pushdown.report.gather'

local M = {}

local largest_file = 1e6
local not_measured = { set = true, length = true, shortest = true, longest = true, strings = true, symbols = true,
  lower_bound = true }

-- The curves of a table by set and column: {{set, column, x, y}}, or nil if it is not a table over lengths.
local function curves_of(rows)
  local header, place = rows[1] or {}, {}
  for k, name in ipairs(header) do place[name] = k end
  if not place.length and not (place.shortest and place.longest) then return nil end
  local curves, known = {}, {}
  for i = 2, #rows do
    local row = rows[i]
    local function field(name) return place[name] and tonumber(row[place[name]]) end
    local x = field 'length' or field 'shortest' and field 'longest' and (field 'shortest' + field 'longest') / 2
    local set = place.set and row[place.set] or ''
    if not x then return nil end
    for k, name in ipairs(header) do
      local value = tonumber(row[k])
      if not not_measured[name] and value then
        -- Counts of correct answers become shares of the strings.
        local share = name:match('^right') and (field 'strings' or 0) > 0
        local key = set .. '\n' .. name
        local curve = known[key]
        if not curve then
          curve = { set = set, column = name, x = {}, y = {}, share = share }
          known[key], curves[#curves + 1] = curve, curve
        end
        -- A repeated length means another kind of table, such as one with several models.
        if curve.x[#curve.x] and x <= curve.x[#curve.x] then return nil end
        curve.x[#curve.x + 1], curve.y[#curve.y + 1] = x, share and 100 * value / field 'strings' or value
      end
    end
  end
  return curves
end

local function title_of(file, curve)
  local name = curve.column:gsub('_', ' ')
  if curve.share then
    local how = curve.column:match('^right_(.+)$')
    name = 'right (%)' .. (how and ', by the ' .. how:gsub('_', ' ') .. (how == 'last' and ' answer' or '') or '')
  elseif curve.column:match('^cross_entropy') then
    name = name:gsub('cross entropy', 'cross-entropy') .. ' (nats per symbol)'
  end
  return ('%s: %s'):format(curve.set ~= '' and curve.set or file:gsub('%.csv$', ''), name)
end

-- lengths.charts(points) -> charts over lengths, with the points as their series.
function M.charts(points)
  local charts, known = {}, {}
  for i, point in ipairs(points) do
    local found = {}
    for _, row in ipairs(point.runs) do
      for _, file in ipairs(gather.files(row, '%.csv$')) do
        local ok, rows = pcall(csv.decode, files.read(row.folder .. '/' .. file):sub(1, largest_file))
        for _, curve in ipairs(ok and curves_of(rows) or {}) do
          local key = file .. '\n' .. curve.set .. '\n' .. curve.column
          if not known[key] then
            known[key] = { title = title_of(file, curve), axes = { length = {} }, fixed = #points == 1,
              reference = curve.column == 'cross_entropy_difference' and { value = 0, name = 'lower bound' } or nil }
            charts[#charts + 1] = known[key]
          end
          found[key] = found[key] or {}
          table.insert(found[key], curve)
        end
      end
    end
    for key, curves in pairs(found) do
      local band = bands.of(curves)
      if band then
        band.entry = i
        table.insert(known[key].axes.length, band)
      end
    end
  end
  -- A single bin is not a curve; the table of results has its number.
  for k = #charts, 1, -1 do
    local longest = 0
    for _, band in ipairs(charts[k].axes.length) do longest = math.max(longest, #band.x) end
    if longest < 2 then table.remove(charts, k) end
  end
  return charts
end

return M
