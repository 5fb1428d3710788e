-- Hard negatives: strings outside the language that nearly are in it. Each is a string of the language in which two
-- different symbols were exchanged, so it has the length of a string, the counts of its symbols and the place of its
-- mark. One half exchanges neighbours, the other half any two places; where there is a mark, both places are on one
-- side of it. What is in the language nevertheless is discarded.
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local sampling = dofile(here .. 'sampling.lua')

local mark, tries = '#', 10000  -- tries for one string

-- The string with two symbols exchanged, or nil if the drawn places have equal ones.
local function exchanged(symbols, random)
  local copy, first, last = { unpack(symbols) }, 1, #symbols
  for i, symbol in ipairs(symbols) do
    if symbol == mark then
      if random() < 0.5 then last = i - 1 else first = i + 1 end
      break
    end
  end
  if first >= last then return nil end
  local function place(from, to) return from + math.floor((to - from + 1) * random()) end
  local i = place(first, last - 1)
  local j = random() < 0.5 and i + 1 or place(i + 1, last)
  if copy[i] == copy[j] then return nil end
  copy[i], copy[j] = copy[j], copy[i]
  return copy
end

-- hard_negatives(language, count, { shortest, longest }, seed, share) -> LabelledDataset of so many strings. share: of
-- hard negatives; the others are in the language, with lengths drawn in the same way.
return function(language, count, lengths, seed, share)
  local random, strings, labels = sampling.generator(seed), {}, {}
  local fresh = sampling.fresh_strings(language, lengths, seed, random)
  local negatives = math.floor(share * count + 0.5)
  for i = 1, count do
    local symbols
    if i > negatives then
      symbols = fresh()
    else
      for _ = 1, tries do
        symbols = exchanged(fresh(), random)
        if symbols and not language.contains(symbols) then break end
        symbols = nil
      end
    end
    if not symbols then
      error(('no hard negative of %s of length %d to %d was found in %d tries'):format(language.name, lengths[1],
        lengths[2], tries), 0)
    end
    strings[i], labels[i] = table.concat(symbols, ' '), i > negatives
  end
  return pd.task.labelled_dataset { alphabet = language.alphabet, strings = strings, labels = labels }
end
