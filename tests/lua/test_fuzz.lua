-- Random calls of all documented functions, random options of constructors, and mutated inputs of the readers in Lua.
-- Each must end with a result or a message. None may end the process, hang, or show raw C++ messages.
--
--   test_fuzz.lua [INPUTS [TARGET [SEED]]]     this number of inputs for each target, 0: only the kept ones
--
-- A process runs the inputs (tests/lua/fuzz/run.lua). This one restarts it after an input that ended it, and presses
-- Ctrl-C in calls that take long.
-- label: long
-- slow: 20000
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local shell = test.program
local inputs, only, seed = tonumber(arg[1] or 300), arg[2], tonumber(arg[3] or 1)

local top = test.folder()
files.make_folder(top .. '/work')
local quoted = files.quoted
local pool = pd.process.pool()

-- Seconds until the first input, until Ctrl-C in a call, and until a call that ignores it is a failure. Sanitizers and
-- other programs slow everything down.
local beginning, patience, answer = test.patience, 10, 600

-- Memory is limited, so that calls that need too much are refused. Programs with sanitizers reserve more than that.
local limit = 'ulimit -v 12000000; '
if select(2, test.command(limit .. quoted(shell) .. ' -e ""')) ~= 0 then limit = '' end

-- The number and the description of the running input.
local function current(log)
  local number, size, words = files.read(log):match '^(%d+)\n(%d+)\n(.*)$'
  if not number then return 0, '' end
  return tonumber(number), words:sub(1, tonumber(size))
end

-- Runs inputs from `first` on until the process ends. Returns the last input, its description, the error or nil, and
-- whether it was interrupted.
local function run(target, first, last)
  local log, output = top .. '/log', top .. '/output'
  files.write(log, '')
  os.remove(output)
  local line = ('%scd %s && exec %s --threads 1 --log-level off %s %s %d %d %d %s'):format(limit,
    quoted(top .. '/work'), quoted(shell), quoted(pd.root .. '/tests/lua/fuzz/run.lua'), target, seed, first, last,
    quoted(log))
  local process = pool:start { command = { '/bin/sh', '-c', line }, output = output,
    environment = { PUSHDOWN_REGISTRY = 'off' } }
  local seen, since, interrupted = -1, pd.process.now(), false
  while not process:poll() do
    pool:wait(0.5)
    local number, now = current(log), pd.process.now()
    if number ~= seen then
      seen, since = number, now
    elseif number == 0 then
      if now - since > beginning then process:signal 'kill' end
    elseif not interrupted and now - since > patience then
      interrupted = true
      process:signal 'interrupt'
    elseif now - since > patience + answer then
      process:signal 'kill'
    end
  end
  local ending, number, words = process:poll(), current(log)
  local said = files.read(output)
  if ending.signal == 0 and ending.code == 0 then return last, words, nil, false end
  if interrupted and ending.signal == 0 and ending.code == 130 then return number, words, nil, true end
  if interrupted then return number, words, 'it does not answer to Ctrl-C', true end
  local reason = said:match '\nFAILED (.*)$' or ('%s\n%s'):format(ending.text, said:sub(-2000))
  return number, words, reason, false
end

local function kept_inputs(target)
  local ok, list = pcall(files.find, pd.root .. '/tests/fuzz/' .. target, '')
  return ok and #list or 0
end

local function try(target)
  os.execute(('rm -rf %s/work && mkdir %s/work'):format(quoted(top), quoted(top)))
  -- Help searches all texts for a word, which takes longer than other calls.
  local wanted = target == 'help' and math.ceil(inputs / 10) or inputs
  local last, first, long, failures = math.max(wanted, kept_inputs(target)), 1, 0, {}
  while first <= last and #failures < 5 do
    local number, words, reason, interrupted = run(target, first, last)
    if interrupted then long = long + 1 end
    if reason then failures[#failures + 1] = ('input %d, %s\n    %s'):format(number, words:sub(1, 1500), reason) end
    if number < first then error('the process ended before its first input: ' .. (reason or words), 0) end
    first = number + 1
  end
  print(('%s: %d inputs, seed %d, %d interrupted'):format(target, first - 1, seed, long))
  if #failures > 0 then error(('%d failed\n  %s'):format(#failures, table.concat(failures, '\n  ')), 0) end
end

for _, target in ipairs { 'calls', 'options', 'completion', 'help', 'csv', 'json_text', 'svg', 'grammar_file' } do
  if not only or only == target then
    test(target .. ': results and messages', function() try(target) end)
  end
end

test.finish()
