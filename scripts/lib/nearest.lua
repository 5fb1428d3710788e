-- "did you mean" for names in Lua.

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      diagonal, row[j] = row[j], math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
    end
  end
  return row[#b]
end

-- nearest(wanted, names) -> the name that was probably meant, or nil: that of least edit distance, of
-- which a beginning counts as one edit.
return function(wanted, names)
  local best, least
  for _, name in ipairs(names) do
    local d = distance(wanted, name)
    if name:sub(1, #wanted) == wanted and #wanted > 0 then d = math.min(d, 1) end
    if not least or d < least then best, least = name, d end
  end
  return least and least <= math.max(2, math.floor(#wanted / 2)) and best or nil
end
