-- Plots: well-formed SVG whose marks lie where the axes say, and the same charts as text.
require 'pushdown'
local test = require 'pushdown.test'
local axes = require 'pushdown.plot.axes'
local plot = require 'pushdown.plot'

local nan, huge = 0 / 0, math.huge

-- Throws unless `text` is well-formed XML of one root element with nothing but the five entities.
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

-- Coordinate attribute `key` of every element `name` in the text.
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

test('marks lie where the tick labels say', function()
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
  -- Values that a logarithmic axis does not have are gaps too.
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
  test.equal(#attributes(picture, 'rect', 'rx'), 1)  -- the legend's frame alone
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

test('learning curves take the bound where it is known', function()
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

test('wrong calls say what was expected', function()
  test.fails('%[plot.lines%] series must be a list', function() plot.lines {} end)
  test.fails("needs a list y", function() plot.lines { series = { { name = 'a' } } } end)
  test.fails("2 values of x and 3 of y", function()
    plot.lines { series = { { x = { 1, 2 }, y = { 1, 2, 3 } } } }
  end)
  test.fails("style of series 'a' must be", function()
    plot.lines { series = { { name = 'a', y = { 1 }, style = 'dots' } } }
  end)
  test.fails('range of an axis is empty', function()
    plot.lines { series = { { y = { 1 } } }, y_min = 2, y_max = 1 }
  end)
  test.fails('cannot write', function() plot.lines { series = {}, path = '/nowhere/at/all.svg' } end)
end)

test.finish()
