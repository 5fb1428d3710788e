-- The strengths of the pushes, pops and readings of a sentence, word by word, and the total strength on the stack. The
-- charts follow Merrill et al. 2019, Figure 2 (bars over the words) and Figure 3 (the distributions of the strengths).
local axes = require 'pushdown.plot.axes'
local check = require 'pushdown.plot.figure'.check
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'
local text = require 'pushdown.plot.text'

local M = {}

local colour_of = { push = 1, read = 2, pop = 3 }
local shown = { 'push', 'pop', 'read' }

-- The data of a run for one memory and one end: steps, words, and for each named strength its values (n numbers) and,
-- if it has them, its distributions (n lists of k+1 numbers); total: the sum of all strengths.
local function run_of(spec, where)
  check(type(spec) == 'table' and type(spec.run) == 'table' and spec.run.strengths, where,
    'expected {run = model:strengths(...)} or {run = pd.stack.strengths{...}}')
  local run, size, memory = spec.run, spec.run.strengths:size(), spec.memory or 1
  check(#size == 3, where, 'expected tensors of one string, without a batch dimension, got %d dimensions', #size)
  check(memory >= 1 and memory <= size[2], where, 'memory must be 1 to %d, got %s', size[2], tostring(memory))
  local two_ends = run.push == nil
  local ending = spec['end'] or (two_ends and 'top' or nil)
  check(two_ends == (ending == 'top' or ending == 'bottom') and (two_ends or ending == nil), where,
    two_ends and "end must be 'top' or 'bottom', got '%s'" or "end is for memories with two ends, got '%s'",
    tostring(ending))
  local suffix = two_ends and '_' .. ending or ''
  local function of_memory(tensor)
    local list = {}
    for t, memories in ipairs(tensor:to_table()) do list[t] = memories[memory] end
    return list
  end
  local found = { steps = size[1], words = {}, values = {}, distributions = {}, total = {} }
  for _, name in ipairs(shown) do
    found.values[name] = of_memory(run[(name == 'read' and 'read_strength' or name) .. suffix])
    local distribution = run[name .. '_distribution' .. suffix]
    found.distributions[name] = distribution and of_memory(distribution)
  end
  for t, sections in ipairs(of_memory(run.strengths)) do
    found.total[t] = 0
    for _, strength in ipairs(sections) do found.total[t] = found.total[t] + strength end
  end
  local symbols = spec.symbols or spec.run.symbols or {}
  for t = 1, found.steps do found.words[t] = tostring(symbols[t] or t) end
  return found
end

-- The strengths to show: those in spec.show, else those that are not 1 everywhere.
local function asked_for(spec, found, where)
  if spec.show then
    check(type(spec.show) == 'table' and #spec.show > 0, where, "show must be a list of 'push', 'pop', 'read'")
    for _, name in ipairs(spec.show) do
      check(found.values[name], where, "show must be a list of 'push', 'pop', 'read', got '%s'", tostring(name))
    end
    return spec.show
  end
  local names = {}
  for _, name in ipairs(shown) do
    local fixed = true
    for _, value in ipairs(found.values[name]) do fixed = fixed and value == 1 end
    if not fixed then names[#names + 1] = name end
  end
  return #names > 0 and names or { 'push' }
end

-- Converts the options of plot.word_strengths to those of plot.bars.
function M.bars(spec)
  local where = 'plot.word_strengths'
  local found = run_of(spec, where)
  local series, texts = {}, {}
  for i, name in ipairs(asked_for(spec, found, where)) do
    series[i] = { name = name, y = found.values[name], colour = style.of(colour_of[name]).colour }
  end
  for t, total in ipairs(found.total) do texts[t] = ('%.1f'):format(total) end
  return { title = spec.title, categories = found.words, series = series, y_label = spec.y_label or 'strength',
    under = { name = 'on the stack', texts = texts }, y_min = 0, y_max = spec.y_max,
    width = spec.width or math.max(480, 130 + 46 * found.steps), height = spec.height or 340, path = spec.path,
    legend = true }
end

local function is_ascii(spec)
  if spec.ascii == nil then return not text.utf8_locale() end
  return spec.ascii
end

local function padded(label, width) return label .. (' '):rep(width - axes.text_length(label)) end
local function widest(labels)
  local width = 0
  for _, label in ipairs(labels) do width = math.max(width, axes.text_length(label)) end
  return width
end

local eighths = { '▏', '▎', '▍', '▌', '▋', '▊', '▉' }

-- A bar of `length` character cells; the length can be fractional.
local function bar(length, plain)
  if plain then return ('#'):rep(math.floor(length + 0.5)) end
  local whole = math.floor(length)
  local part = math.floor((length - whole) * 8 + 0.5)
  if part == 8 then whole, part = whole + 1, 0 end
  return ('█'):rep(whole) .. (eighths[part] or '')
end

-- plot.word_strengths_text: one line for each word.
function M.text(spec)
  local where = 'plot.word_strengths_text'
  local found = run_of(spec, where)
  local names, plain = asked_for(spec, found, where), is_ascii(spec)
  local greatest = 1e-9
  for _, name in ipairs(names) do
    for _, value in ipairs(found.values[name]) do
      if axes.finite(value) then greatest = math.max(greatest, value) end
    end
  end
  local labels = widest(found.words)
  local room = (spec.columns or math.min(100, text.terminal_width())) - labels - 8
  local cells = math.max(4, math.floor(room / #names) - 7)
  local lines, head = { spec.title }, (' '):rep(labels)
  for _, name in ipairs(names) do head = head .. '  ' .. padded(name, cells + 5) end
  lines[#lines + 1] = head .. '  total'
  for t, word in ipairs(found.words) do
    local line = padded(word, labels)
    for _, name in ipairs(names) do
      local value = found.values[name][t]
      local drawn = axes.finite(value) and bar(math.max(0, value) / greatest * cells, plain) or '?'
      line = line .. ('  %4.2f %s'):format(value, padded(drawn, cells))
    end
    lines[#lines + 1] = line .. ('  %5.2f'):format(found.total[t])
  end
  return table.concat(lines, '\n') .. '\n'
end

-- The distributions to show: those in spec.show, else all.
local function distributions_of(spec, found, where)
  local names = {}
  for _, name in ipairs(spec.show or shown) do
    if found.distributions[name] then names[#names + 1] = name end
    check(not spec.show or found.distributions[name], where,
      "there is no distribution of '%s': show must be a list of strengths that are expectations", tostring(name))
  end
  check(#names > 0, where, "the memory has no distributions: none of its strengths is an 'expectation'")
  return names
end

-- plot.strength_distributions: small bar charts side by side, one row for each strength.
function M.distributions(spec)
  local where = 'plot.strength_distributions'
  local found = run_of(spec, where)
  local names = distributions_of(spec, found, where)
  local chart, height, gap, row_gap = 74, 64, 14, 30
  for _, word in ipairs(found.words) do chart = math.max(chart, math.min(150, svg.text_width(word))) end
  local left, top = 74, spec.title and 56 or 30
  local a_line = math.max(1, math.min(found.steps, math.floor(((spec.width or 1000) - left - 10) / (chart + gap))))
  local lines = math.ceil(found.steps / a_line)
  a_line = math.max(1, math.ceil(found.steps / math.max(1, lines)))
  local line_height = #names * (height + row_gap) + 34
  local canvas = svg.canvas(spec.width or left + a_line * (chart + gap) + 10, top + math.max(1, lines) * line_height)
  if spec.title then
    canvas:text(canvas.width / 2, 22, spec.title, { ['text-anchor'] = 'middle', ['font-size'] = 15,
      ['font-weight'] = 'bold' })
  end
  for t, word in ipairs(found.words) do
    local x = left + (t - 1) % a_line * (chart + gap)
    local line_top = top + math.floor((t - 1) / a_line) * line_height
    for i, name in ipairs(names) do
      local y = line_top + (i - 1) * (height + row_gap)
      local chances = found.distributions[name][t]
      local width = chart / #chances
      if (t - 1) % a_line == 0 then
        canvas:text(left - 30, y + height / 2 + 4, name, { ['text-anchor'] = 'end', ['font-weight'] = 'bold' })
        for _, tick in ipairs { 0, 1 } do
          canvas:text(left - 7, y + (1 - tick) * height + 4, tick, { ['text-anchor'] = 'end', ['font-size'] = 10 })
        end
      end
      canvas:line(x, y, x + chart, y, { stroke = svg.grid })
      for value, chance in ipairs(chances) do
        canvas:add('rect', { x = x + (value - 1 + 0.1) * width, width = 0.8 * width, y = y + (1 - chance) * height,
          height = chance * height, fill = style.of(colour_of[name]).colour })
      end
      canvas:line(x, y + height, x + chart, y + height)
      local every = math.ceil(#chances / 8)
      for value = 0, #chances - 1, every do
        canvas:text(x + (value + 0.5) * width, y + height + 12, value, { ['text-anchor'] = 'middle',
          ['font-size'] = 10, fill = '#666666' })
      end
      canvas:text(x + chart, y - 4, ('%.2f'):format(found.values[name][t]), { ['text-anchor'] = 'end',
        ['font-size'] = 10, fill = '#666666' })
    end
    canvas:text(x + chart / 2, line_top + #names * (height + row_gap) + 2, word, { ['text-anchor'] = 'middle' })
  end
  return canvas:document(spec.title or 'Distributions of ' .. table.concat(names, ' and ') .. ' strengths')
end

local levels = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }
local plain_levels = { '.', ':', '-', '=', '+', '*', '%', '#' }

-- plot.strength_distributions_text: one line for each word, one column for each value of a distribution.
function M.distributions_text(spec)
  local where = 'plot.strength_distributions_text'
  local found = run_of(spec, where)
  local names, glyphs = distributions_of(spec, found, where), is_ascii(spec) and plain_levels or levels
  local labels, lines = widest(found.words), { spec.title }
  local head, values = (' '):rep(labels), found.steps > 0 and #found.distributions[names[1]][1] or 0
  for _, name in ipairs(names) do head = head .. '  ' .. padded(name, 3 * values + 5) end
  lines[#lines + 1] = (head:gsub('%s+$', ''))
  local scale = (' '):rep(labels)
  for _ = 1, #names do
    scale = scale .. '  '
    for value = 0, values - 1 do scale = scale .. ('%2d '):format(value) end
    scale = scale .. ' mean'
  end
  lines[#lines + 1] = scale
  for t, word in ipairs(found.words) do
    local line = padded(word, labels)
    for _, name in ipairs(names) do
      line = line .. '  '
      for _, chance in ipairs(found.distributions[name][t]) do
        local level = axes.finite(chance) and math.max(0, math.min(#glyphs, math.floor(chance * #glyphs + 0.5)))
        line = line .. (level and level > 0 and glyphs[level]:rep(2) or '  ') .. ' '
      end
      line = line .. (' %4.2f'):format(found.values[name][t])
    end
    lines[#lines + 1] = line
  end
  return table.concat(lines, '\n') .. '\n'
end

return M
