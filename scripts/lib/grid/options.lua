-- The options of a grid's runs as words: for command lines, for names, and for comparison with the options of
-- an existing result.
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local values = require 'pushdown.experiment.values'

local M = { text = values.text, same = values.same }

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

-- The options that the words of `flags` set, read as a script of pushdown.experiment reads them.
function M.flags(flags)
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

-- The result in the run folder, or nil; also nil if the script has to resume the run with changed options. Raises an
-- error if the result was made with other options, unless the run is `accepted`.
function M.finished_result(run)
  local result = runs.result(run.folder)
  if not result or run.accepted then return result end
  local options, other, goes_on = require 'pushdown.grid.changes'.of(run)
  local text = options[1] or other[1]
  if text then
    error(('[grid.run] %s holds a result that was made with other options or inputs: %s; choose another folder, or '
      .. 'remove its result.json'):format(run.folder, text), 0)
  end
  return not goes_on and result or nil
end

return M
