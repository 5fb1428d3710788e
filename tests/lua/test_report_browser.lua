-- The page of `pushdown report` in a headless browser: there are no errors, and everything is drawn, on a desktop, on a
-- phone, in dark mode and on paper. PUSHDOWN_BROWSER names a Chromium; without one the test is skipped.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local library = require 'pushdown.report.library'
local live = require 'pushdown.report.live'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local page_of = require 'pushdown.report.page'
local parse = require('pushdown.experiment').parse
local plot = require 'pushdown.plot'
local test = require 'pushdown.test'

local quoted = files.quoted

local function browser()
  local given = os.getenv 'PUSHDOWN_BROWSER'
  if given and given ~= '' then return given end
  for _, name in ipairs { 'chromium-headless-shell', 'chromium', 'google-chrome' } do
    local path = test.command('command -v ' .. name):match('^(/[^\n]*)\n')
    if path then return path end
  end
end

local program = browser()
local missing = not program and 'there is no chromium-headless-shell; PUSHDOWN_BROWSER may name a browser'
  or select(2, library.find())
if missing then test.skip(missing) end

local scene = made.new()

-- The command that starts the browser with its own milliseconds, which pass while it waits for nothing.
local messages = scene.folder .. '/said'
local function command(address, words, milliseconds)
  return ('cd %s && HOME=. timeout %d %s --headless --no-sandbox --disable-gpu --hide-scrollbars '
    .. '--user-data-dir=profile --enable-logging=stderr --virtual-time-budget=%d %s %s 2> %s'):format(
    quoted(scene.folder), test.patience, quoted(program), milliseconds, words, address, quoted(messages))
end

-- Starts the browser on a page of the scene. Returns its output.
local function run(page, words)
  local output, status = test.command(command('file://' .. page, words, 6000))
  local errors = files.read(messages)
  test.equal(status, 0)
  for line in errors:gmatch('[^\n]+') do
    if line:find(':CONSOLE', 1, true) then error('the console says: ' .. line, 2) end
  end
  return output
end

