-- Hard negatives: strings outside the language that nearly are in it. Each is a string of the language in which two
-- different symbols were exchanged, so it has the length of a string, the counts of its symbols and the places of its
-- marks. One half exchanges neighbours, the other half any two places between the same marks; operators change places
-- with operators only, and in stack manipulation only bits do. What is in the language nevertheless is discarded. A
-- language in which the counts of the symbols decide has no such strings.
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local sampling = dofile(here .. 'sampling.lua')

local tries = 10000  -- for one string

-- The string with two symbols exchanged, or nil if the drawn places have symbols that are equal or of different kinds.
local function exchanged(language, symbols, random)
  local copy, borders = { unpack(symbols) }, { 0 }
  for i, symbol in ipairs(symbols) do
    if language.marks and language.marks[symbol] then borders[#borders + 1] = i end
  end
  borders[#borders + 1] = #symbols + 1
  local part = #borders > 2 and 1 + math.floor((#borders - 1) * random()) or 1
  local first, last = borders[part] + 1, borders[part + 1] - 1
  if first >= last then return nil end
  local function place(from, to) return from + math.floor((to - from + 1) * random()) end
  local i = place(first, last - 1)
  local j = random() < 0.5 and i + 1 or place(i + 1, last)
  if copy[i] == copy[j] or language.kind and language.kind(copy[i]) ~= language.kind(copy[j]) then return nil end
  copy[i], copy[j] = copy[j], copy[i]
  return copy
end

-- hard_negatives(language, count, { shortest, longest }, seed, share) -> LabelledDataset of so many strings. share: of
-- hard negatives; the others are in the language, with lengths drawn in the same way. alphabet: of the dataset, that of
-- the language by default.
return function(language, count, lengths, seed, share, alphabet)
  local random, strings, labels = sampling.generator(seed), {}, {}
  local fresh = sampling.fresh_strings(language, lengths, seed, random)
  local negatives = math.floor(share * count + 0.5)
  if language.counted and negatives > 0 then
    error(('%s has no hard negatives: the counts of the symbols decide'):format(language.name), 0)
  end
  for i = 1, count do
    local symbols
    if i > negatives then
      symbols = fresh()
    else
      local own
      for try = 1, tries do
        if (try - 1) % (language.exchanges or 1) == 0 then own = fresh() end
        symbols = exchanged(language, own, random)
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
  return pd.task.labelled_dataset { alphabet = alphabet or language.alphabet, strings = strings, labels = labels }
end
