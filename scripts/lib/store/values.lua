-- Values of options as texts, and their comparison with the values of an earlier run.
local json = require 'pushdown.json'
local visible = require 'pushdown.text.visible'

local M = {}

-- values.number_text(number): as many digits as it needs; inf, -inf and nan.
function M.number_text(number)
  if number ~= number then return 'nan' end
  if number == math.huge or number == -math.huge then return number > 0 and 'inf' or '-inf' end
  return json.encode(number)
end

-- values.storable(options): a copy with texts in place of infinity and nan, which JSON does not have.
function M.storable(options)
  local copy = {}
  for name, value in pairs(options) do
    local finite = type(value) ~= 'number' or value - value == 0
    copy[name] = finite and value or M.number_text(value)
  end
  return copy
end

-- values.text(value, separator): the items of a list are joined by `separator`.
function M.text(value, separator)
  if type(value) == 'table' then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = M.text(item) end
    return table.concat(parts, separator)
  end
  return type(value) == 'number' and M.number_text(value) or tostring(value)
end

-- values.word(value): the word of an option on a command line, which experiment.parse reads. A list is written a,b, or
-- in JSON if its items could not be told apart so.
function M.word(value)
  local text = M.text(value, ',')
  if type(value) ~= 'table' then return text end
  local items, in_json = json.list {}, #value == 1 and text == '' or text:find '^%['
  for i, item in ipairs(value) do
    items[i] = M.text(item)
    in_json = in_json or items[i]:find(',', 1, true)
  end
  return in_json and json.encode(items) or text
end

-- The form in which words are compared: numbers do not depend on how they are written.
local function normal(value)
  return (M.word(value):gsub('[^,]+', function(item)
    local number = tonumber(item)
    return number and M.number_text(number) or item
  end))
end

-- values.same(a, b): whether two values are the same; 0.001, '1e-3' and {1e-3} are.
function M.same(a, b) return normal(a) == normal(b) end

-- values.shown(value): the text of a value in messages.
function M.shown(value)
  if value == nil or value == json.null then return 'not set' end
  if value == '' then return "''" end
  return visible.line(M.text(value, ','))
end

return M
