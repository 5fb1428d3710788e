-- The state diagram of a pushdown automaton as SVG. Each state is a circle, a double one if it accepts, a grey
-- one if it is dead. Each pair of states with transitions has an arrow with labels "symbol, top: action". Labels
-- that differ only in the top symbol are merged ("any": every stack symbol). States are in columns by their
-- distance from the start state.
local check = require 'pushdown.plot.figure'.check
local rows = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local line_height, most_states, most_labels = 16, 60, 600

local function action_text(transition)
  if transition.pop then return 'pop' end
  if transition.push then return 'push ' .. transition.push end
  return 'replace ' .. transition.replace
end

-- The label lines of one arrow.
local function lines_of(transitions, stack_symbols)
  local groups, order = {}, {}
  for _, transition in ipairs(transitions) do
    local weight = transition.weight == 1 and '' or (' / %.4g'):format(transition.weight)
    -- All transitions that replace the top symbol by itself belong together.
    local same = transition.replace == transition.top
    local key = transition.symbol .. '\n' .. (same and 'replace top' or action_text(transition)) .. weight
    if not groups[key] then
      groups[key] = { symbol = transition.symbol, action = action_text(transition), weight = weight, same = same,
        tops = {} }
      order[#order + 1] = groups[key]
    end
    table.insert(groups[key].tops, transition.top)
  end
  local lines = {}
  for i, group in ipairs(order) do
    local tops = #group.tops == stack_symbols and stack_symbols > 1 and 'any' or table.concat(group.tops, '|')
    local action = group.same and #group.tops > 1 and 'replace top' or group.action
    lines[i] = ('%s, %s: %s%s'):format(group.symbol, tops, action, group.weight)
  end
  return lines
end

-- What the pictures of an automaton show: states, accepting, dead (a set), number (by state), arrows {from, to, lines},
-- by_pair, caption.
local function facts_of(pda)
  local arrows, by_pair, dead, number = {}, {}, {}, {}
  for _, state in ipairs(pda:dead()) do dead[state] = true end
  for i, state in ipairs(pda:states()) do number[state] = i end
  local stack_symbols = #pda:stack_symbols()
  for _, transition in ipairs(pda:transitions()) do
    if transition.weight > 0 then
      local key = transition.state .. '\n' .. transition.next
      if not by_pair[key] then
        by_pair[key] = { from = transition.state, to = transition.next, transitions = {} }
        arrows[#arrows + 1] = by_pair[key]
      end
      table.insert(by_pair[key].transitions, transition)
    end
  end
  for _, arrow in ipairs(arrows) do
    arrow.lines = lines_of(arrow.transitions, stack_symbols)
    arrow.twin = by_pair[arrow.to .. '\n' .. arrow.from] ~= nil and arrow.from ~= arrow.to
    arrow.width, arrow.height = svg.widest(arrow.lines) + 6, line_height * #arrow.lines
  end
  return { states = pda:states(), accepting = pda:accepting(), dead = dead, number = number, arrows = arrows,
    by_pair = by_pair, caption = pda:at_bottom() and 'accepts with the bottom symbol %s alone on the stack' }
end

-- The column of each state: its distance from the start state; unreachable states come last.
local function columns_of(states, arrows)
  local column, last = { [states[1]] = 0 }, 0
  local queue = { states[1] }
  for _, state in ipairs(queue) do
    for _, arrow in ipairs(arrows) do
      if arrow.from == state and not column[arrow.to] then
        column[arrow.to] = column[state] + 1
        last = math.max(last, column[arrow.to])
        queue[#queue + 1] = arrow.to
      end
    end
  end
  local columns = {}
  for _, state in ipairs(states) do
    local at = column[state] or last + 1
    columns[at] = columns[at] or {}
    table.insert(columns[at], state)
  end
  return columns
end

local function overlap(a, b)
  return math.abs(a.x - b.x) < a.half_width + b.half_width and math.abs(a.y - b.y) < a.half_height + b.half_height
end

-- A quadratic curve between the circles of two states, bent to its left by `bend` pixels. Returns its ends, its
-- control point, a function for the point at share t, and the place of its label. The label is beside the point
-- at share `where`, on the left of the curve (side = 1) or on its right (-1).
local function curve(from, to, radius, bend, arrow, where, side)
  local dx, dy = to.x - from.x, to.y - from.y
  local length = math.sqrt(dx * dx + dy * dy)
  local nx, ny = dy / length, -dx / length
  local cx, cy = (from.x + to.x) / 2 + 2 * bend * nx, (from.y + to.y) / 2 + 2 * bend * ny
  local function toward(node, margin)
    local ex, ey = cx - node.x, cy - node.y
    local distance = math.sqrt(ex * ex + ey * ey)
    return node.x + ex / distance * (radius + margin), node.y + ey / distance * (radius + margin)
  end
  local result = { cx = cx, cy = cy }
  result.x1, result.y1 = toward(from, from.accepting and 4 or 0)
  result.x2, result.y2 = toward(to, to.accepting and 6 or 2)
  function result.at(t)
    local s = 1 - t
    return s * s * result.x1 + 2 * s * t * cx + t * t * result.x2,
      s * s * result.y1 + 2 * s * t * cy + t * t * result.y2
  end
  local mx, my = result.at(where)
  -- Half the extent of the label's box in that direction, plus a margin.
  local out = math.abs(nx) * arrow.width / 2 + math.abs(ny) * arrow.height / 2 + 6
  result.label = { x = mx + side * nx * out, y = my + side * ny * out, half_width = arrow.width / 2,
    half_height = arrow.height / 2 }
  return result
end

local function inside(x, y, box, margin)
  return math.abs(x - box.x) < box.half_width + margin and math.abs(y - box.y) < box.half_height + margin
end

-- The cost of collisions of a curve and its label with circles and with labels and curves placed before.
local function collisions(path, from, to, radius, nodes, boxes, curves)
  local cost = 0
  for t = 0.05, 0.96, 0.05 do
    local x, y = path.at(t)
    for _, node in ipairs(nodes) do
      local near = math.sqrt((x - node.x) ^ 2 + (y - node.y) ^ 2) < radius + 8
      if node ~= from and node ~= to and near then cost = cost + 8 end
    end
    for _, box in ipairs(boxes) do
      if inside(x, y, box, 2) then cost = cost + 4 end
    end
    if inside(x, y, path.label, 0) then cost = cost + 4 end
    for _, other in ipairs(curves) do
      local ox, oy = other.at(t)
      if inside(ox, oy, path.label, 2) then cost = cost + 4 end
    end
  end
  for _, box in ipairs(boxes) do
    if overlap(path.label, box) then cost = cost + 20 end
  end
  for _, node in ipairs(nodes) do
    if overlap(path.label, { x = node.x, y = node.y, half_width = radius, half_height = radius }) then
      cost = cost + 20
    end
  end
  return cost
end

-- The curve with the fewest collisions; for a large diagram only some label places are tried.
local function best_curve(arrow, from, to, radius, nodes, boxes, curves, many)
  local best, least
  local places = many and { 0.5 } or { 0.5, 0.4, 0.6, 0.3, 0.7 }
  for step = arrow.twin and 1 or 0, 14 do
    for _, bend in ipairs(step == 0 and { 0 } or { 26 * step, -26 * step }) do
      for _, where in ipairs(places) do
        for side = 1, -1, -2 do
          local path = curve(from, to, radius, bend, arrow, where, side)
          -- An arrow and its twin both bend to their left; their labels should be outside and near the middle.
          local cost = step + (bend < 0 and 0.5 or 0) + (bend * side < 0 and 0.6 or 0) + 3 * math.abs(where - 0.5)
            + collisions(path, from, to, radius, nodes, boxes, curves)
          if not least or cost < least then best, least = path, cost end
        end
      end
    end
    if least and least < step then break end
  end
  return best
end

local function draw_label(canvas, box, lines)
  for i, text in ipairs(lines) do
    canvas:on_lines(box.x, box.y - box.half_height + (i - 0.5) * line_height + 4.5, text, 4)
  end
end

-- Sets the places of the circles; `radius` is that of a circle.
local function place(facts, radius)
  local arrows, by_pair = facts.arrows, facts.by_pair
  local columns = columns_of(facts.states, arrows)
  local nodes, by_state = {}, {}
  local x = 0
  for at = 0, #columns do
    local list = columns[at] or {}
    local widest = 0
    for _, state in ipairs(list) do
      local loop = by_pair[state .. '\n' .. state]
      if loop then widest = math.max(widest, loop.width) end
    end
    local half = math.max(radius, widest / 2)
    x = at == 0 and half or x + half
    local y = 0
    for _, state in ipairs(list) do
      local loop = by_pair[state .. '\n' .. state]
      y = y + (loop and loop.height + 44 or 12) + radius
      local node = { state = state, x = x, y = y }
      nodes[#nodes + 1], by_state[state] = node, node
      y = y + radius + 40
    end
    -- Centres all columns vertically on one line.
    for _, state in ipairs(list) do by_state[state].y = by_state[state].y - y / 2 end
    local between = 0
    for _, arrow in ipairs(arrows) do
      local from_here, to_here = false, false
      for _, state in ipairs(list) do
        from_here = from_here or arrow.from == state
        to_here = to_here or arrow.to == state
      end
      if from_here ~= to_here then between = math.max(between, arrow.width) end
    end
    x = x + half + math.max(70, between + 24)
  end
  -- Single states in a row are on one level.
  local single = true
  for at = 0, #columns do single = single and #(columns[at] or {}) == 1 end
  if single then
    for _, node in ipairs(nodes) do node.y = 0 end
  end
  return nodes, by_state
end

local function draw(spec)
  local pda = spec.pda
  local facts = facts_of(pda)
  local states, arrows, by_pair = facts.states, facts.arrows, facts.by_pair
  local labels = 0
  for _, arrow in ipairs(arrows) do labels = labels + #arrow.lines end
  check(#states <= most_states and labels <= most_labels, 'plot.state_diagram',
    'an automaton of %d states and %d labels is too large for a picture', #states, labels)
  local radius = math.max(22, svg.widest(states) / 2 + 8)
  local nodes, by_state = place(facts, radius)
  local boxes = {}
  for _, node in ipairs(nodes) do
    node.accepting = facts.accepting[node.state] ~= nil
    local loop = by_pair[node.state .. '\n' .. node.state]
    if loop then
      local box = { x = node.x, y = node.y - radius - 34 - loop.height / 2, half_width = loop.width / 2,
        half_height = loop.height / 2 }
      loop.box = box
      boxes[#boxes + 1] = box
      boxes[#boxes + 1] = { x = node.x, y = node.y - radius - 15, half_width = 14, half_height = 15 }
    end
  end
  local start = by_state[states[1]]
  boxes[#boxes + 1] = { x = start.x - radius - 20, y = start.y, half_width = 20, half_height = 6 }
  local curves = {}
  for _, arrow in ipairs(arrows) do
    if arrow.from ~= arrow.to then
      arrow.path = best_curve(arrow, by_state[arrow.from], by_state[arrow.to], radius, nodes, boxes, curves,
        #arrows > 40)
      curves[#curves + 1] = arrow.path
      boxes[#boxes + 1] = arrow.path.label
    end
  end

  local left, right, top, bottom = math.huge, -math.huge, math.huge, -math.huge
  local function cover(x, y)
    left, right = math.min(left, x), math.max(right, x)
    top, bottom = math.min(top, y), math.max(bottom, y)
  end
  for _, box in ipairs(boxes) do
    cover(box.x - box.half_width, box.y - box.half_height)
    cover(box.x + box.half_width, box.y + box.half_height)
  end
  for _, node in ipairs(nodes) do
    cover(node.x - radius - 5, node.y - radius - 5)
    cover(node.x + radius + 5, node.y + radius + 5)
  end
  for _, arrow in ipairs(arrows) do
    if arrow.path then for t = 0, 1.01, 0.1 do cover(arrow.path.at(t)) end end
  end
  local title = spec.title or (pda:name() ~= '' and pda:name() or nil)
  local caption = facts.caption and facts.caption:format(pda:stack_symbols()[1])
  local margin = 24
  local width = math.max(right - left + 2 * margin, svg.text_width(caption or '') + 2 * margin,
    1.2 * svg.text_width(title or '') + 2 * margin)
  local dx = -left + (width - (right - left)) / 2
  local dy = -top + (title and 44 or margin)
  local height = bottom + dy + margin + (caption and 20 or 0)
  local canvas = svg.canvas(math.ceil(width), math.ceil(height))
  canvas:define_tip()
  canvas:title(title, width / 2)
  for _, node in ipairs(nodes) do node.x, node.y = node.x + dx, node.y + dy end
  for _, box in ipairs(boxes) do box.x, box.y = box.x + dx, box.y + dy end
  local function draw_path(text, ...)
    canvas:add('path', { fill = 'none', stroke = svg.ink, ['stroke-width'] = 1.2, ['marker-end'] = 'url(#tip)',
      d = text:format(...) })
  end
  for _, arrow in ipairs(arrows) do
    local path = arrow.path
    if path then
      draw_path('M%.1f %.1fQ%.1f %.1f %.1f %.1f', path.x1 + dx, path.y1 + dy, path.cx + dx, path.cy + dy,
        path.x2 + dx, path.y2 + dy)
    else
      local node = by_state[arrow.from]
      local edge = radius * 0.92 + (node.accepting and 4 or 0)
      draw_path('M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f', node.x - 9, node.y - edge, node.x - 24,
        node.y - radius - 40, node.x + 24, node.y - radius - 40, node.x + 9, node.y - edge - 2)
    end
  end
  draw_path('M%.1f %.1fL%.1f %.1f', start.x - radius - 40, start.y, start.x - radius - (start.accepting and 6 or 2),
    start.y)
  for _, node in ipairs(nodes) do
    local fill = facts.dead[node.state] and '#d9d9d9' or '#ffffff'
    if node.accepting then
      canvas:add('circle', { cx = node.x, cy = node.y, r = radius + 4, fill = fill, stroke = svg.ink,
        ['stroke-width'] = 1.2 })
    end
    canvas:add('circle', { cx = node.x, cy = node.y, r = radius, fill = fill, stroke = svg.ink,
      ['stroke-width'] = 1.2 })
    canvas:centred(node.x, node.y + 4.5, node.state)
  end
  for _, arrow in ipairs(arrows) do draw_label(canvas, arrow.path and arrow.path.label or arrow.box, arrow.lines) end
  if caption then
    canvas:centred(width / 2, height - 12, caption, { ['font-style'] = 'italic' })
  end
  return canvas:document(title or 'State diagram')
end

return { svg = draw, facts_of = facts_of, place = place, options = { {
  { 'pda', nil, 'the automaton', type = 'Pda', required = true },
}, rows.picture } }
