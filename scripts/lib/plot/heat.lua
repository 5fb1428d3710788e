-- The parts of heat maps: cells that are darker for larger values, and the scale of their colours.
local M = {}

-- From light to dark with evenly decreasing lightness, so that it also works in greyscale.
local scale = { { 247, 251, 255 }, { 198, 219, 239 }, { 107, 174, 214 }, { 33, 113, 181 }, { 8, 48, 107 } }

-- The colour of a share of the scale, from 0 to 1.
function M.colour(share)
  local at = math.max(0, math.min(1, share)) * (#scale - 1)
  local k = math.min(math.floor(at), #scale - 2)
  local from, to, part = scale[k + 1], scale[k + 2], at - k
  return ('#%02x%02x%02x'):format(from[1] + (to[1] - from[1]) * part + 0.5,
    from[2] + (to[2] - from[2]) * part + 0.5, from[3] + (to[3] - from[3]) * part + 0.5)
end

-- Adds a cell; without a share it is grey.
function M.cell(canvas, x, y, width, height, share)
  -- Slightly wider than the cell, so that no white seams show between cells.
  canvas:add('rect', { x = x, y = y, width = width + 0.3, height = height + 0.3,
    fill = share and M.colour(share) or '#d9d9d9' })
end

-- Adds the scale of the colours of an axis between top and bottom.
function M.scale(canvas, left, top, bottom, axis)
  local pieces, right = 64, left + 14
  for k = 0, pieces - 1 do
    local piece = (bottom - top) / pieces
    canvas:add('rect', { x = left, y = bottom - (k + 1) * piece, width = right - left, height = piece + 0.3,
      fill = M.colour((k + 0.5) / pieces) })
  end
  for i, value in ipairs(axis.ticks) do
    local y = bottom - axis.place(value) * (bottom - top)
    canvas:line(right, y, right + 4, y)
    canvas:text(right + 8, y + 4, axis.labels[i])
  end
end

return M
