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

-- The list of the {name =, value =} of a table, by name; with `keep` only those for which keep(name, value) is true.
function M.named(t, keep)
  local list = {}
  for _, name in ipairs(M.keys(t, 'string')) do
    if not keep or keep(name, t[name]) then list[#list + 1] = { name = name, value = t[name] } end
  end
  return list
end

-- A number of things: '1 run', '2 runs'.
function M.counted(count, noun) return ('%d %s%s'):format(count, noun, count == 1 and '' or 's') end

-- The list of all matches of a Lua pattern in a text: matches('a b', '%S+') -> { 'a', 'b' }.
function M.matches(text, pattern)
  local found = {}
  for match in text:gmatch(pattern) do found[#found + 1] = match end
  return found
end

return M
