-- The recorded program of a step as SVG: its operations in layers with the inputs on top. Solid lines lead to values
-- that an operation reads from its own step, dashed ones to values from the step before.
--
-- The layout follows Sugiyama, Tagawa and Toda (1981): layers by longest paths, joints where lines cross layers, and
-- layers ordered by the mean place of their neighbours, then moved towards it as far as the other nodes permit.
local check = require 'pushdown.plot.figure'.check
local pd = require 'pushdown'
local rows = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'
local tables = require 'pushdown.tables'

local where = 'plot.program'
local line_height, margin, layer_gap, gap = 15, 20, 34, 18
local kinds = {  -- colours of a box and of its border
  memory = { '#fbe3d6', '#d1495b' }, array = { '#fdf3cf', '#b8860b' }, affine = { '#dfeaf5', '#12355b' },
  input = { '#eeeeee', '#888888' }, symbol = { '#eeeeee', '#888888' }, parameter = { '#f7f7f7', '#bbbbbb' },
}
local usual = { '#ffffff', '#666666' }

-- The graph of model:program{format = 'dot'}: {nodes = list of {lines}, edges = list of {from, to}, back = likewise}.
local function parsed(dot)
  local nodes, by_name, edges, back = {}, {}, {}, {}
  for name, label in dot:gmatch('(v%d+) %[label="([^"]*)"%]') do
    local lines = tables.matches(label .. '\\n', '(.-)\\n')
    local node = { lines = lines, width = svg.widest(lines) * 0.9 + 16, height = #lines * line_height + 8 }
    nodes[#nodes + 1], by_name[name] = node, node
  end
  for from, to, rest in dot:gmatch('(v%d+) %-> (v%d+)([^;]*);') do
    local edge = { from = by_name[from], to = by_name[to] }
    table.insert(rest:find 'dashed' and back or edges, edge)
  end
  return { nodes = nodes, edges = edges, back = back }
end

local function assign_layers(graph)
  for _, node in ipairs(graph.nodes) do node.above, node.below, node.layer = {}, {}, 1 end
  for _, edge in ipairs(graph.edges) do
    table.insert(edge.from.below, edge.to)
    table.insert(edge.to.above, edge.from)
  end
  local changed = true
  while changed do
    changed = false
    for _, edge in ipairs(graph.edges) do
      if edge.to.layer <= edge.from.layer then edge.to.layer, changed = edge.from.layer + 1, true end
    end
  end
  -- A node that reads nothing is placed just above its first reader.
  for _, node in ipairs(graph.nodes) do
    if #node.above == 0 and #node.below > 0 then
      local first = math.huge
      for _, reader in ipairs(node.below) do first = math.min(first, reader.layer) end
      node.layer = first - 1
    end
  end
end

-- The layers as lists of nodes; a line that crosses layers gets a joint in each of them.
local function layers_of(graph)
  local layers = {}
  local function put(node)
    layers[node.layer] = layers[node.layer] or {}
    table.insert(layers[node.layer], node)
  end
  for _, node in ipairs(graph.nodes) do
    node.above, node.below = {}, {}
    put(node)
  end
  for _, edge in ipairs(graph.edges) do
    edge.joints = { edge.from }
    for layer = edge.from.layer + 1, edge.to.layer - 1 do
      local joint = { layer = layer, width = 4, height = 0, above = {}, below = {}, joint = true }
      put(joint)
      table.insert(edge.joints, joint)
    end
    table.insert(edge.joints, edge.to)
    for i = 2, #edge.joints do
      table.insert(edge.joints[i - 1].below, edge.joints[i])
      table.insert(edge.joints[i].above, edge.joints[i - 1])
    end
  end
  return layers
end

local function mean_of(nodes, key)
  local sum = 0
  for _, node in ipairs(nodes) do sum = sum + node[key] end
  return sum / #nodes
end

local function order_layers(layers)
  local function renumber(layer) for i, node in ipairs(layer) do node.rank = i end end
  for _, layer in ipairs(layers) do renumber(layer) end
  for sweep = 1, 12 do
    local down = sweep % 2 == 1
    for l = down and 2 or #layers - 1, down and #layers or 1, down and 1 or -1 do
      for _, node in ipairs(layers[l]) do
        local neighbours = down and node.above or node.below
        node.wish, node.old = #neighbours > 0 and mean_of(neighbours, 'rank') or node.rank, node.rank
      end
      table.sort(layers[l], function(a, b)
        if a.wish ~= b.wish then return a.wish < b.wish end
        return a.old < b.old
      end)
      renumber(layers[l])
    end
  end
end

local function space(a, b) return (a.width + b.width) / 2 + gap end

-- Moves every node as near to the mean place of its neighbours as the order of its layer permits.
local function place_layers(layers)
  for _, layer in ipairs(layers) do
    for i, node in ipairs(layer) do
      node.x = i == 1 and node.width / 2 or layer[i - 1].x + space(layer[i - 1], node)
    end
  end
  for sweep = 1, 40 do
    for l = 1, #layers do
      local layer = layers[sweep % 2 == 1 and l or #layers + 1 - l]
      for _, node in ipairs(layer) do
        local count = #node.above + #node.below
        node.wish = count == 0 and node.x
          or ((#node.above > 0 and mean_of(node.above, 'x') * #node.above or 0)
            + (#node.below > 0 and mean_of(node.below, 'x') * #node.below or 0)) / count
      end
      -- Averages packing from the left and from the right, so that neither side is preferred.
      local left, right = {}, {}
      for i, node in ipairs(layer) do
        left[i] = i == 1 and node.wish or math.max(node.wish, left[i - 1] + space(layer[i - 1], node))
      end
      for i = #layer, 1, -1 do
        local node = layer[i]
        right[i] = i == #layer and node.wish or math.min(node.wish, right[i + 1] - space(node, layer[i + 1]))
      end
      for i, node in ipairs(layer) do node.x = (left[i] + right[i]) / 2 end
    end
  end
  local least, most, y = math.huge, -math.huge, margin
  for _, layer in ipairs(layers) do
    local height = 0
    for _, node in ipairs(layer) do
      least, most = math.min(least, node.x - node.width / 2), math.max(most, node.x + node.width / 2)
      height = math.max(height, node.height)
    end
    for _, node in ipairs(layer) do node.y = y + height / 2 end
    y = y + height + layer_gap
  end
  for _, layer in ipairs(layers) do
    for _, node in ipairs(layer) do node.x = node.x - least + margin end
  end
  return most - least + 2 * margin, y - layer_gap + margin
end

local function n(value) return svg.number(value) end

local function draw_edge(canvas, edge)
  local parts = {}
  for i = 2, #edge.joints do
    local a, b = edge.joints[i - 1], edge.joints[i]
    local y1, y2 = a.y + a.height / 2, b.y - b.height / 2 - (i == #edge.joints and 5 or 0)
    parts[#parts + 1] = ('%s%s %s'):format(i == 2 and 'M' or 'L', n(a.x), n(y1))
    local middle = (y1 + y2) / 2
    parts[#parts + 1] = ('C%s %s %s %s %s %s'):format(n(a.x), n(middle), n(b.x), n(middle), n(b.x), n(y2))
  end
  canvas:add('path', { d = table.concat(parts, ' '), fill = 'none', stroke = svg.ink, ['stroke-width'] = 1,
    ['marker-end'] = 'url(#arrow)' })
end

-- Draws a line back up in a lane at the right edge of the picture; a node that reads itself gets a loop.
local function draw_back(canvas, edge, lane)
  local a, b = edge.from, edge.to
  local x1, x2, r = a.x + a.width / 2, b.x + b.width / 2 + 5, 6
  local y1, y2 = a.y - (a == b and a.height / 4 or 0), b.y + (a == b and b.height / 4 or 0)
  if a == b then lane = x1 + 14 end
  local up = y2 < y1 and -1 or 1
  local path = ("M%s %s H%s Q%s %s %s %s V%s Q%s %s %s %s H%s"):format(n(x1), n(y1), n(lane - r), n(lane), n(y1),
    n(lane), n(y1 + up * r), n(y2 - up * r), n(lane), n(y2), n(lane - r), n(y2), n(x2))
  canvas:add('path', { d = path, fill = 'none', stroke = '#d1495b', ['stroke-width'] = 1.2,
    ['stroke-dasharray'] = '5 3', ['marker-end'] = 'url(#arrow)' })
end

local function draw(spec)
  check((spec.model == nil) ~= (spec.stack == nil), where, "expected either 'model' or 'stack'")
  local dot
  if spec.model ~= nil then
    dot = spec.model:program { format = 'dot', steps = spec.steps }
  else
    local options = { format = 'dot', steps = spec.steps }
    for key, value in pairs(type(spec.stack) == 'table' and spec.stack or { kind = spec.stack }) do
      options[key] = value
    end
    dot = pd.stack.program(options)
  end
  local graph = parsed(dot)
  assign_layers(graph)
  local layers = layers_of(graph)
  order_layers(layers)
  local width, height = place_layers(layers)
  local lane = 14
  local inner, top = width, spec.title and 26 or 0
  width = width + (#graph.back > 0 and #graph.back * lane + 10 or 0)
  if spec.title then
    width = math.max(width, svg.text_width(spec.title) * 1.2 + 2 * margin)
    for _, layer in ipairs(layers) do
      for _, node in ipairs(layer) do node.y = node.y + top end
    end
  end
  local canvas = svg.canvas(math.ceil(width), math.ceil(height + top))
  canvas:add('defs', {}, '<marker id="arrow" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" '
    .. 'orient="auto"><path d="M0 0L8 4L0 8z" fill="' .. svg.ink .. '"/></marker>')
  canvas:title(spec.title, width / 2)
  for _, edge in ipairs(graph.edges) do draw_edge(canvas, edge) end
  for i, edge in ipairs(graph.back) do draw_back(canvas, edge, inner + i * lane - 6) end
  for _, node in ipairs(graph.nodes) do
    local colours = kinds[node.lines[1]] or usual
    canvas:add('rect', { x = node.x - node.width / 2, y = node.y - node.height / 2, width = node.width,
      height = node.height, rx = 4, fill = colours[1], stroke = colours[2] })
    for i, line in ipairs(node.lines) do
      canvas:centred(node.x, node.y - node.height / 2 + i * line_height, line,
        { ['font-size'] = i == 1 and 12 or 10.5, ['font-weight'] = i == 1 and 'bold' or 'normal' })
    end
  end
  return canvas:document(spec.title)
end

return { svg = draw, options = { {
  { 'model', nil, 'the model', type = 'LanguageModel or Recognizer or Transducer' },
  { 'stack', nil, 'in place of a model: a kind of stack, or a table of kind and options', type = 'value' },
  { 'steps', nil, 'number of steps of a program for several', type = 'integer', minimum = 1 },
}, rows.picture } }
