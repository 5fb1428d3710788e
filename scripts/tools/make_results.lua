-- Fills the tables of docs/results and of the README from the records of runs, docs/results/<paper>/runs.csv, without
-- training.
--
--   pushdown scripts/tools/make_results.lua [PAGE...]       the named pages (nspda, README), by default all
--   pushdown scripts/tools/make_results.lua --check [PAGE...]  only reports the pages that are out of date
--
-- A table is between two comments. The first names the table of a paper that makes it, and the columns to show, each
-- with a new title if the page uses another one. `NAME ±` joins a mean with the deviation in the next column. A table
-- file has the table's name; `PAPER/TABLE:NAME` is another one of it:
--
--   <!-- table: nspda/table4 | language | ours: mean ± = test error % -->
--   <!-- end of table -->
--
-- An entry of scripts/experiments/all.lua in the place of the table stands for the entry's first table with its
-- options: <!-- table: state_tracking-small:scores | task | RNN -->.
--
-- A page in the place of the table, docs/results/nspda.md, stands for its last table, so that a result is written in
-- one place.
--
-- <!-- text: PAPER/TABLE:NAME --> and <!-- end of text --> are around the whole file NAME.md of the table.
--
-- The comment <!-- pictures: PAPER/TABLE --> means that the table also makes those SVG files that the page shows and
-- that have the names of its pictures.
local files = require 'pushdown.files'
local pd = require 'pushdown'

local M = {}

local function trimmed(text) return (text:gsub('%s+', ' '):gsub('^ ', ''):gsub(' $', '')) end

