-- Records the output of each block of code of a chapter. A block is the lines between comments that begin a line.
local files = require 'pushdown.files'
local pd = require 'pushdown'

local M = {}

local mark = '\31block '

-- The lines of a chapter, each with whether it is prose and the number of its block.
local function lines_of(source)
  local lines, block, open = {}, 0, false
  for text in source:gmatch '(.-)\n' do
    local prose = text:find '^%-%-' ~= nil
    if prose then open = false end
    if not prose and not open and text:find '%S' then block, open = block + 1, true end
    lines[#lines + 1] = { text = text, prose = prose, block = block }
  end
  return lines
end

-- Returns the code as one text.
local function code_of(source)
  local code = {}
  for _, line in ipairs(lines_of(source)) do
    if not line.prose and line.text:find '%S' then code[#code + 1] = line.text end
  end
  return table.concat(code, '\n')
end

-- Returns the chapter with an added line before the code of each block that prints the block's number.
local function marked(source)
  local out, last = {}, 0
  for _, line in ipairs(lines_of(source)) do
    local text = line.text
    if line.block > last then
      text = ("io.write('%s%d\\n') %s"):format(mark, line.block, text)
      last = line.block
    end
    out[#out + 1] = text
  end
  return "io.stdout:setvbuf 'no' " .. table.concat(out, '\n') .. '\n'
end

local most, first, last = 30, 16, 8

-- Returns the lines without blanks at their ends. Of many lines, those in the middle are left out.
local function shortened(text)
  local lines = {}
  for line in text:gmatch '([^\n]*)\n' do lines[#lines + 1] = (line:gsub('%s+$', '')) end
  while lines[1] == '' do table.remove(lines, 1) end
  while lines[#lines] == '' do table.remove(lines) end
  if #lines == 0 then return nil end
  if #lines > most then
    local kept = {}
    for i = 1, first do kept[i] = lines[i] end
    kept[#kept + 1] = ('... (%d lines)'):format(#lines - first - last)
    for i = #lines - last + 1, #lines do kept[#kept + 1] = lines[i] end
    lines = kept
  end
  return table.concat(lines, '\n') .. '\n'
end

-- recording.record(path, arguments) -> number of a block -> its output. The numbers of lines of the chapter become …,
-- because they depend on its prose.
function M.record(path, arguments)
  local source = files.read(path)
  local top = os.tmpname()
  os.remove(top)
  files.make_folder(top)
  local copy = top .. '/' .. path:match '[^/]*$'
  files.write(copy, marked(source))
  local words, shell_words = {}, {}
  local before = true
  for _, word in ipairs(arguments) do
    if word == '--' then before = false elseif before then shell_words[#shell_words + 1] = files.quoted(word)
    else words[#words + 1] = files.quoted(word) end
  end
  local command = ('cd %s && LC_ALL=C.UTF-8 PUSHDOWN_REGISTRY=off %s %s %s %s 2> log'):format(files.quoted(top),
    files.quoted(pd.process.executable()), table.concat(shell_words, ' '), files.quoted(copy), table.concat(words, ' '))
  local pipe = assert(io.popen(command .. '; echo "exit $?"'))
  local text, status = pipe:read '*a':match '^(.*)exit (%d+)\n$'
  pipe:close()
  local log = files.read(top .. '/log')
  os.execute('rm -rf ' .. files.quoted(top))
  if status ~= '0' then error('the chapter failed:\n' .. text .. log, 0) end
  for _, folder in ipairs { pd.root, top } do text = text:gsub(folder:gsub('%p', '%%%0') .. '/', '') end
  text = text:gsub('(' .. path:match '[^/]*$':gsub('%p', '%%%0') .. ':)%d+', '%1…')
  local printed = {}
  for block, output in text:gmatch(mark .. '(%d+)\n([^\31]*)') do
    printed[tonumber(block)] = shortened(output .. '\n')
  end
  return printed
end

-- recording.read(page, source) -> number of a block -> its output on the page. Raises an error if the code of the page
-- is not that of the chapter.
function M.read(page, source)
  local printed, code, block = {}, {}, 0
  for text, after in page:gmatch '\n```lua\n(.-)\n```\n()' do
    block = block + 1
    for line in (text .. '\n'):gmatch '(.-)\n' do
      if line:find '%S' then code[#code + 1] = line end
    end
    printed[block] = page:match('^\nIt prints:\n\n```\n(.-\n)```\n', after)
  end
  if table.concat(code, '\n') ~= code_of(source) then
    error('the code of the chapter has changed since its output was recorded: run make_tutorial.lua --record NAME', 0)
  end
  return printed
end

return M
