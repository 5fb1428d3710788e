-- A small test harness.
--
--   local test = require 'pushdown.test'
--   test('addition', function()
--     test.equal(1 + 1, 2)
--     test.near(0.1 + 0.2, 0.3)
--     test.fails('expected an integer', pd.tensor.zeros, 'x')
--   end)
--   test.finish()
--
-- A failure names the line of the test file. PUSHDOWN_TEST=TEXT runs only the tests whose name contains the text. With
-- PUSHDOWN_GC_STRESS=1 the garbage collector runs all the time, which reveals objects that are released too early.
local files = require 'pushdown.files'

local M = {}

local passed, failed, left_out = 0, 0, 0
local wanted = os.getenv 'PUSHDOWN_TEST'
local stress = os.getenv('PUSHDOWN_GC_STRESS') == '1'
if stress then
  jit.off()  -- compiled traces can hang with a collector that never pauses
  collectgarbage('setpause', 0)
  collectgarbage('setstepmul', 1000000)
end

local function show(value)
  if type(value) == 'string' then return ('%q'):format(value) end
  return tostring(value)
end

-- Fails unless both are equal by ==.
function M.equal(got, expected)
  if got ~= expected then
    error(('expected %s, got %s'):format(show(expected), show(got)), 2)
  end
end

-- Fails unless two numbers, or all numbers in two tensors or nested tables, differ by at most `tolerance`
-- (1e-9).
function M.near(got, expected, tolerance, path)
  tolerance, path = tolerance or 1e-9, path or ''
  if type(got) == 'userdata' then got = got:to_table() end
  if type(expected) == 'userdata' then expected = expected:to_table() end
  if type(got) == 'number' and type(expected) == 'number' then
    local same = got == expected or math.abs(got - expected) <= tolerance
    if not same then
      error(('%sexpected %.17g, got %.17g'):format(path ~= '' and path .. ': ' or '', expected, got), 2)
    end
    return
  end
  if type(got) ~= 'table' or type(expected) ~= 'table' then
    error(('%sexpected %s, got %s'):format(path, show(expected), show(got)), 2)
  end
  if #got ~= #expected then
    error(('%sexpected %d elements, got %d'):format(path, #expected, #got), 2)
  end
  for i = 1, #expected do
    local ok, message = pcall(M.near, got[i], expected[i], tolerance, ('%s[%d]'):format(path, i))
    if not ok then error((tostring(message):gsub('^[^:]+:%d+: ', '')), 2) end
  end
end

-- Fails unless f(...) raises an error whose text matches the Lua pattern; returns that text.
function M.fails(pattern, f, ...)
  local ok, message = pcall(f, ...)
  if ok then error(('expected an error matching %q, got none'):format(pattern), 2) end
  message = type(message) == 'table' and message.usage or tostring(message)
  if not message:find(pattern) then
    error(('expected an error matching %q, got %q'):format(pattern, message), 2)
  end
  return message
end

-- Runs one test. A failure is reported with the lines that led to it, and the other tests still run.
local function run(_, name, f)
  if wanted and not name:find(wanted, 1, true) then
    left_out = left_out + 1
    return
  end
  local ok, message = xpcall(f, function(e)
    if type(e) == 'table' and e.usage then e = e.usage end
    return debug.traceback(tostring(e), 2)
  end)
  if stress then collectgarbage() end
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    -- Only lines of the test file itself are useful.
    local kept = {}
    for line in message:gmatch('[^\n]+') do
      if #kept == 0 or not (line:find('[C]', 1, true) or line:find('lib/test.lua', 1, true)
        or line:find('stack traceback', 1, true)) then
        kept[#kept + 1] = line
      end
    end
    io.stderr:write(('FAILED %s\n  %s\n'):format(name, table.concat(kept, '\n  ')))
  end
end

-- Seconds after which a test counts as hanging. No correct program takes as long, also on a slow machine that does
-- other work. Tests wait for events, not for moments.
M.patience = 3600

-- Waits until condition() is true. `what` describes it.
function M.wait_until(what, condition)
  local last = os.time() + M.patience
  while not condition() do
    if os.time() > last then error('waited in vain: ' .. what, 2) end
    os.execute 'sleep 0.05'
  end
end

-- Calls visit(list of symbols) for every string of up to this number of symbols. The list is the same table each time.
function M.each_string(alphabet, longest, visit)
  local function go(symbols)
    visit(symbols)
    if #symbols == longest then return end
    for _, symbol in ipairs(alphabet) do
      symbols[#symbols + 1] = symbol
      go(symbols)
      table.remove(symbols)
    end
  end
  go {}
end

-- Fails unless f(n) takes time in proportion to n: f(8 n) less than 32 times as long as f(n). This is processor time,
-- the shorter of two calls.
function M.linear(n, f)
  local function seconds(size)
    local best = math.huge
    for _ = 1, 2 do
      collectgarbage()
      local began = os.clock()
      f(size)
      best = math.min(best, os.clock() - began)
    end
    return best
  end
  local few, many = seconds(n), seconds(8 * n)
  if many >= 32 * few then error(('%.3f s for %d, %.3f s for %d'):format(few, n, many, 8 * n), 2) end
end

-- Output (both streams) and exit status of a command line.
function M.command(line)
  local pipe = assert(io.popen('(' .. line .. ') 2>&1; echo "exit $?"'))
  local output, status = pipe:read('*a'):match('^(.*)exit (%d+)\n$')
  pipe:close()
  return output, tonumber(status)
end

-- The program `pushdown` that tests run: PUSHDOWN_BINARY, or the one on the search path.
M.program = os.getenv 'PUSHDOWN_BINARY' or 'pushdown'

-- Output (both streams) and exit status of the program with these words. options: `folder`, where it runs;
-- `environment`, assignments in front of it, such as 'OMP_NUM_THREADS=1'; `input`, a file (none); `errors`, a file for
-- standard error.
function M.run(words, options)
  local given, parts = options or {}, {}
  for i, word in ipairs(words) do parts[i] = files.quoted(word) end
  return M.command(('cd %s && %s %s %s < %s %s'):format(files.quoted(given.folder or '.'), given.environment or '',
    files.quoted(M.program), table.concat(parts, ' '), files.quoted(given.input or '/dev/null'),
    given.errors and '2> ' .. files.quoted(given.errors) or ''))
end

-- Fails unless the text contains all parts.
function M.has(text, ...)
  for _, part in ipairs { ... } do
    if not text:find(part, 1, true) then error(('%q in\n%s'):format(part, text:sub(1, 4000)), 2) end
  end
end

-- Fails if the text contains one of the parts.
function M.lacks(text, ...)
  for _, part in ipairs { ... } do
    if text:find(part, 1, true) then error(('no %q in\n%s'):format(part, text:sub(1, 4000)), 2) end
  end
end

-- Fails unless a command ended with this status and printed all parts, a text or a list of texts; returns the output.
-- The last two arguments are the results of run or command, as in test.ended(2, 'unknown', test.run { 'runs', '--x' }).
function M.ended(status, parts, output, got)
  if got ~= status then error(('expected status %d, got %s and\n%s'):format(status, got, output:sub(-4000)), 2) end
  for _, part in ipairs(type(parts) == 'table' and parts or { parts }) do
    if not output:find(part, 1, true) then error(('%q in\n%s'):format(part, output:sub(1, 4000)), 2) end
  end
  return output
end

-- The same for status 0 and any output: test.succeeds(test.run { 'runs', 'list' }).
function M.succeeds(output, got) return M.ended(0, {}, output, got) end

local folders = {}

-- The path of a new temporary folder, until finish().
function M.folder()
  local folder = os.tmpname()
  os.remove(folder)
  files.make_folder(folder)
  folders[#folders + 1] = folder
  return folder
end

local function remove_folders()
  for _, folder in ipairs(folders) do os.execute('rm -rf ' .. files.quoted(folder)) end
end

-- Ends a file of tests that cannot run here.
function M.skip(reason)
  print('test skipped: ' .. reason)
  remove_folders()
  os.exit(0)
end

-- Prints the numbers of passed and failed tests; exits with status 1 if a test failed or none ran.
function M.finish()
  remove_folders()
  print(('%d passed, %d failed%s'):format(passed, failed, left_out > 0 and (', %d left out'):format(left_out) or ''))
  os.exit(failed == 0 and passed > 0 and 0 or 1)
end

return setmetatable(M, { __call = run })
