-- Every chapter of the tutorial runs in its smallest size and writes the promised files.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local top = test.folder()

-- Runs a chapter with its run folder in `top`. Returns its output.
local function run(name, ...) return test.run { pd.root .. '/scripts/tutorial/' .. name, ... } end

for _, name in ipairs(files.find(pd.root .. '/scripts/tutorial', '^[%w_]+%.lua$')) do
  test(name, function()
    test.ended(0, '--smoke', run(name, '--help'))
    local folder = top .. '/' .. name
    local output = test.succeeds(run(name, '--smoke', '--run-folder', folder))
    -- The third chapter has nothing to make smaller.
    local smaller = output:find('SMOKE RUN, SMALLER THAN THE FULL ONE', 1, true) ~= nil
    assert(smaller == (name ~= '03_stacks.lua'), output)
    assert(files.exists(folder .. '/experiment.json'))
  end)
end

test('the first run writes a table, curves and configurations', function()
  local folder = top .. '/01_first_run.lua/'
  for _, name in ipairs { 'results.csv', 'results.md', 'results.txt', 'curves.svg' } do
    assert(files.exists(folder .. name), name)
  end
  local rows = files.read(folder .. 'results.csv')
  for _, column in ipairs { 'lower bound', 'cross-entropy', 'cross-entropy difference', 'parameters',
    'ms per update' } do
    assert(rows:match('^[^\n]*\n'):find(column, 1, true), rows)
  end
  assert(#files.find(folder, 'config%.json$') >= 2, 'each training keeps its configuration')
end)

test('the rule that the newcomer writes changes what is learned', function()
  local folder = top .. '/taught/'
  local output = test.succeeds(run('05_teach_it_a_rule.lua', '--run-folder', folder))
  local accuracies = { ['no hint'] = {}, ['mine.pda'] = {} }
  for hint, accuracy in files.read(folder .. 'trainings.csv'):gmatch('([%a][%w. ]+),%d+,%d+,[%d.]+,([%d.]+),') do
    table.insert(accuracies[hint], tonumber(accuracy))
  end
  test.equal(#accuracies['no hint'], 3)
  test.equal(#accuracies['mine.pda'], 3)
  assert(math.max(unpack(accuracies['no hint'])) < 75, output)
  assert(math.max(unpack(accuracies['mine.pda'])) > 99, output)
  -- Results without training are exact.
  assert(output:find('2000 strings of 51 to 61 symbols, 0 wrong', 1, true), output)
  assert(output:find('the same automaton as the whole one above, up to names of states: true', 1, true), output)
  assert(output:find('contradiction.pda:6: first, a --b--> second, pop contradicts', 1, true), output)
  assert(files.read(folder .. 'trained.svg'):find('<svg', 1, true))
end)

-- The output on the pages was printed by the current code of the full chapters.
test('the recorded output belongs to the chapters', function()
  local recording = dofile(pd.root .. '/scripts/tools/recording.lua')
  for _, name in ipairs(files.find(pd.root .. '/scripts/tutorial', '^[%w_]+%.lua$')) do
    local source = files.read(pd.root .. '/scripts/tutorial/' .. name)
    local page = files.read(pd.root .. '/docs/tutorial/' .. name:gsub('%.lua$', '.md'))
    assert(next(recording.read(page, source)), name)
    assert(not page:find('SMOKE RUN', 1, true), name)
    assert(page:find '!%[.-%]%(pictures/.-%.svg%)', name .. ' shows a picture')
    -- A change of the prose does not change the code; a change of the code does.
    assert(recording.read(page, '-- another line\n' .. source))
    test.fails('the code of the chapter has changed', function() recording.read(page, source .. 'print(1)\n') end)
  end
end)

test('recorded output does not depend on the prose', function()
  local recording = dofile(pd.root .. '/scripts/tools/recording.lua')
  local path = top .. '/lines.lua'
  files.write(path, "-- # Lines\n--\n-- Prose.\nlocal here = 1\n"
    .. "print(debug.getinfo(1, 'S').short_src:match '[^/]*$' .. ':' .. debug.getinfo(1, 'l').currentline, here)\n")
  test.equal(recording.record(path, {})[1], 'lines.lua:…\t1\n')
end)

-- A quick chapter prints what its page shows.
test('chapters 2 and 3 print what was recorded', function()
  local recording = dofile(pd.root .. '/scripts/tools/recording.lua')
  local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')
  for _, name in ipairs { '02_grammar', '03_stacks' } do
    local path = pd.root .. '/scripts/tutorial/' .. name .. '.lua'
    local source = files.read(path)
    local now = recording.record(path, {})
    local before = recording.read(files.read(pd.root .. '/docs/tutorial/' .. name .. '.md'), source)
    for block, shown in pairs(before) do
      local lines = {}
      for line in now[block]:gmatch '[^\n]+' do lines[#lines + 1] = line end
      local at = 0
      for line in shown:gmatch '[^\n]+' do
        at = at + 1
        test.equal(sessions.difference(lines[at] or '', line, 1e-6), nil)
      end
    end
  end
end)

test.finish()
