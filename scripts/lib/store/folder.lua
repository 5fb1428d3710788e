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

-- The result in a run folder, without its null values, or nil.
function M.result(folder)
  local result = M.read_json(folder .. '/result.json')
  for key, value in pairs(result or {}) do
    if value == json.null then result[key] = nil end
  end
  return result
end

-- The numbers of every epoch of the training in a folder, read from its metrics; empty if no epoch was
-- finished.
function M.history(folder)
  local epochs, path = {}, folder .. '/metrics.jsonl'
  if not files.exists(path) then return epochs end
  for line in files.read(path):gmatch('[^\n]+') do
    local entry = json.decode(line)
    if entry.event == 'epoch' then epochs[entry.epoch] = entry end
  end
  return epochs
end

return M