-- The checks in the page itself, inserted before and after everything else.
local before = [[<script>
window.problems = [];
window.addEventListener('error', function (event) { problems.push(String(event.message)); });
document.addEventListener('securitypolicyviolation', function (event) {
  problems.push('blocked ' + event.blockedURI);
});
</script>]]
local after = [[<pre id="probe"></pre><script>
(function () {
  function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
  function image(figure) {
    var canvas = figure.querySelector('canvas');
    if (!canvas) return '';
    return canvas.toDataURL() + labels(figure).map(function (label) { return label.textContent; });
  }
  function labels(figure) { return all('.dygraph-axis-label, .dygraph-xlabel', figure); }
  function pixels_of(canvas, width) {
    var copy = document.createElement('canvas');
    copy.width = width;
    copy.height = canvas.height;
    var context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    return context.getImageData(0, 0, copy.width, copy.height).data;
  }
  function painted(figure) {
    var canvas = figure.querySelector('canvas');
    if (!canvas) return 0;
    var pixels = pixels_of(canvas, canvas.width), colours = {};
    for (var i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] > 200) colours[pixels[i] >> 4 << 8 | pixels[i + 1] >> 4 << 4 | pixels[i + 2] >> 4] = true;
    }
    return Object.keys(colours).length;
  }
  // The labels of axes that overlap one another, leave the chart or are wider than their room; lines beside them.
  function misplaced(figure) {
    var box = figure.querySelector('.live').getBoundingClientRect(), found = [], before = [];
    var margin = Math.max.apply(null, all('.dygraph-axis-label-y', figure).map(function (label) {
      return label.getBoundingClientRect().right - box.left;
    })) * window.devicePixelRatio;
    if (pixels_of(figure.querySelector('canvas'), Math.floor(margin)).some(Boolean)) found.push('lines beside labels');
    labels(figure).forEach(function (label) {
      var range = document.createRange();
      range.selectNodeContents(label);
      var own = range.getBoundingClientRect();
      var out = own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 ||
        own.bottom > box.bottom + 1 || own.width > label.parentNode.offsetWidth + 1;
      if (own.width > 0 && (out || before.some(function (other) {
        return own.left < other.right && other.left < own.right && own.top < other.bottom && other.top < own.bottom;
      }))) found.push(label.textContent + ' at ' + [own.left - box.left, own.top - box.top, own.right - box.left,
        own.bottom - box.top].map(Math.round) + ' of ' + Math.round(box.width) + ' x ' + Math.round(box.height));
      before.push(own);
    });
    return found;
  }
  function choose(name, value) { document.querySelector('input[name=' + name + '][value=' + value + ']').click(); }
  function mouse(target, type, x, y) {
    target.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: x, clientY: y, movementX: 1, button: 0 }));
  }
  var out = {}, figures = all('figure[data-chart]'), first = figures[0], looks = [], over, table;
  // Returns whether the page kept the event from the browser.
  function touch(target, type, places) {
    var touches = places.map(function (x, i) {
      return new Touch({ identifier: i, target: target, clientX: x, clientY: middle().y,
        screenX: x, screenY: middle().y });
    });
    var down = type === 'touchend' ? [] : touches;
    return !target.dispatchEvent(new TouchEvent(type, { bubbles: true, cancelable: true, touches: down,
      targetTouches: down, changedTouches: touches }));
  }
  function pinch() {
    var held = touch(over, 'touchstart', [middle().x - 20, middle().x + 20]) &&
      touch(over, 'touchmove', [middle().x - 60, middle().x + 60]);
    touch(over, 'touchend', []);
    return held;
  }
  function look(name) {
    out[name] = looks.indexOf(image(first)) < 0 && painted(first) > 3;
    looks.push(image(first));
  }
  function column() {
    return all('tbody tr', table).map(function (row) { return row.cells[2].textContent; });
  }
  function middle() {
    var box = over.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + 20 };
  }
  // One after the other, with time to draw in between.
  var steps = [];
  figures.forEach(function (figure) { steps.push(function () {
    figure.scrollIntoView();
    window.dispatchEvent(new Event('scroll'));  // not every browser without a screen tells of it
  }); });
  steps.push(
    function () {
      window.scrollTo(0, 0);
      out.figures = figures.length;
      out.painted = figures.map(painted);
      out.misplaced = [].concat.apply([], figures.map(misplaced));
      out.stills = figures.map(function (one) { return getComputedStyle(one.querySelector('.still')).display; });
      out.overflow = document.documentElement.scrollWidth - window.innerWidth;
      out.requests = performance.getEntriesByType('resource').length;
      looks.push(image(first));
      choose('axis', 'update');
    },
    function () { look('axis'); choose('axis', 'epoch'); },
    function () { out.back = image(first) === looks[0]; choose('band', 'range'); },
    function () { look('range'); choose('band', 'both'); },
    function () { look('both'); choose('band', 'none'); },
    function () { look('none'); choose('each', 'yes'); },
    function () { look('each'); choose('each', 'no'); choose('band', 'deviation'); },
    function () { first.querySelector('.tools button').click(); },
    function () {
      look('log');
      out.misplaced = out.misplaced.concat(misplaced(first));
      first.querySelector('.tools button').click();
    },
    function () {
      var entries = all('.legend button[aria-pressed]');
      out.entries = entries.length;
      entries[0].click();
    },
    function () { look('without'); all('.legend button.all')[1].click(); },
    function () { out.nothing = first.querySelector('.live').textContent; all('.legend button.all')[0].click(); },
    function () {
      out.again = image(first) === looks[0];
      over = all('canvas', first)[1];
      mouse(over, 'mouseover', middle().x, middle().y);
      mouse(over, 'mousemove', middle().x, middle().y);
    },
    function () {
      var tip = first.querySelector('.tip'), box = tip.getBoundingClientRect();
      out.tip = tip.textContent;
      var plot = over.getBoundingClientRect();
      out.covered = box.top < plot.bottom - 1 && box.bottom > plot.top + 1;
      out.hair = first.querySelector('.hair').getBoundingClientRect().left - middle().x;
      mouse(over, 'mousedown', middle().x - 60, middle().y);
      mouse(over, 'mousemove', middle().x, middle().y + 180);
    },
    function () { mouse(over, 'mouseup', middle().x, middle().y + 180); },
    function () {
      look('zoomed');
      var shown = labels(first).filter(function (label) { return label.matches('.dygraph-axis-label-x'); });
      out.upper = Number(shown[shown.length - 1].textContent);
      out.misplaced = out.misplaced.concat(misplaced(first));
      choose('band', 'none');
    },
    function () {
      look('zoomed_without_band');
      choose('band', 'deviation');
    },
    function () {
      out.kept = image(first) === looks[looks.length - 2];
      over = all('canvas', first)[1];
      mouse(over, 'dblclick', middle().x, middle().y);
    },
    function () {
      out.whole = image(first) === looks[0];
      mouse(over, 'mouseout', 0, 0);
      out.hushed = first.querySelector('.tip').style.display === 'none';
      out.held = pinch();
    },
    function () {
      look('pinched');
      all('.tools button', first)[1].click();
    },
    function () {
      out.unpinched = image(first) === looks[0];
      pinch();
      touch(over, 'touchend', [middle().x]);
      touch(over, 'touchend', [middle().x]);
    },
    function () {
      out.tapped_twice = image(first) === looks[0];
      out.scrolls = !touch(over, 'touchstart', [middle().x]) && !touch(over, 'touchmove', [middle().x + 5]);
    },
    function () {
      out.tapped = first.querySelector('.tip').textContent;
      over = all('canvas', figures[1])[1];
      touch(over, 'touchstart', [middle().x]);
      out.tips = all('.tip').filter(function (tip) { return tip.offsetWidth > 0; }).length;
      table = document.querySelector('#results table[data-sortable]');
      all('th span', table)[2].click();
      out.rising = column();
      all('th span', table)[2].click();
      out.falling = column();
      out.cut = all('.wide').filter(function (one) { return one.scrollWidth > one.clientWidth + 1; }).length;
      out.background = getComputedStyle(document.body).backgroundColor;
      out.problems = window.problems;
      document.getElementById('probe').textContent = JSON.stringify(out);
    });
  function next() {
    if (steps.length === 0) return;
    steps.shift()();
    setTimeout(next, 60);
  }
  setTimeout(next, 200);
})();
</script></body>]]

