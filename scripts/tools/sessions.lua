-- Runs the examples of documentation pages. An example is a session at the prompt (a block whose entries begin with
-- `pd> `), a list of commands (a block whose entries begin with `$ `), a file (a block whose first line is a comment
-- with the file's name), or a script (any other block of Lua). The examples of a section, and those before the first
-- section, run in order in one new folder, which links to the program's folder `scripts`. What a script prints is not
-- on the page, except for lines that begin with `--> `. A script below `<!-- not run: REASON -->` does not run.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local markdown = dofile(pd.root .. '/scripts/tools/markdown.lua')

local M = {}

-- sessions.pages() -> the pages whose examples run, as paths in the repository: those with an example, except for the
-- tutorial, which is made of scripts, and the front page, which test_docs.lua compares.
function M.pages()
  local pages = {}
  for _, path in ipairs(markdown.pages()) do
    local text = not path:find '^docs/tutorial/' and path ~= 'README.md' and files.read(pd.root .. '/' .. path)
    if text and (text:find '\n```lua\n' or text:find '\n```%w*\npd> ' or text:find '\n```%w*\n%$ ') then
      pages[#pages + 1] = path
    end
  end
  return pages
end

-- sessions.left_out(page) -> the reasons why scripts on the page do not run.
function M.left_out(page) return pd.tables.matches(page, '\n<!%-%- not run: ([^\n]-) %-%->\n\n```lua\n') end

-- The next fenced block of a page: its position, the position after it, its opening line and its content.
local function next_block(page, at)
  local first, last, fence, block = page:find('(\n```%w*\n)(.-\n)```\n', at)
  return first, last and last + 1, fence, block
end

-- The mark of the entries of a session or of commands, or nil.
local function mark_of(block) return block:match '^pd> ' or block:match '^%$ ' end

-- sessions.opening(page) -> the first paragraph after the title, and the number of the line on which the first recorded
-- session begins, or nil if there is none before the first section.
function M.opening(page)
  local purpose, at = page:match '\n# [^\n]*\n\n([^\n`|#<][^\n]*)', 1
  local section = page:find('\n## ', 1, true) or #page
  while true do
    local first, after, _, block = next_block(page, at)
    if not first or first > section then return purpose, nil end
    if mark_of(block) then
      local _, lines = page:sub(1, first):gsub('\n', '')
      return purpose, lines + 1
    end
    at = after
  end
end

-- sessions.entries(text, mark) -> a list of {entry =, output =}: what was entered after `mark` ('pd> ' or '$ '), and
-- the lines it printed.
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
-- may differ by `tolerance`, as those of trainings do between processors, and times and speeds in any way.
function M.difference(printed, shown, tolerance)
  local function without_speed(line) return line and (line:gsub('%d+/s', 'N/s')) end
  printed, shown = without_speed(printed), without_speed(shown)
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
  os.execute(('ln -s %s/scripts %s/scripts'):format(files.quoted(pd.root), files.quoted(folder)))
  return { folder = folder, shell = shell, environment = ('export PATH=%s/.bin:"$PATH" PUSHDOWN_REGISTRY= NO_COLOR=1 '
    .. 'OMP_NUM_THREADS=1 JUPYTER_DATA_DIR=%s/.jupyter LC_ALL=C.UTF-8;'):format(folder, folder) }
end

-- Runs a script. It has printed nothing if it has succeeded and the page shows nothing of it.
local function run_script(place, block, visit)
  files.write(place.folder .. '/.script.lua', block)
  local text = run(place, ('%s %s .script.lua 2> .errors; echo "status $?"; cat .errors'):format(place.environment,
    files.quoted(place.shell)))
  local printed, status, errors = text:match '^(.-)status (%d+)\n(.*)$'
  local shown = pd.tables.matches(block, '\n%-%-> ([^\n]*)')
  local made = status ~= '0' and lines_of(printed .. errors) or #shown > 0 and lines_of(printed) or {}
  local entry = block:match '^[^\n]*'
  if visit then visit({ entry = entry, output = shown }, { entry = entry, output = made }) end
end

-- Runs one block; returns what it should be, and the entries with their old and new outputs.
local function run_block(place, block, visit, is_script)
  local first = block:match '^[^\n]*'
  local file = first:match '^%-%- ([%w_./-]+%.%w+)$' or first:match '^# ([%w_./-]+%.%w+)$'
  if file then
    if file:find '^scripts/' then
      -- The file of a page does not become one of the repository.
      os.execute(('cd %s && rm -rf scripts && cp -r %s/scripts scripts'):format(files.quoted(place.folder),
        files.quoted(pd.root)))
    end
    if file:find '/' then files.make_folder(place.folder .. '/' .. file:match '^(.*)/') end
    files.write(place.folder .. '/' .. file, block)
    return block
  end
  local mark = mark_of(block)
  if not mark and is_script then run_script(place, block, visit) end
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

-- sessions.run(page, shell, visit) -> the page with what its examples print now. visit(shown, printed, section), if
-- given, is called with each entry as the page shows it, the same entry as it ran, and its section {title =, text =}.
function M.run(page, shell, visit)
  local out, place, section, at = {}, nil, nil, 1
  local function enter(title, from)
    if place then os.execute('rm -rf ' .. files.quoted(place.folder)) end
    place = title and new_place(shell)
    section = title and { title = title, text = page:match('^.-\n## ', from) or page:sub(from) }
  end
  enter(page:match '^# ([^\n]*)' or page:match '\n# ([^\n]*)' or '', 1)
  while at <= #page do
    local first, after, fence, block = next_block(page, at)
    local prose = page:sub(at, first or #page)
    for from, heading in prose:gmatch '\n()## ([^\n]*)' do enter(heading, at + from - 1) end
    if not first then out[#out + 1] = prose break end
    out[#out + 1] = prose:sub(1, -2) .. fence
    out[#out + 1] = run_block(place, block, visit and function(shown, printed)
      visit(shown, printed, section)
    end, fence == '\n```lua\n' and not prose:find '<!%-%- not run: [^\n]- %-%->\n\n$') .. '```\n'
    at = after
  end
  enter(nil)
  return table.concat(out)
end

return M
