-- The options of a grid's runs as words: for command lines, for names, and for comparison with the options of
-- an existing result.
local bit = require 'bit'
local pd = require 'pushdown'
local values = require 'pushdown.store.values'
local tables = require 'pushdown.tables'

local M = { text = values.text, same = values.same }

function M.keys(options)
  return tables.keys(options)
end

local function add_option_words(words, options)
  for _, key in ipairs(M.keys(options)) do
    local value, name = options[key], key:gsub('_', '-')
    local word = values.word(value)
    if type(value) == 'boolean' then
      words[#words + 1] = (value and '--' or '--no-') .. name
    elseif word:find '^%-%-' then
      words[#words + 1] = ('--%s=%s'):format(name, word)
    else
      words[#words + 1] = '--' .. name
      words[#words + 1] = word
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

-- options.seed(grid_name, point_name, restart) -> integer from 0 to 2^31 - 1: the 32-bit FNV-1a hash of
-- the three, separated by zero bytes, without its last bit. It does not depend on the order or on the
-- other points of the grid.
function M.seed(grid_name, point_name, restart)
  local text = table.concat({ grid_name, point_name, tostring(restart) }, '\0')
  local hash = 2166136261
  for i = 1, #text do
    hash = bit.bxor(hash, text:byte(i)) % 2 ^ 32
    -- The prime is 2^24 + 403; the whole product would not be exact in a double.
    hash = (hash % 2 ^ 8 * 2 ^ 24 + hash * 403) % 2 ^ 32
  end
  return math.floor(hash / 2)
end

return M
