-- One run of a pushdown automaton over its string as SVG: the stack as a tower of cells at every time,
-- and below it the symbol read, the move, the state and the weight of the move.
local shared = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

-- Fills of the stack symbols, the bottom symbol first; CIE lightness 35, 90, 62, 78, 48, 70, 84, 55.
local fills = { '#525252', '#dbe9f6', '#7f9fc7', '#f3b98a', '#a4586e', '#a9b26a', '#e9d6a3', '#6f8f86' }
local light = { ['#525252'] = true, ['#a4586e'] = true, ['#6f8f86'] = true }

-- Marks of actions: a triangle up for push, a triangle down for pop, a diamond for replace.
local function mark(canvas, action, x, y, size)
  local points = { push = { 0, -1, 1, 0.8, -1, 0.8 }, pop = { 0, 1, 1, -0.8, -1, -0.8 },
    replace = { 0, -1, 1, 0, 0, 1, -1, 0 } }
  local list = {}
  for i = 1, #points[action], 2 do
    list[#list + 1] = ('%.1f,%.1f'):format(x + size * points[action][i], y + size * points[action][i + 1])
  end
  canvas:add('polygon', { points = table.concat(list, ' '), stroke = svg.ink, ['stroke-width'] = 1.1,
    fill = action == 'push' and svg.ink or action == 'pop' and '#ffffff' or '#9a9a9a' })
end

local function weight_text(log_weight)
  if math.abs(log_weight) > 600 then return ('e^%.0f'):format(log_weight) end
  local weight = math.exp(log_weight)
  -- A column has room for five characters.
  if weight >= 10 and weight < 1e4 then return ('%.0f'):format(weight) end
  if weight >= 1e-3 and weight < 10 then return (('%.2g'):format(weight)) end
  return (('%.0e'):format(weight):gsub('e%+?(%-?)0*', 'e%1'))
end

local function draw(spec)
  local steps, stacks = spec.run:steps(), spec.run:stacks()
  local count, tallest = #stacks, 0
  for _, stack in ipairs(stacks) do tallest = math.max(tallest, #stack) end
  local index, names, widest = {}, {}, 0
  for _, stack in ipairs(stacks) do
    for _, symbol in ipairs(stack) do
      if not index[symbol] then
        names[#names + 1] = symbol
        index[symbol] = true
      end
    end
  end
  -- The bottom symbol comes first and the others are sorted, so that pictures of one automaton look alike.
  local bottom = table.remove(names, 1)
  table.sort(names)
  table.insert(names, 1, bottom)
  for i, name in ipairs(names) do index[name] = (i - 1) % #fills + 1 end
  local texts = {}
  for i, step in ipairs(steps) do
    step.text = weight_text(step.log_weight)
    texts[i] = step.next
    widest = math.max(widest, svg.text_width(step.symbol), svg.text_width(step.next) + 4)
  end
  widest = math.max(widest, svg.widest(names))
  -- For a short string the cells are wide enough for every text, else they fit the page.
  local cell = math.max(5, math.min(math.max(34, widest + 10), (spec.width or 1200) / count))
  -- Symbols that do not fit side by side are rotated.
  local longest = 0
  for _, step in ipairs(steps) do longest = math.max(longest, svg.text_width(step.symbol)) end
  local upright = longest + 2 > cell and cell >= 12
  local down = upright and math.min(110, longest) - 10 or 0
  local floor_height = math.max(3, math.min(24, 420 / tallest))
  local legend = 0
  for _, name in ipairs(names) do legend = legend + svg.text_width(name) + 40 end
  local left, top = 66, (spec.title and 40 or 12) + 34
  local base = top + tallest * floor_height + 8
  local canvas = svg.canvas(math.ceil(math.max(left + count * cell + 20, legend + 330)), math.ceil(base + 96 + down))
  canvas:title(spec.title)
  local x, y = left, (spec.title and 40 or 12) + 8
  for _, action in ipairs { 'push', 'replace', 'pop' } do
    mark(canvas, action, x + 5, y - 4, 5)
    canvas:text(x + 15, y, action)
    x = x + 24 + svg.text_width(action)
  end
  x = x + 20
  for _, name in ipairs(names) do
    canvas:add('rect', { x = x, y = y - 11, width = 14, height = 14, fill = fills[index[name]], stroke = svg.ink })
    canvas:text(x + 20, y, name)
    x = x + 34 + svg.text_width(name)
  end

  local rows = { { 'reads', base + 20 }, { 'move', base + down + 42 }, { 'state', base + down + 64 },
    { 'weight', base + down + 84 } }
  for _, row in ipairs(rows) do
    canvas:before(left - 10, row[2], row[1], { fill = '#555555' })
  end
  canvas:line(left, base, left + count * cell, base)
  local every = math.max(1, math.ceil((svg.widest(texts) + 4) / cell))
  local previous
  for time = 0, count - 1 do
    local step, stack = steps[time], stacks[time + 1]
    local at, middle = left + time * cell, left + (time + 0.5) * cell
    for height, symbol in ipairs(stack) do
      local fill = fills[index[symbol]]
      local new = step and height == #stack and step.action ~= 'pop'
      canvas:add('rect', { x = at + 2, y = base - height * floor_height, width = math.max(1, cell - 4),
        height = floor_height - (floor_height > 6 and 2 or 0), fill = fill, stroke = svg.ink,
        ['stroke-width'] = new and 2.2 or floor_height > 6 and 0.6 or 0 })
      if floor_height >= 13 and cell >= svg.text_width(symbol) + 4 then
        canvas:centred(middle, base - (height - 0.5) * floor_height + 3.5, symbol,
          { ['font-size'] = 12, fill = light[fill] and '#ffffff' or svg.ink })
      end
    end
    if step then
      if upright then
        canvas:rotated(middle + 4, base + 9, step.symbol, -90, 'end')
      else
        canvas:centred(middle, base + 20, step.symbol, { ['font-size'] = cell >= 12 and 13 or math.max(5, cell) })
      end
      mark(canvas, step.action, middle, base + down + 38, math.min(5, cell / 2 - 0.5))
      if cell >= 34 then
        canvas:centred(middle, base + down + 84, step.text, { ['font-size'] = 11 })
      end
    end
    local state = step and step.next or (steps[1] and steps[1].state) or ''
    if state ~= previous or (every == 1 and cell >= 20) then
      canvas:text(middle, base + down + 64, state, { ['text-anchor'] = every == 1 and 'middle' or 'start',
        ['font-weight'] = state ~= previous and 'bold' or 'normal' })
    end
    previous = state
  end
  if cell < 34 then
    canvas:text(left, base + down + 84, '(too narrow to show)', { ['font-size'] = 11, fill = '#555555' })
  end
  return canvas:document(spec.title or 'A run of a pushdown automaton')
end

return { svg = draw, options = { {
  { 'run', nil, 'pda:best_run(tokens)', type = 'Run', required = true },
}, shared.picture, shared.width } }
