-- `pushdown report`: the content of its page, that it has no external content, and its numbers.
-- label: long
local pd = require 'pushdown'
local charts = require 'pushdown.report.charts'
local document = require 'pushdown.report.document'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local lengths = require 'pushdown.report.lengths'
local library = require 'pushdown.report.library'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local plot = require 'pushdown.plot'
local test = require 'pushdown.test'

local has, lacks, quoted = test.has, test.lacks, files.quoted
local scene = made.new()
local page_path = scene.folder .. '/page.html'

-- A replacement if the chart library is not installed, so that the pages contain the data.
if not library.find() then
  library.find = function()
    return { script = 'window.nothing = 1;', licence = 'Permission is hereby granted', version = '1.0' }
  end
end

local function report(...)
  return made.answer('pushdown.commands.report', '--registry', scene.file, '-o', page_path, ...)
end

-- Returns the page about these runs, and the data in it.
local function page(...)
  local output, errors, status = report(...)
  test.equal(status, 0)
  test.equal(errors, '')
  local html = files.read(page_path)
  local text = html:match('<script type="application/json" id="data">(.-)</script>')
  local data = text and json.decode(text)
  return html, data, output
end

local function chart_of(data, title)
  for _, chart in ipairs(data.charts) do
    if chart.title == title then return chart end
  end
  error('no chart ' .. title, 2)
end

