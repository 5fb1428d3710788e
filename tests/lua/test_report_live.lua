-- The live page of `pushdown report`: who gets what, and that it follows the runs. test_report_browser.lua looks at it
-- in a browser.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local live = require 'pushdown.report.live'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local page = require 'pushdown.report.page'
local parse = require('pushdown.experiment').parse
local test = require 'pushdown.test'

local scene = made.new()
local function epochs(count)
  local list = {}
  for i = 1, count do list[i] = { cross_entropy = 5 / i } end
  return list
end
local _, folder = scene:add { name = 'g/size=1/restart-1', doc = '<b>followed</b>', grid = 'g', point = 'size=1',
  status = 'running', epochs = epochs(2) }

local function open(...) return live.open((parse(page.declaration, { '--live', '--registry', scene.file, ... }))) end

local opened = open(folder)
local port = opened.server:port()
local inside = '/' .. opened.token .. '/'

-- Status, header fields and body of the answer to a request.
local function asked(target, given)
  given = given or {}
  local head = ('%s %s HTTP/1.1'):format(given.method or 'GET', target)
  for _, host in ipairs(given.hosts or { '127.0.0.1:' .. port }) do head = head .. '\r\nHost: ' .. host end
  local answer = opened:answer(given.head or head)
  local status, fields, body = answer:match '^HTTP/1%.1 (%d%d%d) [%a ]+\r\n(.-)\r\n\r\n(.*)$'
  test.equal(tonumber(fields:match 'Content%-Length: (%d+)'), #body)
  test.has(fields, 'Cache-Control: no-store', 'Referrer-Policy: no-referrer', "frame-ancestors 'none'", 'nosniff')
  return tonumber(status), fields, body
end

test('the address shows the page, whose texts are escaped and which may ask nobody else', function()
  test.has(opened.address, ('http://127.0.0.1:%d/'):format(port), opened.token)
  test.equal(#opened.token, 32)
  local status, fields, body = asked(inside)
  test.equal(status, 200)
  test.has(fields, 'text/html; charset=utf-8')
  test.has(body, '<html data-version="1"', '&lt;b&gt;followed', 'id="live"', "default-src 'none'", "connect-src 'self'")
  test.lacks(body, '<b>followed')
  test.equal(asked(inside, { hosts = { 'localhost:' .. port } }), 200)
end)

test('a page that is written asks nobody', function()
  local path = scene.folder .. '/page.html'
  page.make { runs = { folder }, path = path }
  test.lacks(files.read(path), 'connect-src', 'id="live"', 'fetch(')
end)

test('nothing is shown without the token, under another host or by another method', function()
  local wrong = (opened.token:gsub('^.', function(digit) return digit == '0' and '1' or '0' end))
  for _, target in ipairs { '/', '//', '/' .. wrong .. '/', '/' .. opened.token:sub(1, -2) .. '/', '/changes?after=0',
    '/' .. opened.token .. '0/', '/?token=' .. opened.token, '/x/../' .. opened.token .. '/' } do
    test.equal(asked(target), 403)
  end
  for _, hosts in ipairs { {}, { 'example.org' }, { 'example.org:' .. port }, { '127.0.0.1' }, { '127.0.0.1:1' },
    { '127.0.0.1:' .. port, 'example.org' }, { '127.0.0.1:' .. port .. '.example.org' } } do
    test.equal(asked(inside, { hosts = hosts }), 403)
  end
  for _, method in ipairs { 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS' } do
    test.equal(asked(inside, { method = method }), 405)
    test.equal(asked('/', { method = method }), 403)
  end
  for _, name in ipairs { 'x', 'changes', 'changes?after=', 'changes?after=1/', '../', '..', 'etc/passwd', 'run.json',
    '/', '?' } do
    test.equal(asked(inside .. name), 404)
  end
  test.equal(asked('/' .. opened.token), 404)
  for _, head in ipairs { '', 'GET', 'GET / HTTP/2', 'get / HTTP/1.1', 'GET  / HTTP/1.1', 'GET http://a/ HTTP/1.1',
    'GET /%2e%2e/ HTTP/1.1', 'GET /\0 HTTP/1.1', ('x'):rep(8000), '\r\n\r\n' } do
    test.equal(asked('', { head = head }), 400)
  end
  local begin = ('GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d'):format(inside, port)
  test.equal(asked('', { head = begin .. ' \t\r\nX:\ty \195\169\r\nEmpty:' }), 200)
  for _, field in ipairs { 'X: \n', 'X: a\rb', 'X: \0', 'X: \127', 'X: \27[2J', ' folded', 'X : y', ': y', 'X', '' } do
    test.equal(asked('', { head = begin .. '\r\n' .. field }), 400)
  end
end)

test('the time for a request is proportional to its length', function()
  for _, form in ipairs { 'X:%s\n', 'Host:%sx', '%s' } do
    test.linear(20000, function(n)
      for _ = 1, 20 do asked('', { head = 'GET / HTTP/1.1\r\n' .. form:format((' '):rep(n)) }) end
    end)
  end
  test.linear(20000, function(n)
    for _ = 1, 20 do asked('', { head = ('\r'):rep(n) .. ('\n'):rep(n) .. ('\r\n'):rep(n) .. ('\rX'):rep(n) }) end
  end)
end)

test('changes are told once', function()
  local function changes(after)
    opened.next = 0  -- without the pause between two pages
    local status, _, body = asked(inside .. 'changes?after=' .. after)
    return status, body:match 'data%-version="(%d+)"'
  end
  test.equal(changes(1), 204)
  files.write(folder .. '/metrics.jsonl', made.metrics(epochs(7)))
  local status, version = changes(1)
  test.equal(status, 200)
  test.equal(version, '2')
  test.equal(changes(2), 204)
  files.write(folder .. '/unrelated', 'a file that the page does not show')
  test.equal(changes(2), 204)
end)

test('a page whose runs have gone says so', function()
  local _, gone = scene:add { name = 'gone', epochs = epochs(1), unrecorded = true }
  local other = open(gone)
  pd.file.remove_folder(gone)
  other.next = 0
  local answer = other:answer(('GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%d'):format(other.token, other.server:port()))
  test.has(answer, 'HTTP/1.1 500', 'there is no folder')
end)

test('without a name it follows the newest grid, and tokens differ', function()
  local other = open()
  test.equal(other.options.grid, 'g')
  local _, newest = scene:add { name = 'newest', epochs = epochs(1) }
  test.equal(pd.file.real_path(open().options.words[1]), pd.file.real_path(newest))
  assert(other.token ~= opened.token, 'the token is random')
end)

test('what cannot be followed is an error', function()
  local function fails(...)
    local output, errors, status = made.answer('pushdown.commands.report', '--registry', scene.file, ...)
    test.equal(output, '')
    return errors .. status
  end
  files.make_folder(scene.folder .. '/empty')
  test.has(fails('--live', scene.folder .. '/empty'), 'there is no run in', '1')
  test.has(fails('--live', scene.folder .. '/nowhere'), "there is no folder '", '1')
  test.has(fails('--live', folder, '-o', 'x.html'), '--live writes no file', '2')
  test.has(fails('--port', '1', folder), '--port needs --live', '2')
  test.has(fails('--live', '--port', '70000', folder), '65535', '2')
  test.has(fails('--live', '--port', tostring(port), folder), ('cannot listen on port %d'):format(port), '1')
end)

test('the program serves the page while a training writes epochs, until Ctrl-C', function()
  local function text_of(path) return files.exists(path) and files.read(path) or '' end
  local run, said = scene.folder .. '/runs/training', scene.folder .. '/said'
  local script = scene.folder .. '/training.lua'
  files.write(script, ([[
    local pd = require 'pushdown'
    local g = pd.grammar.load 'marked_reversal'
    local t = pd.train.trainer { train = g:sampler { lengths = { 5, 9 } }:dataset(20, { seed = 1 }), epochs = 1000,
      seed = 1, run_folder = %q, progress = false, model = pd.model.language_model { alphabet = g:alphabet(), seed = 1,
      controller = { kind = 'lstm', hidden = 2 } } }
    for e in t:epochs() do
      while not io.open(%q .. e.epoch) do os.execute 'sleep 0.05' end
    end]]):format(run, scene.folder .. '/go'))
  local pool = pd.process.pool()
  local function last_epoch(html) return tonumber(html:match '"x":%[[%d,]-(%d+)%]') end
  pool:supervise(function()
    local training = pool:start { command = { test.program, script }, output = scene.folder .. '/log' }
    test.wait_until('an epoch', function() return text_of(run .. '/metrics.jsonl'):find '"event":"epoch"' end)
    local serving = pool:start { command = { test.program, 'report', '--live', run }, output = said }
    test.wait_until('the address', function() return text_of(said):find 'Ctrl%-C' end)
    local own_port, path = text_of(said):match '^http://127%.0%.0%.1:(%d+)(/%x+/)\n'
    -- A request by a shell whose redirections know TCP.
    local function get(target)
      return (test.command(([[bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s &&
        printf "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" >&3 && cat <&3']]):format(own_port, target, own_port)))
    end
    test.has(get('/'), 'HTTP/1.1 403')
    local first = get(path)
    test.has(first, 'HTTP/1.1 200', 'data-version="1"')
    local epoch, version = last_epoch(first), first:match 'data%-version="(%d+)"'
    files.write(scene.folder .. '/go' .. epoch, '')
    test.wait_until('the next epoch', function()
      local answer = get(path .. 'changes?after=' .. version)
      return not answer:find 'HTTP/1.1 204' and last_epoch(answer) == epoch + 1
    end)
    serving:signal 'interrupt'
    test.wait_until('the end', function() return serving:poll() end)
    test.equal(serving:poll().code, 130)
    test.has(text_of(said), 'pushdown report: interrupted')
    test.lacks(text_of(said), 'traceback')
    training:signal 'kill'
  end)
end)

test.finish()
