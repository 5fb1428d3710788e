-- The options of a grid's runs as words: in command lines, in names, and compared with those that a
-- result was made with.
local json = require 'pushdown.json'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'

local M = {}

-- Numbers with all digits that they need; the items of a list joined by `separator`.
function M.text(value, separator)
  if type(value) == 'table' then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = M.text(item) end
    return table.concat(parts, separator)
  end
  return type(value) == 'number' and json.encode(value) or tostring(value)
end

function M.keys(options)
  local keys = {}
  for key in pairs(options) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function add_option_words(words, options)
  for _, key in ipairs(M.keys(options)) do
    local value, name = options[key], key:gsub('_', '-')
    if type(value) == 'boolean' then
      words[#words + 1] = (value and '--' or '--no-') .. name
    else
      words[#words + 1] = '--' .. name
      words[#words + 1] = M.text(value, ',')
    end
  end
end

-- The command line of a run: list of words.
function M.command(run)
  local words = { pd.process.executable(), '--threads', '1', '--exit-with-parent', tostring(pd.process.pid()),
    run.script }
  add_option_words(words, run.options)
  for _, word in ipairs { '--seed', tostring(run.seed), '--restart', tostring(run.restart), '--run-folder',
    run.folder } do
    words[#words + 1] = word
  end
  for _, word in ipairs(run.flags) do words[#words + 1] = word end
  return words
end

-- The options that the words of `flags` set, as a script declared by pushdown.experiment reads them.
local function options_of_flags(flags)
  local options, at = {}, 1
  while at <= #flags do
    local name, value = flags[at]:match('^%-%-([^=]+)=(.*)$')
    name = name or flags[at]:match('^%-%-(.+)$')
    local following = flags[at + 1]
    if name and not value and following and not following:match('^%-%-') then
      value, at = following, at + 1
    end
    if name then
      local off = not value and name:match('^no%-(.+)$')
      options[((off or name):gsub('%-', '_'))] = value or (off and 'false' or 'true')
    end
    at = at + 1
  end
  return options
end

-- Words as they compare: numbers without regard to how they are written.
local function normal(text)
  return (text:gsub('[^,]+', function(item)
    local number = tonumber(item)
    return number and ('%.17g'):format(number) or item
  end))
end

-- Whether two values of an option are the same, however their numbers are written.
function M.same(a, b) return normal(M.text(a, ',')) == normal(M.text(b, ',')) end

-- The result in the run folder, or nil; an error if it was made with other options than these.
function M.finished_result(run)
  local result = runs.result(run.folder)
  if not result then return nil end
  local kept = runs.read_json(run.folder .. '/experiment.json')
  local made = kept and kept.options or {}
  local function compare(key, wanted)
    local was = made[key]
    if was == nil and (key == 'seed' or key == 'restart') then was = result[key] end
    if was == nil or was == json.null or M.same(was, wanted) then return end
    error(('[grid.run] %s holds a result for %s = %s, this grid wants %s; choose another folder, or remove its '
      .. 'result.json'):format(run.folder, key, M.text(was, ','), wanted), 0)
  end
  for key, value in pairs(run.options) do compare(key, M.text(value, ',')) end
  compare('seed', tostring(run.seed))
  compare('restart', tostring(run.restart))
  local flags = options_of_flags(run.flags)
  for key, value in pairs(flags) do compare(key, value) end
  for _, size in ipairs { 'quick', 'smoke' } do
    if not flags[size] and run.options[size] == nil then compare(size, 'false') end
  end
  return result
end

return M
