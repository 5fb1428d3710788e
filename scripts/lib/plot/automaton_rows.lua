-- The stack automaton of a long string as SVG: a row for each configuration, and a narrow column for each symbol, with
-- the symbol on the axis. Circles grow and darken with their share of the weight, and edges with their mass. An edge
-- has no label; its stack symbol is that of the row in which it ends.
local heavy_edges = require 'pushdown.plot.heavy_edges'
local legend = require 'pushdown.plot.legend'
local svg = require 'pushdown.plot.svg'

local largest = 6  -- radius of a node that has all the weight

-- The upward bend of an edge: longer edges bend more, so that nested ones stay apart.
local function bend_of(span) return span > 1 and math.min(70, 6 + 4 * span ^ 0.75) or 0 end

-- The height at a share of the way from y1 to y2 of an edge, a Bezier curve, that bends.
local function height_at(y1, y2, bend, share)
  local rest = 1 - share
  return rest ^ 3 * y1 + 3 * rest * share * (rest * (y1 - bend) + share * (y2 - bend)) + share ^ 3 * y2
end

-- automaton_rows(nodes, edges, options) -> SVG. The edges have their mass (pushdown.plot.heavy_edges). options: input,
-- title, width, note, shade.
return function(nodes, edges, options)
  local input, title = options.input, options.title
  local rows, place_of, several = heavy_edges.rows_of(nodes)
  local labels, highest = {}, 0
  for i, one in ipairs(rows) do labels[i] = several and one.state .. ', ' .. one.top or one.top end
  for _, edge in ipairs(edges) do
    if edge.from and edge.from.state == edge.state and edge.from.top == edge.top then
      highest = math.max(highest, bend_of(edge.time - edge.from.time))
    end
  end
  local gap = math.max(30, math.min(84, highest + 16))
  local function index_of(node) return place_of(node) - 1 end
  -- The room for edges above the first row.
  local above = 0
  for _, edge in ipairs(edges) do
    local bend = edge.from and bend_of(edge.time - edge.from.time) * 4 / 3 or 0
    for share = 0.1, bend > 0 and 0.9 or 0, 0.1 do
      above = math.max(above, -height_at(index_of(edge.from) * gap, index_of(edge) * gap, bend, share))
    end
  end
  local left, top = svg.widest(labels) + 34, (title and 44 or 20) + math.ceil(above)
  local step = math.max(svg.widest(input) + 5, math.min(44, ((options.width or 1100) - left - 24) / #input), 15)
  local bottom = top + (#rows - 1) * gap
  local canvas = svg.canvas(math.ceil(math.max(left + #input * step + 24, 360)), math.ceil(bottom + 52))
  local note = options.note and legend.wrapped(options.note, canvas.width - 24 - 24) or {}
  canvas.height = canvas.height + 18 * #note
  local function x_at(time) return left + time * step end
  local function y_at(node) return top + index_of(node) * gap end
  canvas:title(title)
  for i, one in ipairs(rows) do
    canvas:line(left, y_at(one), x_at(#input), y_at(one), { stroke = svg.grid })
    canvas:before(left - 14, y_at(one) + 4.5, labels[i])
  end
  for time, symbol in ipairs(input) do
    canvas:line(x_at(time), top - 8, x_at(time), bottom + 18, { stroke = '#f1f1f1' })
    canvas:centred(x_at(time), bottom + 34, symbol)
  end
  canvas:before(left - 14, bottom + 34, 'reads', { fill = '#555555' })
  for _, edge in ipairs(edges) do
    if edge.from then
      local x1, y1, x2, y2 = x_at(edge.from.time), y_at(edge.from), x_at(edge.time), y_at(edge)
      local bend, third = bend_of(edge.time - edge.from.time) * 4 / 3, (x2 - x1) / 3
      canvas:add('path', { fill = 'none', stroke = '#12355b', ['stroke-linecap'] = 'round',
        -- There are many faint edges, and they must not hide the few heavy ones.
        ['stroke-width'] = 0.5 + 3 * edge.mass, ['stroke-opacity'] = ('%.2f'):format(0.05 + 0.9 * edge.mass ^ 0.7),
        d = ('M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'):format(x1, y1, x1 + third, y1 - bend, x2 - third, y2 - bend,
          x2, y2) })
    end
  end
  local drawn = {}
  for _, node in ipairs(nodes) do
    if not drawn[heavy_edges.key(node)] then
      drawn[heavy_edges.key(node)] = true
      local x, y, radius = x_at(node.time), y_at(node), 1.8 + (largest - 1.8) * math.sqrt(node.share)
      if node.accepted then
        canvas:add('circle', { cx = x, cy = y, r = radius + 2.5, fill = '#ffffff', stroke = svg.ink,
          ['stroke-width'] = 0.9 })
      end
      canvas:add('circle', { cx = x, cy = y, r = radius, fill = options.shade(node.share), stroke = svg.ink,
        ['stroke-width'] = 0.9 })
    end
  end
  for i, line in ipairs(note) do
    canvas:text(24, bottom + 44 + 18 * i, line, { ['font-size'] = 12, fill = '#555555' })
  end
  return canvas:document(title or 'Stack automaton of ' .. table.concat(input, ' '))
end
