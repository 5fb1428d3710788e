-- Reads metrics.jsonl, the numbers of a training in its run folder, line by line.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local visible = require 'pushdown.text.visible'

local M = {}

-- A flat object of numbers and booleans with at most one text, as the trainer writes it, or nil. These patterns are
-- much faster than a parser.
local function flat_object(line)
  local inner = line:match '^{(.*)}$'
  if not inner or inner:find '[{}%[%]\\]' or select(2, inner:gsub(':%s*"', '')) > 1 then return nil end
  local entry, count, commas = {}, 0, select(2, inner:gsub(',', ''))
  for key, value in inner:gmatch '"([^"]+)"%s*:%s*([^,]+)' do
    local known
    if value:find '^%-?%d' then
      known = tonumber(value)
    elseif value:find '^true%s*$' or value:find '^false%s*$' then
      known = value:sub(1, 1) == 't'
    else
      known = value:match '^"([^"]*)"%s*$'
    end
    if known == nil then return nil end
    entry[key], count = known, count + 1
  end
  return count == commas + 1 and entry or nil
end

-- One line as a table, or nil if it is not an object.
local function entry_of(line)
  local entry = flat_object(line)
  if entry or line:sub(1, 1) ~= '{' then return entry end
  local ok, decoded = pcall(json.decode, line)
  return ok and decoded or nil
end

local warned = {}  -- by place, because a live page reads its runs again and again

local function warn(path, number, line)
  local place = ('%s:%d'):format(path, number)
  if warned[place] then return end
  warned[place] = true
  pd.log.warn(("%s: the line is damaged and left out: expected a JSON object, got '%s'"):format(place,
    visible.line(line:sub(1, 40))))
end

-- The number of lines in the first bytes of a file.
local function lines_before(file, bytes)
  file:seek 'set'
  local count = 0
  for _ in (bytes > 0 and file:read(bytes) or ''):gmatch '\n' do count = count + 1 end
  return count
end

local block, longest_line = 2 ^ 20, 2 ^ 24

-- metrics.each(folder, visit, at): calls visit(entry) for every complete line of metrics.jsonl in the folder, in order,
-- starting at the byte `at` (0). Warns of damaged lines and leaves them out. Returns the end of the last complete line,
-- or false if the file does not exist.
function M.each(folder, visit, at)
  local path = folder .. '/metrics.jsonl'
  local file = files.exists(path) and io.open(path, 'rb')
  if not file then return false end
  at = at or 0
  local number = lines_before(file, at)
  file:seek('set', at)
  local function take(line)
    line = line:match '^(.*%S)' or ''
    local entry = entry_of(line)
    if entry then visit(entry) end
    return entry ~= nil, line
  end
  local text = ''
  for part in function() return file:read(block) end do
    text = text .. part
    local next_line = 1
    for stop in function() return (text:find('\n', next_line, true)) end do
      number = number + 1
      local ok, line = take(text:sub(next_line, stop - 1))
      if not ok and line ~= '' then warn(path, number, line) end
      next_line = stop + 1
    end
    at = at + next_line - 1
    text = text:sub(next_line)
    if #text > longest_line then
      file:close()
      error(('[runs] a line of %s is longer than %d MB'):format(path, longest_line / 2 ^ 20), 0)
    end
  end
  file:close()
  -- A training may be writing the last line.
  if text ~= '' and take(text) then at = at + #text end
  return at
end

-- metrics.epochs(folder, visit) -> list of the numbers of every epoch, in order; empty if no epoch was finished.
-- visit(entry), if given, is called for every line.
function M.epochs(folder, visit)
  local by_epoch, numbers, epochs = {}, {}, {}
  M.each(folder, function(entry)
    if visit then visit(entry) end
    local epoch = entry.event == 'epoch' and entry.epoch
    if type(epoch) ~= 'number' or epoch ~= epoch then return end
    if not by_epoch[epoch] then numbers[#numbers + 1] = epoch end
    by_epoch[epoch] = entry
  end)
  table.sort(numbers)
  for i, epoch in ipairs(numbers) do epochs[i] = by_epoch[epoch] end
  return epochs
end

return M
