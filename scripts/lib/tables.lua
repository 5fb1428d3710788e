-- Tables of Lua: copies, keys, and the parts of texts.
local M = {}

-- A new table with the fields of these tables, of which any may be nil. Later ones replace fields of earlier ones.
function M.merged(...)
  local all = {}
  for i = 1, select('#', ...) do
    for key, value in pairs((select(i, ...)) or {}) do all[key] = value end
  end
  return all
end

-- The sorted list of the keys of a table; with `kind` only those of this type, such as 'string'.
function M.keys(t, kind)
  local keys = {}
  for key in pairs(t) do
    if not kind or type(key) == kind then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

-- The list of all matches of a Lua pattern in a text: matches('a b', '%S+') -> { 'a', 'b' }.
function M.matches(text, pattern)
  local found = {}
  for match in text:gmatch(pattern) do found[#found + 1] = match end
  return found
end

return M
