-- Values of options as texts, and their comparison with the values of an earlier run.
local json = require 'pushdown.json'

local M = {}

-- values.text(value, separator): numbers with as many digits as they need; the items of a list joined by `separator`.
function M.text(value, separator)
  if type(value) == 'table' then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = M.text(item) end
    return table.concat(parts, separator)
  end
  return type(value) == 'number' and json.encode(value) or tostring(value)
end

-- The form in which words are compared: numbers do not depend on how they are written.
local function normal(value)
  return (M.text(value, ','):gsub('[^,]+', function(item)
    local number = tonumber(item)
    return number and ('%.17g'):format(number) or item
  end))
end

-- values.same(a, b): whether two values are the same; 0.001, '1e-3' and {1e-3} are.
function M.same(a, b) return normal(a) == normal(b) end

-- values.shown(value): the text of a value in messages.
function M.shown(value)
  if value == nil or value == json.null then return 'not set' end
  if value == '' then return "''" end
  return M.text(value, ',')
end

return M
