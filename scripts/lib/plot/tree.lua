-- A tree over its sentence as SVG, or two trees over the same words. With two trees, colour and shape distinguish the
-- spans that both have from the others.
local check = require 'pushdown.plot.figure'.check
local style = require 'pushdown.plot.style'
local rows = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local where = 'plot.tree'
local shared = { shape = 'circle', colour = '#12355b' }
local edge = { stroke = '#73706b', ['stroke-linecap'] = 'square' }
local other = { shape = 'open_square', colour = '#d1495b' }

-- The phrases of a tree with their daughters, which are phrases and words {word =}, from left to right. phrases() is in
-- preorder, so the phrase around another one is the last phrase before it that still covers it.
local function daughters_of(tree)
  local phrases, open, covered = tree:phrases(), {}, {}
  for _, phrase in ipairs(phrases) do
    phrase.daughters = {}
    while #open > 0 and open[#open].last < phrase.first do open[#open] = nil end
    if #open > 0 then table.insert(open[#open].daughters, phrase) end
    open[#open + 1] = phrase
  end
  for i = #phrases, 1, -1 do  -- inner phrases first: a word belongs to the innermost phrase
    local phrase = phrases[i]
    for word = phrase.first, phrase.last do
      if not covered[word] then
        covered[word] = true
        table.insert(phrase.daughters, { first = word, last = word, word = word, height = 0 })
      end
    end
    table.sort(phrase.daughters, function(a, b) return a.first < b.first end)
    phrase.height = 0
    for _, daughter in ipairs(phrase.daughters) do phrase.height = math.max(phrase.height, daughter.height + 1) end
  end
  return phrases
end

-- {phrases, words, tags, x (of every word), width, height (levels), marks (a set of spans) or nil}
local function panel_of(tree, against, with_tags, name)
  local panel = { phrases = daughters_of(tree), words = tree:words(), tags = with_tags and tree:tags() or {}, x = {},
    levels = 1, name = name }
  local at = 0
  for i, word in ipairs(panel.words) do
    local wide = math.max(svg.text_width(word), 0.85 * svg.text_width(panel.tags[i] or '')) + 12
    panel.x[i] = at + wide / 2
    at = at + wide
  end
  panel.width = at
  for i = #panel.phrases, 1, -1 do
    local phrase = panel.phrases[i]
    local function middle(daughter) return daughter.word and panel.x[daughter.word] or daughter.x end
    phrase.x = (middle(phrase.daughters[1]) + middle(phrase.daughters[#phrase.daughters])) / 2
    panel.levels = math.max(panel.levels, phrase.height)
  end
  if against then
    panel.marks = {}
    for _, span in ipairs(against:spans()) do panel.marks[span[1] .. ' ' .. span[2]] = true end
  end
  return panel
end

-- Draws a tree. `levels`: the height that is reserved; the words are at the bottom.
local function draw_panel(canvas, panel, left, top, step, levels)
  local base = top + (panel.name and 24 or 0) + levels * step + 20
  if panel.name then
    canvas:centred(left + panel.width / 2, top + 8, panel.name, { ['font-weight'] = 'bold' })
  end
  local tagged = false
  for _, tag in ipairs(panel.tags) do tagged = tagged or tag ~= '' end
  local foot = base - (tagged and 30 or 14)
  local function place(node)
    if node.word then return left + panel.x[node.word], foot end
    return left + node.x, base - 20 - node.height * step
  end
  for _, phrase in ipairs(panel.phrases) do
    -- Vertical lines from one horizontal bar, so that no two lines cross.
    local _, y = place(phrase)
    local daughters = phrase.daughters
    if #daughters > 1 then
      canvas:line((place(daughters[1])), y, (place(daughters[#daughters])), y, edge)
    end
    for _, daughter in ipairs(daughters) do
      local to_x, to_y = place(daughter)
      canvas:line(to_x, y, to_x, to_y, edge)
    end
  end
  for _, phrase in ipairs(panel.phrases) do
    local x, y = place(phrase)
    if phrase.label ~= '' then
      local wide = svg.text_width(phrase.label) * 0.85
      canvas:add('rect', { x = x - wide / 2 - 1, y = y - 7, width = wide + 2, height = 14, fill = '#ffffff' })
      canvas:centred(x, y + 4, phrase.label, { ['font-size'] = 11 })
      x = x - wide / 2 - 7
    end
    if panel.marks and phrase.last > phrase.first then
      local mark = panel.marks[phrase.first .. ' ' .. phrase.last] and shared or other
      style.marker(canvas, mark.shape, x, y, mark.colour)
    end
  end
  for i, word in ipairs(panel.words) do
    if tagged then
      canvas:centred(left + panel.x[i], base - 16, panel.tags[i], { ['font-size'] = 11,
        fill = '#73706b' })
    end
    canvas:centred(left + panel.x[i], base, word)
  end
end

local function legend(canvas, x, y)
  for _, entry in ipairs { { shared, 'span of both trees' }, { other, 'span of this tree alone' } } do
    style.marker(canvas, entry[1].shape, x, y - 4, entry[1].colour)
    canvas:text(x + 10, y, entry[2])
    x = x + svg.text_width(entry[2]) + 40
  end
end

local function check_same_words(tree, gold)
  local words, expected = tree:words(), gold:words()
  for i = 1, math.max(#words, #expected) do
    local same = words[i] and expected[i] and words[i]:lower() == expected[i]:lower()
    check(same, where, "the trees have different words; word %d is '%s' and '%s'", i, words[i] or '', expected[i] or '')
  end
end

local function draw(spec)
  local layout = spec.layout
  local with_tags = spec.tags
  if with_tags == nil then with_tags = not spec.gold end
  local names = spec.names or (spec.gold and { 'extracted', 'gold' }) or {}
  local panels = { panel_of(spec.tree, spec.gold, with_tags, names[1]) }
  if spec.gold then
    check_same_words(spec.tree, spec.gold)
    panels[2] = panel_of(spec.gold, spec.tree, with_tags, names[2])
  end
  local levels, widest, total = 1, 0, 0
  for _, panel in ipairs(panels) do
    levels = math.max(levels, panel.levels)
    widest = math.max(widest, panel.width)
    total = total + panel.width
  end
  local beside = layout == 'beside' or layout == 'auto' and total <= 1300
  local step = math.max(11, math.min(28, 420 / levels))
  local margin, gap, top = 16, 36, spec.title and 44 or 18
  local height = {}
  for i, panel in ipairs(panels) do
    height[i] = (panel.name and 24 or 0) + (beside and levels or panel.levels) * step + 34
  end
  local inner = beside and total + gap * (#panels - 1) or widest
  if spec.gold then inner = math.max(inner, 360) end
  if spec.title then inner = math.max(inner, svg.text_width(spec.title) * 1.15) end
  local full = beside and height[1] or height[1] + (height[2] and height[2] + 14 or 0)
  local canvas = svg.canvas(math.ceil(inner + 2 * margin), math.ceil(top + full + (spec.gold and 28 or 4)))
  canvas:title(spec.title)
  local x, y = margin, top
  for i, panel in ipairs(panels) do
    -- Side by side, both trees have their words on the same line.
    draw_panel(canvas, panel, x, y, step, beside and levels or panel.levels)
    if beside then x = x + panel.width + gap else y = y + height[i] + 14 end
  end
  if spec.gold then legend(canvas, margin + 6, canvas.height - 12) end
  return canvas:document(spec.title)
end

return { svg = draw, daughters_of = daughters_of, options = { {
  { 'tree', nil, 'the tree', type = 'Tree', required = true },
  { 'gold', nil, 'a second tree over the same words', type = 'Tree' },
  { 'names', nil, "names of both trees, by default 'extracted' and 'gold'", type = 'list of texts or numbers' },
  { 'layout', 'auto', 'places of both trees; auto: as they fit', choices = { 'auto', 'beside', 'below' } },
  { 'tags', nil, 'show parts of speech; the default for one tree', type = 'boolean' },
}, rows.picture } }
