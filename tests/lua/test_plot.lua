-- Plots: well-formed SVG with marks at the positions that the axes imply, and the same charts as text.
local pd = require 'pushdown'
local axes = require 'pushdown.plot.axes'
local files = require 'pushdown.files'
local plot = require 'pushdown.plot'
local reader = dofile(pd.root .. '/tests/lua/svg.lua')
local test = require 'pushdown.test'

local attributes, check_xml, label_place = reader.attributes, reader.check, reader.label_place
local nan, huge = 0 / 0, math.huge

test('marks are at the positions of the tick labels', function()
  local picture = plot.lines { series = { { x = { 0, 4, 10 }, y = { 0, 0.2, 0.4 } } } }
  check_xml(picture)
  local cx, cy = attributes(picture, 'circle', 'cx'), attributes(picture, 'circle', 'cy')
  test.equal(#cx, 3)
  for i, label in ipairs { '0', '4', '10' } do test.near(cx[i], label_place(picture, label, 'x'), 0.02) end
  for i, label in ipairs { '0.0', '0.2', '0.4' } do
    test.near(cy[i], label_place(picture, label, 'y') - 4, 0.02)
  end
end)

test('a logarithmic axis spaces decades evenly', function()
  local picture = plot.lines { y_log = true, series = { { y = { 0.001, 0.01, 0.1, 1 } } } }
  check_xml(picture)
  local cy = attributes(picture, 'circle', 'cy')
  for i = 1, 3 do test.near(cy[i] - cy[i + 1], cy[1] - cy[2], 0.02) end
end)

test('gaps, not lines, where a value is missing', function()
  local picture = plot.lines { series = { { y = { 1, 2, nan, 3, 4, huge, 5 } } } }
  check_xml(picture)
  test.equal(#attributes(picture, 'circle', 'cx'), 5)
  local lines = 0
  for d in picture:gmatch(' d="(M[^"]*)"') do
    lines = lines + 1
    test.equal(select(2, d:gsub('[ML]', '')), 2)
  end
  test.equal(lines, 2)
  -- Values that a logarithmic axis cannot show are also gaps.
  check_xml(plot.lines { y_log = true, series = { { y = { 1, 0, -2, 3 } } } })
end)

test('bands and references are drawn and kept in view', function()
  local picture = plot.lines { series = { { name = 'a', y = { 1, 2, 3 }, low = { 0.5, 1, nan },
    high = { 2, 9, nan } } }, reference = { value = -3, name = 'lower bound' } }
  check_xml(picture)
  test.equal(select(2, picture:gsub('fill%-opacity="0.18"', '')), 1)
  assert(picture:find('>lower bound<', 1, true))
  assert(picture:find('>−2<', 1, true), 'the axis reaches down to the reference')
end)

test('strange series still give a picture', function()
  for name, series in pairs {
    none = {}, no_points = { { name = 'a', y = {} } }, all_missing = { { y = { nan, nan } } },
    one_point = { { y = { 3e-9 } } }, constant = { { y = { 7, 7, 7 } } }, zeros = { { y = { 0, 0 } } },
    large = { { y = { 1e300, -1e300 } } }, small = { { y = { 1e-300, 2e-300 } } },
    same_x = { { x = { 2, 2 }, y = { 1, 5 } } }, long = { { y = {} } },
    rounded = { { y = { 0.1, 0.1 + 2e-17, 0.1 - 2e-17 } } }, nearly = { { y = { 1e6, 1e6 + 1e-9 } } },
  } do
    if name == 'long' then for i = 1, 5000 do series[1].y[i] = math.sin(i / 50) end end
    local spec = { title = name, x_label = 'x', y_label = 'y', series = series }
    check_xml(plot.lines(spec))
    spec.ascii = true
    local text = plot.text(spec)
    assert(not text:find('nan') and not text:find('inf'), name .. '\n' .. text)
  end
end)

test('markers = false draws none', function()
  local y = {}
  for i = 1, 40 do y[i] = i end
  local picture = plot.lines { series = { { y = y, markers = false }, { y = y, markers = false } } }
  test.equal(#attributes(picture, 'circle', 'cx'), 0)
  test.equal(#attributes(picture, 'rect', 'rx'), 1)  -- only the frame of the legend
end)

test('text is escaped', function()
  local picture = plot.lines { title = [[a < b & "c" 'd' > e]],
    series = { { name = '<script>λ\1\255', y = { 1 } } } }
  check_xml(picture)
  assert(picture:find('a &lt; b &amp; &quot;c&quot; &#39;d&#39; &gt; e', 1, true))
  assert(picture:find('&lt;script&gt;λ\239\191\189\239\191\189', 1, true))
end)

test('ticks are round, in range and labelled without excess', function()
  local function labels(low, high, options)
    return table.concat(axes.axis(low, high, options).labels, ' ')
  end
  test.equal(labels(0, 1), '0.0 0.2 0.4 0.6 0.8 1.0')
  test.equal(labels(1, 20, { whole = true }), '0 5 10 15 20')
  test.equal(labels(1, 3, { whole = true }), '0 1 2 3')
  test.equal(labels(-0.3, 0.31), '−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3')
  test.equal(labels(0.001, 10, { log = true }), '0.001 0.01 0.1 1 10')
  local axis = axes.axis(0, 3e8)
  test.equal(axis.unit, '10⁸')
  test.equal(axes.axis(1e-7, 5e-7).unit, '10⁻⁷')
  for _, span in ipairs { 1e-12, 1e-5, 0.37, 1, 12, 1234, 9.9e15 } do
    for _, low in ipairs { 0, -span / 3, 17 * span } do
      local made = axes.axis(low, low + span)
      assert(#made.ticks >= 3 and #made.ticks <= 12, 'number of ticks over ' .. span)
      for _, value in ipairs(made.ticks) do
        local place = made.place(value)
        assert(place > -1e-6 and place < 1 + 1e-6)
      end
      local seen = {}
      for _, label in ipairs(made.labels) do
        assert(not seen[label], 'label twice: ' .. label)
        seen[label] = true
      end
    end
  end
end)

test('the terminal shows marks at the points, in both alphabets', function()
  local spec = { title = 'T', x_label = 'epoch', y_label = 'nats', columns = 40, rows = 8, ascii = true,
    series = { { name = 'up', y = { 0, 1 } }, { name = 'down', y = { 1, 0 } } },
    reference = { value = 0.5, name = 'half' } }
  local text = plot.text(spec)
  assert(not text:find('[\128-\255]'), 'ASCII only')
  local lines = {}
  for line in text:gmatch('([^\n]*)\n') do
    assert(#line <= 40, 'no line is wider than asked')
    lines[#lines + 1] = line
  end
  -- Below title and label: eight rows, the first series rising from left to right.
  local first, last = lines[10], lines[3]:find('[o#]') and lines[3] or lines[4]
  assert(first:find('o.*#') and last:find('#.*o'), text)
  assert(text:find('o up   # down   -- half', 1, true), text)
  spec.ascii = false
  text = plot.text(spec)
  assert(text:find('● up   ■ down   ┄┄ half', 1, true), text)
  assert(text:find('[\226][\160-\163]'), 'Braille')
end)

test('the legend below a chart in the terminal is no wider than the chart', function()
  local series = {}
  for i = 1, 8 do series[i] = { name = 'a curve, seed ' .. i, y = { 1, i } } end
  local text = plot.text { series = series, columns = 60, ascii = true }
  for line in text:gmatch '[^\n]+' do assert(#line <= 60, line) end
  for i = 1, 8 do assert(text:find('a curve, seed ' .. i, 1, true), text) end
end)

test('bars and heat maps', function()
  check_xml(plot.bars { title = 'B', y_label = 'nats',
    categories = { 'a', 'a very long category name', '<c>' },
    series = { { name = 's', y = { 1, -2, nan }, low = { 0.5 }, high = { 1.5 } },
      { name = 't', y = { 3, 4, 5 } } },
    reference = { value = 2, name = 'r' } })
  local picture = plot.bars { categories = { 'a', 'b' }, series = { { y = { 1, 2 } } } }
  local heights = attributes(picture, 'rect', 'height')
  test.near(heights[#heights] / heights[#heights - 1], 2, 0.01)
  check_xml(plot.bars { categories = {}, series = {} })
  picture = plot.heat_map { values = { { 0.5, nan } }, cells = { { '3 of 5', 'none' } } }
  check_xml(picture)
  assert(picture:find '>3 of 5<' and picture:find '>none<', picture)
  check_xml(plot.heat_map { values = {} })
  picture = plot.heat_map { values = { { 0, 1 }, { nan, 0.5 } }, x_labels = { 'x', 'y' },
    y_labels = { '1', '2' }, show_values = true, value_label = 'p', title = 'H' }
  check_xml(picture)
  assert(picture:find('#f7fbff', 1, true) and picture:find('#08306b', 1, true), 'both ends of the scale')
  assert(picture:find('#d9d9d9', 1, true), 'missing values are grey')
end)

test('text plots of bars', function()
  local bars = { categories = { 'a', 'bé' }, series = { { y = { -1, 2 } } }, columns = 24 }
  bars.ascii = true
  test.equal(pd.plot.bars_text(bars), 'a  #####| -1\nbé      |########### 2\n')
  bars.ascii, bars.series = false, { { name = 'one', y = { 1, 2 } }, { name = 'two', y = { 0 / 0, 1.3 } } }
  bars.columns = 30
  test.equal(pd.plot.bars_text(bars), 'a   one │████████ 1\n    two │\nbé  one │████████████████ 2\n'
    .. '    two │██████████▍ 1.3\n')
  test.fails("option 'series' %(the bars%) is missing", function() pd.plot.bars_text { categories = { 'a' } } end)
  test.fails("option 'categories%[1%]' must be a text",
    pd.plot.bars_text, { categories = { {} }, series = { { y = {} } } })
end)

test('histograms of groups', function()
  local groups = { verb = { 2, 2.2, 3, 2.6, nan }, noun = { 0.5, 0.5, 0.4, 0.7 } }
  local spec = { groups = groups, bins = 4, low = 0, high = 4, x_label = 'push strength' }
  local lines = require 'pushdown.plot.histograms'.lines_of(spec)
  test.equal(lines.series[1].name, 'noun (4)')
  test.equal(lines.series[2].name, 'verb (4)')
  test.equal(table.concat(lines.series[2].x, ' '), '0 0 1 2 3 4 4')
  test.equal(table.concat(lines.series[2].y, ' '), '0 0 0 0.75 0.25 0.25 0')
  spec.counts = true
  test.equal(table.concat(require 'pushdown.plot.histograms'.lines_of(spec).series[2].y, ' '), '0 0 0 3 1 1 0')
  local picture = plot.histograms(spec)
  check_xml(picture)
  assert(picture:find('>noun (4)<', 1, true) and picture:find('>push strength<', 1, true), picture)
  local text = plot.histograms_text { groups = groups, ascii = true, columns = 60 }
  assert(text:find('noun (4)', 1, true) and text:find('verb (4)', 1, true), text)
  check_xml(plot.histograms { groups = { { name = 'b', values = {} }, { name = 'a', values = { 1 } } } })
  test.equal(require 'pushdown.plot.histograms'.lines_of({ bins = 40,
    groups = { { name = 'b', values = {} }, { values = { 1 } } } }).series[2].name, 'group 2 (1)')
  check_xml(plot.histograms { groups = {} })
  test.fails("value 2 of group 'a' must be a number", function() plot.histograms { groups = { a = { 1, 'x' } } } end)
  test.fails("group 'a' must be a list", function() plot.histograms { groups = { a = 3 } } end)
  test.fails("option 'groups' must be a table", function() plot.histograms { groups = 3 } end)
  test.fails("option 'bins' must be between 1 and 10000, got 0", plot.histograms, { groups = {}, bins = 0 })
  test.fails('range of the values is empty', function() plot.histograms { groups = {}, low = 2, high = 1 } end)
end)

test('learning curves use the bound if it is known', function()
  local history = {
    { epoch = 1, train_cross_entropy = 0.9, cross_entropy = 0.8, cross_entropy_difference = 0.3 },
    { epoch = 2, train_cross_entropy = 0.7, cross_entropy = 0.6, cross_entropy_difference = 0.1 },
  }
  local spec = plot.learning_curves({ { name = 'm', history = history } })
  test.equal(#spec.series, 1)
  test.near(spec.series[1].y[2], 0.1, 0)
  for _, row in ipairs(history) do row.cross_entropy_difference = nil end
  spec = plot.learning_curves({ { name = 'm', history = history } })
  test.equal(#spec.series, 2)
  test.equal(spec.series[1].name, 'm, training')
  local path = os.tmpname()
  local picture = plot.curves { path = path, history = history }
  local file = assert(io.open(path, 'rb'))
  test.equal(file:read('*a'), picture)
  file:close()
  os.remove(path)
  check_xml(plot.curves { history = {} })
end)

test('legends are beside or below the plot, and their names are complete', function()
  local legend = require 'pushdown.plot.legend'
  local svg = require 'pushdown.plot.svg'
  -- Names in several lines are complete, and no line is wider than asked for.
  for _, name in ipairs { 'controller=lstm,stack=nondeterministic', 'a few words of a name', ('x'):rep(90),
    'ααα βββ γγγ', '' } do
    local lines = legend.wrapped(name, 120)
    for _, line in ipairs(lines) do assert(svg.text_width(line) <= 120, line) end
    test.equal((table.concat(lines):gsub(' ', '')), (name:gsub(' ', '')))
  end
  local function waves(count, name)
    local series = {}
    for k = 1, count do
      local y = {}
      for i = 1, 30 do y[i] = math.sin(i / 3 + k) end
      series[k] = { name = name .. k, y = y }
    end
    return series
  end
  local function number(text, pattern) return tonumber(text:match(pattern)) end
  local function look(name, count)
    local picture = plot.lines { series = waves(count, name), title = 't', x_label = 'x' }
    local box = picture:match '<rect [^>]*fill%-opacity[^>]*/>'
    local clip = picture:match '<clipPath.-</clipPath>'
    return { width = number(picture, '<svg[^>]* width="(%d+)"'), height = number(picture, '<svg[^>]* height="(%d+)"'),
      x = number(box, ' x="([%d.]+)"'), y = number(box, ' y="([%d.]+)"'), w = number(box, ' width="([%d.]+)"'),
      h = number(box, ' height="([%d.]+)"'), left = number(clip, ' x="([%d.]+)"'), top = number(clip, ' y="([%d.]+)"'),
      right = number(clip, ' x="([%d.]+)"') + number(clip, ' width="([%d.]+)"'),
      bottom = number(clip, ' y="([%d.]+)"') + number(clip, ' height="([%d.]+)"') }
  end
  local beside = look('model ', 5)
  assert(beside.x >= beside.right and beside.x + beside.w <= beside.width and beside.height == 400)
  for _, name in ipairs { 'controller=lstm,stack=nondeterministic,learning_rate=0.00', ('long'):rep(40) } do
    local below = look(name, 6)
    assert(below.y >= below.bottom + 40 and below.y + below.h <= below.height, 'below the labels of the axis')
    assert(below.x >= 0 and below.x + below.w <= below.width and below.height > 400)
    assert(below.right - below.left > 0.8 * below.width, 'the plot keeps its width')
  end
  local bars = plot.bars { categories = { 'a' }, series = { { name = ('long '):rep(12), y = { 1 } },
    { name = ('name '):rep(12), y = { 2 } } } }
  assert(number(bars, '<svg[^>]* height="(%d+)"') > 400)
end)

test('pictures as PDF and PNG', function()
  local export = require 'pushdown.plot.export'
  local folder = test.folder()
  local spec = { series = { { y = { 1, 2 } } } }
  local function path(name)
    spec.path = folder .. '/' .. name
    plot.lines(spec)
    return files.read(spec.path)
  end
  assert(path('a.svg'):find('<svg', 1, true))
  if export.possible() then
    test.equal(path('a.pdf'):sub(1, 5), '%PDF-')
    test.equal(path('a.PNG'):sub(1, 8), '\137PNG\r\n\26\n')
    -- Twice the pixels of the SVG; bytes 17 to 20 contain the width.
    local a, b, c, d = path('a.png'):byte(17, 20)
    test.equal(((a * 256 + b) * 256 + c) * 256 + d, 1280)
    test.fails("cannot write '/proc/none/a%.", function() plot.save('/proc/none/a.pdf', plot.lines { series = {} }) end)
    export.all(folder .. '/b c', plot.lines { series = {} })
    for _, ending in ipairs { 'svg', 'pdf', 'png' } do assert(files.exists(folder .. '/b c.' .. ending)) end
  end
  test.equal(#files.find(folder, 'part'), 0)
  test.equal(export.format 'x.tar.gz', nil)
  test.fails("'a%.jpg' must end in %.svg, %.pdf or %.png", function() plot.save('a.jpg', '<svg/>') end)
end)

-- The places of the texts with these anchors and rotations: the left end and the lowest point.
local function reach(picture)
  local left, lowest = math.huge, 0
  for x, y, angle, text in picture:gmatch '<text x="([%d.-]+)" y="([%d.-]+)"[^>]-rotate%((%-%d+)[^>]*>([^<]*)' do
    local length, turned = require 'pushdown.plot.svg'.text_width(text), math.rad(-tonumber(angle))
    left = math.min(left, x - length * math.cos(turned))
    lowest = math.max(lowest, y + length * math.sin(turned))
  end
  return left, lowest
end

test('long names stay inside of the picture', function()
  local names, y, row = {}, {}, {}
  for i = 1, 30 do names[i], y[i], row[i] = ('long_'):rep(8) .. i, i, i end
  local bars = pd.plot.bars { categories = names, series = { { name = 'a', y = y } }, width = 1900 }
  local left, lowest = reach(bars)
  assert(left >= 0 and lowest <= tonumber(bars:match 'height="(%d+)"'), ('%g %g'):format(left, lowest))
  local map = pd.plot.heat_map { values = { row }, x_labels = names, x_label = 'read', value_label = 'strength' }
  lowest = select(2, reach(map))
  local height = tonumber(map:match 'height="(%d+)"')
  assert(lowest < height - 24, ('%g of %g'):format(lowest, height))
  assert(tonumber(map:match 'y="([%d.]+)"[^>]*>strength<') >= 12)
end)

test('the trace of a network stays readable at 39 symbols, below its title', function()
  local grammar = pd.grammar.load 'marked_reversal'
  local text = ('0 1 0 '):rep(6) .. '1 # 1' .. (' 0 1 0'):rep(6)
  local model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 1,
    controller = { kind = 'elman', hidden = 2 }, stack = { kind = 'nondeterministic', states = 2, symbols = 3 } }
  local picture = pd.plot.automaton { trace = model:stack_automaton(text), title = 'untrained' }
  local edges, all, share = picture:match 'The (%d+) of (%d+) edges that carry (%d+) %% of the weight'
  assert(tonumber(edges) <= 12 * 39 and tonumber(all) > 5000 and tonumber(share) < 95, picture:sub(1, 200))
  -- Long edges leave the first row upwards.
  local long = pd.plot.automaton { trace = pd.pda.load('marked_reversal_pda'):trace(text), title = 'title' }
  local highest = math.huge
  for y1, c1, c2, y2 in long:gmatch ' d="M[%d.-]+ ([%d.-]+)C[%d.-]+ ([%d.-]+) [%d.-]+ ([%d.-]+) [%d.-]+ ([%d.-]+)"' do
    highest = math.min(highest, (y1 + 3 * c1 + 3 * c2 + y2) / 8)
  end
  assert(highest > 30 and highest < 200, highest)
end)

test('a band that reaches 0 is drawn on a logarithmic axis', function()
  local picture = plot.lines { y_log = true, series = { { y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 } } } }
  assert(not picture:find 'nan' and not picture:find 'inf')
end)

test('the prompt shows a picture as text', function()
  local shown = require 'pushdown.plot.picture'.shown
  local svg = pd.plot.heat_map { values = { { 0, 1 } }, y_labels = { 'row' }, ascii = true }
  assert(shown(svg):find('row |', 1, true) and shown(svg):find('(a picture of 640 x 400 pixels, not saved', 1, true))
  assert(shown('<svg width="10" height="20"></svg>'):find('^%(a picture of 10 x 20 pixels, not saved'))
end)

test('lines draw the surprisals of a string over its symbols', function()
  local m = pd.model.language_model { alphabet = { 'a', 'b' }, seed = 1 }
  local rows = m:surprisal 'a b b'
  local numbers = {}
  for i, row in ipairs(rows) do numbers[i] = row.surprisal end
  local svg = plot.lines(rows)
  test.equal(svg, plot.lines { series = { { y = numbers } }, x_names = { 'a', 'b', 'b', '<end>' }, x_label = 'symbol',
    y_label = 'surprisal in nats' })
  assert(svg:find('&lt;end&gt;</text>', 1, true), svg)
  assert(plot.text(rows):find('a +b +b +<end>'), plot.text(rows))
  -- Of many names, as many as fit.
  local names, y = {}, {}
  for i = 1, 300 do names[i], y[i] = 'word' .. i, i end
  local _, shown = plot.lines { series = { { y = y } }, x_names = names }:gsub('>word%d+<', '')
  assert(shown > 5 and shown < 30, shown)
end)

test.finish()
