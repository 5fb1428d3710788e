-- The tables of docs/architecture.md name every folder of the first two levels, and only folders that exist.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local page = 'docs/architecture.md'

-- The folders of the first two levels that contain one of the paths: 'src/stack/list.cpp' -> 'src', 'src/stack'.
local function folders_of(paths)
  local folders = {}
  for _, path in ipairs(paths) do
    local first, second = path:match('^([^/]+)/(.*)$')
    if first then
      folders[first] = true
      second = second:match('^([^/]+)/')
      if second then folders[first .. '/' .. second] = true end
    end
  end
  return folders
end

-- The folders that begin a row of a table, each with the rest of the row. Only tables headed `folder` or `subfolder`.
local function listed_in(text)
  local rows, inside = {}, false
  for line in (text .. '\n'):gmatch('(.-)\n') do
    if line:match('^| s?u?b?folder |') then
      inside = true
    elseif line:sub(1, 1) ~= '|' then
      inside = false
    elseif inside then
      local folder, rest = line:match('^| `([^`]+)` |(.*)|%s*$')
      if folder then
        if rows[folder] then error(('%s lists %s twice'):format(page, folder), 0) end
        rows[folder] = rest
      end
    end
  end
  return rows
end

-- Returns the errors of the rows, as lines. `exists` tells whether a folder exists, at any level. A folder of tests
-- needs no row if src has a folder of its name, which it tests.
local function faults(rows, folders, exists)
  local found = {}
  for folder in pairs(folders) do
    local tested = folder:match '^tests/(.*)'
    if not rows[folder] and not (tested and folders['src/' .. tested]) then
      found[#found + 1] = ('%s has no row for the folder %s'):format(page, folder)
    end
  end
  for folder, rest in pairs(rows) do
    if not exists(folder) then found[#found + 1] = ('%s lists %s, which does not exist'):format(page, folder) end
    if not rest:find('%w') then found[#found + 1] = ('%s says nothing about %s'):format(page, folder) end
  end
  table.sort(found)
  return found
end

-- The paths that git tracks. Without git, all files outside of build and run folders.
local function tracked_files()
  local root = files.quoted(pd.root)
  local paths = {}
  for _, command in ipairs {
    'git -C %s ls-files 2>/dev/null',
    'cd %s && find . -mindepth 2 -type f -not -path "./build/*" -not -path "./runs/*" -not -path "./.git/*"',
  } do
    local pipe = assert(io.popen(command:format(root)))
    for path in pipe:lines() do paths[#paths + 1] = path:gsub('^%./', '') end
    pipe:close()
    if #paths > 0 then break end
  end
  return paths
end

test('every folder has a row, and every row a folder', function()
  local folders = folders_of(tracked_files())
  assert(folders['src/stack'] and folders['tests/lua'] and folders.grammars, 'the folders are found')
  local found = faults(listed_in(files.read(pd.root .. '/' .. page)), folders, function(folder)
    return files.exists(pd.root .. '/' .. folder)
  end)
  if #found > 0 then error('\n  ' .. table.concat(found, '\n  '), 0) end
end)

test('each kind of fault is caught', function()
  local folders = folders_of { 'README.md', 'src/stack/list.cpp', 'src/kernel/step/a.h', 'new/a.lua' }
  test.equal(table.concat(pd.tables.keys(folders), ' '), 'new src src/kernel src/stack')
  local text = '| folder | content |\n|---|---|\n| `src` | the core |\n| `src/stack` |  |\n| `gone` | old |\n\n'
    .. '| subfolder | content |\n|---|---|\n| `src/kernel` | loops |\n\n| file | content |\n|---|---|\n| `new` | x |\n'
  local found = faults(listed_in(text), folders, function(folder) return folders[folder] end)
  test.equal(table.concat(found, '\n'), page .. ' has no row for the folder new\n' .. page
    .. ' lists gone, which does not exist\n' .. page .. ' says nothing about src/stack')
  test.fails('twice', function() listed_in('| folder | content |\n| `a` | x |\n| `a` | y |\n') end)
end)

test.finish()
