-- Small tables as one short text: "length=40..100/2;difference=.2432 .2323 .229".
--
-- Every column is its name and a list of words. v*n stands for n equal words, a..b for the integers from a to b,
-- a..b/s for every s-th of them, and - for an empty cell.
local M = {}

-- columns.number(value, decimals) -> the value with at most this many decimals, without needless zeros: ".25", "-3".
function M.number(value, decimals)
  local text = ('%.' .. decimals .. 'f'):format(value)
  if text:find('.', 1, true) then text = text:gsub('0+$', ''):gsub('%.$', '') end
  text = text:gsub('^(%-?)0%.', '%1.')
  return text == '-0' and '0' or text
end

local function integer(word) return word and word:find('^%-?%d+$') and tonumber(word) end

-- The number of equal words from `first` on, the number of integers with a constant step, and that step.
local function repeats(words, first)
  local equal, even = 1, 1
  while words[first + equal] == words[first] do equal = equal + 1 end
  local start, second = integer(words[first]), integer(words[first + 1])
  local step = start and second and second - start
  while step and step ~= 0 and integer(words[first + even]) == start + even * step do even = even + 1 end
  return equal, even, step
end

local function encode(words)
  local out, at = {}, 1
  while at <= #words do
    local equal, even, step = repeats(words, at)
    if equal > 2 then
      out[#out + 1], at = words[at] .. '*' .. equal, at + equal
    elseif even > 2 then
      out[#out + 1] = words[at] .. '..' .. words[at + even - 1] .. (step ~= 1 and '/' .. step or '')
      at = at + even
    else
      out[#out + 1], at = words[at], at + 1
    end
  end
  return table.concat(out, ' ')
end

local function decode(text)
  local words = {}
  for part in text:gmatch('%S+') do
    local word, count = part:match('^(.+)%*(%d+)$')
    local first, last = part:match('^(%-?%d+)%.%.(%-?%d+)$')
    local step
    if not first then first, last, step = part:match('^(%-?%d+)%.%.(%-?%d+)/(%-?%d+)$') end
    if word then
      for _ = 1, tonumber(count) do words[#words + 1] = word end
    elseif first then
      for value = tonumber(first), tonumber(last), tonumber(step) or 1 do words[#words + 1] = ('%d'):format(value) end
    else
      words[#words + 1] = part
    end
  end
  return words
end

-- columns.pack(names, rows) -> text. rows: tables of texts by name; no text contains blanks.
function M.pack(names, rows)
  local parts = {}
  for k, name in ipairs(names) do
    local words = {}
    for i, row in ipairs(rows) do words[i] = (row[name] or '') == '' and '-' or row[name] end
    parts[k] = name .. '=' .. encode(words)
  end
  return table.concat(parts, ';')
end

-- columns.unpack(text) -> names, rows: the arguments of pack.
function M.unpack(text)
  local names, rows = {}, {}
  for part in text:gmatch '[^;]+' do
    local name, list = part:match '^([^=]+)=(.*)$'
    names[#names + 1] = name
    for i, word in ipairs(name and decode(list) or {}) do
      rows[i] = rows[i] or {}
      rows[i][name] = word ~= '-' and word or ''
    end
  end
  return names, rows
end

return M
