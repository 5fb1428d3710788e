-- Pages with examples that run: sessions at the prompt (blocks whose entries begin with `pd> `), commands (blocks whose
-- lines begin with `$ `), and files (blocks of Lua or Python whose first line is a comment with the file's name). The
-- examples of a section run one after the other in a folder of their own.
local files = require 'pushdown.files'

local M = {}

-- sessions.entries(text) -> what was entered behind `mark` ('pd> ' or '$ ') and what each printed: {entry =, output =}.
function M.entries(text, mark)
  local found = {}
  for line in (text .. '\n'):gmatch '(.-)\n' do
    local entry = line:sub(1, #mark) == mark and line:sub(#mark + 1)
    local more, last = line:match '^%.%.%. (.*)$', found[#found]
    if entry then
      found[#found + 1] = { entry = entry, output = {} }
    elseif more and last then
      last.entry = last.entry .. '\n' .. more
    elseif last then
      last.output[#last.output + 1] = line
    end
  end
  for _, one in ipairs(found) do
    while one.output[#one.output] == '' do table.remove(one.output) end
  end
  return found
end

-- A line without the width of the space between its columns; with its times and numbers, or without.
local function columns(line) return (line:gsub('%s+', ' '):gsub(' $', '')) end
local function masked(line)
  return (columns(line):gsub('%d[%d.]*e?%-?%d* m?s%f[%W]', 'TIME'):gsub('%-?%d+%.?%d*e?%-?%d*', 'NUMBER'))
end

-- sessions.difference(printed, shown, tolerance) -> how a printed line differs from the one on a page, or nil. Numbers
-- may differ by `tolerance`, as those of trainings do between processors, and times in any way.
function M.difference(printed, shown, tolerance)
  if masked(printed) ~= masked(shown) then return ('expected %q, got %q'):format(columns(shown), columns(printed)) end
  if masked(shown):find 'TIME' then return nil end
  local numbers = {}
  for number in printed:gmatch '%-?%d+%.?%d*e?%-?%d*' do numbers[#numbers + 1] = tonumber(number) or 0 end
  for number in shown:gmatch '%-?%d+%.?%d*e?%-?%d*' do
    local got, expected = table.remove(numbers, 1), tonumber(number) or 0
    if math.abs(got - expected) > tolerance * math.max(1, math.abs(expected)) then
      return ('expected %s in %q, got %s'):format(number, columns(shown), got)
    end
  end
end

-- The block with the outputs of its entries.
local function written(entries, mark)
  local lines = {}
  for _, one in ipairs(entries) do
    lines[#lines + 1] = mark .. one.entry:gsub('\n', '\n... ')
    for _, line in ipairs(one.output) do lines[#lines + 1] = line end
  end
  return table.concat(lines, '\n') .. '\n'
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch '([^\n]*)\n' do lines[#lines + 1] = (line:gsub('%s+$', '')) end
  while lines[#lines] == '' do table.remove(lines) end
  return lines
end

local function run(place, command)
  local pipe = assert(io.popen(('cd %s && { %s\n} 2>&1'):format(files.quoted(place.folder), command)))
  local text = pipe:read '*a'
  pipe:close()
  if text ~= '' and text:sub(-1) ~= '\n' then text = text .. '\n' end
  return text
end

-- Runs the entries of a session, a new prompt for each block; returns them with what they print.
local function run_session(place, entries)
  local input, separator = {}, '\31'
  for _, one in ipairs(entries) do
    input[#input + 1] = one.entry
    input[#input + 1] = ("io.write('%s\\n');"):format(separator)
  end
  files.write(place.folder .. '/.session', table.concat(input, '\n') .. '\n')
  local text = run(place, ('%s %s < .session'):format(place.environment, files.quoted(place.shell)))
  local made, at = {}, 1
  for i, one in ipairs(entries) do
    local stop = text:find(separator .. '\n', at, true)
    made[i] = { entry = one.entry, output = lines_of(text:sub(at, (stop or #text + 1) - 1)) }
    at = stop and stop + 2 or #text + 1
  end
  return made
end

local function run_commands(place, entries)
  local made = {}
  for i, one in ipairs(entries) do
    made[i] = { entry = one.entry, output = lines_of(run(place, place.environment .. '\n' .. one.entry)) }
  end
  return made
end

-- The folder of a section, and the environment of what runs in it.
local function new_place(shell)
  local folder = os.tmpname()
  os.remove(folder)
  files.make_folder(folder)
  files.make_folder(folder .. '/.bin')
  os.execute(('ln -s %s %s/.bin/pushdown'):format(files.quoted(shell), files.quoted(folder)))
  return { folder = folder, shell = shell, environment = ('export PATH=%s/.bin:"$PATH" PUSHDOWN_REGISTRY= NO_COLOR=1 '
    .. 'OMP_NUM_THREADS=1 JUPYTER_DATA_DIR=%s/.jupyter LC_ALL=C.UTF-8;'):format(folder, folder) }
end

-- Runs one block; returns what it should be, and the entries with their old and new outputs.
local function run_block(place, block, visit)
  local first = block:match '^[^\n]*'
  local file = first:match '^%-%- ([%w_./-]+%.%w+)$' or first:match '^# ([%w_./-]+%.%w+)$'
  if file then
    files.write(place.folder .. '/' .. file, block)
    return block
  end
  local mark = first:match '^pd> ' or first:match '^%$ '
  if not mark then return block end
  local entries = M.entries(block, mark)
  local made = (mark == '$ ' and run_commands or run_session)(place, entries)
  for i, one in ipairs(made) do
    for k, line in ipairs(one.output) do
      one.output[k] = line:gsub(place.folder:gsub('%p', '%%%0'), 'FOLDER')
    end
    if visit then visit(entries[i], one) end
  end
  return written(made, mark)
end

-- sessions.run(page, shell, visit) -> the page with what its examples print now. visit(shown, printed, title), if
-- given, gets every entry as the page has it and as it ran, and the title of its section.
function M.run(page, shell, visit)
  local out, place, title, at = {}, nil, nil, 1
  local function leave() if place then os.execute('rm -rf ' .. files.quoted(place.folder)) end end
  while at <= #page do
    local first, last, fence, block = page:find('(\n```%w*\n)(.-\n)```\n', at)
    local prose = page:sub(at, first or #page)
    for heading in prose:gmatch '\n## ([^\n]*)' do
      leave()
      place, title = new_place(shell), heading
    end
    if not first then out[#out + 1] = prose break end
    out[#out + 1] = prose:sub(1, -2) .. fence
    out[#out + 1] = (place and run_block(place, block, visit and function(shown, printed)
      visit(shown, printed, title)
    end) or block) .. '```\n'
    at = last + 1
  end
  leave()
  return table.concat(out)
end

return M
