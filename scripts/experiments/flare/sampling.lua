-- Labelled strings of a language, as Butoi et al. (2025) make them. Half of them are valid, of a length drawn uniformly
-- from the lengths that have strings. Of the invalid ones one half are uniform symbols of a uniform length, the other
-- half valid strings after K edits, P(K = k) = 1/2^k, each an insertion, a replacement or a deletion anywhere. What is
-- in the language all the same is thrown away.
local pd = require 'pushdown'

local tries = 10000  -- for an invalid string

-- Numbers in [0, 1), all from the seed: the generator of Park and Miller.
local function generator(seed)
  local state = seed % 2147483646 + 1
  return function()
    state = state * 16807 % 2147483647
    return (state - 1) / 2147483646
  end
end

local function words(text)
  local list = {}
  for word in text:gmatch '%S+' do list[#list + 1] = word end
  return list
end

local function valid_strings(language, count, lengths, seed, random)
  local strings = {}
  if language.grammar then
    local drawn = language.grammar():sampler { lengths = lengths }:dataset(count, { seed = seed, batch = 1 })
    for i, string in ipairs(drawn:strings()) do strings[i] = type(string) == 'table' and string or words(string) end
    return strings
  end
  while #strings < count do
    strings[#strings + 1] = language.draw(random, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()))
  end
  return strings
end

local function edited(symbols, alphabet, random)
  local copy = { unpack(symbols) }
  repeat
    local kind, symbol = math.floor(3 * random()), alphabet[1 + math.floor(#alphabet * random())]
    if kind == 0 or #copy == 0 then
      table.insert(copy, 1 + math.floor((#copy + 1) * random()), symbol)
    elseif kind == 1 then
      copy[1 + math.floor(#copy * random())] = symbol
    else
      table.remove(copy, 1 + math.floor(#copy * random()))
    end
  until random() < 0.5
  return copy
end

-- sampling(language, count, { shortest, longest }, seed) -> LabelledDataset, half of it valid.
return function(language, count, lengths, seed)
  local random = generator(seed)
  for _ = 1, 10 do random() end
  local alphabet, half = language.alphabet, math.floor(count / 2)
  local valid = valid_strings(language, half, lengths, seed, random)
  local strings, labels = {}, {}
  local function add(symbols, label)
    strings[#strings + 1], labels[#labels + 1] = table.concat(symbols, ' '), label
  end
  local function invalid()
    for _ = 1, tries do
      local symbols = {}
      if #valid > 0 and random() < 0.5 then
        symbols = edited(valid[1 + math.floor(#valid * random())], alphabet, random)
      else
        for i = 1, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()) do
          symbols[i] = alphabet[1 + math.floor(#alphabet * random())]
        end
      end
      if #symbols >= lengths[1] and #symbols <= lengths[2] and not language.contains(symbols) then return symbols end
    end
    error(('no invalid string of %s of length %d to %d was found in %d tries'):format(language.name, lengths[1],
      lengths[2], tries), 0)
  end
  for i = 1, count - half do
    if i <= half then add(valid[i], true) end
    add(invalid(), false)
  end
  return pd.task.labelled_dataset { alphabet = alphabet, strings = strings, labels = labels }
end
