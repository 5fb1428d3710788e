-- Texts of others (files, pasted text, messages of programs) are read in linear time, whatever they contain: no signal
-- ends a Lua pattern.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'
local trim = require 'pushdown.text.trim'

local folder = test.folder()

-- Blanks between two letters, which take the pattern '%s+$' quadratic time.
local function gap(n) return 'a' .. (' '):rep(n) .. 'b' end

test('blanks are removed from the ends', function()
  for _, case in ipairs { { '', '', '' }, { ' \t\n', '', '' }, { 'a', 'a', 'a' }, { ' a  b \n', 'a  b', ' a  b' },
    { '\n\0 ', '\0', '\n\0' } } do
    test.equal(trim.both(case[1]), case[2])
    test.equal(trim.right(case[1]), case[3])
  end
  for _, case in ipairs { { '', '' }, { 'a', 'a' }, { 'a b\tc', 'c' }, { 'a ', '' } } do
    test.equal(trim.last_word(case[1]), case[2])
  end
  for _, text in ipairs { gap, function(n) return (' '):rep(n) end } do
    test.linear(200000, function(n) return trim.right(text(n)), trim.both(text(n)) end)
  end
  test.linear(200000, function(n) return trim.last_word(('x'):rep(n) .. ' ') end)
end)

test('lines of metrics', function()
  local history = require 'pushdown.runs.history'
  test.linear(100000, function(n)
    files.write(folder .. '/metrics.jsonl', gap(n) .. '\n{"epoch": 2}\n')
    local found = {}
    history.each(folder, function(entry) found[#found + 1] = entry.epoch end)
    test.equal(table.concat(found, ' '), '2')
  end)
end)

test('cells of tables', function()
  local layout, table_of = require 'pushdown.runs.layout', require 'pushdown.text.table'
  test.linear(50000, function(n) table_of.new { columns = { 'x' }, rows = { { gap(n) }, { 'c' } } }:text() end)
  local write = io.write
  io.write = function() end  -- luacheck: ignore
  local ok, problem = pcall(test.linear, 50000, function(n)
    layout.table({ 'x', 'y' }, { { ('1'):rep(n) .. 'e', gap(n) } })
  end)
  io.write = write  -- luacheck: ignore
  if not ok then error(problem, 0) end
end)

test('pasted code: completion, help in a notebook, and scripts', function()
  local completion = require 'pushdown.prompt.completion'
  local inspect = require('pushdown.notebook').inspect
  for _, line in ipairs { ':run %s x', '!%s x' } do
    test.linear(2000, function(n)
      local text = line:format(('x'):rep(n))
      for _ = 1, 200 do completion(text) end
    end)
  end
  for _, code in ipairs { '%s x ', '%s(x, (', '1(%s ' } do
    for _, character in ipairs { '1', '.', ' ' } do
      test.linear(2000, function(n)
        local text = code:format(character:rep(n))
        for _ = 1, 200 do test.equal(inspect(text, n + 4), nil) end
      end)
    end
  end
  test.equal(inspect('pd.stack.kinds(1, ', 18), inspect('pd.stack.kinds', 10))
  local script = require 'pushdown.prompt.script'
  local path = folder .. '/script.lua'
  test.linear(50000, function(n)
    files.write(path, ('-- x\n'):rep(n) .. ' return 3')
    script.run(path)
  end)
end)

test('no pattern of the library looks for blanks at the end from every place', function()
  local found = {}
  for _, name in ipairs(files.find(pd.scripts .. '/lib', '%.lua$')) do
    for line in files.read(pd.scripts .. '/lib/' .. name):gmatch '[^\n]+' do
      if line:find "'%%[sS][+*]%$'" or line:find "%.%-%)%%s[+*]%$'" then found[#found + 1] = name .. ': ' .. line end
    end
  end
  test.equal(table.concat(found, '\n'), '')
end)

test.finish()
