-- The styles that distinguish the series of a plot: colours of different lightness (so that they remain
-- distinct on a grey printer), dash patterns and marker shapes, all three together.
local M = {}

-- CIE lightness 22, 51, 71, 38, 64, 28, 73, 47.
local colours = { '#12355b', '#d1495b', '#e0a526', '#14654f', '#4aa3df', '#5b2a86', '#9fc131', '#73706b' }
local dashes = { false, '7 3', '2 2.5', '9 3 2 3', '12 4', '5 2 1.5 2 1.5 2', '1 3', '14 3 4 3' }
-- Filled shapes and open ones alternate.
local shapes = { 'circle', 'square', 'triangle', 'diamond', 'open_circle', 'open_square',
  'open_triangle', 'cross' }

-- {colour =, dash = (nil: solid), shape =} of the series with this number.
function M.of(index)
  local k = (index - 1) % #colours + 1
  local round = math.floor((index - 1) / #colours)  -- further rounds combine colours with other styles
  return { colour = colours[k], dash = dashes[(k - 1 + 3 * round) % #dashes + 1] or nil,
    shape = shapes[(k - 1 + round) % #shapes + 1] }
end

-- Draws the marker `shape` centred at (x, y).
function M.marker(canvas, shape, x, y, colour)
  local open = shape:match('^open_') ~= nil
  local fill, stroke = open and '#ffffff' or colour, colour
  shape = shape:gsub('^open_', '')
  local paint = { fill = fill, stroke = stroke, ['stroke-width'] = open and 1.5 or 0.75 }
  if shape == 'circle' then
    paint.cx, paint.cy, paint.r = x, y, 3.4
    canvas:add('circle', paint)
  elseif shape == 'square' then
    paint.x, paint.y, paint.width, paint.height = x - 3.1, y - 3.1, 6.2, 6.2
    canvas:add('rect', paint)
  elseif shape == 'cross' then
    paint.fill, paint['stroke-width'] = 'none', 1.8
    paint.d = ('M%.2f %.2fL%.2f %.2fM%.2f %.2fL%.2f %.2f'):format(x - 3, y - 3, x + 3, y + 3,
      x - 3, y + 3, x + 3, y - 3)
    canvas:add('path', paint)
  else
    local points = shape == 'triangle' and { 0, -4.4, 4, 2.9, -4, 2.9 } or { 0, -4.6, 4, 0, 0, 4.6, -4, 0 }
    local list = {}
    for i = 1, #points, 2 do list[#list + 1] = ('%.2f,%.2f'):format(x + points[i], y + points[i + 1]) end
    paint.points = table.concat(list, ' ')
    canvas:add('polygon', paint)
  end
end

return M
