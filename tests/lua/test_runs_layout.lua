-- The layout of tables of runs in a terminal: different values stay different, and columns stay separate.
local layout = require 'pushdown.runs.layout'
local shorten = require 'pushdown.runs.shorten'
local wrapped = require 'pushdown.text.wrapped'
local test = require 'pushdown.test'

local function length(text) return select(2, text:gsub('[^\128-\191]', '')) end

-- Returns the output of a call as lines.
local function printed(f, ...)
  local output, raw_print, raw_write = {}, print, io.write
  _G.print = function(text) output[#output + 1] = (text or '') .. '\n' end
  rawset(io, 'write', function(text) output[#output + 1] = text end)
  local ok, problem = pcall(f, ...)
  _G.print = raw_print
  rawset(io, 'write', raw_write)
  assert(ok, problem)
  local lines = {}
  for line in table.concat(output):gmatch '([^\n]*)\n' do lines[#lines + 1] = line end
  return lines
end

test('texts are shortened so that they differ', function()
  test.equal(table.concat(shorten({ 'short', 'a' }, 8), ' '), 'short a')
  -- The common beginning is shortened first.
  local texts = shorten({ 'runs/ns_rnn/dyck/lstm', 'runs/ns_rnn/dyck/gru' }, 8)
  test.equal(table.concat(texts, ' '), '…lstm …gru')
  -- The texts differ in the middle, then at the end, then at one place.
  for _, given in ipairs {
    { 'first_of_all_these', 'second_of_all_these' },
    { 'xxxxxxxxxxxxAxxxxxxxxxxxx', 'xxxxxxxxxxxxBxxxxxxxxxxxx' },
    { ('é'):rep(20) .. '1' .. ('é'):rep(20), ('é'):rep(20) .. '2' .. ('é'):rep(20) },
    { 'learning_rate=0.001,size=20', 'learning_rate=0.001,size=40', 'learning_rate=0.01,size=20' },
  } do
    local shown = assert(shorten(given, 14), given[1])
    local seen = {}
    for i, text in ipairs(shown) do
      assert(length(text) <= 14, text)
      assert(not seen[text], text)
      seen[text] = given[i]
    end
  end
  test.equal(shorten({ 'abc1', 'abc2', 'abc3', 'bcd1', 'bcd2' }, 2), nil)
  -- Equal texts may look equal.
  local same = shorten({ ('x'):rep(30), ('x'):rep(30) }, 9)
  test.equal(same[1], same[2])
end)

test('columns stay apart and cells differ at 80 and 120 columns', function()
  local columns = { '', 'run 1', 'run 2', 'run 3' }
  local rows = {
    { 'folder', 'runs/mali_2019/table_1/an_bn/learning_rate=0.0001,hint_strength=4,restart=1',
      'runs/mali_2019/table_1/an_bn/learning_rate=0.0001,hint_strength=4,restart=2',
      'runs/mali_2019/table_1/an_bn/learning_rate=0.0005,hint_strength=4,restart=1' },
    { 'grammar', 'marked_reversal', 'marked_reversal', 'unmarked_reversal' },
    { 'validation difference', '0.0123', '0.0124', '0.2' },
  }
  for _, width in ipairs { 80, 120 } do
    local lines = printed(layout.table, columns, rows, width, true)
    assert(#lines == 5 or #lines == 6 and lines[6] == 'difference', table.concat(lines, '\n'))
    for _, line in ipairs(lines) do assert(length(line) <= width, line) end
    for i, row in ipairs(rows) do
      -- A table: the cells of a line are separated by two blanks or more.
      local cells = {}
      for cell in (lines[i + 2] .. '  '):gmatch '(%S.-)%s%s+' do cells[#cells + 1] = cell end
      test.equal(#cells, 4)
      for a = 2, 4 do
        for b = a + 1, 4 do test.equal(cells[a] == cells[b], row[a] == row[b]) end
      end
    end
  end
  -- If that is impossible, every row takes several lines.
  local lines = printed(layout.table, columns, rows, 30, true)
  assert(table.concat(lines, '\n'):find('run 3: ', 1, true))
  for _, line in ipairs(lines) do
    assert(length(line) <= 30 or not line:match '^%s*(.*)$':find ' ', line)
  end
end)

test('one long note does not make blocks of all rows', function()
  local columns = { 'id', 'run', 'started', 'loss', 'tags', 'note' }
  local rows = { { '2', 'grid/of/some/length', '2026-11-24 22:56', '0.25', 'good', 'a note ' .. ('of words '):rep(9) },
    { '1', 'grid/of/some/length', '2026-11-24 22:50', '0.5', '', '' } }
  local lines = printed(layout.table, columns, rows, 50, false, { 'note', 'tags', 'started' })
  test.equal(table.concat(lines, '\n'), [[
id  run               started           loss  tags
--------------------------------------------------
 2  grid/of/…/length  2026-11-24 22:56  0.25  good
 1  grid/of/…/length  2026-11-24 22:50  0.5
No room for the column 'note': --csv and --columns
show it.]])
  -- Without optional columns there is no other way.
  test.equal(printed(layout.table, columns, rows, 40, false)[1], 'id: 2')
end)

test('names of rows are broken at blanks, not shortened', function()
  local rows = { { 'cross entropy difference', ('x'):rep(20), ('x'):rep(19) .. 'y' } }
  local lines = printed(layout.table, { '', 'run 1', 'run 2' }, rows, 36, true)
  local text = table.concat(lines, '\n')
  assert(text:find '\ncross ' and text:find '\nentropy' and text:find '\ndifference' and #lines == 5, text)
end)

test('names of columns are broken at blanks before points are shortened', function()
  local rows = { { 'learning_rate=0.02', '4/4', '0.0400' }, { 'learning_rate=0.005', '4/4', '0.1024' } }
  local lines = printed(layout.table, { 'point', 'done', 'mean cross entropy difference' }, rows, 40)
  test.equal(table.concat(lines, '\n'), [[
                           mean cross
                              entropy
point                done  difference
-------------------------------------
learning_rate=0.02   4/4       0.0400
learning_rate=0.005  4/4       0.1024]])
end)

test('points are aligned below each other', function()
  local lines = printed(layout.table, { 'n', 'value' }, { { '1', '0.25' }, { '2', '10.125' }, { '3', '7' } }, 80)
  local points = {}
  for i = 3, 4 do points[#points + 1] = lines[i]:find('.', 1, true) end
  test.equal(points[1], points[2])
  test.equal(lines[5]:find '7', points[1] - 1)
end)

test('numbers that differ look different', function()
  local texts = layout.values({ 0.1234561, 0.1234562, 0.1234561 }, 3, layout.value)
  assert(texts[1] ~= texts[2])
  test.equal(texts[1], texts[3])
  test.equal(table.concat(layout.values({ 0.5, 0.25 }, 2, layout.value), ' '), '0.5 0.25')
end)

test('texts wrap at words', function()
  test.equal(wrapped('one two three', 8, '', '  '), 'one two\n  three')
  test.equal(wrapped('a_very_long_word and', 6, '>'), '>a_very_long_word\n>and')
  test.equal(wrapped('one two three'), 'one two three')
end)

test.finish()
