-- The declared options of bound functions (pd.options) as text: options.form(option), options.line(option) and
-- options.parts(name), which help, docs/api.md and the editor stubs use.
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

local M = {}

-- "a, b or c"; the list is emptied.
local function alternatives(texts)
  local last = table.remove(texts)
  return #texts == 0 and last or ('%s or %s'):format(table.concat(texts, ', '), last)
end

-- "'a', 'b' or 'c'"
local function quoted(choices)
  local texts = {}
  for i, choice in ipairs(choices) do texts[i] = ("'%s'"):format(choice) end
  return alternatives(texts)
end

-- A value as it is written in Lua.
local function written(value)
  if type(value) == 'string' then return ("'%s'"):format(value) end
  if type(value) == 'number' then return (value == math.floor(value) and '%.0f' or '%.6g'):format(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local parts, names = {}, tables.keys(value, 'string')
  for i, part in ipairs(value) do parts[i] = written(part) end
  for _, name in ipairs(names) do parts[#parts + 1] = ('%s = %s'):format(name, written(value[name])) end
  return #parts == 0 and '{}' or #names > 0 and ('{ %s }'):format(table.concat(parts, ', '))
    or ('{%s}'):format(table.concat(parts, ', '))
end

local function range(option)
  local low, high = option.minimum, option.maximum
  if low and high then return (', %s to %s'):format(written(low), written(high)) end
  if low and low > 0 and low < 1e-300 then return ', above 0' end
  return low and (', at least %s'):format(written(low)) or high and (', at most %s'):format(written(high)) or ''
end

-- form(option) -> "'all' or 'none', default 'all'", 'integer, required, at least 1'.
function M.form(option)
  local what = option.choices and quoted(option.choices) or option.type
  if option.choices and option.type:find '^list' then what = 'list of ' .. what end
  local preset = option.required and 'required' or option.default ~= nil and 'default ' .. written(option.default)
  return what .. (preset and ', ' .. preset or '') .. range(option)
end

-- line(option) -> 'count (integer, at least 1): number of strings'.
function M.line(option) return ('%s (%s): %s'):format(option.name, M.form(option), option.doc) end

-- A list of kinds longer than this belongs to the function that describes a kind.
local most_kinds = 5

-- parts(name) -> the options of a function by its full name, as a list of {title =, options = {...}}: the options that
-- it always has, then those of some kinds; those inside of an option have names such as series[].y. Also a sentence if
-- there are more kinds than can be listed. Empty without options.
function M.parts(name)
  local parts, by_title, kinds, count, by = {}, {}, {}, 0, nil
  local function add(title, option, within)
    if not by_title[title] then
      by_title[title] = { title = title, options = {} }
      parts[#parts + 1] = by_title[title]
    end
    local named = setmetatable({ name = (within or '') .. option.name }, { __index = option })
    table.insert(by_title[title].options, named)
    local inner = option.type:find '^list' and named.name .. '[].' or named.name .. '.'
    for _, one in ipairs(option.inside or {}) do add(title, one, inner) end
  end
  local all = pd.options(name) or {}
  for _, option in ipairs(all) do
    for _, kind in ipairs(option.of or {}) do
      if not kinds[kind] then kinds[kind], count, by = true, count + 1, option.by end
    end
  end
  for _, option in ipairs(all) do
    if not option.of then add('Options:', option) end
  end
  if count > most_kinds then
    return parts, by and ('Further options depend on `%s`.'):format(by) or 'Further options depend on the kind.'
  end
  for _, option in ipairs(all) do
    if option.of then
      add(option.by and ('Options of %s = %s:'):format(option.by, quoted(option.of))
        or ('Options for %s:'):format(alternatives { unpack(option.of) }), option)
    end
  end
  return parts
end

local most_names = 14

-- with_names(text) -> the text with the names of the options in place of '{options}' behind the name of a function in
-- Lua: 'grid.random{options}' -> 'grid.random{count=, seed=, options=}'.
function M.with_names(text)
  return (text:gsub('([%a_][%w_.]*)(%(?[^%s({]*,? ?)%{options%}', function(name, before)
    local names = {}
    for i, option in ipairs(pd.options('pd.' .. name) or {}) do
      names[i] = i <= most_names and option.name .. '=' or i == most_names + 1 and '...' or nil
    end
    return #names > 0 and ('%s%s{%s}'):format(name, before, table.concat(names, ', ')) or nil
  end))
end

-- of(name, keys) -> the options that a call may have whose table has these keys so far (name -> value): those of a kind
-- only where it is named, or the default.
function M.of(name, keys)
  local all, defaults, found = pd.options(name) or {}, {}, {}
  for _, option in ipairs(all) do defaults[option.name] = option.default end
  for _, option in ipairs(all) do
    local fits = not option.of or not option.by
    local kind = keys[option.by]
    if type(kind) ~= 'string' then kind = defaults[option.by] end
    for _, one in ipairs(option.of or {}) do fits = fits or one == kind end
    if fits then found[#found + 1] = option end
  end
  return found
end

return M