-- Six points with three restarts each, one of which ends early.
for k = 1, 6 do
  for restart = 1, 3 do
    local epochs = {}
    for epoch = 1, restart == 3 and 12 or 20 do
      epochs[epoch] = { cross_entropy_difference = (k + restart / 3) / epoch, train_cross_entropy = 1 + k / epoch,
        learning_rate = 0.1 }
    end
    scene:add { name = ('g/size=%d/restart-%d'):format(k, restart), grid = 'g', point = 'size=' .. k, restart = restart,
      options = { size = k, task = '<b>&' }, epochs = epochs, result = { test_error = (7 * k) % 5 + restart },
      command = { 'pushdown', 'made.lua', '--size', tostring(k) },
      files = { ['lengths.csv'] = ('length,error\n10,%d\n20,%d\n30,3\n'):format(k, restart),
        ['strengths.svg'] = plot.heat_map { values = { { 0, 1 }, { 1, 0 } }, title = 'Strengths' } } }
  end
end
-- The page with the checks, which its policy is extended to allow.
local function with_probe(html, ending)
  local hashes = {}
  for text in (before .. ending):gmatch '<script>(.-)</script>' do
    hashes[#hashes + 1] = "'sha256-" .. pd._text.sha256_base64(text) .. "'"
  end
  html = html:gsub('script%-src ', '%0' .. table.concat(hashes, ' ') .. ' ', 1)
  html = html:gsub('<head>', function() return '<head>' .. before end, 1)
  return (html:gsub('</body>', function() return ending end))
end

local page, probed = scene.folder .. '/page.html', scene.folder .. '/probed.html'
do
  local _, errors, status = made.answer('pushdown.commands.report', '--registry', scene.file, '--grid', 'g', '-o', page)
  assert(status == 0 and errors == '', errors)
  files.write(probed, with_probe(files.read(page), after))
end

local function probe(dom)
  local text = dom:match('<pre id="probe">(.-)</pre>')
  assert(text and text ~= '', 'the probe did not run: ' .. dom:sub(-600))
  return json.decode((text:gsub('&lt;', '<'):gsub('&gt;', '>'):gsub('&amp;', '&')))
end

local function check(found)
  test.equal(table.concat(found.problems, '; '), '')
  test.equal(found.requests, 0)
  test.equal(found.figures, 5)
  for i, colours in ipairs(found.painted) do
    assert(colours > 3, ('chart %d has %d colours'):format(i, colours))
    test.equal(found.stills[i], 'none')
  end
  assert(found.overflow <= 0, 'the page is wider than the window by ' .. found.overflow)
  for _, name in ipairs { 'axis', 'back', 'range', 'both', 'none', 'each', 'log', 'without', 'again', 'zoomed',
    'zoomed_without_band', 'kept', 'whole', 'hushed', 'held', 'pinched', 'unpinched', 'tapped_twice', 'scrolls' } do
    assert(found[name], name)
  end
  test.equal(table.concat(found.misplaced, '; '), '')
  test.equal(found.covered, false)
  assert(math.abs(found.hair) < 30, found.hair)
  test.equal(found.tips, 1)
  assert(found.upper <= 11, found.upper)  -- the drag ended in the middle
  test.equal(found.entries, 6)
  test.equal(found.nothing, 'Nothing of this chart is chosen.')
  test.has(found.tapped, 'epoch ', 'size=1', ' ± ')
  test.has(found.tip, 'epoch ', 'size=1', 'size=6', ' ± ', 'runs)')
  test.equal(found.rising[1]:match('^%d+'), '2')
  test.equal(found.falling[1]:match('^%d+'), '6')
end

test('on a desk', function()
  local found = probe(run(probed, '--window-size=1280,2000 --dump-dom'))
  check(found)
  test.equal(found.background, 'rgb(255, 255, 255)')
end)

test('on a phone', function()
  local found = probe(run(probed, '--window-size=390,844 --dump-dom'))
  check(found)
  test.equal(found.cut, 0)  -- every table fits
end)

test('in the dark', function()
  local found = probe(run(probed, '--window-size=1280,2000 --blink-settings=preferredColorScheme=0 --dump-dom'))
  check(found)
  test.equal(found.background, 'rgb(20, 23, 27)')
end)

test('on paper', function()
  local path = scene.folder .. '/page.pdf'
  run(page, '--no-pdf-header-footer --print-to-pdf=' .. path)
  local pdf = files.read(path)
  test.equal(pdf:sub(1, 5), '%PDF-')
  local pages = select(2, pdf:gsub('/Type%s*/Page%f[^%w]', ''))
  assert(pages >= 4 and pages <= 20, pages .. ' pages')
end)

test('without the chart library', function()
  local find = library.find
  library.find = function() return nil, 'tested' end
  local path = scene.folder .. '/still.html'
  local ok, said = pcall(made.answer, 'pushdown.commands.report', '--registry', scene.file, '--grid', 'g', '-o', path)
  library.find = find
  assert(ok, said)
  files.write(path, with_probe(files.read(path), [[<pre id="probe"></pre><script>
    document.getElementById('probe').textContent = problems.length + ' problems, ' +
      document.querySelectorAll('canvas').length + ' canvases, ' +
      Array.from(document.querySelectorAll('.still')).filter(function (still) {
        return still.offsetHeight > 100;
      }).length + ' pictures'</script></body>]]))
  test.has(run(path, '--window-size=390,844 --dump-dom'), '<pre id="probe">0 problems, 0 canvases, 5 pictures</pre>')
end)

test('no part of a hostile run is run or loaded', function()
  local code = "window.taken = 1; new Image().src = 'http://127.0.0.1:9/'"
  local evil = ('"\'></title></style></script><script>%s</script><img src="http://127.0.0.1:9/a" onerror="%s">'
    .. '<style>body { background: url(http://127.0.0.1:9/b) }</style><base href="http://127.0.0.1:9/">'
    .. '<form action="http://127.0.0.1:9/"><svg onload="%s"><!--'):format(code, code, code)
  local function picture(inner)
    return '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50">' .. inner .. '</svg>'
  end
  local id = scene:add { name = 'evil', experiment = evil, doc = evil, command = { 'pushdown', evil },
    options = { [evil] = evil }, epochs = { { cross_entropy = 1, [evil] = 2 }, { cross_entropy = 2, [evil] = 3 } },
    result = { [evil] = evil, bad = 1 }, git = evil, seed = 1, files = {
      ['results.md'] = '| ' .. evil .. ' |\n|---|\n| ' .. evil .. ' |\n',
      ['a.svg'] = picture('<title>a<g/>b</title><script>' .. code .. '</script><rect width="9" height="9"/>'),
      ['b.svg'] = picture('<image href="http://127.0.0.1:9/c"/><use href="http://127.0.0.1:9/d#e"/><rect width="9" '
        .. 'height="9" style="fill: url(http://127.0.0.1:9/f)" onclick="' .. code .. '"/>'),
      ['c.svg'] = picture('<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="' .. code
        .. '"><iframe src="http://127.0.0.1:9/g"/></body></foreignObject><desc><p>' .. evil .. '</p></desc>'),
      ['d.svg'] = picture('<title>' .. evil:gsub('<', '&lt;') .. '</title><a href="javascript:' .. code
        .. '"><text>x</text></a><animate attributeName="href" to="javascript:1"/>') } }
  local path = scene.folder .. '/hostile.html'
  local _, errors, status = made.answer('pushdown.commands.report', '--registry', scene.file, tostring(id), '--title',
    evil, '-o', path)
  assert(status == 0, errors)
  files.write(path, with_probe(files.read(path), [[<pre id="probe"></pre><script>setTimeout(function () {
    document.getElementById('probe').textContent = problems.join('; ') + '|' + typeof window.taken + '|' +
      performance.getEntriesByType('resource').length + '|' + document.querySelectorAll('footer').length + '|' +
      document.querySelectorAll('script').length + '|' + document.querySelectorAll('base, form, iframe, img').length;
  }, 1000)</script></body>]]))
  -- Four scripts of the page, and two of this test.
  test.has(run(path, '--window-size=1000,844 --dump-dom'), '<pre id="probe">|undefined|0|1|6|0</pre>')
end)

test('a live page follows a training and keeps what its reader chose', function()
  local function epochs(count)
    local list = {}
    for i = 1, count do list[i] = { cross_entropy = 5 / i, train_cross_entropy = 6 / i } end
    return list
  end
  local _, folder = scene:add { name = 'live', experiment = 'followed', status = 'running', epochs = epochs(3) }
  local html = page_of.html
  function page_of.html(options)
    local text, counts, reason, rows = html(options)
    return with_probe(text, [[<pre id="probe"></pre><script>
      function chart() { return document.querySelector('figure[data-chart]'); }
      function epochs() {
        return JSON.parse(document.getElementById('data').textContent).charts[0].axes.epoch[0].x.length;
      }
      var first = epochs();
      chart().querySelector('.tools button').click();
      window.mark = 1;
      var waiting = setInterval(function () {
        if (epochs() < 9) return;
        clearInterval(waiting);
        setTimeout(function () {
          document.getElementById('probe').textContent = JSON.stringify({ first: first, last: epochs(),
            kept: window.mark, canvases: document.querySelectorAll('canvas').length, problems: problems,
            log: chart().querySelector('.tools button').getAttribute('aria-pressed'),
            said: document.getElementById('live').textContent, title: document.title,
            picture: document.querySelectorAll('#pictures figure').length });
        }, 300);
      }, 100);</script></body>]]), counts, reason, rows
  end
  local opened = live.open((parse(page_of.declaration, { '--live', folder })))
  local answer, asked = opened.answer, 0
  function opened.answer(self, head)
    if head:find('/changes', 1, true) then asked = asked + 1 end
    if asked == 2 then
      files.write(folder .. '/metrics.jsonl', made.metrics(epochs(9)))
      files.write(folder .. '/strengths.svg', plot.heat_map { values = { { 0, 1 }, { 1, 0 } }, title = 'Strengths' })
    end
    self.next = 0
    return answer(self, head)
  end
  local pool, path = pd.process.pool(), scene.folder .. '/live.dom'
  local browsing = pool:start { output = path,
    command = { '/bin/sh', '-c', command(opened.address, '--window-size=1000,800 --dump-dom', 60000) } }
  pool:supervise(function()
    while not browsing:poll() do opened:serve(0.1) end
  end)
  page_of.html = html
  local found = probe(files.read(path))
  test.equal(table.concat(found.problems, '; '), '')
  test.near({ found.first, found.last, found.kept, found.picture }, { 3, 9, 1, 1 })
  test.equal(found.log, 'true')
  assert(found.canvases > 0, 'the charts are drawn')
  test.has(found.said, 'Updated at ')
  test.has(found.title, 'followed')
  test.lacks(files.read(messages), ':CONSOLE')
end)

test('a picture of it is not empty', function()
  local path = scene.folder .. '/page.png'
  run(page, '--window-size=1280,1500 --screenshot=' .. path)
  assert(#files.read(path) > 50000, 'the picture has ' .. #files.read(path) .. ' bytes')
end)

test.finish()
