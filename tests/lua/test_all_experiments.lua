-- The script that runs all experiments: its list, its end at the time limit and by Ctrl-C, and its records.
-- label: long
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local shell = test.program
local top = test.folder()
local here = pd.root .. '/scripts/experiments/'

-- A command line in `top`, as text for the shell.
local function words_of(...)
  local words = { 'cd', files.quoted(top), '&&', 'PUSHDOWN_REGISTRY=off', 'exec', files.quoted(shell) }
  for _, word in ipairs { ... } do words[#words + 1] = files.quoted(word) end
  return table.concat(words, ' ')
end

local function run(...) return test.command(words_of(...)) end

local first = '/runs/ns_rnn/grid/marked_reversal/lstm/learning_rate=0.01/restart-1/'

test('every command of the list is one that its paper reads', function()
  local output, status = run(here .. 'all.lua', '--list')
  test.equal(status, 0)
  local count = 0
  for paper, parts, arguments in output:gmatch '\n[%w_]+[%w_-]* +[%d.?]+  ([%w_]+) ([%w_,]+)([^\n]*)' do
    for part in parts:gmatch '[%w_]+' do
      local words = pd.tables.matches(arguments, '%S+')
      words[#words + 1] = '--help'
      local help, code = run(paper, part, unpack(words))
      assert(code == 0, help)
      count = count + 1
    end
  end
  assert(count > 20, count)
  assert(not files.exists(top .. '/runs'))
  output, status = run(here .. 'all.lua', '--only', 'nobody')
  assert(status == 1 and output:find('--only selects no experiment', 1, true), output)
end)

test('at the end of its hours the runs stop at a checkpoint, and finished ones are recorded', function()
  -- A finished run like one of an earlier start, with one epoch instead of all.
  local output, status = run('ns_rnn', 'grid', '--tasks', 'dyck', '--models', 'lstm', '--restarts', '1',
    '--learning-rates', '0.01', '--epochs', '1', '--folder', 'runs/ns_rnn/grid')
  assert(status == 0, output)
  -- The run must write a checkpoint in this time, which depends on the machine.
  local hours, checkpoint = 0.0015, top .. first .. 'checkpoints/last.safetensors'
  repeat
    output, status = run(here .. 'all.lua', '--only', 'ns_rnn-reversal', '--hours', tostring(hours), '--results',
      'results', '--gather-minutes', '0.02', '--run-folder', 'all')
    assert(status == 0, output)
    hours = 2 * hours
  until files.exists(checkpoint) or hours > 1
  assert(files.exists(checkpoint))
  assert(output:find(hours / 2 .. ' hours are over; stopping the runs at a checkpoint', 1, true), output)
  assert(output:find('0 of 1 experiments are finished, 0 failed', 1, true), output)
  assert(not files.exists(top .. first .. 'result.json'))
  local _, rows = csv.read(top .. '/results/ns_rnn/runs.csv')
  test.equal(#rows, 1)
  test.equal(rows[1].grid, 'ns_rnn/dyck/lstm')
end)

test('Ctrl-C stops it and its runs gently, and it goes on', function()
  local metrics = top .. first .. 'metrics.jsonl'
  local _, epochs = files.read(metrics):gsub('"event":"epoch"', '')
  local output = top .. '/output'
  os.execute(('(%s) > %s 2>&1 & echo $! > %s'):format(words_of(here .. 'all.lua', '--only', 'ns_rnn-reversal',
    '--results', 'results', '--run-folder', 'all', '--workers', '2'), output, top .. '/pid'))
  test.wait_until('it goes on', function()
    return select(2, files.read(metrics):gsub('"event":"epoch"', '')) > epochs
  end)
  local pid = tonumber(files.read(top .. '/pid'))
  os.execute('kill -INT ' .. pid)
  test.wait_until('it has ended', function()
    local stat = io.open(('/proc/%d/stat'):format(pid))
    local text = stat and stat:read('*a')
    if stat then stat:close() end
    return not text or text:match('%) (%u)') == 'Z'
  end)
  assert(files.read(output):find('stopping 1 process', 1, true), files.read(output))
  assert(not pd.process.locked(top .. first:gsub('/$', '')))
  assert(not files.exists(top .. first .. 'result.json'))
end)

test.finish()
