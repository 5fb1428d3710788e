-- Compares the numbers in two run folders one by one.
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local metrics = require 'pushdown.store.metrics'
local pd = require 'pushdown'
local store = require 'pushdown.store.folder'
local tables = require 'pushdown.tables'

local listed = 10  -- largest number of differences shown

-- Times and rates depend on the machine and are not results.
local of_machine = { second = true, seconds = true, ms = true, time = true, date = true, memory = true }

local function is_time(name)
  for part in name:gmatch '%a+' do
    if of_machine[part] then return true end
  end
  return false
end

-- The files with numbers of the run and of trainings in its folder; files of other runs in it are left out.
local function files_of(folder)
  local list = {}
  local function walk(place, inner)
    for _, name in ipairs(pd.file.list(place)) do
      local path = place .. '/' .. name
      local kind = pd.file.kind(path)
      if kind == 'folder' and name ~= 'inputs' and name ~= 'data' and not files.exists(path .. '/run.lock') then
        walk(path, inner .. name .. '/')
      elseif kind == 'file' and (name == 'result.json' or name == 'metrics.jsonl' or name:match '%.csv$') then
        list[#list + 1] = inner .. name
      end
    end
  end
  walk(folder, '')
  return list
end

local function add_values(values, prefix, value)
  if type(value) == 'table' then
    for key, part in pairs(value) do
      if not is_time(tostring(key)) then add_values(values, ('%s.%s'):format(prefix, key), part) end
    end
  elseif value ~= json.null then
    values[prefix] = value
  end
end

-- The content of a file: {[name] = number or text}.
local function values_of(path)
  local values = {}
  local folder = path:match '^(.*)/metrics%.jsonl$'
  if folder then
    metrics.each(folder, function(entry)
      add_values(values, ('%s %s'):format(entry.event or 'line', entry.update or entry.epoch or ''), entry)
    end)
  elseif path:match '%.csv$' then
    local names, rows = csv.read(path)
    for i, row in ipairs(rows) do
      for _, name in ipairs(names) do
        if not is_time(name) then values[('row %d.%s'):format(i, name)] = tonumber(row[name]) or row[name] end
      end
    end
  else
    add_values(values, 'result', store.decode(files.read(path), path))
  end
  return values
end

local function shown(value) return type(value) == 'number' and ('%.17g'):format(value) or tostring(value) end

-- numbers(one, other) -> {count, unequal, different = texts, missing = files, text}: compares the numbers of two runs
-- except times. text: "24 numbers of 2 files".
return function(one, other)
  local found = { count = 0, unequal = 0, different = {}, missing = {} }
  local names = files_of(one)
  for _, name in ipairs(names) do
    if not files.exists(other .. '/' .. name) then
      found.missing[#found.missing + 1] = name
    else
      local was, is = values_of(one .. '/' .. name), values_of(other .. '/' .. name)
      for _, key in ipairs(tables.keys(tables.merged(was, is))) do
        found.count = found.count + 1
        local a, b = was[key], is[key]
        if a ~= b and not (a ~= a and b ~= b) then
          found.unequal = found.unequal + 1
          if #found.different < listed then
            found.different[#found.different + 1] = ('%s, %s: was %s, is %s'):format(name, key, shown(a), shown(b))
          end
        end
      end
    end
  end
  found.text = ('%s of %s'):format(tables.counted(found.count, 'number'), tables.counted(#names, 'file'))
  return found
end