local function cells_of(line)
  local cells = {}
  for cell in line:gsub('^|', ''):gmatch('([^|]*)|') do cells[#cells + 1] = trimmed(cell) end
  return cells
end

-- M.columns('| a | b ± = c') -> {{ name = 'a', title = 'a' }, { name = 'b', joined = true, title = 'c' }}
function M.columns(text)
  local columns = {}
  for part in text:gmatch('|([^|]*)') do
    local name, title = part:match('^(.-)%s*=%s*(.+)$')
    name = trimmed(name or part)
    local mean = name:match('^(.-)%s*±$')
    columns[#columns + 1] = { name = mean or name, joined = mean ~= nil, title = trimmed(title or mean or name) }
  end
  return columns
end

-- The Markdown table `text` from a run folder, reduced to these columns. Numbers that are not available are left
-- out.
function M.select(text, columns)
  local lines = {}
  for line in text:gmatch('[^\n]+') do
    if line:sub(1, 1) == '|' then lines[#lines + 1] = cells_of(line) end
  end
  local head = table.remove(lines, 1) or error('there is no table', 0)
  table.remove(lines, 1)
  local places = {}
  for i, column in ipairs(columns) do
    for k, name in ipairs(head) do places[i] = places[i] or name == column.name and k or nil end
    if not places[i] then
      error(("there is no column '%s'; the columns are %s"):format(column.name, table.concat(head, ', ')), 0)
    end
    if column.joined and head[places[i] + 1] ~= 'deviation' then
      error(("column '%s' is not followed by a deviation"):format(column.name), 0)
    end
  end
  local made, rule = {}, {}
  for i, column in ipairs(columns) do made[i], rule[i] = column.title, '---' end
  local result = { '| ' .. table.concat(made, ' | ') .. ' |', '|' .. table.concat(rule, '|') .. '|' }
  for _, cells in ipairs(lines) do
    local row = {}
    for i, column in ipairs(columns) do
      local value, deviation = cells[places[i]], column.joined and cells[places[i] + 1]
      if value == 'NA' then value = '' end
      if value ~= '' and deviation and deviation ~= 'NA' then value = value .. ' ± ' .. deviation end
      row[i] = value
    end
    result[#result + 1] = '| ' .. table.concat(row, ' | ') .. ' |'
  end
  return table.concat(result, '\n')
end

-- The page, with each table replaced by the result of make(script, columns), and each text by that of make(script).
-- Blank lines are around both.
function M.filled(page, make)
  local tables = '(<!%-%- table: (%S+)(.-) %-%->\n).-(<!%-%- end of table %-%->)'
  local texts = '(<!%-%- text: (%S+) %-%->\n).-(<!%-%- end of text %-%->)'
  return (page:gsub(tables, function(open, script, columns, close)
    return ('%s\n%s\n\n%s'):format(open, make(script, M.columns(columns)), close)
  end):gsub(texts, function(open, script, close) return ('%s\n%s\n%s'):format(open, make(script), close) end))
end

-- M.pictures(page) -> list of {script =, path = of a picture that the page shows}.
function M.pictures(page)
  local list = {}
  for script in page:gmatch('<!%-%- pictures: (%S+) %-%->') do
    for path in page:gmatch('!%[[^%]]*%]%(([^%s)]+%.svg)%)') do list[#list + 1] = { script = script, path = path } end
  end
  return list
end

local quoted = files.quoted
local folders = {}  -- the run folder of each table or entry

-- M.entry(list, name) -> table, options: those of an entry in the text that all.lua --list prints.
function M.entry(list, name)
  for line in list:gmatch '[^\n]+' do
    local found, paper, part, options = line:match '^(%S+)%s+%S+%s+(%S+)%s+([^%s,]+)%S*(.*)$'
    if found == name then return ('%s/%s'):format(paper, part), trimmed(options) end
  end
  error(("scripts/experiments/all.lua has no entry '%s'"):format(name), 0)
end

local function entry_of(name)
  local pipe = io.popen(('PUSHDOWN_REGISTRY=off %s %s --list'):format(quoted(pd.process.executable()),
    quoted(pd.root .. '/scripts/experiments/all.lua')))
  local list = pipe:read '*a'
  pipe:close()
  return M.entry(list, name)
end

-- The folder that a table or an entry writes for the recorded runs of its paper.
local function folder_of(named)
  if folders[named] then return folders[named] end
  local name, arguments = named, ''
  if not named:find '/' then name, arguments = entry_of(named) end
  local folder, paper, part = os.tmpname(), name:match '^([%w_]+)/([%w_]+)$'
  os.remove(folder)
  local command = ('PUSHDOWN_REGISTRY=off %s %s %s %s --recorded %s --missing leave --folder %s/none --run-folder %s '
    .. '> %s.log 2>&1'):format(quoted(pd.process.executable()), quoted(('%s/scripts/experiments/%s.lua'):format(pd.root,
    paper)), part, arguments, quoted(('%s/docs/results/%s/runs.csv'):format(pd.root, paper)), quoted(folder),
    quoted(folder), folder)
  local status = os.execute(command)
  if status ~= 0 then error(('%s failed:\n%s'):format(named, files.read(folder .. '.log')), 0) end
  folders[named] = folder
  return folder
end

-- M.last_table(page) -> the last table of a page in Markdown.
function M.last_table(page)
  local lines, after = {}, true
  for line in (page .. '\n'):gmatch '(.-)\n' do
    if line:sub(1, 1) == '|' then
      if after then lines = {} end
      lines[#lines + 1] = line
    end
    after = line:sub(1, 1) ~= '|'
  end
  return table.concat(lines, '\n')
end

local function make(named, columns)
  if named:find '%.md$' then return M.select(M.last_table(files.read(pd.root .. '/' .. named)), columns) end
  local from, name = named:match '^([^:]+):?([%w_]*)$'
  if name == '' then name = from:match '[%w_]+$' end
  local text = files.read(('%s/%s.md'):format(folder_of(from), name))
  return columns and M.select(text, columns) or text
end

if arg and arg[0] and arg[0]:match('[^/]*$') == 'make_results.lua' then
  local results, pages, wanted = pd.root .. '/docs/results/', {}, {}
  for i, name in ipairs(arg) do
    if not (i == 1 and name == '--check') then wanted[#wanted + 1] = name end
  end
  if #wanted == 0 then
    for _, file in ipairs(files.find(results, '^[%w_]+%.md$')) do wanted[#wanted + 1] = file:match('([%w_]+)%.md$') end
  end
  local paths = {}
  for _, name in ipairs(wanted) do
    paths[#paths + 1] = results .. name .. '.md'
    if name == 'README' then paths[#paths + 1] = pd.root .. '/README.md' end
  end
  for _, path in ipairs(paths) do
    local page = files.read(path)
    pages[path] = M.filled(page, make)
    for _, picture in ipairs(M.pictures(page)) do
      local made = ('%s/%s'):format(folder_of(picture.script), picture.path:match '[^/]*$')
      if files.exists(made) then pages[path:match '^.*/' .. picture.path] = files.read(made) end
    end
  end
  for _, folder in pairs(folders) do os.execute(('rm -rf %s %s.log'):format(quoted(folder), quoted(folder))) end
  dofile(pd.root .. '/scripts/tools/generated.lua')(pages, 'pushdown scripts/tools/make_results.lua')
end

return M
