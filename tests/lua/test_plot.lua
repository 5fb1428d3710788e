-- Plots: well-formed SVG with marks at the positions that the axes imply, and the same charts as text.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local axes = require 'pushdown.plot.axes'
local plot = require 'pushdown.plot'

local nan, huge = 0 / 0, math.huge

-- Throws unless `text` is well-formed XML with one root element and no entities besides the five standard ones.
local function check_xml(text)
  local open, at, roots = {}, 1, 0
  text = text:gsub('^<%?xml.-%?>', '')
  while true do
    local from, to = text:find('<[^>]*>', at)
    local between = text:sub(at, (from or #text + 1) - 1)
    for entity in between:gmatch('&[^;]*;?') do
      assert(entity:match('^&[lgaq][a-z]+;$') or entity == '&#39;', 'entity ' .. entity)
    end
    assert(#open > 0 or between:match('^%s*$'), 'text outside the root: ' .. between)
    assert(not between:find('>', 1, true), 'stray >')
    if not from then break end
    local tag = text:sub(from, to)
    local closing = tag:match('^</([%w]+)>$')
    local name = tag:match('^<([%w]+)')
    if closing then
      assert(table.remove(open) == closing, 'unbalanced ' .. tag)
    else
      assert(name, 'no name in ' .. tag)
      local rest = tag:sub(#name + 2):gsub('^%s*', ''):gsub('/?>$', '')
      rest = rest:gsub('[%w%-:]+="[^"<]*"%s*', '')
      assert(rest == '', 'attributes of ' .. tag)
      if #open == 0 then roots = roots + 1 end
      if not tag:match('/>$') then open[#open + 1] = name end
    end
    at = to + 1
  end
  assert(#open == 0 and roots == 1, 'one root element, all closed')
  assert(not text:lower():find('nan') and not text:find('inf%W'), 'no number is NaN or infinite')
end

-- Returns the coordinate attribute `key` of every element `name` in the text.
local function attributes(text, name, key)
  local values = {}
  for tag in text:gmatch('<' .. name .. '[^>]*>') do
    values[#values + 1] = tonumber(tag:match(' ' .. key .. '="([^"]*)"'))
  end
  return values
end

local function label_place(text, label, key)
  for tag, content in text:gmatch('(<text[^>]*>)([^<]*)</text>') do
    if content == label then return tonumber(tag:match(' ' .. key .. '="([^"]*)"')) end
  end
  error('no label ' .. label)
end

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
  check_xml(plot.heat_map { values = {} })
  picture = plot.heat_map { values = { { 0, 1 }, { nan, 0.5 } }, x_labels = { 'x', 'y' },
    y_labels = { '1', '2' }, show_values = true, value_label = 'p', title = 'H' }
  check_xml(picture)
  assert(picture:find('#f7fbff', 1, true) and picture:find('#08306b', 1, true), 'both ends of the scale')
  assert(picture:find('#d9d9d9', 1, true), 'missing values are grey')
end)

-- The content of a stack of 4 numbers per vector on three words.
local function sentence(stack)
  stack.kind, stack.size, stack.max_strength = stack.kind or 'stratification', 4, stack.max_strength or 4
  local model = pd.model.language_model{ alphabet = { 'a', 'b', '<&>' }, controller = { kind = 'lstm', hidden = 5 },
    stack = stack }
  return { run = model:strengths('a <&> b'), symbols = { 'a', '<&>', 'b' }, ascii = true, columns = 80 }
end

local variable = { push = 'expectation', pop = 'fixed', read = 'expectation' }

local function lines_of(text)
  local lines = {}
  for line in text:gmatch('[^\n]+') do lines[#lines + 1] = line end
  return lines
end

test('strengths over the words of a sentence', function()
  local spec = sentence(variable)
  spec.title = 'S'
  local picture = plot.word_strengths(spec)
  check_xml(picture)
  local heights, push = attributes(picture, 'rect', 'height'), spec.run.push
  -- After the background: push and read of three words, and two colours of the legend. The pop is fixed.
  test.equal(#heights - #attributes(picture, 'rect', 'rx'), 3 * 2 + 2)
  test.near(heights[3] / heights[1], push[2][1]:item() / push[1][1]:item(), 0.02)
  for _, word in ipairs { 'a', '&lt;&amp;&gt;', 'b', 'push', 'read', 'on the stack' } do
    assert(picture:find('>' .. word .. '<', 1, true), word)
  end
  local total = ('%.1f'):format(spec.run.strengths[3]:sum():item())
  assert(picture:find('>' .. total .. '<', 1, true), 'the strength on the stack in the end')

  local text = plot.word_strengths_text(spec)
  local lines = lines_of(text)
  test.equal(#lines, 2 + 3)
  assert(lines[2]:find('push') and lines[2]:find('read') and not lines[2]:find('pop'), lines[2])
  assert(lines[4]:find('^<&>  ' .. ('%4.2f #'):format(push[2][1]:item())), lines[4])
  assert(lines[5]:find(('%5.2f'):format(spec.run.strengths[3]:sum():item()) .. '$'), lines[5])
  for _, line in ipairs(lines) do assert(#line <= 80, line) end
  spec.show = { 'pop' }
  text = plot.word_strengths_text(spec)
  assert(text:find('1.00') and not text:find('push'), text)
  spec.ascii = false
  assert(plot.word_strengths_text(spec):find('█'), 'blocks where the terminal has them')

  local deque = sentence{ kind = 'stratification_deque', push = 'expectation' }
  deque['end'] = 'bottom'
  check_xml(plot.word_strengths(deque))
  deque['end'] = 'left'
  test.fails("end must be one of 'top', 'bottom', got 'left'", function() plot.word_strengths(deque) end)
  spec['end'] = 'top'
  test.fails('end is for memories with two ends', function() plot.word_strengths(spec) end)
  spec['end'], spec.show = nil, { 'top' }
  test.fails("show must be a list of 'push', 'pop', 'read', got 'top'", function() plot.word_strengths(spec) end)
  spec.show, spec.memory = nil, 2
  test.fails('memory must be 1 to 1', function() plot.word_strengths_text(spec) end)
  test.fails('expected {run', function() plot.word_strengths { symbols = {} } end)
end)

test('distributions of strengths, step by step', function()
  local spec = sentence(variable)
  local picture = plot.strength_distributions(spec)
  check_xml(picture)
  -- Every probability is a bar, and those of a distribution sum to 1.
  local heights = attributes(picture, 'rect', 'height')
  test.equal(#heights, 3 * 2 * 5)
  for first = 0, 25, 5 do
    local sum = 0
    for i = 1, 5 do sum = sum + heights[first + i] end
    test.near(sum, 64, 0.1)
  end
  test.near(heights[1] / 64, spec.run.push_distribution[1][1][1]:item(), 1e-3)
  assert(picture:find('>&lt;&amp;&gt;<', 1, true), 'words')
  spec.width = 330
  check_xml(plot.strength_distributions(spec))
  assert(plot.strength_distributions(spec):find('width="330" height="', 1, true), 'as wide as asked for')

  local lines = lines_of(plot.strength_distributions_text(spec))
  test.equal(#lines, 2 + 3)
  assert(lines[1]:find('push') and lines[1]:find('read'), lines[1])
  assert(lines[2]:find('0  1  2  3  4  mean', 1, true), lines[2])
  assert(lines[5]:find('^b .* ' .. ('%4.2f'):format(spec.run.push[3][1]:item())), lines[5])
  spec.show = { 'read' }
  assert(not plot.strength_distributions_text(spec):find('push'))
  spec.show = { 'pop' }
  test.fails("no distribution of 'pop'", function() plot.strength_distributions(spec) end)
  test.fails("none of its strengths is an 'expectation'", function()
    plot.strength_distributions(sentence{})
  end)
  -- A certain strength is one full bar.
  local certain = { strengths = pd.tensor { { { 3 } } }, push = pd.tensor { { 3 } }, pop = pd.tensor { { 1 } },
    read_strength = pd.tensor { { 1 } }, push_distribution = pd.tensor { { { 0, 0, 0, 1 } } } }
  test.equal(plot.strength_distributions_text { run = certain, symbols = { 'eat' }, ascii = true },
    '     push\n      0  1  2  3  mean\neat           ##  3.00\n')
end)

test('the heat map of strengths above 1 shows its range', function()
  local bare = pd.stack.strengths { kind = 'stratification', push = { { 2.5, 0.5 } }, pop = { { 0, 1 } },
    vectors = { { { 1 }, { 1 } } } }
  local first = {}
  for name, tensor in pairs(bare) do first[name] = tensor[1] end
  assert(plot.strengths_text { run = first, ascii = true, columns = 60 }:find('0 to 2.5', 1, true))
end)

test('histograms of groups', function()
  local groups = { verb = { 2, 2.2, 3, 2.6, nan }, noun = { 0.5, 0.5, 0.4, 0.7 } }
  local spec = { groups = groups, bins = 4, low = 0, high = 4, x_label = 'push strength' }
  local lines = require 'pushdown.plot.histograms'(spec, 'x')
  test.equal(lines.series[1].name, 'noun (4)')
  test.equal(lines.series[2].name, 'verb (4)')
  test.equal(table.concat(lines.series[2].x, ' '), '0 0 1 2 3 4 4')
  test.equal(table.concat(lines.series[2].y, ' '), '0 0 0 0.75 0.25 0.25 0')
  spec.counts = true
  test.equal(table.concat(require 'pushdown.plot.histograms'(spec, 'x').series[2].y, ' '), '0 0 0 3 1 1 0')
  local picture = plot.histograms(spec)
  check_xml(picture)
  assert(picture:find('>noun (4)<', 1, true) and picture:find('>push strength<', 1, true), picture)
  local text = plot.histograms_text { groups = groups, ascii = true, columns = 60 }
  assert(text:find('noun (4)', 1, true) and text:find('verb (4)', 1, true), text)
  check_xml(plot.histograms { groups = { { name = 'b', values = {} }, { name = 'a', values = { 1 } } } })
  test.equal(require 'pushdown.plot.histograms'({ groups = { { name = 'b', values = {} }, { values = { 1 } } } },
    'x').series[2].name, 'group 2 (1)')
  check_xml(plot.histograms { groups = {} })
  test.fails("value 2 of group 'a' must be a number", function() plot.histograms { groups = { a = { 1, 'x' } } } end)
  test.fails("group 'a' must be a list", function() plot.histograms { groups = { a = 3 } } end)
  test.fails('groups must be a table', function() plot.histograms {} end)
  test.fails('bins must be a whole number', function() plot.histograms { groups = {}, bins = 0 } end)
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
  local folder = os.tmpname()
  os.remove(folder)
  files.make_folder(folder)
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
  os.execute('rm -r ' .. files.quoted(folder))
end)

test('wrong calls say what was expected', function()
  test.fails('test_plot.lua:430: %[plot.lines%] series must be a list', function() plot.lines {} end)
  test.fails("needs a list y", function() plot.lines { series = { { name = 'a' } } } end)
  test.fails("2 values of x and 3 of y", function()
    plot.lines { series = { { x = { 1, 2 }, y = { 1, 2, 3 } } } }
  end)
  test.fails("series%[1%].style must be one of", function()
    plot.lines { series = { { name = 'a', y = { 1 }, style = 'dots' } } }
  end)
  test.fails('range of an axis is empty', function()
    plot.lines { series = { { y = { 1 } } }, y_min = 2, y_max = 1 }
  end)
  test.fails("cannot write '/nowhere/at/all%.svg': ", function()
    plot.lines { series = {}, path = '/nowhere/at/all.svg' }
  end)
end)

-- Every option of every function is checked. The prompt keeps the pictures.
test('wrong options are errors', function()
  local options_of = require 'pushdown.plot.options'
  for name, options in pairs(options_of) do
    test.fails("%[plot%." .. name .. "%] unknown option 'no_such'; the options are ", function()
      pd.plot[name] { no_such = 1 }
    end)
    test.fails('expected a table of options, got 3', function() pd.plot[name](3) end)
    for option, form in pairs(options) do
      if form ~= 'any' then
        test.fails(('%%[plot%%.%s%%] %s must be'):format(name, option), function()
          pd.plot[name] { [option] = form == 'boolean' and 1 or false }
        end)
      end
    end
  end
  test.fails("unknown option 'sries', did you mean 'series'%?", function() pd.plot.lines { sries = {} } end)
  test.fails("unknown option 'colr' of series%[1%]", function()
    pd.plot.lines { series = { { y = { 1 }, colr = 1 } } }
  end)
  test.fails("series%[1%]%.y must be a list of numbers, got 'b' at 2", function()
    pd.plot.lines { series = { { y = { 1, 'b' } } } }
  end)
  test.fails('test_plot%.lua:%d+: %[plot%.bars%]', function() pd.plot.bars { width = 0 } end)
end)

-- No wrong value reaches the drawing: every error names the option, or is that of another function of the library.
test('nonsense values are errors with a name', function()
  local grammar = pd.grammar.load 'marked_reversal'
  local model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = 'elman', hidden = 2 },
    stack = { kind = 'stratification', size = 2 } }
  local pda = pd.pda.load 'marked_reversal_pda'
  local tree = pd.tree.parse('(S (A a) (B b))')[1]
  local run = {}
  for key, value in pairs(pd.stack.strengths { kind = 'stratification', push = { { 2.5, 0.5 } }, pop = { { 0, 1 } },
    vectors = { { { 1 }, { 1 } } } }) do run[key] = value[1] end
  local strengths = { run = run, symbols = { 'a', 'b' }, memory = 1 }
  local bars = { categories = { 'a', 'b' }, series = { { y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 } } } }
  local heat_map = { values = { { 1, 2 } }, x_labels = { 'a', 'b' }, y_labels = { 'c' } }
  local by_length = { models = model, grammar = grammar, lengths = { 3, 3 }, strings = 1 }
  local lines = { series = { { name = 'a', y = { 1, 2 }, low = { 0, 1 }, high = { 2, 3 } } } }
  local whole = { lines = lines, text = lines, bars = bars, bars_text = bars, heat_map = heat_map,
    heat_text = heat_map, by_length = by_length, by_length_text = by_length, strengths = strengths,
    strengths_text = strengths, word_strengths = strengths, word_strengths_text = strengths,
    strength_distributions = strengths, strength_distributions_text = strengths,
    histograms = { groups = { a = { 1, 2 } } }, histograms_text = { groups = { a = { 1, 2 } } },
    automaton = { trace = pda:trace '0 # 0' }, state_diagram = { pda = pda }, run = { run = pda:best_run '0 # 0' },
    program = { model = model }, tree = { tree = tree, gold = tree }, curves = { history = { { cross_entropy = 1 } } } }
  local nonsense = { 3, -1, 2.5, 1e9, 0 / 0, 1 / 0, 'x', true, print, {}, { {} }, { 'x' }, { 1 }, { 3, 1 }, { a = 3 },
    { value = 'x' }, pd.tensor { 1 }, grammar }
  for name, options in pairs(require 'pushdown.plot.options') do
    local function call(option, value)
      local spec = {}
      for key, one in pairs(whole[name]) do spec[key] = one end
      if option then spec[option] = value end
      return pcall(pd.plot[name], spec)
    end
    local drawn, problem = call()
    -- These strengths are not expected values.
    assert(drawn or name:find '^strength_distributions', ('%s: %s'):format(name, problem))
    for option in pairs(options) do
      for _, value in ipairs(option ~= 'path' and nonsense or {}) do
        local ok, message = call(option, value)
        assert(ok or message:find '%[[%w_.:]+%]' and not message:find '/lib/plot/',
          ('%s{%s = %s}: %s'):format(name, option, tostring(value), message))
      end
    end
  end
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
  local picture = pd.plot.automaton { trace = model:trace(text), title = 'untrained' }
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
  local shown = require 'pushdown.prompt.picture'.shown
  local svg = pd.plot.heat_map { values = { { 0, 1 } }, y_labels = { 'row' }, ascii = true }
  assert(shown(svg):find('row |', 1, true) and shown(svg):find('(a picture of 640 x 400 pixels, not saved', 1, true))
  assert(shown('<svg width="10" height="20"></svg>'):find('^%(a picture of 10 x 20 pixels, not saved'))
end)

test.finish()
