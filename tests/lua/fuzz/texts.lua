-- Readers of texts in Lua: completion, help, CSV, JSON, pictures, and grammar files in their sandbox, with mutated
-- inputs of tests/fuzz/NAME.
local pd = require 'pushdown'
local files = require 'pushdown.files'

local M = {}

local random = math.random

local function require_that(condition, text) if not condition then error({ failure = text }, 0) end end

-- Runs a reader. Returns its results, or nothing if it refused the text with a message that names a place.
local function reading(reader, ...)
  local results = { pcall(reader, ...) }
  if results[1] then return unpack(results, 2) end
  local message = results[2]
  require_that(type(message) == 'string', 'the error is a ' .. type(message))
  require_that(message:find '^%[' or message:find '^[^\n]-:%d+: %[', 'a message without a place: ' .. message)
end

local completion = require 'pushdown.prompt.completion'
local description = require 'pushdown.prompt.description'
local csv = require 'pushdown.csv'
local json = require 'pushdown.json'
local pictures = require 'pushdown.report.pictures'
local report = require 'pushdown.report'

local targets = {}

function targets.completion(text)
  local start, words, tail = completion(text)
  if start == nil then return end
  require_that(type(start) == 'number' and start >= 1 and start <= #text + 1, 'it begins at ' .. tostring(start))
  if words == 'files' then return end
  for _, word in ipairs(words) do
    local typed = text:sub(start)
    require_that(word:sub(1, #typed) == typed, ('%q is offered for %q'):format(word, typed))
  end
  require_that(type(tail) == 'string', 'what follows is a ' .. type(tail))
end

function targets.help(text)
  require_that(#description(text) > 0, 'there is no text')
end

function targets.csv(text)
  local lines = reading(csv.decode, text)
  if not lines or not lines[1] then return end
  local rows, columns = {}, {}
  for i, line in ipairs(lines) do
    -- A line of one empty field is not a line, and all lines of a table have the same length.
    if #line ~= #lines[1] or #line == 1 and line[1] == '' then return end
    rows[i - 1] = line
  end
  for k, name in ipairs(lines[1]) do columns[k] = { name } end
  local again = csv.decode(report.table { columns = columns, rows = rows }:csv())
  require_that(#again == #lines, ('%d lines, read again %d'):format(#lines, #again))
  for i, line in ipairs(lines) do
    for k, field in ipairs(line) do
      require_that(again[i][k] == field, ('line %d, field %d: %q, read again %q'):format(i, k, field, again[i][k]))
    end
  end
end

function targets.json_text(text)
  local value = reading(json.decode, text)
  if value == nil then return end
  local written = reading(json.encode, value)
  if not written then return end
  require_that(json.encode(json.decode(written)) == written, 'written differently the second time: ' .. written)
end

local forbidden = {}
for name in ('script foreignobject image iframe style animate set handler link a'):gmatch '%a+' do
  forbidden[name] = true
end
function targets.svg(text)
  local clean, title = pictures.cleaned(text, '')
  if not clean then return require_that(type(title) == 'string', 'no reason is given') end
  for element, rest in clean:gmatch '<([%a][^%s/>]*)([^>]*)>' do
    require_that(not forbidden[element:lower()], 'the element ' .. element .. ' is left')
    for name, value in rest:gmatch '%s([^%s=]+)="([^"]*)"' do
      require_that(not name:lower():find '^on' and name ~= 'style', 'the attribute ' .. name .. ' is left')
      require_that(name ~= 'href' or value:find '^#', 'a reference leads outside: ' .. value)
      require_that(not value:lower():find 'url%(' or value:find '^url%(#', 'a reference leads outside: ' .. value)
    end
  end
  local again, why = pictures.cleaned(clean, '')
  require_that(again ~= nil, 'what is clean is refused: ' .. tostring(why) .. '\n' .. clean)
  require_that(again == clean, 'cleaned differently the second time:\n' .. clean .. '\n---\n' .. tostring(again))
end

local limits = { steps = 1e6, memory = 2 ^ 22 }
function targets.grammar_file(text)
  local before, find = getmetatable('').__index, string.find
  pd.grammar.limits(limits)
  files.write('fuzzed.lua', text)
  reading(pd.grammar.load, 'fuzzed.lua')
  require_that(getmetatable('').__index == before and string.find == find and debug.gethook() == nil,
    'the outside is changed')
end

-- The inputs with a few mutations each, as in tests/fuzz/driver_test.cpp.
local function mutated(inputs)
  local text = inputs[random(#inputs)]
  local odd = '\0\255\128 \n\t\'"()[]{}0-/|%<>&;=,#:'
  for _ = 1, random(4) do
    local place, count = random(#text + 1), random(8)
    local other = inputs[random(#inputs)]
    local kind = random(6)
    local from = random(#other + 1)
    local head, tail = text:sub(1, place - 1), text:sub(place)
    if kind == 1 then text = head .. tail:sub(count + 1)
    elseif kind == 2 then text = head .. tail:sub(1, count) .. tail
    elseif kind == 3 then text = head .. other:sub(from, from + random(30)) .. tail
    elseif kind == 4 then text = head .. string.char(random(0, 255)) .. tail
    elseif kind == 5 then text = head
    else
      local at = random(#odd)
      text = head .. odd:sub(at, at) .. tail:sub(2)
    end
  end
  return text
end

-- For each name a function that returns a description of the next input, and the function that reads it.
function M.target(name)
  local inputs = {}
  local folder = pd.root .. '/tests/fuzz/' .. name
  for _, file in ipairs(files.find(folder, '')) do inputs[#inputs + 1] = files.read(folder .. '/' .. file) end
  assert(#inputs > 0, 'there are no inputs in ' .. folder)
  local kept = 0
  return function(index)
    local text = index <= #inputs and inputs[index] or mutated(inputs)
    kept = kept + 1
    return ('%s(%q)'):format(name, text), function() targets[name](text) end
  end
end

M.names = { 'completion', 'help', 'csv', 'json_text', 'svg', 'grammar_file' }

return M
