-- The strengths of the pushes, pops and readings of a sentence, word by word, and the total strength on the stack. The
-- charts follow Merrill et al. 2019, Figure 2 (bars over the words) and Figure 3 (the distributions of the strengths).
local axes = require 'pushdown.plot.axes'
local bars = require 'pushdown.plot.bars'
local check = require 'pushdown.plot.figure'.check
local rows = require 'pushdown.plot.rows'
local strengths = require 'pushdown.plot.strengths'
local style = require 'pushdown.plot.style'
local text = require 'pushdown.plot.text'

local colour_of = { push = 1, read = 2, pop = 3 }
local shown = { 'push', 'pop', 'read' }

-- The data of a run for one memory and one end: steps, words, and for each named strength its values (n numbers) and,
-- if it has them, its distributions (n lists of k+1 numbers); total: the sum of all strengths.
local function run_of(spec, where)
  local run, memory = spec.run, spec.memory
  local size = strengths.check_run(run, memory, where)
  local two_ends = run.push == nil
  local ending = spec['end'] or (two_ends and 'top' or nil)
  check(two_ends or not ending, where, "end is for memories with two ends, got '%s'", tostring(ending))
  local suffix = two_ends and '_' .. ending or ''
  local function of_memory(tensor) return strengths.rows_of(tensor, memory) end
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

-- The strengths to show: those in spec.show, or those that are not 1 everywhere.
local function asked_for(spec, found)
  if #spec.show > 0 then return spec.show end
  local names = {}
  for _, name in ipairs(shown) do
    local fixed = true
    for _, value in ipairs(found.values[name]) do fixed = fixed and value == 1 end
    if not fixed then names[#names + 1] = name end
  end
  return #names > 0 and names or { 'push' }
end

-- Converts the options of plot.word_strengths to those of plot.bars.
local function bars_of(spec)
  local found = run_of(spec, 'plot.word_strengths')
  local series, texts = {}, {}
  for i, name in ipairs(asked_for(spec, found)) do
    series[i] = { name = name, y = found.values[name], colour = style.of(colour_of[name]).colour }
  end
  for t, total in ipairs(found.total) do texts[t] = ('%.1f'):format(total) end
  return { title = spec.title, categories = found.words, series = series, y_label = spec.y_label,
    under = { name = 'on the stack', texts = texts }, y_min = 0, y_max = spec.y_max,
    width = spec.width or math.max(480, 130 + 46 * found.steps), height = spec.height, legend = true }
end

-- plot.word_strengths_text: one line for each word.
local function lines_of_words(spec)
  local found = run_of(spec, 'plot.word_strengths_text')
  local names, plain = asked_for(spec, found), text.is_plain(spec)
  local greatest = 1e-9
  for _, name in ipairs(names) do
    for _, value in ipairs(found.values[name]) do
      if axes.finite(value) then greatest = math.max(greatest, value) end
    end
  end
  local labels = text.widest(found.words)
  local room = (spec.columns or math.min(100, text.terminal_width())) - labels - 8
  local cells = math.max(4, math.floor(room / #names) - 7)
  local lines, head = { spec.title }, (' '):rep(labels)
  for _, name in ipairs(names) do head = head .. '  ' .. text.padded(name, cells + 5) end
  lines[#lines + 1] = head .. '  total'
  for t, word in ipairs(found.words) do
    local line = text.padded(word, labels)
    for _, name in ipairs(names) do
      local value = found.values[name][t]
      local drawn = axes.finite(value) and text.bar(math.max(0, value) / greatest * cells, plain) or '?'
      line = line .. ('  %4.2f %s'):format(value, text.padded(drawn, cells))
    end
    lines[#lines + 1] = line .. ('  %5.2f'):format(found.total[t])
  end
  return table.concat(lines, '\n') .. '\n'
end

return { run_of = run_of, colour_of = colour_of, shown = shown,
  options = { rows.strengths, {
    { 'show', {}, 'the strengths to draw, by default those that are not fixed to 1', choices = shown },
    { 'end', nil, 'of a deque: which end', type = 'text', choices = { 'top', 'bottom' } },
    { 'y_label', 'strength', 'label of the vertical axis' },
    { 'y_max', nil, 'upper end of the axis', type = 'number' },
  }, rows.picture, rows.size(nil, 340), rows.text },
  svg = function(spec) return bars.svg(bars_of(spec)) end, text = lines_of_words }
