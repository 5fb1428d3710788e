-- Reads the files of a run folder.
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local M = {}

-- The table in a JSON file, or nil if the file does not exist or cannot be read.
function M.read_json(path)
  if not files.exists(path) then return nil end
  local ok, value = pcall(function() return json.decode(files.read(path)) end)
  return ok and type(value) == 'table' and value or nil
end

-- The table in the text of a JSON file; raises an error that names the file if there is none.
function M.decode(text, path)
  local ok, value = pcall(json.decode, text)
  if ok and type(value) == 'table' then return value end
  local reason = ok and 'expected an object' or tostring(value):gsub('^%[json%.decode%] ', '')
  error(('[runs] %s cannot be read: %s'):format(path, reason), 0)
end

-- The result in a run folder, without its null values, or nil.
function M.result(folder)
  local result = M.read_json(folder .. '/result.json')
  for key, value in pairs(result or {}) do
    if value == json.null then result[key] = nil end
  end
  return result
end

return M
