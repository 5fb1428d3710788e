-- shorten(texts, width) -> the texts with at most `width` characters each, or nil if two different texts would then
-- look the same. It first removes the common front, then the middle. If that is not enough, it keeps the part around
-- the place where the texts begin to differ.
local function characters_of(text)
  local characters = {}
  for character in text:gmatch '[^\128-\191][\128-\191]*' do characters[#characters + 1] = character end
  return characters
end

local function part(characters, first, last) return table.concat(characters, '', first, math.min(last, #characters)) end

-- The number of leading characters that all lists share, up to a place where a name can be cut.
local function shared_front(lists)
  local count, cut = 0, 0
  while true do
    local character = lists[1][count + 1]
    for _, characters in ipairs(lists) do
      if characters[count + 1] ~= character or not character then return cut end
    end
    count = count + 1
    if character:find '[/,_=%s]' then cut = count end
  end
end

-- Ways to cut a text, the most informative first; the ends of paths and names are the most informative parts.
local function middle(characters, width)
  local front = math.ceil((width - 1) / 2)
  return part(characters, 1, front) .. '…' .. part(characters, #characters - (width - 1 - front) + 1, #characters)
end
local function tail(characters, width) return '…' .. part(characters, #characters - width + 2, #characters) end
local function head(characters, width) return part(characters, 1, width - 1) .. '…' end

local function distinct(texts, shown)
  local meant = {}
  for i, text in ipairs(shown) do
    if meant[text] and meant[text] ~= texts[i] then return false end
    meant[text] = texts[i]
  end
  return true
end

-- Cuts the front up to `from`, and then the end if the text is still too long.
local function from_place(characters, from, width)
  if from > 1 and #characters > width then
    characters = characters_of('…' .. part(characters, from + 1, #characters))
  end
  return #characters > width and head(characters, width) or table.concat(characters)
end

return function(texts, width)
  local lists, long = {}, false
  for i, text in ipairs(texts) do
    lists[i] = characters_of(text)
    long = long or #lists[i] > width
  end
  if not long then return texts end
  if width < 3 then return nil end
  local differing, seen = {}, {}
  for i, text in ipairs(texts) do
    if not seen[text] and text ~= '' then differing[#differing + 1], seen[text] = lists[i], true end
  end
  local front = #differing > 1 and shared_front(differing) or 0
  local cuts = { middle, tail, head }
  for _, without in ipairs(front > 1 and { front, 0 } or { 0 }) do
    for _, cut in ipairs(cuts) do
      local shown = {}
      for i, characters in ipairs(lists) do
        if #characters > width and without > 0 then
          characters = characters_of('…' .. part(characters, without + 1, #characters))
        end
        shown[i] = #characters > width and cut(characters, width) or table.concat(characters)
      end
      if distinct(texts, shown) then return shown end
    end
  end
  -- Around the first place where two texts adjacent in the alphabet differ.
  local sorted, places = {}, {}
  for text in pairs(seen) do sorted[#sorted + 1] = text end
  table.sort(sorted)
  for i = 2, #sorted do
    local a, b, at = characters_of(sorted[i - 1]), characters_of(sorted[i]), 1
    while a[at] and a[at] == b[at] do at = at + 1 end
    places[#places + 1] = at
  end
  for _, at in ipairs(places) do
    local shown = {}
    for i, characters in ipairs(lists) do shown[i] = from_place(characters, math.max(1, at - 2), width) end
    if distinct(texts, shown) then return shown end
  end
end
