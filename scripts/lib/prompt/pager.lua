-- pager(text): prints a text. One that is higher than the window of the terminal waits for a key after each screenful:
-- space shows the next one, Enter one more line, and q or Ctrl-C leaves. Without a person at the terminal, and while
-- typed or pasted input waits, all of it is printed at once. A long text of one line is broken at words.
local measure = require 'pushdown.text.measure'
local pd = require 'pushdown'
local wrapped = require 'pushdown.text.wrapped'

local more = { [' '] = true, f = true, ['\27[6~'] = true }
local one_line = { ['\n'] = true, ['\r'] = true, j = true, ['\27[B'] = true, ['\27OB'] = true }
local leave = { q = true, Q = true, ['\27'] = true, ['\3'] = true, ['\4'] = true }

-- The number of rows that a line takes.
local function height(line, columns) return math.max(1, math.ceil(measure.length(line) / columns)) end

local function window()
  local rows, columns = pd.process.rows 'stdout', pd.process.columns 'stdout'
  if not rows or rows < 4 or not pd.process.columns 'stdin' or os.getenv 'TERM' == 'dumb' then return nil end
  return rows, columns
end

-- Shows where the reader is, and returns how many more rows are wanted: 0 for none.
local function ask(done, count, rows, columns)
  local place = ('-- %d of %d lines --'):format(done, count)
  local keys = '  space: more   Enter: one line   q: leave'
  io.write(measure.length(place .. keys) < columns and place .. keys or place:sub(1, columns - 1))
  io.stdout:flush()
  local wanted
  repeat
    local key = pd.process.key()
    wanted = (key == nil or leave[key]) and 0 or more[key] and rows - 1 or one_line[key] and 1
  until wanted
  io.write '\r\27[K'
  return wanted
end

return function(text)
  text = text:gsub('\n$', '')
  local width = pd.process.columns 'stdout'
  if width and not text:find '\n' and measure.length(text) > width then text = wrapped(text, width, '', '  ') end
  local rows, columns = window()
  local lines, total = {}, 0
  for line in (text .. '\n'):gmatch '(.-)\n' do
    lines[#lines + 1] = line
    total = total + (rows and height(line, columns) or 0)
  end
  if not rows or total < rows or pd.process.typed_ahead() then return print(text) end
  local left = rows - 1
  for i, line in ipairs(lines) do
    local needed = height(line, columns)
    if needed > left then
      left = ask(i - 1, #lines, rows, columns)
      if left == 0 then return io.stdout:flush() end
    end
    print(line)
    left = left - needed
  end
end
