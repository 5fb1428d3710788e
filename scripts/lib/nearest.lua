-- "did you mean" for names in Lua; src/base/nearest.h does the same for names of the core.

-- The edit distance with exchanges of neighbours (optimal string alignment).
local function distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do rows[0][j] = j end
  for i = 1, #a do
    rows[i] = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local least = math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        least = math.min(least, rows[i - 2][j - 2] + 1)
      end
      rows[i][j] = least
    end
  end
  return rows[#a][#b]
end

local function initials(name) return (('_' .. name):gsub('_+([^_])[^_]*', '%1')) end

-- nearest(wanted, names) -> the name that was probably meant, or nil. That is a name within a few edits (more for
-- longer names), a name that begins with `wanted` of two letters or more, or a name with these initials, as
-- learning_rate has lr.
return function(wanted, names)
  local most = #wanted < 6 and 1 or #wanted < 9 and 2 or 3
  local best, least
  for _, name in ipairs(names) do
    local begins = #wanted > 1 and name:sub(1, #wanted) == wanted
    local d = (begins or #wanted > 1 and wanted == initials(name)) and 0 or distance(wanted, name)
    -- Names that have nothing in common are not near, even if they are short.
    if d < math.max(#wanted, #name) and (not least or d < least) then best, least = name, d end
  end
  return least and least <= most and best or nil
end