-- Nothing is loaded, and every opened element is closed.
local function check_document(html)
  -- The licence and the library contain addresses in their texts. Only attributes and styles could load something.
  local markup = html:gsub('<script.-</script>', ''):gsub('<pre>.-</pre>', '')
  for address in markup:gmatch('https?://[^"\'%s<)]*') do test.equal(address, 'http://www.w3.org/2000/svg') end
  lacks(markup, '<link rel="stylesheet', '<iframe', '<img', '<object', '<embed', '@import', 'src=')
  for value in markup:gmatch('url%(([^)]*)%)') do assert(value:match('^#'), value) end
  for value in markup:gmatch('[^%w]href="([^"]*)"') do assert(value:match('^#') or value == 'data:,', value) end
  has(html, "default-src 'none'", '<meta name="viewport"')
  local open, void = {}, { meta = true, link = true, br = true, input = true, wbr = true }
  for closing, name, rest in html:gsub('<!%-%-.-%-%->', ''):gsub('(<s[ct][ry][^>]*>).-(</s[ct][ry])', '%1%2')
    :gmatch('<(/?)(%a[%w]*)([^>]*)>') do
    if closing == '/' then
      local before = table.remove(open)
      if before ~= name then error(('</%s> closes <%s>'):format(name, tostring(before)), 2) end
    elseif not void[name] and not rest:match('/$') then
      open[#open + 1] = name
    end
  end
  test.equal(table.concat(open, ' '), '')
  local ids = {}
  for id in markup:gmatch('%sid="([^"]*)"') do
    assert(not ids[id], 'the id ' .. id .. ' is there twice')
    ids[id] = true
  end
  for target in markup:gmatch('#([%w_-]+)["%)]') do
    if not target:match('^%x%x%x%x%x%x$') and not target:match('^%x%x%x$') then assert(ids[target], target) end
  end
end

local function one(name, count, values) -- epochs with a metric
  local epochs = {}
  for i = 1, count do epochs[i] = { [name] = values[i] } end
  return epochs
end

test('one run of one epoch', function()
  local id = scene:add { name = 'single', experiment = 'alone', seed = 3, git = 'abc123-dirty',
    words = { '--name', "it's" }, command = { 'pushdown', 'made.lua', '--name', "it's" },
    options = { rate = 0.5, name = "it's", lengths = { 1, 2 } },
    epochs = { { cross_entropy = 0.5, lower_bound = 0.25, train_cross_entropy = 0.75, learning_rate = 0.1 } },
    result = { loss = 0.5, stopped = 'early' } }
  local html, data, output = page(tostring(id))
  has(output, page_path .. ': 1 run at 1 point')
  check_document(html)
  has(html, '<title>alone</title>', 'A made run.', '<section id="results">', '<section id="curves">',
    '<section id="configuration">', '<section id="origin">', 'abc123-dirty', 'with uncommitted changes',
    '<dt>rate</dt><dd><code>0.5</code></dd>', '<dd><code>1,2</code></dd>', 'early',
    "pushdown made.lua --name &#39;it&#39;\\&#39;&#39;s&#39;")
  lacks(html, '<section id="lengths">', '<section id="pictures">', 'class="warning"')
  local chart = chart_of(data, 'cross-entropy (nats per symbol)')
  test.equal(chart.reference.value, 0.25)
  test.equal(#chart.axes.epoch, 2)
  test.near(chart.axes.epoch[1].m, { 0.5 })
  test.equal(data.legend[chart.axes.epoch[1].g + 1].name, 'validation')
  test.near(chart.axes.epoch[2].m, { 0.75 })
  test.near(chart.axes.update[2].x, { 10 })
  test.near(chart.axes.seconds[2].x, { 0.25 })
  test.equal(chart.axes.epoch[2].d, nil)
  test.equal(data.several, false)
end)

test('bands over restarts have the numbers of the restarts', function()
  local values = { { 0.9, 0.5, 0.25, 0.125 }, { 0.8, 0.7, 0.6 }, { 0.1, 0.2, 0.3, 0.3 } }
  for restart, list in ipairs(values) do
    scene:add { name = ('g/rate=1/restart-%d'):format(restart), grid = 'g', point = 'rate=1', restart = restart,
      seed = restart, options = { rate = 1, task = 'dyck' }, epochs = one('accuracy', #list, list),
      result = { test_error = restart ^ 2, epochs = #list } }
    scene:add { name = ('g/rate=2/restart-%d'):format(restart), grid = 'g', point = 'rate=2', restart = restart,
      seed = restart, options = { rate = 2, task = 'dyck' }, epochs = one('accuracy', 2, { restart, 1 }),
      result = restart < 3 and { test_error = 5 } or nil, status = restart == 3 and 'failed' or nil }
  end
  local html, data = page('--grid', 'g')
  check_document(html)
  has(html, '=<wbr>')  -- the names of points, where a line may break
  has(html, '<title>g</title>', '6 runs at 2 points',
    'Not all runs are finished: 1 failed. Results are those of the finished ones: 5.', 'rate=1', 'What differs',
    'The same in all', '<dt>task</dt><dd><code>dyck</code>', 'a mean is over fewer restarts')
  local chart = chart_of(data, 'validation accuracy')
  local series = chart.axes.epoch[1]
  test.equal(series.runs, 3)
  for epoch = 1, 4 do
    -- An independent computation by pairs: the sum of (a - b)^2 over all pairs is n times the sum of squares about the
    -- mean.
    local here, sum, pairs_sum = {}, 0, 0
    for _, list in ipairs(values) do here[#here + 1] = list[epoch] end
    for i = 1, #here do
      sum = sum + here[i]
      for k = i + 1, #here do pairs_sum = pairs_sum + (here[i] - here[k]) ^ 2 end
    end
    table.sort(here)
    test.near(series.m[epoch], sum / #here, 1e-5)
    test.near(series.d[epoch], math.sqrt(pairs_sum / #here / (#here - 1)), 1e-5)
    test.near(series.l[epoch], here[1])
    test.near(series.h[epoch], here[#here])
    test.equal(series.n[epoch], #here)
  end
  test.equal(#series.r, 3)
  test.equal(series.r[2][4], json.null)
  test.equal(chart.axes.epoch[2].n, 3)  -- the same everywhere
  -- Mean ± deviation of 1, 4, 9, and of 5, 5 in the results, but not the best value.
  has(html, '4.7 ± 4.0<small>1 to 9, 3 runs</small>', '5 ± 0<small>5 to 5, 2 runs</small>', '2 of 3')
  test.equal(#data.legend, 2)
  test.equal(data.legend[1].name .. data.legend[1].runs, 'rate=13')
end)

test('runs by folder: a run, a point, a grid, all', function()
  local _, _, output = page(scene.folder .. '/runs/g/rate=1/restart-2')
  has(output, '1 run at 1 point')
  has(page(scene.folder .. '/runs/g/rate=1'), 'g: rate=1', '3 runs at 1 point')
  has(page(scene.folder .. '/runs/g/'), '6 runs at 2 points', '1 failed')
  has(page(scene.folder .. '/runs'), '7 runs at 3 points')
  -- A run that is named twice is shown once, and numbers can be mixed with folders.
  _, _, output = page('2', scene.folder .. '/runs/g/rate=1', '1')
  has(output, '4 runs at 2 points')
  -- Without a registry the folders have all information.
  local elsewhere = scene.folder .. '/copy'
  os.execute(('mkdir %s && cp -r %s %s'):format(quoted(elsewhere), quoted(scene.folder .. '/runs/g'),
    quoted(elsewhere)))
  local html = page(elsewhere .. '/g')
  has(html, '6 runs at 2 points', '1 failed', '4.7 ± 4.0')
  has(page(elsewhere .. '/g/rate=2'), 'rate=2')
end)

test('texts of the runs cannot become markup', function()
  local evil = '</script><script>alert(1)</script><b title="\'&'
  local id = scene:add { name = 'evil', experiment = evil, doc = evil, command = { 'pushdown', evil },
    options = { [evil] = evil }, epochs = { { cross_entropy = 1, [evil] = 2 } }, result = { [evil] = evil, bad = 1 },
    git = evil, seed = 1, files = { ['results.md'] = '| ' .. evil .. ' |\n|---|\n| ' .. evil .. ' |\n',
      ['<b>.svg'] = '<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"><title>' .. '&lt;script&gt;x'
        .. '</title><script>alert(2)</script><rect width="5" height="5"/></svg>',
      ['broken.svg'] = '<svg width="1" height="1"><g></svg>' } }
  local registry = pd.registry.open(scene.file)
  registry:update(id, { note = 'note ' .. evil })
  registry:tag({ id }, { '<script>tag' }, {})
  local html, data = page(tostring(id), '--title', evil)
  has(html, 'note and tags', 'note &lt;/script&gt;', '&lt;script&gt;tag')
  lacks(html, 'alert(1)</script>', 'alert(2)', '<b title', '<script>alert')
  has(html, '&lt;/script&gt;&lt;script&gt;alert(1)', '&lt;script&gt;x', 'broken.svg: it is not well formed')
  test.equal(select(2, html:gsub('</script>', '')), 4)
  test.equal(chart_of(data, evil:gsub('_', ' ')).title, evil)
  for _, name in ipairs { 'bytes', 'others' } do
    scene:add { name = name, experiment = name == 'bytes' and 'a\233b \226\130' or name, epochs = { { loss = 1 } },
      unrecorded = true }
  end
  html, data = page(scene.folder .. '/runs/bytes', scene.folder .. '/runs/others')
  has(html, 'a\239\191\189b')
  has(data.legend[1].name, 'a?b')
end)

test('a page names its scripts by their hashes', function()
  local hash = pd._text.sha256_base64
  test.equal(hash 'abc', 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=')
  local id = scene:add { name = 'hashes', experiment = 'hashes', epochs = { { accuracy = 1 }, { accuracy = 2 } } }
  local path = scene.folder .. '/hashes.html'
  local _, errors, status = made.answer('pushdown.commands.report', '--registry', scene.file, tostring(id), '-o', path)
  assert(status == 0, errors)
  local html = files.read(path)
  local policy = html:match 'Content%-Security%-Policy" content="([^"]*)"'
  has(policy, "default-src 'none'", "base-uri 'none'")
  lacks(policy, 'unsafe')
  local scripts, styles = 0, 0
  for text in html:gmatch '<script>(.-)</script>' do
    scripts = scripts + 1
    has(policy, "'sha256-" .. hash(text) .. "'")
  end
  for text in html:gmatch '<style>(.-)</style>' do
    styles = styles + 1
    has(policy, "'sha256-" .. hash(text) .. "'")
  end
  assert(scripts >= 1 and styles == 1)
  lacks(html:gsub('<script>.-</script>', ''), ' style=')
end)

test('pictures and tables of runs', function()
  local automaton = plot.automaton { trace = pd.pda.load 'an_bn/whole':trace { 'a', 'b' } }
  local id = scene:add { name = 'shown', experiment = 'shown', epochs = { { accuracy = 1 } }, result = { right = 1 },
    files = { ['automaton.svg'] = automaton, ['curves.svg'] = automaton,
      ['strengths.svg'] = plot.heat_map { values = { { 0, 1 }, { 1, 0 } }, title = 'Strengths of a run' },
      ['results.md'] = '| model | error |\n|---|---:|\n| a\\|b | 0.5 |\n' } }
  local html = page(tostring(id))
  check_document(html)
  has(html, '<h3>Strengths</h3>', 'Strengths of a run', '<h3>Stack automata</h3>', 'automaton.svg', '<h3>results</h3>',
    '<td data-name="model">a|b</td><td class="number" data-name="error">0.5</td>')
  lacks(html, 'curves.svg', 'Other pictures')
end)

test('numbers by length', function()
  local function csv(shift)
    return 'set,shortest,longest,strings,right_mean,right_last\ntest,0,9,10,5,' .. shift .. '\ntest,10,19,20,5,20\n'
      .. 'far,100,109,4,4,4\n'
  end
  local other = 'length,strings,lower_bound,cross_entropy_difference\n40,100,0.5,0.25\n42,100,0.5,0.5\n'
  for restart = 1, 2 do
    scene:add { name = 'l/k=1/restart-' .. restart, grid = 'l', point = 'k=1', restart = restart,
      epochs = { { loss = 1 } }, files = { ['lengths.csv'] = csv(restart * 4), ['test.csv'] = other,
        ['twice.csv'] = 'length,y\n1,1\n1,2\n2,1\n',
        ['no.csv'] = 'a,b\n1,2\n' } }
  end
  local html, data = page('--grid', 'l')
  check_document(html)
  has(html, '<section id="lengths">')
  local chart = chart_of(data, 'test: right (%), by the last answer')
  test.equal(chart.fixed, true)
  test.near(chart.axes.length[1].x, { 4.5, 14.5 })
  test.near(chart.axes.length[1].m, { 60, 100 })
  test.near(chart.axes.length[1].d, { 20 * math.sqrt(2), 0 }, 1e-3)
  test.near(chart_of(data, 'test: right (%), by the mean').axes.length[1].m, { 50, 25 })
  local difference = chart_of(data, 'test: cross-entropy difference (nats per symbol)')
  test.near(difference.axes.length[1].m, { 0.25, 0.5 })
  test.equal(difference.reference.value, 0)
  lacks(html, 'far: ', 'twice: ')
  test.equal(#lengths.charts { { name = 'none', runs = { { folder = scene.folder .. '/runs/single' } } } }, 0)
end)

test('chosen metrics, axes and titles', function()
  local html, data = page('--grid', 'g', '--metric', 'accuracy,test_error', '--x', 'update', '--title', 'Mine')
  has(html, '<title>Mine</title>')
  test.equal(#data.charts, 1)
  test.equal(table.concat(data.axes, ' '), 'update epoch seconds')
  local _, errors, status = report('--grid', 'g', '--metric', 'fine')
  test.equal(status, 1)
  has(errors, "no run has 'fine'; the epochs have accuracy, seconds, the results test_error, epochs")
end)

test('smaller runs and unfinished runs are marked', function()
  local id = scene:add { name = 'quick', size = 'quick', epochs = { { accuracy = 1 } } }
  has(page(tostring(id)), 'class="warning"', 'This run is smaller than the full run')
  local folder = scene.folder .. '/runs/untrained'
  local bare = scene:add { name = 'untrained', status = 'running' }
  local lock = assert(pd.process.lock(folder))
  has(page(tostring(bare)), 'Not all runs are finished: 1 running', 'there are no curves')
  lock:release()
end)

test('a grid of a thousand runs', function()
  local grid = scene.folder .. '/large'
  local folders = {}
  for k = 1, 200 do
    for restart = 1, 5 do folders[#folders + 1] = ('%s/k=%d/restart-%d'):format(grid, k, restart) end
  end
  test.command(('mkdir -p %s && cd %s && seq -f "k=%%g" 200 | while read p; do mkdir -p $p/restart-1 $p/restart-2 '
    .. '$p/restart-3 $p/restart-4 $p/restart-5; done'):format(quoted(grid), quoted(grid)))
  local metrics = ''
  for i, folder in ipairs(folders) do
    local epochs = {}
    for epoch = 1, 40 do epochs[epoch] = { accuracy = 1 - 1 / epoch - i / 1e4, train_loss = i / epoch } end
    if i <= 200 then metrics = made.metrics(epochs) end  -- the same from then on
    files.write(folder .. '/metrics.jsonl', metrics)
    files.write(folder .. '/result.json', ('{"test_error": %d}'):format(i))
  end
  local html, data, output = page(grid)
  has(output, '1000 runs at 200 points')
  assert(#html < 6e6, ('the page has %d bytes'):format(#html))
  check_document(html)
  test.equal(#data.legend, 200)
  for _, k in ipairs { 1, 2, 10, 99, 200 } do test.equal(data.legend[k].name, 'k=' .. k) end  -- in counting order
  test.equal(#data.charts, 2)
  test.equal(#data.charts[1].axes.epoch, 200)
  test.equal(data.charts[1].axes.seconds, nil)
  local x = data.charts[1].axes.epoch[200].x
  test.equal(x[#x], 40)
  has(html, 'With 200 points, curves are drawn over one axis only', 'more lines on the screen', 'All 1000 runs')
  os.execute('rm -r ' .. quoted(grid))
end)

test('each option in which points differ against the result', function()
  local grid = scene.folder .. '/search'
  local function put(point, restart, options, result)
    local folder = ('%s/%s/restart-%d'):format(grid, point, restart)
    files.make_folder(folder)
    options.task, options.seed, options.restart = 'dyck', 7 * restart, restart
    files.write(folder .. '/experiment.json', json.encode { experiment = 'search', size = 'full', options = options })
    files.write(folder .. '/result.json', json.encode { test_error = result, seconds = 3 })
  end
  for i, rate in ipairs { 1e-4, 1e-3, 1e-2, 1e-1 } do
    for restart = 1, 2 do
      put('rate=' .. rate, restart, { rate = rate, kind = i < 3 and 'lstm' or 'gru' }, 0.1 * i + 0.02 * restart)
    end
  end
  local html = page(grid)
  check_document(html)
  local section = html:match 'Results by option</h2>(.-)</section>'
  has(section, '<b>rate</b>', '<b>kind</b>', '>lstm<', '>gru<', '>test error<', '>10⁻⁴<', 'test error of every point')
  lacks(section, '<b>task</b>', '<b>seed</b>', '<b>restart</b>')
  -- The marks of a picture are the means, those of the bars the means over points.
  local effects = require 'pushdown.report.effects'
  local points, drawn = {}, {}
  for i, width in ipairs { 2, 4, 8 } do
    points[i] = { runs = { { status = 'done', options = { width = width, other = 'same', deep = i > 1 },
      result = { loss = 10 * i } } } }
  end
  local lines, bars = plot.lines, plot.bars
  function plot.lines(spec) drawn.lines = spec return '' end
  function plot.bars(spec) drawn.bars = spec return '' end
  local found = effects.of(points, 'loss')
  plot.lines, plot.bars = lines, bars
  test.equal(found[1].name .. ' ' .. found[2].name .. ' ' .. #found, 'deep width 2')
  test.near(drawn.lines.series[1].x, { 2, 4, 8 }, 0)
  test.near(drawn.lines.series[1].y, { 10, 20, 30 }, 0)
  test.equal(table.concat(drawn.bars.categories, ' '), 'false true')
  test.near(drawn.bars.series[1].y, { 10, 25 }, 0)
  test.equal(#effects.of({ points[1], points[2] }, 'loss'), 0)
  os.execute('rm -r ' .. quoted(grid))
end)

test('long curves are thinned out', function()
  local epochs = {}
  for epoch = 1, 3000 do epochs[epoch] = { accuracy = epoch / 3000 } end
  local id = scene:add { name = 'long', epochs = epochs }
  local html, data = page(tostring(id))
  local series = data.charts[1].axes.epoch[1]
  assert(#series.x <= 502, #series.x)
  test.equal(series.x[1], 1)
  test.equal(series.x[#series.x], 3000)
  for i, x in ipairs(series.x) do test.near(series.m[i], x / 3000, 1e-6) end
  has(html, 'Long curves show at least one in ')
end)

test('without the chart library a page has static pictures', function()
  local gather = require 'pushdown.report.gather'
  local rows = gather.runs({ words = { '2' }, status = {}, where = {} }, scene.file)
  local points = require 'pushdown.runs.selection'.points(rows)
  charts.read(points)
  local html = document.html { points = points, rows = rows, title = 'still', x = 'epoch' }
  check_document(html)
  has(html, 'The curves are still pictures', '<div class="still"><svg')
  lacks(html, 'Charts by', 'Drag over', 'id="data"')
  local dygraphs = library.find()
  html = document.html { points = points, rows = rows, title = 'live', x = 'epoch', library = dygraphs }
  has(html, 'Permission is hereby granted', 'Charts by dygraphs ' .. dygraphs.version, 'id="data"')
  lacks(html, 'sourceMappingURL')
  check_document(html)
end)

test('PUSHDOWN_DYGRAPHS names the chart library', function()
  local function answer(value)
    local output, status = test.command(('cd %s && PUSHDOWN_DYGRAPHS=%s %s report 2 --registry %s 2>&1'):format(
      quoted(scene.folder), value, quoted(test.program), quoted(scene.file)))
    return output, status
  end
  test.ended(0, { 'pushdown report: the curves are still pictures: PUSHDOWN_DYGRAPHS is off', '1 run at 1 point' },
    answer 'off')
  has(files.read(scene.folder .. '/report.html'), 'The curves are still pictures')
  files.make_folder(scene.folder .. '/dist')
  files.write(scene.folder .. '/LICENSE.txt', 'Permission <b> is granted')
  files.write(scene.folder .. '/dist/d.js',
    'Dygraph={};Dygraph.VERSION="9.8.7";"</script>"\n//# sourceMappingURL=unseen.map')
  lacks(test.succeeds(answer 'dist/d.js'), 'still pictures')
  local html = files.read(scene.folder .. '/report.html')
  check_document(html)
  has(html, 'Charts by dygraphs 9.8.7, MIT licence', 'Permission &lt;b&gt; is granted')
  lacks(html, 'unseen.map')
  files.write(scene.folder .. '/dist/other.js', 'VERSION="1.0"')
  test.ended(1, "pushdown report: PUSHDOWN_DYGRAPHS: 'dist/other.js' is not dygraphs", answer 'dist/other.js')
  test.ended(1, { 'pushdown report: PUSHDOWN_DYGRAPHS: ', "[file] cannot read 'nowhere.js'" }, answer 'nowhere.js')
end)

test('a page from a script', function()
  local report_module = require 'pushdown.report'
  local path = scene.folder .. '/scripted.html'
  has(report_module.page { runs = { 2, scene.folder .. '/runs/g/rate=2' }, path = path, title = '--A, b',
    registry = scene.file, metric = { 'accuracy', 'test_error' } }, path .. ': 4 runs at 2 points')
  has(files.read(path), '<title>--A, b</title>')
  has(report_module.page { grid = 'g', status = { 'failed' }, path = path, registry = scene.file }, '1 run at 1 point')
  test.fails('%[report.page%] which runs%? expected runs = {', function() report_module.page { path = path } end)
  test.fails("%[report.page%] option 'runs' must be a list", function() report_module.page { runs = 3 } end)
  test.fails('%[report.page%] there is no folder', function() report_module.page { runs = { 'nowhere' } } end)
  test.fails('%[report.page%] which runs', function() report_module.page() end)
end)

test('report refuses wrong calls', function()
  os.remove(page_path)
  local function fails(expected_status, expected, ...)
    local output, errors, status = report(...)
    test.equal(output, '')
    test.equal(status, expected_status)
    has(errors, 'pushdown report: ' .. expected)
    assert(not files.exists(page_path))
  end
  fails(2, 'which runs? pushdown report RUN...')
  fails(2, 'choose runs by name or by filters, not both', '1', '--grid', 'g')
  fails(2, 'unknown option --outputt, did you mean --output?', '1', '--outputt', 'x')
  fails(1, 'there is no run 99999', '99999')
  fails(1, "there is no folder 'nowhere'; expected a number of the registry or a folder", 'nowhere')
  fails(1, ("'%s' is a file"):format(scene.file), scene.file)
  files.make_folder(scene.folder .. '/empty')
  fails(1, ("there is no run in '%s/empty'"):format(scene.folder), scene.folder .. '/empty')
  fails(1, 'no run matches', '--grid', 'nothing')
  fails(1, ("--output: there is no folder '%s/nowhere'"):format(scene.folder), '1', '-o',
    scene.folder .. '/nowhere/a.html')
  fails(1, ("--output: expected a file, got the folder '%s'"):format(scene.folder), '1', '-o', scene.folder)
  local output, _, status = report '--help'
  test.equal(status, 0)
  has(output, 'self-contained page', '-o, --output TEXT', '--registry')
  output = test.command(('cd %s && %s report 1 --registry %s && ls report.html'):format(quoted(scene.folder),
    quoted(test.program), quoted(scene.file)))
  has(output, 'report.html: 1 run at 1 point')
end)

test.finish()

