-- Labelled strings of a language, as methods of languages (languages.lua).
--
-- sample() draws them as the program of Butoi et al. (2025) does (rycolab/neural-network-recognizers,
-- src/recognizers/string_sampling/sample_dataset.py). Each is valid with probability 1/2. Valid ones have a length
-- drawn uniformly from the lengths that have strings. Of the invalid ones one half are uniform symbols of a uniform
-- length, the other half new valid strings after K edits, P(K = k) = 1/2^k. An edit is an insertion, a replacement by
-- another symbol or a deletion anywhere; those that would leave the lengths are not drawn. Strings in the language are
-- discarded.
--
-- hard_negatives() draws strings outside the language that nearly are in it. Each is a string of the language in which
-- two different symbols were exchanged, so it has the length of a string, the counts of its symbols and the places of
-- its marks. One half exchanges neighbours, the other half any two places between the same marks; operators change
-- places with operators only, and in stack manipulation only bits do. Strings that are in the language nevertheless are
-- discarded. A language in which the counts of the symbols decide has no such strings.
local pd = require 'pushdown'
local generator = require('pushdown.languages.random').park_miller

local M = {}

local tries = 10000  -- for a string

-- A function that returns one new valid string after the other, each a list of symbols.
local function fresh_strings(language, lengths, seed, random)
  local strings, used = {}, 0
  return function()
    if used == #strings then
      seed, used = seed + 1, 0
      strings = language:draw(200, { lengths = lengths, seed = seed, random = random })
    end
    used = used + 1
    return strings[used]
  end
end

-- The first result of make() that is not in the language; nil counts as a failure. what: for the error message.
local function outside(language, what, lengths, make)
  for try = 1, tries do
    local symbols = make(try)
    if symbols and not language:contains(symbols) then return symbols end
  end
  error(('no %s of %s of length %d to %d was found in %d tries'):format(what, language.name, lengths[1], lengths[2],
    tries), 0)
end

local function edited(symbols, alphabet, lengths, random)
  local copy = { unpack(symbols) }
  local function place(count) return 1 + math.floor(count * random()) end
  repeat
    local kinds = {}
    if #copy < lengths[2] then kinds[#kinds + 1] = 'insert' end
    if #copy > 0 and #alphabet > 1 then kinds[#kinds + 1] = 'replace' end
    if #copy > lengths[1] then kinds[#kinds + 1] = 'delete' end
    local kind = kinds[place(#kinds)]
    if kind == 'insert' then
      table.insert(copy, place(#copy + 1), alphabet[place(#alphabet)])
    elseif kind == 'replace' then
      local where, others = place(#copy), {}
      for _, symbol in ipairs(alphabet) do
        if symbol ~= copy[where] then others[#others + 1] = symbol end
      end
      copy[where] = others[place(#others)]
    elseif kind == 'delete' then
      table.remove(copy, place(#copy))
    end
  until random() < 0.5
  return copy
end

-- language:sample(count, { shortest, longest }, seed, next_symbols) -> LabelledDataset. next_symbols: whether the
-- dataset has the sets of symbols that may follow each prefix of a valid string.
function M:sample(count, lengths, seed, next_symbols)
  local random = generator(seed)
  for _ = 1, 10 do random() end
  local alphabet, strings, labels, positives = self:alphabet(), {}, {}, 0
  for i = 1, count do
    labels[i] = random() < 0.5
    if labels[i] then positives = positives + 1 end
  end
  local valid = positives > 0 and self:draw(positives, { lengths = lengths, seed = seed, random = random })
  local fresh = fresh_strings(self, lengths, seed, random)
  local function invalid()
    if random() < 0.5 then return edited(fresh(), alphabet, lengths, random) end
    local symbols = {}
    for i = 1, lengths[1] + math.floor((lengths[2] - lengths[1] + 1) * random()) do
      symbols[i] = alphabet[1 + math.floor(#alphabet * random())]
    end
    return symbols
  end
  for i = 1, count do
    strings[i] = table.concat(labels[i] and table.remove(valid) or outside(self, 'invalid string', lengths, invalid),
      ' ')
  end
  return self:labelled(strings, { labels = labels, next_symbols = next_symbols or false })
end

-- The string with two symbols exchanged, or nil if the drawn places have symbols that are equal or of different kinds.
local function exchanged(definition, symbols, random)
  local copy, borders = { unpack(symbols) }, { 0 }
  for i, symbol in ipairs(symbols) do
    if definition.marks and definition.marks[symbol] then borders[#borders + 1] = i end
  end
  borders[#borders + 1] = #symbols + 1
  local part = #borders > 2 and 1 + math.floor((#borders - 1) * random()) or 1
  local first, last = borders[part] + 1, borders[part + 1] - 1
  if first >= last then return nil end
  local function place(from, to) return from + math.floor((to - from + 1) * random()) end
  local i = place(first, last - 1)
  local j = random() < 0.5 and i + 1 or place(i + 1, last)
  if copy[i] == copy[j] or definition.kind and definition.kind(copy[i]) ~= definition.kind(copy[j]) then return nil end
  copy[i], copy[j] = copy[j], copy[i]
  return copy
end

-- language:hard_negatives(count, { shortest, longest }, seed, share, alphabet) -> LabelledDataset of so many strings.
-- share: of hard negatives; the others are in the language, with lengths drawn in the same way. alphabet: of the
-- dataset, that of the language by default.
function M:hard_negatives(count, lengths, seed, share, alphabet)
  local random, strings, labels, definition = generator(seed), {}, {}, self._definition
  local fresh = fresh_strings(self, lengths, seed, random)
  local negatives = math.floor(share * count + 0.5)
  if self.counted and negatives > 0 then
    error(('%s has no hard negatives: the counts of the symbols decide'):format(self.name), 0)
  end
  local own
  local function negative(try)
    if (try - 1) % (definition.exchanges or 1) == 0 then own = fresh() end
    return exchanged(definition, own, random)
  end
  for i = 1, count do
    labels[i] = i > negatives
    strings[i] = table.concat(labels[i] and fresh() or outside(self, 'hard negative', lengths, negative), ' ')
  end
  return pd.task.labelled_dataset { alphabet = alphabet or self:alphabet(), strings = strings, labels = labels }
end

-- language:join(sets, next_symbols) -> the strings of several LabelledDatasets as one; next_symbols as in sample().
function M:join(sets, next_symbols)
  local strings, labels = {}, {}
  for _, set in ipairs(sets) do
    local of_set = set:labels()
    for i, string in ipairs(set:strings()) do
      strings[#strings + 1], labels[#labels + 1] = string, of_set[i]
    end
  end
  return self:labelled(strings, { labels = labels, next_symbols = next_symbols or false })
end

return M
