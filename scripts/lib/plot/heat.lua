-- The parts of heat maps: panels of cells that are darker for larger values, each with the scale of its colours.
local axes = require 'pushdown.plot.axes'
local svg = require 'pushdown.plot.svg'

local M = {}

-- From light to dark with evenly decreasing lightness, so that it also works in greyscale.
local scale = { { 247, 251, 255 }, { 198, 219, 239 }, { 107, 174, 214 }, { 33, 113, 181 }, { 8, 48, 107 } }

-- The colour of a share of the scale, from 0 to 1.
local function colour(share)
  local at = math.max(0, math.min(1, share)) * (#scale - 1)
  local k = math.min(math.floor(at), #scale - 2)
  local from, to, part = scale[k + 1], scale[k + 2], at - k
  return ('#%02x%02x%02x'):format(from[1] + (to[1] - from[1]) * part + 0.5,
    from[2] + (to[2] - from[2]) * part + 0.5, from[3] + (to[3] - from[3]) * part + 0.5)
end

-- heat.range(rows, low, high) -> the range of the finite values, and of low and high where they are given.
function M.range(rows, low, high)
  for _, row in ipairs(rows) do
    for k = 1, table.maxn(row) do
      if axes.finite(row[k]) then low, high = math.min(low or row[k], row[k]), math.max(high or row[k], row[k]) end
    end
  end
  return low, high
end

-- heat.columns(rows) -> the number of their columns.
function M.columns(rows)
  local columns = 0
  for _, row in ipairs(rows) do columns = math.max(columns, table.maxn(row)) end
  return columns
end

-- Adds the rows as cells, grey without a finite value. content(i, k, share), if given, returns the text of a cell.
function M.cells(canvas, area, rows, columns, axis, content)
  local width, height = (area.right - area.left) / math.max(1, columns), (area.bottom - area.top) / math.max(1, #rows)
  for i, row in ipairs(rows) do
    for k = 1, columns do
      local x, y = area.left + (k - 1) * width, area.top + (i - 1) * height
      local share = axes.finite(row[k]) and axis.place(row[k]) or nil
      -- Slightly wider than the cell, so that no white seams show between cells.
      canvas:add('rect', { x = x, y = y, width = width + 0.3, height = height + 0.3,
        fill = share and colour(share) or '#d9d9d9' })
      local text = content and content(i, k, share)
      if text then
        canvas:centred(x + width / 2, y + height / 2 + 4, text,
          { ['font-size'] = 11, fill = share and share > 0.55 and '#ffffff' or svg.ink })
      end
    end
  end
end

-- Adds the frame of the cells, the scale of their colours on the right, and labels of the rows on the left, of which
-- the first one, or with `last` the last one, is always there.
function M.frame(canvas, area, rows, axis, labels, last)
  local height = (area.bottom - area.top) / math.max(1, #rows)
  local every = math.max(1, math.ceil(14 / height))
  for i, label in ipairs(labels) do
    if (i - (last and #labels or 1)) % every == 0 then
      canvas:before(area.left - 6, area.top + (i - 0.5) * height + 4, label)
    end
  end
  canvas:add('rect', { x = area.left, y = area.top, width = area.right - area.left, height = area.bottom - area.top,
    fill = 'none', stroke = svg.ink })
  local pieces, left, right = 64, area.right + 18, area.right + 32
  for k = 0, pieces - 1 do
    local piece = (area.bottom - area.top) / pieces
    canvas:add('rect', { x = left, y = area.bottom - (k + 1) * piece, width = right - left, height = piece + 0.3,
      fill = colour((k + 0.5) / pieces) })
  end
  for i, value in ipairs(axis.ticks) do
    local y = area.bottom - axis.place(value) * (area.bottom - area.top)
    canvas:line(right, y, right + 4, y)
    canvas:text(right + 8, y + 4, axis.labels[i])
  end
end

return M
