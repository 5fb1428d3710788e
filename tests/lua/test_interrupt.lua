-- Ctrl-C in the commands of the shell, at moments spread over their run time: they end at once and leave no incomplete
-- file. tests/shell/interrupt_test.cpp tests calls at the prompt.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local shell = test.program
-- The promise is half a second on an idle machine.
local most = tonumber(os.getenv 'PUSHDOWN_INTERRUPT_SECONDS' or test.patience)

local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua').new()
for restart = 1, 4 do
  local epochs = {}
  for epoch = 1, 3000 do epochs[epoch] = { cross_entropy = 1 + 1 / epoch, accuracy = 1 - restart / epoch } end
  made:add { name = 'g/rate=1/restart-' .. restart, grid = 'g', point = 'rate=1', restart = restart, seed = restart,
    options = { rate = 1 }, epochs = epochs, result = { loss = restart },
    files = { ['picture.svg'] = '<svg width="9" height="9">' .. ('<path d="M 0 0 L 1 1"/>'):rep(5000) .. '</svg>' } }
end

local pool = pd.process.pool()

-- Seconds that the whole command takes.
local function whole(command, output)
  local began = pd.process.now()
  local process = pool:start { command = command, output = output }
  while not process:poll() do pool:wait(5) end
  test.equal(process:poll().code, 0)
  return pd.process.now() - began
end

for name, words in pairs { report = { 'report', '--grid', 'g' }, export = { 'runs', 'export', '--history' } } do
  test(('%s ends at Ctrl-C'):format(name), function()
    local page, output = made.folder .. '/' .. name, made.folder .. '/output'
    local command = { shell, unpack(words) }
    for _, word in ipairs { '--registry', made.file, '-o', page } do command[#command + 1] = word end
    local seconds, longest, stopped = whole(command, output), 0, 0
    local before = files.read(page)
    local i = 0
    -- On a machine that is less busy than before, the later moments may come too late.
    while i < 6 or (stopped == 0 and i < 50) do
      i = i + 1
      local process = pool:start { command = command, output = output }
      pool:wait(i <= 6 and seconds * i / 7 or seconds / i)
      local began = pd.process.now()
      process:signal 'interrupt'
      while not process:poll() do pool:wait(1) end
      longest = math.max(longest, pd.process.now() - began)
      local ending = process:poll()
      if ending.code ~= 0 then
        stopped = stopped + 1
        -- Before the program handles the signal itself, the system ends the process.
        local said = files.read(output)
        assert(ending.code == 130 or ending.signal == 2, ending.text .. said)
        assert(ending.signal == 2 or said:find(('pushdown %s: interrupted\n'):format(words[1]), 1, true), said)
      end
      test.equal(#files.read(page), #before)
      test.equal(#files.find(made.folder, '%.tmp$'), 0)
    end
    print(('%s: %.1f s, interrupted %d times, longest answer %.2f s'):format(name, seconds, stopped, longest))
    assert(stopped > 0, 'it was never interrupted')
    assert(longest < most, ('it went on for %.2f s'):format(longest))
  end)
end

-- A compiled loop answers no interrupt.
for _, case in ipairs { { 'INT TERM', 143, 'did not end within 5 seconds of the second signal' },
  { 'TERM', 129, nil, 'HUP' }, { 'HUP', 143, nil, 'TERM' } } do
  local first, code, said, second = unpack(case)
  test(('a compiled loop ends at %s'):format(first .. ' ' .. (second or '')), function()
    local output, ready = made.folder .. '/loop', made.folder .. '/ready'
    os.remove(ready)
    local text = ("io.open(%q, 'w'):close() while true do end"):format(ready)
    local process = pool:start { command = { shell, '-e', text }, output = output }
    test.wait_until('the loop', function() return files.exists(ready) end)
    local function send(names)
      for name in names:gmatch '%S+' do os.execute(('kill -%s %d'):format(name, process:pid())) end
    end
    send(first)
    test.wait_until('the end', function()
      if second then send(second) end
      return process:poll()
    end)
    test.equal(process:poll().code, code)
    if said then test.has(files.read(output), said) end
  end)
end

test.finish()
