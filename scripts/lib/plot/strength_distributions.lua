-- The distributions of the strengths of a sentence, word by word, as in Merrill et al. 2019, Figure 3.
local axes = require 'pushdown.plot.axes'
local check = require 'pushdown.plot.figure'.check
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'
local text = require 'pushdown.plot.text'
local trim = require 'pushdown.text.trim'
local words = require 'pushdown.plot.word_strengths'

-- The distributions to show: those in spec.show, or all.
local function distributions_of(spec, found, where)
  local names = {}
  for _, name in ipairs(#spec.show > 0 and spec.show or words.shown) do
    if found.distributions[name] then names[#names + 1] = name end
    check(#spec.show == 0 or found.distributions[name], where,
      "there is no distribution of '%s': show must be a list of strengths that are expectations", tostring(name))
  end
  check(#names > 0, where, "the memory has no distributions: none of its strengths is an 'expectation'")
  return names
end

-- plot.strength_distributions: small bar charts side by side, one row for each strength.
local function draw(spec)
  local where = 'plot.strength_distributions'
  local found = words.run_of(spec, where)
  local names = distributions_of(spec, found, where)
  local chart, height, gap, row_gap = 74, 64, 14, 30
  for _, word in ipairs(found.words) do chart = math.max(chart, math.min(150, svg.text_width(word))) end
  local left, top = 74, spec.title and 56 or 30
  local a_line = math.max(1, math.min(found.steps, math.floor(((spec.width or 1000) - left - 10) / (chart + gap))))
  local lines = math.ceil(found.steps / a_line)
  a_line = math.max(1, math.ceil(found.steps / math.max(1, lines)))
  local line_height = #names * (height + row_gap) + 34
  local canvas = svg.canvas(spec.width or left + a_line * (chart + gap) + 10, top + math.max(1, lines) * line_height)
  canvas:title(spec.title, nil, 22)
  for t, word in ipairs(found.words) do
    local x = left + (t - 1) % a_line * (chart + gap)
    local line_top = top + math.floor((t - 1) / a_line) * line_height
    for i, name in ipairs(names) do
      local y = line_top + (i - 1) * (height + row_gap)
      local chances = found.distributions[name][t]
      local width = chart / #chances
      if (t - 1) % a_line == 0 then
        canvas:before(left - 30, y + height / 2 + 4, name, { ['font-weight'] = 'bold' })
        for _, tick in ipairs { 0, 1 } do
          canvas:before(left - 7, y + (1 - tick) * height + 4, tick, { ['font-size'] = 10 })
        end
      end
      canvas:line(x, y, x + chart, y, { stroke = svg.grid })
      for value, chance in ipairs(chances) do
        canvas:add('rect', { x = x + (value - 1 + 0.1) * width, width = 0.8 * width, y = y + (1 - chance) * height,
          height = chance * height, fill = style.of(words.colour_of[name]).colour })
      end
      canvas:line(x, y + height, x + chart, y + height)
      local every = math.ceil(#chances / 8)
      for value = 0, #chances - 1, every do
        canvas:centred(x + (value + 0.5) * width, y + height + 12, value, { ['font-size'] = 10, fill = '#666666' })
      end
      canvas:before(x + chart, y - 4, ('%.2f'):format(found.values[name][t]), { ['font-size'] = 10, fill = '#666666' })
    end
    canvas:centred(x + chart / 2, line_top + #names * (height + row_gap) + 2, word)
  end
  return canvas:document(spec.title or 'Distributions of ' .. table.concat(names, ' and ') .. ' strengths')
end

local levels = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }
local plain_levels = { '.', ':', '-', '=', '+', '*', '%', '#' }

-- plot.strength_distributions_text: one line for each word, one column for each value of a distribution.
local function lines_of_words(spec)
  local where = 'plot.strength_distributions_text'
  local found = words.run_of(spec, where)
  local names, glyphs = distributions_of(spec, found, where), text.is_plain(spec) and plain_levels or levels
  local labels, lines = text.widest(found.words), { spec.title }
  local head, values = (' '):rep(labels), found.steps > 0 and #found.distributions[names[1]][1] or 0
  for _, name in ipairs(names) do head = head .. '  ' .. text.padded(name, 3 * values + 5) end
  lines[#lines + 1] = trim.right(head)
  local scale = (' '):rep(labels)
  for _ = 1, #names do
    scale = scale .. '  '
    for value = 0, values - 1 do scale = scale .. ('%2d '):format(value) end
    scale = scale .. ' mean'
  end
  lines[#lines + 1] = scale
  for t, word in ipairs(found.words) do
    local line = text.padded(word, labels)
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

return { options = words.options, svg = draw, text = lines_of_words }
