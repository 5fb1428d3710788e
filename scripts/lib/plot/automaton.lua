-- The stack automaton of a string (Lang's algorithm) as SVG, as in Figure 2 of DuSell and Chiang 2020:
-- a column for each time, a row for each configuration, and edges labelled with the stack symbol and its
-- inner weight. The weights are left out if all of them are 1.
local automaton_rows = require 'pushdown.plot.automaton_rows'
local check = require 'pushdown.plot.figure'.check
local heavy_edges = require 'pushdown.plot.heavy_edges'
local shared = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local key = heavy_edges.key

local node_height, row_gap = 26, 64
local few_edges = 60   -- up to this number all edges are shown
local most_each = 12   -- edges for each symbol, unless the mass is given
local long_input, most_labels = 14, 60  -- above either: narrow columns, edges without labels

-- From white to a blue on which black text is readable.
local function shade(share)
  return ('#%02x%02x%02x'):format(255 - 105 * share + 0.5, 255 - 70 * share + 0.5, 255 - 25 * share + 0.5)
end

local function weight_text(log_weight)
  if math.abs(log_weight) < 1e-12 then return '1' end
  if math.abs(log_weight) > 600 then return ('e^%.1f'):format(log_weight) end
  return ('%.3g'):format(math.exp(log_weight))
end

-- A cubic curve with level ends, bent by `bend` pixels in the middle: the heights of its control points,
-- and its height at share t of the way.
local function curve(y1, y2, bend)
  local c1, c2 = y1 + bend * 4 / 3, y2 + bend * 4 / 3
  return c1, c2, function(t)
    local s = 1 - t
    return s * s * s * y1 + 3 * s * s * t * c1 + 3 * s * t * t * c2 + t * t * t * y2
  end
end

-- The smallest bend with which an edge passes clear of all nodes between its ends, or of most of them.
-- x1, x2: start and end of the edge; half: half the width of a node.
local function clear_bend(from, to, x1, x2, half, columns)
  if to.time - from.time == 1 then return 0 end
  local best, fewest
  for k = 0, 24 do
    for _, bend in ipairs(k == 0 and { 0 } or { -15 * k, 15 * k }) do
      local _, _, height = curve(from.y, to.y, bend)
      local hits = 0
      for time = from.time + 1, to.time - 1 do
        for _, node in ipairs(columns[time] or {}) do
          local hit = false
          for part = -1, 1, 0.5 do
            local t = math.max(0, math.min(1, (node.x + part * half - x1) / (x2 - x1)))
            hit = hit or math.abs(node.y - height(t)) < node_height / 2 + 7
          end
          if hit then hits = hits + 1 end
        end
      end
      if not fewest or hits < fewest then best, fewest = bend, hits end
      if hits == 0 then return bend end
    end
  end
  return best
end

-- Possible places of a label, as shares of the way, the best first. The label of a long edge is clearest near
-- its end, where the edge is apart from the others.
local near_places = { 0.5, 0.6, 0.4, 0.7, 0.3 }
local far_places = { 0.76, 0.68, 0.84, 0.6, 0.5, 0.4, 0.3, 0.2 }

-- The place on an edge where its label hides least: away from nodes and other labels, if there is such a
-- place. `boxes` are the places taken so far, {x, y, half width, half height}.
local function place_label(text, x1, x2, at, places, boxes)
  local half = svg.text_width(text) / 2 + 3
  local best, fewest
  for _, t in ipairs(places) do
    local x, y, hits = x1 + t * (x2 - x1), at(t), 0
    for _, box in ipairs(boxes) do
      if math.abs(box[1] - x) < box[3] + half and math.abs(box[2] - y) < box[4] + 8 then hits = hits + 1 end
    end
    if not fewest or hits < fewest then best, fewest = { x, y, half, 8 }, hits end
  end
  boxes[#boxes + 1] = best
  return best[1], best[2]
end

-- The nodes and edges to show, and a note about edges that are left out. A small automaton is shown completely. In that
-- of a network that has learned little no edge is heavy; fewer are shown, so that the picture stays readable.
local function shown(trace, mass)
  local all, every, given = trace:nodes(), trace:inner_weights(), mass ~= nil
  mass = mass or #every > few_edges and 0.95 or 1
  local nodes, edges = heavy_edges.of(all, every, mass)
  while not given and mass > 0.15 and #edges > math.max(few_edges, most_each * #trace:input()) do
    mass = mass > 0.9 and 0.9 or mass - 0.1
    nodes, edges = heavy_edges.of(all, every, mass)
  end
  return nodes, edges, #edges < #every and ('The %d of %d edges that carry %g %% of the weight at each time.'):format(
    #edges, #every, 100 * mass) or nil
end

local function draw(spec)
  local input, nodes, edges, note = spec.trace:input(), shown(spec.trace, spec.mass)
  local compact = spec.compact
  if compact == nil then compact = #input > long_input or #edges > most_labels end
  check(#nodes <= 2000 and #edges <= 4000, 'plot.automaton',
    'a stack automaton of %d nodes and %d edges is too large for a picture', #nodes, #edges)
  if compact then
    return automaton_rows(nodes, edges, { input = input, title = spec.title, width = spec.width, shade = shade,
      note = note and note .. ' Wider edges carry more weight.' })
  end
  local rows, index_of = heavy_edges.rows_of(nodes)

  local widest, weighted = 0, false
  for _, node in ipairs(nodes) do
    node.text = ('%d, %s, %s'):format(node.time, node.state, node.top)
    widest = math.max(widest, svg.text_width(node.text) + 18)
  end
  for _, edge in ipairs(edges) do weighted = weighted or math.abs(edge.log_weight) > 1e-12 end
  for _, edge in ipairs(edges) do
    edge.text = weighted and ('%s/%s'):format(edge.top, weight_text(edge.log_weight)) or edge.top
  end
  local labels = {}
  for i, edge in ipairs(edges) do labels[i] = edge.text end
  local gap = widest + svg.widest(labels) + 42
  local margin = 40 + svg.widest(labels)
  local left, top = 24 + margin + widest / 2, (spec.title and 44 or 20) + 46

  local columns, by_key, boxes = {}, {}, {}
  for _, node in ipairs(nodes) do
    node.x = left + node.time * gap
    node.y = top + (index_of(node) - 1) * row_gap
    columns[node.time] = columns[node.time] or {}
    table.insert(columns[node.time], node)
    boxes[#boxes + 1] = { node.x, node.y, widest / 2, node_height / 2 }
    by_key[key(node)] = node
  end
  local width = left + #input * gap + widest / 2 + 24
  local height = top + (#rows - 1) * row_gap + 56
  -- Bent edges can leave the rows.
  local paths, highest, lowest = {}, top, height - 40
  for i, edge in ipairs(edges) do
    local to = by_key[key(edge)]
    local from = edge.from and by_key[key(edge.from)]
      or { x = left - widest / 2 - margin, y = nodes[1].y, time = -1 }
    local x1 = from.time < 0 and from.x + 4 or from.x + widest / 2
    local x2 = to.x - widest / 2 - 1
    local c1, c2, at = curve(from.y, to.y, clear_bend(from, to, x1, x2, widest / 2, columns))
    paths[i] = { x1 = x1, y1 = from.y, c1 = c1, c2 = c2, x2 = x2, y2 = to.y, text = edge.text }
    paths[i].x, paths[i].y = place_label(edge.text, x1, x2, at,
      to.time - from.time > 1 and far_places or near_places, boxes)
    for part = 0.1, 0.9, 0.1 do highest, lowest = math.min(highest, at(part)), math.max(lowest, at(part)) end
  end
  local shift = math.max(0, top - node_height - highest)
  local canvas = svg.canvas(math.ceil(width), math.ceil(math.max(height, lowest + 40) + shift) + (note and 20 or 0))
  canvas:define_tip()
  canvas:title(spec.title, width / 2)
  local heading = spec.title and 52 or 26
  for time = 0, #input do
    local x = left + time * gap
    if time > 0 then
      canvas:line(x - gap / 2, heading + 8, x - gap / 2, canvas.height - 12, { stroke = svg.grid })
      canvas:centred(x, heading, 'reads ' .. input[time], { ['font-weight'] = 'bold' })
    end
  end
  for _, path in ipairs(paths) do
    local third = (path.x2 - path.x1) / 3
    canvas:add('path', { fill = 'none', stroke = svg.ink, ['stroke-width'] = 1.1, ['marker-end'] = 'url(#tip)',
      d = ('M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'):format(path.x1, path.y1 + shift, path.x1 + third,
        path.c1 + shift, path.x2 - third, path.c2 + shift, path.x2, path.y2 + shift) })
  end
  for _, path in ipairs(paths) do
    canvas:on_lines(path.x, path.y + shift + 4.5, path.text, 5)
  end
  if edges[1] and not edges[1].from then
    canvas:add('circle', { cx = left - widest / 2 - margin, cy = paths[1].y1 + shift, r = 4, fill = svg.ink })
  end
  for _, node in ipairs(nodes) do
    local function box(grow, fill)
      canvas:add('rect', { x = node.x - widest / 2 - grow, y = node.y + shift - node_height / 2 - grow,
        width = widest + 2 * grow, height = node_height + 2 * grow, rx = node_height / 2 + grow,
        fill = fill, stroke = svg.ink, ['stroke-width'] = 1.1 })
    end
    if node.accepted then box(3, '#ffffff') end
    box(0, shade(node.share))
    canvas:centred(node.x, node.y + shift + 4.5, node.text)
  end
  if note then
    canvas:text(24, canvas.height - 10, note, { ['font-size'] = 12, fill = '#555555' })
  end
  return canvas:document(spec.title or 'Stack automaton of ' .. table.concat(input, ' '))
end

return { svg = draw, options = { {
  { 'trace', nil, 'pda:trace(tokens)', type = 'Trace', required = true },
  { 'mass', nil, 'the picture shows the heaviest edges into each time that carry this share of the weight; by default '
    .. '0.95, or less if it would otherwise have more than 12 edges for each symbol, and 1 for at most 60 edges',
    type = 'number', minimum = 1e-6, maximum = 1 },
  { 'compact', nil, 'a narrow column for each symbol and no edge labels; the default above 14 symbols or 60 edges',
    type = 'boolean' },
}, shared.picture, shared.width } }
